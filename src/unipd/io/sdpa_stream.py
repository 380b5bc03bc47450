"""Bounded reading of files that may be compressed, hostile or both."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias

from unipd.errors import FileFormatError

Source: TypeAlias = "str | os.PathLike[str] | BinaryIO"

_RATIO_FROM = 1 << 26
"""Decompressed bytes (64 MiB) below which no ratio is suspicious."""

_PIECE = 1 << 17
"""Bytes read at a time."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""What some editors put before UTF-8 text."""

LINE_LIMIT = 1 << 20
"""Longest line of a table, in bytes."""


@dataclass(frozen=True)
class Limits:
    """What a file may ask for before it is refused.

    >>> Limits(order=100).order
    100
    """

    text_bytes: int = 2**31
    """Length of the text, after decompression."""
    compression: float = 200.0
    """Ratio of the text to the compressed file, once the text is longer than 64 MiB."""
    order: int = 2_000_000
    """Sum of the declared block sizes, or number of nodes of a graph."""
    constraints: int = 50_000_000
    """Declared number of constraints."""


class _Bounded(io.RawIOBase):
    """A raw stream that counts what it gives and stops at the limits."""

    def __init__(self, source: Any, file: Any, name: str, limits: Limits) -> None:
        super().__init__()
        self._source, self._file = source, file
        self._name, self._limits = name, limits
        self._given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._source.read(len(buffer))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FileFormatError(self._name, f"the compressed file is damaged or cut short ({error})") from error
        self._given += len(data)
        if self._given > self._limits.text_bytes:
            raise FileFormatError(self._name, f"the text is longer than {self._limits.text_bytes} bytes")
        compressed = self._file is not self._source
        if compressed and self._given > max(_RATIO_FROM, self._limits.compression * self._file.tell()):
            problem = f"the text is more than {self._limits.compression:g} times longer than the compressed file"
            raise FileFormatError(self._name, problem)
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def bounded(source: Source, limits: Limits) -> Generator[tuple[io.BufferedReader, str], None, None]:
    """Open a path or a seekable binary stream, compressed with gzip or not, and yield (stream, name)."""
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        with open(name, "rb") as file:
            yield _wrapped(file, name, limits), name
    else:
        name = getattr(source, "name", "<stream>")
        name = name if isinstance(name, str) else "<stream>"
        yield _wrapped(source, name, limits), name


def _wrapped(file: BinaryIO, name: str, limits: Limits) -> io.BufferedReader:
    start = file.tell()
    magic = file.read(2)
    file.seek(start)
    if magic != b"\x1f\x8b":
        return io.BufferedReader(_Bounded(file, file, name, limits), _PIECE)
    _require_honest(_Bounded(gzip.GzipFile(fileobj=file, mode="rb"), file, name, limits))
    file.seek(start)
    return io.BufferedReader(_Bounded(gzip.GzipFile(fileobj=file, mode="rb"), file, name, limits), _PIECE)


def _require_honest(stream: _Bounded) -> None:
    """Raise when the text goes beyond the limits: to decompress is far cheaper than to read numbers."""
    piece = bytearray(_PIECE)
    while stream.readinto(piece):
        pass


def chunks(stream: io.BufferedReader, name: str, line: int, size: int = 1 << 22) -> Iterator[tuple[bytes, int]]:
    """Yield (text, line): pieces of whole lines and the number of the first line of each."""
    while text := stream.read(size):
        tail = stream.readline(LINE_LIMIT)
        text += tail
        count = text.count(b"\n")
        if len(tail) == LINE_LIMIT and not tail.endswith(b"\n"):
            raise FileFormatError(name, f"a line is longer than {LINE_LIMIT} bytes", line + count)
        yield text, line
        line += count
