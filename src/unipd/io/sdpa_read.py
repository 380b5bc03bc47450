"""Reader of the SDPA sparse format."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd.errors import FileFormatError
from unipd.io.sdpa_problem import SdpaProblem
from unipd.io.sdpa_stream import BYTE_ORDER_MARK, Limits, Source, bounded, chunks
from unipd.io.sdpa_text import LOOSE, Layout, leading_numbers, table
from unipd.maps.sdp.entries import settle

_COMMENTS = b'"*'
_LAYOUT = Layout(widths=(5,), comments=_COMMENTS, blanks=LOOSE)
_SKIPPED = 100_000
"""Most blank and comment lines in a row before the entries."""
_REPEATS = 2
"""How often every place may be given on average, and ..."""
_SPARE = 1_000_000
"""... how many more entries are read without complaint."""


def read_sdpa(source: Source, *, limits: Limits | None = None) -> SdpaProblem:
    r"""Read a semidefinite program in SDPA sparse format (``.dat-s``), compressed with gzip or not.

    Accepted: comment lines starting with ``"`` or ``*``; the punctuation ``{ } ( ) ,`` anywhere; text after
    the numbers of the first lines; vectors that continue on further lines; Fortran exponents (1.0D+00). An
    entry may be in either triangle, and is mirrored; a place given twice must have the same value both times.
    Indices may be written in any form whose value is a whole number. Everything else is refused.

    Parameters
    ----------
    source
        A path, or a seekable binary stream.
    limits
        What the file may ask for (:class:`~unipd.io.sdpa_stream.Limits`); nothing is allocated in proportion
        to a declared size.

    Raises
    ------
    FileFormatError
        With the path and the line number.

    Examples
    --------
    >>> text = b'"max Y_11, trace Y = 1"\n1 = m\n1 = blocks\n{2}\n1.0\n0 1 1 1 1\n1 1 1 1 1\n1 1 2 2 1\n'
    >>> read_sdpa(io.BytesIO(text))
    SdpaProblem(m=1, block_sizes=(2,), entries=3)
    """
    bounds = limits or Limits()
    with bounded(source, bounds) as (stream, name):
        header = _Header(stream, name, bounds)
        m, sizes, b = header.read()
        return _Body(name, m, sizes).read(stream, header.line + 1, b)


class _Header:
    """Reads m, the block sizes and the vector b, counting lines."""

    def __init__(self, stream: io.BufferedReader, name: str, limits: Limits) -> None:
        self.stream, self.name, self.limits = stream, name, limits
        self.line = 0

    def read(self) -> tuple[int, IntArray, Array]:
        """Return (m, block sizes, b)."""
        m = self.count("the number of constraints", self.limits.constraints)
        blocks = self.count("the number of blocks", self.limits.order)
        sizes = self.vector(blocks, "block sizes")
        if np.any(sizes != np.floor(sizes)) or np.any(sizes == 0):
            raise self.error("block sizes must be whole numbers other than zero")
        if np.abs(sizes).max() > self.limits.order or np.abs(sizes).sum() > self.limits.order:
            raise self.error(f"the block sizes sum to more than the limit of {self.limits.order}")
        b = self.vector(m, "right-hand sides")
        return m, sizes.astype(np.int64), b

    def count(self, what: str, limit: int) -> int:
        """Return the single whole number of the next line."""
        found, _ = self.numbers(what)
        if found.size != 1:
            raise self.error(f"expected {what} alone, got {found.size} numbers")
        value = float(found[0])
        if not value.is_integer() or value < 1:
            raise self.error(f"{what} must be a positive whole number, got {value:g}")
        if value > limit:
            raise self.error(f"{what} is {value:g}, more than the limit of {limit}")
        return int(value)

    def vector(self, count: int, what: str) -> Array:
        """Return ``count`` numbers from the next line, and from further lines while they are not enough."""
        parts: list[Array] = []
        have = 0
        while have < count:
            found, text = self.numbers(what)
            have += found.size
            if have > count or (text and have < count):
                raise self.error(f"expected {count} {what}, got {have}")
            parts.append(found)
        values = np.concatenate(parts)
        if not np.isfinite(values).all():
            raise self.error(f"one of the {what} is not finite")
        return values

    def numbers(self, what: str) -> tuple[Array, bool]:
        """Return the numbers that the next line with data begins with."""
        for _ in range(_SKIPPED):
            raw = self.stream.readline()
            if not raw:
                raise FileFormatError(self.name, f"the file ends before {what}", self.line or None)
            self.line += 1
            data = (raw.removeprefix(BYTE_ORDER_MARK) if self.line == 1 else raw).strip()
            if data and data[0] not in _COMMENTS:
                found, text = leading_numbers(data)
                if found.size == 0:
                    raise self.error(f"expected {what}")
                return found, text
        raise self.error(f"{_SKIPPED} lines without data, expected {what}")

    def error(self, problem: str) -> FileFormatError:
        """Return an error at the present line."""
        return FileFormatError(self.name, problem, self.line)


@dataclass
class _Body:
    """Reads the entries: matrix, block, row, column, value."""

    name: str
    m: int
    sizes: IntArray

    def read(self, stream: io.BufferedReader, line: int, b: Array) -> SdpaProblem:
        """Return the problem, its entries settled."""
        parts = self.parts(stream, line)
        indices: Any = np.concatenate([part[0] for part in parts] or [np.zeros((5, 0), np.int32)], axis=1)
        values: Any = np.concatenate([part[1] for part in parts] or [np.zeros(0)])
        constraint, block, first, second, lines = indices
        row, col = np.minimum(first, second), np.maximum(first, second)
        kept, conflict = settle(constraint, block, row, col, values)
        if conflict is not None:
            old, new = (int(lines[index]) for index in conflict)
            problem = f"this entry was {values[conflict[0]]:g} on line {old} and is {values[conflict[1]]:g} here"
            raise FileFormatError(self.name, problem, new)
        places = (constraint[kept], block[kept], row[kept], col[kept])
        return SdpaProblem(b, self.sizes, *places, values[kept])

    def parts(self, stream: io.BufferedReader, line: int) -> list[tuple[IntArray, Array]]:
        """Return the entries of each piece of the text, no more than the declared sizes have room for."""
        found: list[tuple[IntArray, Array]] = []
        sizes = np.abs(self.sizes).astype(np.float64)
        places = (self.m + 1.0) * float(np.where(self.sizes > 0, sizes * sizes, sizes).sum())
        have = 0
        for text, at in chunks(stream, self.name, line):
            found.append(self.entries(*table(text, _LAYOUT, self.name, at)))
            have += found[-1][1].size
            if have > _REPEATS * places + _SPARE:
                problem = f"{have} entries or more, and {self.m + 1} matrices of these sizes have only {places:g}"
                raise FileFormatError(self.name, problem, at)
        return found

    def entries(self, rows: Array, lines: IntArray) -> tuple[IntArray, Array]:
        """Return checked entries: an array of (matrix, block, row, column, line), from zero, and the values."""
        indices, values = rows[:, :4], rows[:, 4]
        self.require(np.all(indices == np.floor(indices), axis=1), lines, "an index is not a whole number")
        matrix, block, row, col = indices.T
        self.require((matrix >= 0) & (matrix <= self.m), lines, f"the matrix is not between 0 and {self.m}")
        blocks = self.sizes.size
        self.require((block >= 1) & (block <= blocks), lines, f"the block is not between 1 and {blocks}")
        size = self.sizes[block.astype(np.int64) - 1]
        inside = (np.minimum(row, col) >= 1) & (np.maximum(row, col) <= np.abs(size))
        self.require(inside, lines, "a row or column is outside its block")
        self.require((size > 0) | (row == col), lines, "the entry is off the diagonal of a diagonal block")
        self.require(np.isfinite(values), lines, "the value is not finite")
        return np.stack([matrix, block - 1, row - 1, col - 1, lines]).astype(np.int32), values.copy()

    def require(self, good: Any, lines: IntArray, problem: str) -> None:
        """Raise at the first line that is not good."""
        if not good.all():
            raise FileFormatError(self.name, problem, int(lines[np.argmin(good)]))
