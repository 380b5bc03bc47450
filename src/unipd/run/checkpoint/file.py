"""Checkpoint files: written atomically, and read only if their checksum matches.

Layout: a magic line, the length of the header (8 bytes), the header (JSON), the bytes of the arrays, and the SHA-256 of
everything before it. The header lists the dtype, shape, strides and offset of each array.
"""

from __future__ import annotations

import contextlib
import functools
import glob
import hashlib
import json
import math
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from unipd._typing import Array
from unipd._util.files import atomic_write, open_to_read
from unipd._version import __version__
from unipd.errors import FileFormatError
from unipd.memory import available_memory, require_room

MAGIC = b"unipd checkpoint\n"
"""The first bytes of every checkpoint."""
FORMAT = 9
"""Number of the file format; a file of another one is refused."""
_DIGEST = 32
_LENGTH = 8
_WIDEST = 1 << 16
"""Largest ratio of the memory that an array's strides span to that of its entries."""
_COPIES = 3
"""Times that the content of a file is in memory while it is read: as a whole, as a body, and in arrays."""
Header = dict[str, Any]
Record = tuple[dict[str, Any], Sequence[Array]]
"""A run taken apart: JSON, and the arrays to which it refers."""


def unusable(path: Path, problem: str) -> FileFormatError:
    """Return the error for a file that cannot be used, with the remedy.

    >>> print(unusable(Path("run.ckpt"), "the checkpoint is truncated"))
    run.ckpt: the checkpoint is truncated; restore an intact copy, or delete it to start over
    """
    return FileFormatError(str(path), f"{problem}; restore an intact copy, or delete it to start over")


@functools.cache
def package_versions() -> dict[str, str]:
    """Return the versions on which results depend, for the record."""
    from importlib import metadata

    packages = {name: metadata.version(name) for name in ("numpy", "scipy", "numba")}
    return {"unipd": __version__, "python": platform.python_version(), **packages}


def write_checkpoint(path: Path, header: Header, arrays: Sequence[Array]) -> None:
    """Write a checkpoint to ``path``, replacing the file there atomically once the new one is on disk."""
    table, place = list[Any](), 0
    for array in arrays:
        table.append([array.dtype.str, list(array.shape), _layout(array), place])
        place += array.nbytes
    text = json.dumps({**header, "format": FORMAT, "arrays": table}, allow_nan=False).encode()
    with atomic_write(path) as stream:
        _write_stream(stream, text, arrays)
    _sync_folder(path.parent)


def read_checkpoint(path: Path) -> tuple[Header, list[Array]]:
    """Return header and arrays; a damaged, truncated or foreign file raises :class:`FileFormatError`.

    Parameters
    ----------
    path
        Path of the checkpoint.

    Raises
    ------
    FileFormatError
        If the file is damaged, truncated, or not a checkpoint of this version.

    See Also
    --------
    unipd.Checkpoint, unipd.report.load_checkpoint

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "run.ckpt"
    ...     result = unipd.solve(problem, checkpoint=unipd.Checkpoint(path))
    ...     header, arrays = read_checkpoint(path)
    >>> "format" in header
    True
    """
    content = _read_content(path)
    body, digest = content[:-_DIGEST], content[-_DIGEST:]
    if len(body) < len(MAGIC) + _LENGTH or hashlib.sha256(body).digest() != digest:
        raise unusable(path, "the checkpoint is damaged or truncated (its checksum does not match)")
    begin = len(MAGIC) + _LENGTH
    end = begin + int.from_bytes(body[len(MAGIC) : begin], "little")
    try:
        header = json.loads(body[begin:end])
        if header["format"] != FORMAT:
            problem = f"format {header['format']} of another version of unipd; this version reads format {FORMAT}"
            raise FileFormatError(str(path), f"{problem}: resume with that version, or delete the file to start over")
        blob = memoryview(body)[end:]
        return header, [_array(blob, *row) for row in header.pop("arrays")]
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise unusable(path, f"the checkpoint is inconsistent ({type(error).__name__}: {error})") from error


def read_runs(path: Path) -> tuple[Header, list[Record]]:
    """Return the header of a checkpoint, and the content and the arrays of each run."""
    header, arrays = read_checkpoint(path)
    try:
        return header, [(run, arrays[run["first"] : run["first"] + run["count"]]) for run in header["runs"]]
    except (KeyError, TypeError, OverflowError) as error:
        raise unusable(path, f"the checkpoint is inconsistent ({type(error).__name__}: {error})") from error


def is_checkpoint(path: str | os.PathLike[str]) -> bool:
    """Whether a file starts with the signature of checkpoints.

    Parameters
    ----------
    path
        Path of the file.

    See Also
    --------
    unipd.report.load_checkpoint, unipd.Checkpoint

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "notes.txt").write_text("no checkpoint")
    ...     is_checkpoint(Path(folder, "notes.txt"))
    False
    """
    with open_to_read(path) as stream:
        return stream.read(len(MAGIC)) == MAGIC


def _read_content(path: Path) -> bytes:
    """Return the bytes of a file that begins like a checkpoint and fits in memory; devices and pipes have none."""
    with open_to_read(path) as stream:
        begin, size = stream.read(len(MAGIC)), os.fstat(stream.fileno()).st_size
        if not begin.startswith(MAGIC[: len(begin)]):
            raise FileFormatError(str(path), "not a unipd checkpoint; choose another file name to start over")
        require_room(str(path), _COPIES * size)
        return begin + stream.read(max(0, size - len(begin)))


def remove_leftovers(path: Path) -> None:
    """Remove the partial files that dead processes left next to a checkpoint."""
    with contextlib.suppress(OSError):
        for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
            number = part.name[len(path.name) + 2 :].split("-")[0]
            if number.isdigit() and not _is_alive(int(number)):
                part.unlink()


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (OSError, OverflowError) as error:
        return not isinstance(error, ProcessLookupError)
    return True


def _write_stream(stream: BinaryIO, header: bytes, arrays: Sequence[Array]) -> None:
    digest = hashlib.sha256()

    def put(data: Any) -> None:
        digest.update(data)
        stream.write(data)

    put(MAGIC)
    put(len(header).to_bytes(_LENGTH, "little"))
    put(header)
    for array in arrays:
        if array.nbytes:
            fortran = array.flags.f_contiguous and not array.flags.c_contiguous
            flat = np.ascontiguousarray(array.T if fortran else array)
            put(flat.reshape(-1).view(np.uint8).data)
    stream.write(digest.digest())


def _layout(array: Array) -> Any:
    """Return "C", "F", or the strides of an array that is neither ("C" where its entries overlap or lie far apart)."""
    if array.flags.c_contiguous:
        return "C"
    if array.flags.f_contiguous:
        return "F"
    spans = sorted((stride, size) for stride, size in zip(array.strides, array.shape, strict=True) if size > 1)
    extent = array.dtype.itemsize
    for stride, size in spans:
        if stride < extent:
            return "C"
        extent = stride * (size - 1) + extent
    return list(array.strides) if extent <= _WIDEST * array.nbytes else "C"


def _array(blob: memoryview, dtype: str, shape: list[int], layout: Any, place: int) -> Array:
    kind = np.dtype(dtype)
    if kind.hasobject or place < 0:
        raise ValueError(f"an array of dtype {dtype} at {place}")
    count = math.prod(shape)
    flat = np.frombuffer(blob, kind, count=count, offset=place) if count else np.zeros(0, kind)
    if layout in ("C", "F"):
        return np.array(flat.reshape(shape, order=layout), order=layout)
    extent = sum(stride * (size - 1) for stride, size in zip(layout, shape, strict=True)) + kind.itemsize
    if min(layout) <= 0 or extent > min(_WIDEST * max(flat.nbytes, 1), available_memory()):
        raise ValueError(f"an array with strides {layout}")
    buffer = np.zeros(-(-extent // kind.itemsize), kind)
    out = np.ndarray(tuple(shape), kind, buffer=buffer.data, strides=tuple(layout))
    out[...] = flat.reshape(shape)
    return out


def _sync_folder(folder: Path) -> None:
    """Make the new name durable, where folders can be synchronised."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
