"""Reading: one guard for every reader, against files that unpack to far more than they seem to hold, and text.

Tables of numbers are read in chunks of lines, and errors name the line.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import sys
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from unipd._typing import Array, IntArray
from unipd._util.files import open_to_read
from unipd._util.printing import clean_line
from unipd.errors import FileFormatError, UnipdError
from unipd.memory import require_room, size_text

Source: TypeAlias = "str | os.PathLike[str] | BinaryIO"

_GZIP = b"\x1f\x8b"
"""First bytes of a file compressed with gzip."""
_PIECE = 1 << 17
"""Bytes read at a time."""
_LOOK = 1 << 20
"""Bytes read between two looks at the available memory."""
_RESERVE = 1 << 26
"""Memory that must be left for the objects of the next bytes (64 MiB): up to 64 times as many bytes as their text."""
_UNMEASURED = 1 << 31
"""Default limit where the file does not tell the length of its text (2 GiB)."""
_LONGEST_REASON = 200
"""Characters of what NumPy or zipfile says of a damaged archive: they may quote much of it."""


@dataclass(frozen=True)
class Limits:
    """Limits beyond which a file is refused. Memory is a limit too: see :func:`unipd.memory.limited_memory`.

    Parameters
    ----------
    text_bytes
        Length of the text, after decompression; by default 2 GiB for compressed files, pipes and devices.
    compression
        Ratio of the content to the compressed file, ...
    compression_from
        ... once the content is longer than this many bytes (64 MiB).
    order
        Sum of the declared block sizes, or number of nodes of a graph.
    constraints
        Declared number of constraints.
    repeated_entries
        Entries of a semidefinite program beyond twice the number of places in its matrices.

    See Also
    --------
    read_sdpa, unipd.memory.limited_memory

    Examples
    --------
    >>> Limits(order=100).order
    100
    """

    text_bytes: int | None = None
    compression: float = 200.0
    compression_from: int = 1 << 26
    order: int = 2_000_000
    constraints: int = 50_000_000
    repeated_entries: int = 1_000_000


def check_compression(name: str, given: int, compressed: int, limits: Limits) -> None:
    """Raise if content is implausibly longer than the compressed file."""
    if given > max(limits.compression_from, limits.compression * compressed):
        problem = f"the content is more than {limits.compression:g} times longer than the compressed file"
        raise FileFormatError(name, f"{problem} (if that is intended, decompress it first)")


class _BoundedStream(io.RawIOBase):
    """A raw stream that counts its bytes and raises at the limits."""

    def __init__(
        self, source: Any, file: Any, name: str, limits: Limits, line_limit: int | None = None, *, is_text: bool = True
    ) -> None:
        super().__init__()
        self._source, self._file, self._name, self._limits = source, file, name, limits
        self._line_limit, self._is_text = line_limit, is_text
        self._given, self._next_look = 0, _LOOK
        self._lines, self._line_bytes = 0, 0
        self._most = limits.text_bytes
        if self._most is None and (source is not file or not _is_measured(file)):
            self._most = _UNMEASURED

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._source.read(len(buffer))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FileFormatError(self._name, f"the compressed file is damaged or cut short ({error})") from error
        self._given += len(data)
        if self._most is not None and self._given > self._most:
            advice = "in Python, limits=unipd.io.Limits(text_bytes=...) allows more"
            raise FileFormatError(self._name, f"the text is longer than {self._most} bytes ({advice})")
        if self._file is not self._source:
            check_compression(self._name, self._given, self._file.tell(), self._limits)
        if self._given >= self._next_look:
            self._next_look = self._given + _LOOK
            require_room(self._name, _RESERVE, f"reading on after {size_text(self._given)}")
        if self._is_text:
            self._check_lines(data)
        buffer[: len(data)] = data
        return len(data)

    def _check_lines(self, data: bytes) -> None:
        """Raise at a zero byte, which no text has, and at a line longer than the limit."""
        if b"\0" in data:
            line = self._lines + data.count(b"\n", 0, data.index(b"\0")) + 1
            problem = "a zero byte: the file is not plain text (UTF-16? save it as UTF-8)"
            raise FileFormatError(self._name, problem, line)
        self._lines += data.count(b"\n")
        end = max(data.rfind(b"\n"), data.rfind(b"\r"))
        self._line_bytes = len(data) - end - 1 + (self._line_bytes if end < 0 else 0)
        if self._line_limit is not None and self._line_bytes > self._line_limit:
            raise FileFormatError(self._name, f"a line is longer than {self._line_limit} bytes", self._lines + 1)


def name_of(source: Source) -> str:
    """Return the name of a file for messages."""
    name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


def _is_measured(file: Any) -> bool:
    """Whether a stream is a regular file, or held in memory: it ends."""
    try:
        return stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    except (OSError, AttributeError):  # no file of the system
        return True


@contextmanager
def open_bounded(
    source: Source,
    limits: Limits | None = None,
    line_limit: int | None = None,
    *,
    is_checked: bool = False,
    is_text: bool = True,
) -> Generator[tuple[io.BufferedReader, str], None, None]:
    """Open the content of a path or a binary stream, compressed with gzip or not, and yield (stream, name).

    A compressed text is read through once before, unless it ``is_checked``: decompressing is far cheaper than parsing.
    Content that is not ``is_text`` may have zero bytes.
    """
    name = name_of(source)
    with open_to_read(source) if isinstance(source, (str, os.PathLike)) else nullcontext(source) as file:

        def limit(content: Any, *, is_text: bool = is_text) -> _BoundedStream:
            return _BoundedStream(content, file, name, limits or Limits(), line_limit, is_text=is_text)

        if not file.seekable():  # a pipe is read to its end, so that one can go back in it
            begin = file.read(len(_GZIP))
            rest = io.BufferedReader(limit(file, is_text=is_text and begin != _GZIP), _PIECE).read()
            file = io.BytesIO(begin + rest)
        start = file.tell()
        magic = file.read(len(_GZIP))
        file.seek(start)
        if magic != _GZIP:
            if name.lower().endswith(".gz"):
                raise FileFormatError(name, "not a gzip file, although its name ends in .gz")
            yield io.BufferedReader(limit(file), _PIECE), name
            return
        first, second = (gzip.GzipFile(fileobj=file, mode="rb") for _ in range(2))
        checked, piece = limit(first), bytearray(_PIECE)
        while not is_checked and checked.readinto(piece):
            pass
        file.seek(start)
        yield io.BufferedReader(limit(second), _PIECE), name


def read_bounded(
    source: Source,
    limits: Limits | None = None,
    growth: float = 1.0,
    line_limit: int | None = None,
) -> bytes:
    """Return the whole content of a file, which becomes ``growth`` times its length in memory once it is parsed."""
    with open_bounded(source, limits, line_limit) as (stream, name):
        content = stream.read()
    require_room(name, growth * len(content))
    return content


def check_archive(name: str, stream: BinaryIO, limits: Limits | None = None) -> None:
    """Raise if a stream is no zip archive, or its members would not fit in memory or are implausibly long."""
    if not _is_measured(stream):  # the end of an archive would be searched for ever
        raise FileFormatError(name, "expected a file, got a pipe or a device")
    if not zipfile.is_zipfile(stream):  # NumPy would also read a bare array
        raise zipfile.BadZipFile("no zip archive")
    stream.seek(0)
    with zipfile.ZipFile(stream) as archive:
        given = sum(member.file_size for member in archive.infolist())
    check_compression(name, given, stream.seek(0, os.SEEK_END), limits or Limits())
    stream.seek(0)
    require_room(name, given)


class DamagedArchive(ValueError):
    """The file is not a readable archive."""


def read_arrays(path: str | os.PathLike[str], limits: Limits | None = None) -> dict[str, Array]:
    """Return the arrays of an ``.npz`` file by name.

    A missing or unreadable file raises OSError; a file that is not an archive, damaged or pickled raises
    :class:`DamagedArchive`; content beyond the limits raises the error of :func:`check_archive`.
    """
    with open(path, "rb") as stream:
        try:
            check_archive(os.fspath(path), stream, limits)
            with np.load(stream, allow_pickle=False) as archive:
                arrays: dict[str, Any] = {name: archive[name] for name in archive.files}
            for name, part in arrays.items():
                _check_member(name, part)
            return arrays
        except UnipdError:
            raise
        except Exception as error:  # NumPy and zipfile have many kinds
            raise DamagedArchive(clean_line(str(error) or type(error).__name__)[:_LONGEST_REASON]) from error


def _check_member(name: str, part: Any) -> None:
    """Raise for a member that is no array, and for texts with characters that do not exist."""
    if not isinstance(part, np.ndarray):
        raise ValueError(f"the member {name!r} is not an array")
    if part.dtype.kind == "U" and part.size and part.dtype.itemsize:
        codes = np.ascontiguousarray(part).reshape(-1).view(np.dtype(np.uint32).newbyteorder(part.dtype.byteorder))
        if codes.max() > sys.maxunicode:
            raise ValueError(f"the member {name!r} is not text")


BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""Some editors put it before UTF-8 text."""

LINE_LIMIT, _CHUNK = 1 << 20, 1 << 22
"""Longest line of a table, and bytes of it read at a time."""


def read_chunks(stream: io.BufferedReader, name: str, line: int) -> Iterator[tuple[bytes, int]]:
    """Yield (text, line): chunks of whole lines, each with the number of its first line."""
    while text := stream.read(_CHUNK):
        tail = stream.readline(LINE_LIMIT)
        text += tail
        count = text.count(b"\n")
        if len(tail) == LINE_LIMIT and not tail.endswith(b"\n"):
            raise FileFormatError(name, f"a line is longer than {LINE_LIMIT} bytes", line + count)
        yield text, line
        line += count


LOOSE = bytes.maketrans(b"{}(),\t\r\v\fDd", b"         ee")
"""Punctuation that SDPA ignores and other blanks become spaces; Fortran's D exponents become e."""

PLAIN = bytes.maketrans(b"\t\r\v\f", b"    ")
"""Blanks alone become spaces."""

_CLEAN = b"0123456789+-.eE \n"
_SHORT = 200
"""Lines up to this length are faster one token at a time."""
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class TableLayout:
    """Layout of the lines of a table."""

    widths: tuple[int, ...]
    """Allowed numbers per line; shorter lines are filled with ones (the weight of an unweighted edge)."""
    comments: bytes
    """Lines that start with one of these characters are skipped."""
    blanks: bytes
    """Translation of what counts as blank: :data:`LOOSE` or :data:`PLAIN`."""


def parse_numbers(text: bytes) -> Array | None:
    """Return the numbers of clean text separated by spaces or line ends, or None if there is anything else.

    >>> parse_numbers(b"1 +2.5 .5e1"), parse_numbers(b"1 x")
    (array([1. , 2.5, 5. ]), None)
    """
    if text.translate(None, _CLEAN):
        return None
    if not text.strip():
        return np.zeros(0)
    try:
        found = np.fromstring(text, sep=" ")
    except (ValueError, DeprecationWarning):
        return None
    return found if found.size == token_starts(text).size else None


def parse_number(token: bytes) -> float | None:
    """Return the number that a token spells, or None.

    >>> parse_number(b"-1.5e3"), parse_number(b"1_000"), parse_number(b"nan")
    (-1500.0, None, None)
    """
    return float(token) if _NUMBER.fullmatch(token) else None


def token_starts(text: bytes) -> IntArray:
    """Return the start of each token."""
    solid = np.frombuffer(b" " + text, np.uint8) > 32
    return np.flatnonzero(solid[1:] & ~solid[:-1])


def leading_numbers(line: bytes) -> tuple[Array, bool]:
    """Return the numbers a line begins with, and whether anything else follows them.

    >>> leading_numbers(b"(2, 3) = block sizes")
    (array([2., 3.]), True)
    """
    text = line.translate(LOOSE)
    clean = parse_numbers(text) if len(text) > _SHORT else None
    if clean is not None:
        return clean, False
    found: list[float] = []
    for token in re.finditer(rb"[^\s=]+|=", text):
        value = parse_number(token.group())
        if value is None:
            return np.array(found), True
        found.append(value)
    return np.array(found), False


def read_table(text: bytes, layout: TableLayout, name: str, line: int) -> tuple[Array, IntArray]:
    r"""Return the rows of numbers in the text and the line number of each, the first line being ``line``.

    >>> read_table(b"1 2\n\n3 4\n", TableLayout((2,), b"#", PLAIN), "file", 1)
    (array([[1., 2.], [3., 4.]]), array([1, 3]))
    """
    clean = text.translate(layout.blanks)
    found = parse_numbers(clean)
    starts = token_starts(clean) if found is not None else None
    for width in layout.widths:
        lines = None if starts is None else _lines(clean, starts, width)
        if found is not None and lines is not None:
            rows, missing = found.reshape(-1, width), max(layout.widths) - width
            return np.pad(rows, ((0, 0), (0, missing)), constant_values=1.0), lines + line
    return read_table_by_line(text, layout, name, line)


def _lines(text: bytes, starts: IntArray, columns: int) -> IntArray | None:
    """Return the line of each row if every nonblank line has this many tokens, else None."""
    if starts.size % columns:
        return None
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == 10)
    first = np.searchsorted(ends, starts[::columns])
    last = np.searchsorted(ends, starts[columns - 1 :: columns])
    return None if np.any(first != last) or np.any(first[1:] == first[:-1]) else first


def read_table_by_line(text: bytes, layout: TableLayout, name: str, line: int) -> tuple[Array, IntArray]:
    """Do the same as :func:`read_table` line by line; raise at the first malformed line."""
    longest = max(layout.widths)
    rows: list[list[float]] = []
    lines: list[int] = []
    for offset, raw in enumerate(text.split(b"\n")):
        tokens = raw.translate(layout.blanks).split()
        if not tokens or raw.lstrip()[0] in layout.comments:
            continue
        bad = next((token for token in tokens if not _NUMBER.fullmatch(token)), None)
        if bad is not None:
            raise FileFormatError(name, f"{quote_token(bad)} is not a number", line + offset)
        if len(tokens) not in layout.widths:
            wanted = " or ".join(str(width) for width in layout.widths)
            raise FileFormatError(name, f"expected {wanted} numbers, got {len(tokens)}", line + offset)
        rows.append([float(token) for token in tokens] + [1.0] * (longest - len(tokens)))
        lines.append(line + offset)
    return np.array(rows, np.float64).reshape(-1, longest), np.array(lines, np.int64)


def require_rows(good: Array, lines: IntArray, name: str, problem: str) -> None:
    """Raise at the line of the first row that is not good."""
    if not good.all():
        raise FileFormatError(name, problem, int(lines[np.argmin(good)]))


def quote_token(token: bytes) -> str:
    """Return a token for a message: short and printable.

    >>> quote_token(b"x" * 50)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'"
    """
    text = token[:40].decode("ascii", "backslashreplace")
    return repr(text + ("..." if len(token) > 40 else ""))


def equal_records(one: Any, other: object) -> Any:
    """Whether two records of one class hold the same values, array by array: the ``__eq__`` of programs from files."""
    names: list[str] = [field.name for field in fields(type(one))]
    if type(one) is not type(other):
        return NotImplemented
    return all(_are_equal(getattr(one, name), getattr(other, name)) for name in names)


def _are_equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if is_dataclass(one):
        return bool(equal_records(one, other))
    from scipy.sparse import issparse  # other readers do without SciPy

    if issparse(one):
        pairs = ((vars(one)[name], vars(other)[name]) for name in ("data", "indices", "indptr"))
        return all(np.array_equal(*pair) for pair in pairs)
    return one == other
