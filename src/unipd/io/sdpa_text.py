"""Tables of numbers in text: a vectorised path for clean text, a line-by-line path that says what is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from unipd._typing import Array, IntArray
from unipd.errors import FileFormatError

LOOSE = bytes.maketrans(b"{}(),\t\r\v\fDd", b"         ee")
"""The punctuation that SDPA ignores and other blanks become spaces; Fortran's D exponents become e."""

PLAIN = bytes.maketrans(b"\t\r\v\f", b"    ")
"""Blanks alone become spaces."""

_CLEAN = b"0123456789+-.eE \n"
_SHORT = 200
"""Lines up to this length are faster one token at a time."""
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class Layout:
    """How the lines of a table look."""

    widths: tuple[int, ...]
    """Allowed numbers a line; shorter lines are filled with ones (the weight of an edge that has none)."""
    comments: bytes
    """Lines that start with one of these characters are skipped."""
    blanks: bytes
    """Translation of what counts as blank: :data:`LOOSE` or :data:`PLAIN`."""


def numbers(text: bytes) -> Array | None:
    """Return the numbers of clean text separated by spaces or line ends, or None when there is anything else.

    >>> numbers(b"1 +2.5 .5e1"), numbers(b"1 x")
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


def number(token: bytes) -> float | None:
    """Return the number that a token is, or None.

    >>> number(b"-1.5e3"), number(b"1_000"), number(b"nan")
    (-1500.0, None, None)
    """
    return float(token) if _NUMBER.fullmatch(token) else None


def token_starts(text: bytes) -> IntArray:
    """Return where each token of the text starts."""
    solid = np.frombuffer(b" " + text, np.uint8) > 32
    return np.flatnonzero(solid[1:] & ~solid[:-1])


def leading_numbers(line: bytes) -> tuple[Array, bool]:
    """Return the numbers a line begins with, and whether anything else follows them.

    >>> leading_numbers(b"(2, 3) = block sizes")
    (array([2., 3.]), True)
    """
    text = line.translate(LOOSE)
    clean = numbers(text) if len(text) > _SHORT else None
    if clean is not None:
        return clean, False
    found: list[float] = []
    for token in re.finditer(rb"[^\s=]+|=", text):
        value = number(token.group())
        if value is None:
            return np.array(found), True
        found.append(value)
    return np.array(found), False


def table(text: bytes, layout: Layout, name: str, line: int) -> tuple[Array, IntArray]:
    r"""Return the rows of numbers in the text and the line number of each, the first line being ``line``.

    >>> table(b"1 2\n\n3 4\n", Layout((2,), b"#", PLAIN), "file", 1)
    (array([[1., 2.], [3., 4.]]), array([1, 3]))
    """
    clean = text.translate(layout.blanks)
    found = numbers(clean)
    starts = token_starts(clean) if found is not None else None
    for width in layout.widths:
        lines = None if starts is None else _lines(clean, starts, width)
        if found is not None and lines is not None:
            rows, missing = found.reshape(-1, width), max(layout.widths) - width
            return np.pad(rows, ((0, 0), (0, missing)), constant_values=1.0), lines + line
    return line_by_line(text, layout, name, line)


def _lines(text: bytes, starts: IntArray, columns: int) -> IntArray | None:
    """Return the line of each row when every line that is not blank has so many tokens, else None."""
    if starts.size % columns:
        return None
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == 10)
    first = np.searchsorted(ends, starts[::columns])
    last = np.searchsorted(ends, starts[columns - 1 :: columns])
    return None if np.any(first != last) or np.any(first[1:] == first[:-1]) else first


def line_by_line(text: bytes, layout: Layout, name: str, line: int) -> tuple[Array, IntArray]:
    """Return what :func:`table` does, slowly; raise at the first line that is wrong."""
    longest = max(layout.widths)
    rows: list[list[float]] = []
    lines: list[int] = []
    for offset, raw in enumerate(text.split(b"\n")):
        tokens = raw.translate(layout.blanks).split()
        if not tokens or raw.lstrip()[0] in layout.comments:
            continue
        bad = next((token for token in tokens if not _NUMBER.fullmatch(token)), None)
        if bad is not None:
            raise FileFormatError(name, f"{shown(bad)} is not a number", line + offset)
        if len(tokens) not in layout.widths:
            wanted = " or ".join(str(width) for width in layout.widths)
            raise FileFormatError(name, f"expected {wanted} numbers, got {len(tokens)}", line + offset)
        rows.append([float(token) for token in tokens] + [1.0] * (longest - len(tokens)))
        lines.append(line + offset)
    return np.array(rows, np.float64).reshape(-1, longest), np.array(lines, np.int64)


def shown(token: bytes) -> str:
    """Return a token for a message: short, and safe to print.

    >>> shown(b"x" * 50)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'"
    """
    text = token[:40].decode("ascii", "backslashreplace")
    return repr(text + ("..." if len(token) > 40 else ""))
