"""Checkpoint files: written whole or not at all, read only when every byte is as it was written.

Layout: a magic line, the length of the header (8 bytes), the header (JSON), the arrays' bytes, and the SHA-256 of all
that came before. The header says of each array its dtype, shape, strides and place.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from unipd._typing import Array
from unipd.errors import FileFormatError
from unipd.replacing import replacing

MAGIC = b"unipd checkpoint\n"
FORMAT = 2
"""Number of the file format; a reader accepts this one and all before it."""
_DIGEST = 32
_LENGTH = 8
_WIDEST = 1 << 16
"""How many times more memory than its entries take an array's layout may span."""
Header = dict[str, Any]


def unusable(path: Path, problem: str) -> FileFormatError:
    """Return the error for a file that is no good, with what to do about it.

    >>> print(unusable(Path("run.ckpt"), "the checkpoint is cut short"))
    run.ckpt: the checkpoint is cut short; put back a copy that is whole, or delete it to begin afresh
    """
    return FileFormatError(str(path), f"{problem}; put back a copy that is whole, or delete it to begin afresh")


def write_checkpoint(path: Path, header: Header, arrays: Sequence[Array]) -> None:
    """Write a checkpoint to ``path``: the file there is replaced in one step once the new one is safely on disk."""
    table, place = list[Any](), 0
    for array in arrays:
        table.append([array.dtype.str, list(array.shape), _layout(array), place])
        place += array.nbytes
    text = json.dumps({**header, "format": FORMAT, "arrays": table}, allow_nan=False).encode()
    with replacing(path) as stream:
        _write(stream, text, arrays)
    _sync_folder(path.parent)


def read_checkpoint(path: Path) -> tuple[Header, list[Array]]:
    """Return header and arrays; a damaged, truncated or foreign file raises :class:`FileFormatError`."""
    content = path.read_bytes()
    if not content.startswith(MAGIC[: len(content)]):
        raise FileFormatError(str(path), "not a checkpoint of unipd; name another file to begin afresh")
    body, digest = content[:-_DIGEST], content[-_DIGEST:]
    if len(body) < len(MAGIC) + _LENGTH or hashlib.sha256(body).digest() != digest:
        raise unusable(path, "the checkpoint is damaged or cut short (its checksum does not match)")
    begin = len(MAGIC) + _LENGTH
    end = begin + int.from_bytes(body[len(MAGIC) : begin], "little")
    try:
        header = json.loads(body[begin:end])
        number = header["format"]
        if not isinstance(number, int) or number > FORMAT:
            problem = f"format {number} is newer than this version of unipd reads (up to {FORMAT})"
            raise FileFormatError(str(path), f"{problem}: go on with the newer one")
        blob = memoryview(body)[end:]
        return header, [_array(blob, *row) for row in header.pop("arrays")]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise unusable(path, f"the checkpoint does not hold together ({error})") from error


def remove_leftovers(path: Path) -> None:
    """Remove unfinished files that processes which are gone left beside a checkpoint."""
    for part in _parts(path):
        number = part.name[len(path.name) + 2 :].split("-")[0]
        if number.isdigit() and not _alive(int(number)):
            with contextlib.suppress(OSError):
                part.unlink()


def _parts(path: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for found in path.parent.iterdir():
            if found.name.startswith(f".{path.name}.") and found.name.endswith(".part"):
                yield found


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _write(stream: BinaryIO, header: bytes, arrays: Sequence[Array]) -> None:
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
    """Return "C", "F", or the strides of an array that is neither (in C order where strides do not tell)."""
    if array.flags.c_contiguous:
        return "C"
    if array.flags.f_contiguous:
        return "F"
    spans = sorted((stride, size) for stride, size in zip(array.strides, array.shape, strict=True) if size > 1)
    reach = array.dtype.itemsize
    for stride, size in spans:
        if stride < reach:
            return "C"
        reach = stride * (size - 1) + reach
    return list(array.strides) if reach <= _WIDEST * array.nbytes else "C"


def _array(blob: memoryview, dtype: str, shape: list[int], layout: Any, place: int) -> Array:
    kind = np.dtype(dtype)
    if kind.hasobject or place < 0:
        raise ValueError(f"an array of dtype {dtype} at {place}")
    count = math.prod(shape)
    flat = np.frombuffer(blob, kind, count=count, offset=place) if count else np.zeros(0, kind)
    if layout in ("C", "F"):
        return np.array(flat.reshape(shape, order=layout), order=layout)
    reach = sum(stride * (size - 1) for stride, size in zip(layout, shape, strict=True)) + kind.itemsize
    if min(layout) <= 0 or reach > _WIDEST * max(flat.nbytes, 1):
        raise ValueError(f"an array with strides {layout}")
    room = np.zeros(-(-reach // kind.itemsize), kind)
    out = np.ndarray(tuple(shape), kind, buffer=room.data, strides=tuple(layout))
    out[...] = flat.reshape(shape)
    return out


def _sync_folder(folder: Path) -> None:
    """Make the new name durable too, where folders can be synchronised."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
