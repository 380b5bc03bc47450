"""Text files of numbers: chunks of lines, tokens, and tables whose errors name the line."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unipd._typing import Array, IntArray
from unipd.errors import FileFormatError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""Some editors put it before UTF-8 text."""

LINE_LIMIT = 1 << 20
"""Longest line of a table, in bytes."""


def read_chunks(stream: io.BufferedReader, name: str, line: int, size: int = 1 << 22) -> Iterator[tuple[bytes, int]]:
    """Yield (text, line): chunks of whole lines, each with the number of its first line."""
    while text := stream.read(size):
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
