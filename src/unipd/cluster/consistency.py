"""Consistency of the ranks: the same data, options and dual vectors (compared by hashes), and failures together."""

from __future__ import annotations

import os
import sys
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd.cluster.communicator import Ranks, raise_for_ranks
from unipd.errors import InvalidInput

CHECK_EVERY = 8
"""The dual vector is compared at the first 8 products with the adjoint, then at every eighth."""
FILE_BLOCKS, FILE_BLOCK_BYTES = 16, 1 << 16
"""Number and bytes of the evenly spread blocks by which files are compared: up to a megabyte entirely."""


def digest(value: Any) -> int:
    """Return a hash of a value: of an array's bytes, or of the ``repr`` of anything else.

    >>> digest(np.array([1.0])) == digest(np.array([1.0])), digest("a") == digest("b")
    (True, False)
    """
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value)
        return zlib.crc32(array.reshape(-1).view(np.uint8).data, zlib.crc32(f"{array.dtype}{array.shape}".encode()))
    return zlib.crc32(repr(value).encode())


def require_same(ranks: Ranks, what: str, values: Mapping[str, Any]) -> None:
    """Raise on every rank unless all have the same values; the message names those that differ.

    Parameters
    ----------
    ranks
        The ranks.
    what
        Subject of the message, such as "the options".
    values
        What is compared, by name.

    Raises
    ------
    InvalidInput
        If the values of two ranks differ.

    See Also
    --------
    file_fingerprint, Disagreement

    Examples
    --------
    >>> from unipd.cluster.communicator import SingleProcess
    >>> require_same(Ranks(SingleProcess()), "options", {"seed": 1})
    """
    if ranks.size == 1:
        return
    mine = {name: (digest(value), _abbreviate(value)) for name, value in values.items()}
    everyone: list[dict[str, tuple[int, str]]] = ranks.allgather_objects(mine)
    differing, first = dict[str, str](), everyone[0]
    for rank, theirs in enumerate(everyone):
        for name in dict.fromkeys([*first, *theirs]):
            (code, text), (other, other_text) = (one.get(name, (None, "nothing")) for one in (first, theirs))
            if code != other:
                differing.setdefault(name, f"{name} ({text} on rank 0, {other_text} on rank {rank})")
    if differing:
        raise InvalidInput(what, "the same on every rank", "; ".join(differing.values()))


def require_same_file(ranks: Ranks, path: str | os.PathLike[str]) -> None:
    """Raise on every rank unless all see a file of the same size and the same hash of blocks."""
    if ranks.size > 1:
        size, content = file_fingerprint(Path(path))
        require_same(ranks, f"the file {Path(path).name}", {"size": size, "content": content})


def file_fingerprint(path: Path) -> tuple[int, str]:
    """Return the size of a file and a hash of blocks of it.

    Parameters
    ----------
    path
        Path of the file.

    See Also
    --------
    require_same

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "data.txt"
    ...     _ = file.write_text("abc")
    ...     file_fingerprint(file)[0]
    3
    """
    size = path.stat().st_size
    gaps, checksum = max(size - FILE_BLOCKS * FILE_BLOCK_BYTES, 0), 0
    with open(path, "rb") as stream:
        for block in range(FILE_BLOCKS):
            stream.seek(gaps * block // (FILE_BLOCKS - 1) + block * FILE_BLOCK_BYTES)
            checksum = zlib.crc32(stream.read(FILE_BLOCK_BYTES), checksum)
    return size, f"{checksum:08x}"


def _abbreviate(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array {digest(value):08x} of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


class Distributed:
    """A map or oracle divided among the ranks; checkpoints take it for the whole, whatever the number of ranks."""

    ranks: Ranks
    """The ranks."""
    whole: Any
    """The undivided map or oracle, which checkpoints compare."""
    work: IntArray
    """Parts of each rank: measurements, or blocks."""
    _products = 0

    @property
    def checkpoint_identity(self) -> Any:
        """The undivided map or oracle."""
        return self.whole

    def require_same_dual(self, dual: Array) -> None:
        """Raise on every rank unless all have the same dual vector, at the first products and then at every eighth.

        The first products are all compared: ranks with different data then stop before their decisions differ and they
        wait for each other in different exchanges.
        """
        self._products += 1
        if self.ranks.size == 1 or (self._products > CHECK_EVERY and self._products % CHECK_EVERY):
            return
        hashes = self.ranks.allgather(np.array([digest(dual)], np.int64))
        problem = f"the dual vector of rank {{}} is not that of rank 0 (product {self._products})"
        raise_for_ranks(np.flatnonzero(hashes != hashes[0]).tolist(), problem)


FAILURE_TIMEOUT = 2.0
"""Seconds that a failed rank waits for the others to fail with the same message."""
FAILURE_POLL_SECONDS = 1e-3


def abort_unless_unanimous(comm: Any, line: str, code: int) -> None:
    """Return if every rank has failed with the same message; otherwise print which rank failed and abort all.

    Parameters
    ----------
    comm
        A communicator of this purpose alone, so that these messages never mix with the solver's.
    line, code
        The message, and the exit code of all ranks.
    """
    mine, everyone = np.array([digest(line)], np.int64), np.empty(comm.Get_size(), np.int64)
    request = comm.Iallgather(mine, everyone)
    until = time.perf_counter() + FAILURE_TIMEOUT
    while not (is_complete := request.Test()) and time.perf_counter() < until:
        time.sleep(FAILURE_POLL_SECONDS)
    if is_complete and (everyone == mine).all():
        return
    print(f"unipd: rank {comm.Get_rank()} of {comm.Get_size()}: {line}", file=sys.__stderr__, flush=True)
    time.sleep(0.1)  # for the launcher to forward the line
    comm.Abort(code)
