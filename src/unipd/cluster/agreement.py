"""Ranks must have the same data, the same options and the same dual vector: checked by comparing hashes."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.cluster.journal import ADVICE, Disagreement
from unipd.cluster.ranks import Ranks
from unipd.errors import InvalidInput

EVERY = 8
"""The dual vector is compared at the first so many products with the adjoint, then at every so many of them."""
BLOCKS, BLOCK = 16, 1 << 16
"""Files are compared by so many blocks of so many bytes, evenly spread: those of up to a megabyte entirely."""


def digest(value: Any) -> int:
    """Return a number that tells values apart: of an array from its bytes, else from what is printed of it.

    >>> digest(np.array([1.0])) == digest(np.array([1.0])), digest("a") == digest("b")
    (True, False)
    """
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value)
        return zlib.crc32(array.reshape(-1).view(np.uint8).data, zlib.crc32(f"{array.dtype}{array.shape}".encode()))
    return zlib.crc32(repr(value).encode())


def require_same(ranks: Ranks, what: str, values: Mapping[str, Any]) -> None:
    """Raise on every rank unless all have the same values; the message names those that differ.

    >>> from unipd.cluster.world import Single
    >>> require_same(Ranks(Single()), "options", {"seed": 1})
    """
    if ranks.size == 1:
        return
    mine = {name: (digest(value), _shown(value)) for name, value in values.items()}
    everyone: list[dict[str, tuple[int, str]]] = ranks.objects(mine)
    names = dict.fromkeys(name for one in everyone for name in one)
    differing = [text for name in names if (text := _difference(name, everyone)) is not None]
    if differing:
        raise InvalidInput(what, "the same on every rank", "; ".join(differing))


def require_same_file(ranks: Ranks, path: str | os.PathLike[str]) -> None:
    """Raise on every rank unless all see a file of the same size with the same bytes at places all over it."""
    if ranks.size > 1:
        size, mark = file_marks(Path(path))
        require_same(ranks, f"the file {Path(path).name}", {"size": size, "content": mark})


def file_marks(path: Path) -> tuple[int, str]:
    """Return the size of a file and a hash of blocks of it."""
    size = path.stat().st_size
    mark = 0
    with open(path, "rb") as stream:
        for block in range(BLOCKS):
            stream.seek(max(size - BLOCKS * BLOCK, 0) * block // (BLOCKS - 1) + block * BLOCK)
            mark = zlib.crc32(stream.read(BLOCK), mark)
    return size, f"{mark:08x}"


def _difference(name: str, everyone: list[dict[str, tuple[int, str]]]) -> str | None:
    first = everyone[0].get(name)
    for rank, one in enumerate(everyone):
        found = one.get(name)
        if (found is None) != (first is None) or (found and first and found[0] != first[0]):
            texts = ["nothing" if value is None else value[1] for value in (first, found)]
            return f"{name} ({texts[0]} on rank 0, {texts[1]} on rank {rank})"
    return None


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array {digest(value):08x} of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


class Watch:
    """Compare the dual vectors of all ranks now and then.

    The first products are all compared: ranks with different data then stop before a decision differs, after which
    they would wait for each other in different exchanges.

    Parameters
    ----------
    ranks
        The ranks.
    every
        At the first so many calls, and then at every so many.
    """

    def __init__(self, ranks: Ranks, every: int = EVERY) -> None:
        self._ranks = ranks
        self._every = every
        self._calls = 0

    def __call__(self, dual: Array) -> None:
        """Count the call; when its turn has come, raise on every rank unless the vectors agree."""
        self._calls += 1
        if self._ranks.size == 1 or (self._calls > self._every and self._calls % self._every):
            return
        hashes = self._ranks.joined(np.array([digest(dual)], np.int64))
        strays = np.flatnonzero(hashes != hashes[0])
        if strays.size:
            who = ", ".join(str(rank) for rank in strays)
            raise Disagreement(
                f"the ranks have come apart: the dual vector of rank {who} is not that of rank 0 (product "
                f"{self._calls}); {ADVICE}"
            )
