"""The SDPA sparse format for semidefinite programs, and solutions of them: of CSDP, of SDPA, and in NumPy archives."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, IntArray
from unipd._util import validate
from unipd._util.files import open_to_read, write_packed
from unipd.errors import FileFormatError, InvalidInput
from unipd.io.reading import (
    BYTE_ORDER_MARK,
    LINE_LIMIT,
    LOOSE,
    DamagedArchive,
    Limits,
    Source,
    TableLayout,
    equal_records,
    leading_numbers,
    open_bounded,
    parse_numbers,
    read_arrays,
    read_bounded,
    read_chunks,
    read_table,
    require_rows,
)
from unipd.maps.sdp import deduplicate_entries, index_array
from unipd.memory import require_room


@dataclass(frozen=True, eq=False)
class SdpaProblem:
    """A semidefinite program in SDPA's own convention.

    With symmetric block matrices F_0, ..., F_m and a vector b (the format calls it c),

        primal   min  b^T x          subject to  x_1 F_1 + ... + x_m F_m - F_0 psd,
        dual     max  <F_0, Y>       subject to  <F_i, Y> = b_i for i = 1, ..., m,  Y psd.

    Entries are kept in the upper triangle, sorted, each place once and without zeros, so two problems are
    equal exactly when their arrays are. Arrays are read-only.

    Parameters
    ----------
    b
        The m right-hand sides.
    block_sizes
        Order of each block; a negative number -d is a diagonal block of length d.
    constraint
        Matrix of each entry: 0 is F_0, i is F_i.
    block, row, col
        Place of each entry, counting from zero (in files from one); either triangle.
    value
        The number there and, by symmetry, at the mirrored place.

    Raises
    ------
    InvalidInput
        If an index exceeds its size, or an entry has two values.

    See Also
    --------
    read_sdpa, SedumiProblem, unipd.SDP

    Examples
    --------
    max Y_11 subject to trace Y = 1:

    >>> problem = SdpaProblem([1.0], (2,), [0, 1, 1], [0, 0, 0], [0, 0, 1], [0, 0, 1], [1.0, 1.0, 1.0])
    >>> problem
    SdpaProblem(m=1, block_sizes=(2,), entries=3)
    >>> problem.matrix(1, 0).toarray()
    array([[1., 0.],
           [0., 1.]])
    """

    b: Array
    block_sizes: tuple[int, ...]
    constraint: IntArray
    block: IntArray
    row: IntArray
    col: IntArray
    value: Array

    def __init__(self, b: Any, block_sizes: Any, constraint: Any, block: Any, row: Any, col: Any, value: Any) -> None:
        right = validate.real_array("b", b, ndim=1).astype(np.float64)
        if right.size == 0:
            raise InvalidInput("b", "at least one number", "none")
        if not all(isinstance(size, (int, np.integer)) and size != 0 for size in block_sizes) or len(block_sizes) == 0:
            raise InvalidInput("block_sizes", "whole numbers other than zero, at least one", repr(block_sizes))
        sizes, values = tuple(int(size) for size in block_sizes), validate.real_array("value", value, ndim=1)
        given = {"constraint": constraint, "block": block, "row": row, "col": col}
        places = [index_array(name, index, values.size) for name, index in given.items()]
        places[2:] = np.minimum(places[2], places[3]), np.maximum(places[2], places[3])
        chosen, conflict = deduplicate_entries(tuple(places), values)
        if conflict is not None:
            at = tuple(int(part[conflict[1]]) for part in places)
            got = f"{values[conflict[0]]} and {values[conflict[1]]}"
            raise InvalidInput(f"entry (constraint, block, row, col) = {at}", "one value", got)
        places = [part[chosen] for part in places]
        _check_places(places, sizes, right.size)
        arrays = {"b": right, **dict(zip(given, places, strict=True)), "value": values[chosen].astype(np.float64)}
        object.__setattr__(self, "block_sizes", sizes)
        for name, array in arrays.items():
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def m(self) -> int:
        """Number of constraints."""
        return int(self.b.size)

    @property
    def order(self) -> int:
        """Order of the whole block diagonal matrix."""
        return sum(abs(size) for size in self.block_sizes)

    def matrix(self, constraint: int, block: int) -> Any:
        """Return one block of F_i as a symmetric SciPy CSR array.

        Parameters
        ----------
        constraint
            i, from 1; 0 for the F_0 of the objective.
        block
            The block, counted from 0.
        """
        here = (self.constraint == constraint) & (self.block == block)
        order = abs(self.block_sizes[block])
        upper: Any = sp.csr_array((self.value[here], (self.row[here], self.col[here])), shape=(order, order))
        return upper + sp.triu(upper, 1).T

    __eq__ = equal_records
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        sizes = self.block_sizes if len(self.block_sizes) <= 8 else f"<{len(self.block_sizes)} blocks>"
        return f"SdpaProblem(m={self.m}, block_sizes={sizes}, entries={self.value.size})"


def _check_places(places: list[IntArray], sizes: tuple[int, ...], constraints: int) -> None:
    constraint, block, row, col = places
    if constraint.size == 0:
        return
    if constraint.max() > constraints:
        raise InvalidInput("constraint", f"0 to {constraints}", str(constraint.max()))
    if block.max() >= len(sizes):
        raise InvalidInput("block", f"0 to {len(sizes) - 1}", str(block.max()))
    signed = np.array(sizes, np.int64)[block]
    if np.any(col >= np.abs(signed)):
        raise InvalidInput("row, col", "indices below the order of their block", "a larger one")
    if np.any((signed < 0) & (row != col)):
        raise InvalidInput("row, col", "row == col in a diagonal block", "an entry off the diagonal")


_COMMENTS = b'"*'
_LAYOUT = TableLayout(widths=(5,), comments=_COMMENTS, blanks=LOOSE)
_SKIPPED = 100_000
"""Most blank and comment lines in a row before the entries."""
_REPEATS = 2
"""Average number of times that each entry may be given, in addition to the repetitions that the limits allow."""


def read_sdpa(source: Source, *, limits: Limits | None = None) -> SdpaProblem:
    r"""Read a semidefinite program in SDPA sparse format (``.dat-s``), compressed with gzip or not.

    Accepted: comment lines starting with ``"`` or ``*``; the punctuation ``{ } ( ) ,`` anywhere; text after
    the numbers of the first lines; vectors that continue on further lines; Fortran exponents (1.0D+00). An
    entry may be in either triangle, and is mirrored; a place given twice must have the same value both times.
    Indices may be written in any form whose value is a whole number. Everything else is refused.

    Parameters
    ----------
    source
        A path, or a binary stream.
    limits
        Limits beyond which the file is refused (:class:`~unipd.io.Limits`); nothing is allocated in proportion
        to a declared size.

    Returns
    -------
    SdpaProblem

    Raises
    ------
    FileFormatError
        With the path and the line number.

    See Also
    --------
    write_sdpa, read_sedumi, unipd.SDP

    Examples
    --------
    >>> text = b'"max Y_11, trace Y = 1"\n1 = m\n1 = blocks\n{2}\n1.0\n0 1 1 1 1\n1 1 1 1 1\n1 1 2 2 1\n'
    >>> read_sdpa(io.BytesIO(text))
    SdpaProblem(m=1, block_sizes=(2,), entries=3)
    """
    bounds = limits or Limits()
    with open_bounded(source, bounds) as (stream, name):
        header = _Header(stream, name, bounds)
        m, sizes, b = header.read()
        return _Body(name, m, sizes, bounds).read(stream, header.line + 1, b)


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
        found, _ = self.numbers(what, LINE_LIMIT)
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

    def numbers(self, what: str, most: int = -1) -> tuple[Array, bool]:
        """Return the numbers that the next line with data begins with, a line of at most ``most`` bytes."""
        for _ in range(_SKIPPED):
            raw = self.stream.readline(most)
            if not raw:
                raise FileFormatError(self.name, f"the file ends before {what}", self.line or None)
            self.line += 1
            if len(raw) == most:
                raise self.error(f"a line is longer than {most} bytes, expected {what}")
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
    limits: Limits

    def read(self, stream: io.BufferedReader, line: int, b: Array) -> SdpaProblem:
        """Return the problem, with entries deduplicated."""
        parts = self.parts(stream, line)
        indices: Any = np.concatenate([part[0] for part in parts] or [np.zeros((5, 0), np.int32)], axis=1)
        values: Any = np.concatenate([part[1] for part in parts] or [np.zeros(0)])
        constraint, block, first, second, lines = indices
        row, col = np.minimum(first, second), np.maximum(first, second)
        chosen, conflict = deduplicate_entries((constraint, block, row, col), values)
        if conflict is not None:
            old, new = (int(lines[index]) for index in conflict)
            problem = f"this entry was {values[conflict[0]]:g} on line {old} and is {values[conflict[1]]:g} here"
            raise FileFormatError(self.name, problem, new)
        places = (constraint[chosen], block[chosen], row[chosen], col[chosen])
        return SdpaProblem(b, self.sizes, *places, values[chosen])

    def parts(self, stream: io.BufferedReader, line: int) -> list[tuple[IntArray, Array]]:
        """Return the entries of each piece of the text, no more than the declared sizes have room for."""
        found: list[tuple[IntArray, Array]] = []
        sizes = np.abs(self.sizes).astype(np.float64)
        places = (self.m + 1.0) * float(np.where(self.sizes > 0, sizes * sizes, sizes).sum())
        have = 0
        for text, at in read_chunks(stream, self.name, line):
            found.append(self.entries(*read_table(text, _LAYOUT, self.name, at)))
            have += found[-1][1].size
            if have > _REPEATS * places + self.limits.repeated_entries:
                problem = f"{have} entries or more, and {self.m + 1} matrices of these sizes have only {places:g}"
                raise FileFormatError(self.name, problem, at)
        return found

    def entries(self, rows: Array, lines: IntArray) -> tuple[IntArray, Array]:
        """Return checked entries: an array of (matrix, block, row, column, line), from zero, and the values."""
        is_matrix = (rows[:, 0] >= 0) & (rows[:, 0] <= self.m), f"the matrix is not between 0 and {self.m}"
        places = read_places(rows, lines, self.sizes, self.name, *is_matrix)
        return np.concatenate([places, lines[None]]).astype(np.int32), rows[:, 4].copy()


def read_places(rows: Array, lines: IntArray, sizes: IntArray, name: str, is_matrix: Array, problem: str) -> IntArray:
    """Return matrix, block, row and column, counted from zero, of rows that end with a value.

    The first number is the matrix, as it is: ``problem`` says what is wrong with it where ``is_matrix`` does not hold.
    """
    require_rows(np.all(rows[:, :4] == np.floor(rows[:, :4]), axis=1), lines, name, "an index is not a whole number")
    require_rows(is_matrix, lines, name, problem)
    _, block, row, col, value = rows.T
    is_block = (block >= 1) & (block <= sizes.size)
    require_rows(is_block, lines, name, f"the block is not between 1 and {sizes.size}")
    size = sizes[block.astype(np.int64) - 1]
    inside = (np.minimum(row, col) >= 1) & (np.maximum(row, col) <= np.abs(size))
    require_rows(inside, lines, name, "a row or column is outside its block")
    require_rows((size > 0) | (row == col), lines, name, "the entry is off the diagonal of a diagonal block")
    require_rows(np.isfinite(value), lines, name, "the value is not finite")
    return rows[:, :4].T.astype(np.int64) - np.array([[0], [1], [1], [1]])


_LINES = 1 << 16
"""Entries formatted at a time."""


def write_sdpa(problem: Any, path: str | os.PathLike[str], *, comment: str = "") -> None:
    """Write a semidefinite program in SDPA sparse format, compressed when the path ends in ``.gz``.

    ``problem`` is an :class:`SdpaProblem`, or has a method ``to_sdpa`` that returns one, as an SDP has. Numbers are
    written with the digits that give the same doubles back, so ``read_sdpa(path) == problem`` exactly; the same problem
    always gives the same bytes.

    Parameters
    ----------
    problem
        An :class:`SdpaProblem`, or anything with a method ``to_sdpa`` that returns one, such as :class:`unipd.SDP`.
    path
        Path of the file.
    comment
        A line at the head of the file.

    See Also
    --------
    read_sdpa, write_sedumi

    Examples
    --------
    >>> import tempfile
    >>> from unipd.io import read_sdpa
    >>> problem = SdpaProblem([0.1], (2, -3), [0, 1], [0, 1], [0, 2], [1, 2], [1 / 3, -1.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_sdpa(problem, f"{folder}/p.dat-s.gz")
    ...     read_sdpa(f"{folder}/p.dat-s.gz") == problem
    True
    """
    given: SdpaProblem = problem if isinstance(problem, SdpaProblem) else problem.to_sdpa()
    sizes, right = " ".join(map(str, given.block_sizes)), " ".join(map(repr, given.b.tolist()))
    lines = [*(f'"{line}' for line in comment.splitlines()), f"{given.m}", f"{len(given.block_sizes)}", sizes, right]
    places = (given.constraint, given.block + 1, given.row + 1, given.col + 1, given.value)
    with write_packed(path) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())
        for start in range(0, given.value.size, _LINES):
            columns = [part[start : start + _LINES].tolist() for part in places]
            file.write("".join(map("{} {} {} {} {!r}\n".format, *columns)).encode())


_TABLE = TableLayout(widths=(5,), comments=b"", blanks=LOOSE)
_ZIP = b"PK"
_PRIMAL = 2
"""First number of CSDP's lines for X; 1 is for Z."""


class Solution(NamedTuple):
    """Multipliers y with the slack C + sum y_i A_i (SDPA's vector x), and X: blocks, an array, factors, or None.

    Parameters
    ----------
    dual
        The multipliers y.
    x
        The matrix X; None if it is not known.

    See Also
    --------
    read_solution, unipd.certify

    Examples
    --------
    >>> Solution(np.array([0.5]), None).x is None
    True
    """

    dual: Array
    x: Any


def read_solution(
    path: str | os.PathLike[str], constraints: int, block_sizes: Sequence[int], *, limits: Limits | None = None
) -> Solution:
    """Read a solution: of CSDP (``csdp file.dat-s file.sol``), of SDPA (its output), or an ``.npz`` archive.

    An archive is a result of unipd, or has the multipliers as ``y`` or ``dual`` and, if at all, the matrix X or its
    factor R, X = R R^T, as ``X`` or ``R``.

    Parameters
    ----------
    path
        The file, compressed with gzip or not (archives are not).
    constraints, block_sizes
        Size of the program; a negative size -d is a diagonal block of length d.
    limits
        Limits beyond which the file is refused (:class:`~unipd.io.Limits`).

    Returns
    -------
    Solution

    Raises
    ------
    FileFormatError
        If the file is malformed, or has other sizes than the program.

    See Also
    --------
    Solution, unipd.certify

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/answer.npz", y=np.array([0.5]), X=np.eye(2))
    ...     read_solution(f"{folder}/answer.npz", 1, [2]).dual
    array([0.5])
    """
    name = os.fspath(path)
    with open_to_read(path) as stream:
        is_archive = stream.read(len(_ZIP)) == _ZIP
    if is_archive:
        found = _read_archive(name, limits)
    else:
        sizes = [int(size) for size in block_sizes]
        content = read_bounded(path, limits, growth=2.0)
        require_room(name, 8.0 * sum(float(size) ** 2 if size > 0 else -float(size) for size in sizes))
        found = (_read_sdpa if b"xVec" in content else _read_csdp)(content, name, sizes)
    if found.dual.shape != (constraints,) or not np.isfinite(found.dual).all():
        raise FileFormatError(name, f"expected {constraints} multipliers, got an array of shape {found.dual.shape}")
    return found


def _read_archive(name: str, limits: Limits | None) -> Solution:
    try:
        arrays = read_arrays(name, limits)
    except DamagedArchive as error:
        raise FileFormatError(name, f"not a readable archive ({error})") from error
    if "header" in arrays:
        from unipd.io.results import load  # readers of programs need no results

        result = load(name)
        return Solution(np.asarray(result.dual, np.float64), result.x)
    dual = next((arrays[key] for key in ("y", "dual") if key in arrays), None)
    if dual is None or dual.dtype.kind not in "uif":
        raise FileFormatError(name, "expected multipliers, an array y or dual")
    factor = arrays.get("R")
    return Solution(dual.astype(np.float64).ravel(), arrays.get("X") if factor is None else factor @ factor.T)


def _read_csdp(content: bytes, name: str, sizes: list[int]) -> Solution:
    """Read y on the first line, then lines "1 or 2, block, row, column, value" for the upper triangles of Z and X."""
    first, _, rest = content.partition(b"\n")
    dual, has_text = leading_numbers(first)
    if has_text or dual.size == 0:
        raise FileFormatError(name, "expected the multipliers y, as CSDP writes them, or the output of SDPA", 1)
    rows, lines = read_table(rest, _TABLE, name, 2)
    is_matrix = (rows[:, 0] == 1) | (rows[:, 0] == _PRIMAL), "the first number is neither 1 (Z) nor 2 (X)"
    which, block, row, col = read_places(rows, lines, np.array(sizes), name, *is_matrix)
    blocks: list[Array] = []
    for index, size in enumerate(sizes):
        chosen = (which == _PRIMAL) & (block == index)
        part, places = np.zeros(-size if size < 0 else (size, size)), (row[chosen], col[chosen])
        for place in (places[:1],) if size < 0 else (places, places[::-1]):
            part[place] = rows[chosen, 4]
        blocks.append(part)
    return Solution(dual, blocks)


def _read_sdpa(content: bytes, name: str, sizes: list[int]) -> Solution:
    """Read xVec = {...} and yMat = {{{...}, ...}, ...}: rows of the blocks of Y, diagonal blocks as one row."""
    dual = _braced_numbers(content, b"xVec", name)
    if b"yMat" not in content:
        return Solution(dual, None)
    numbers = _braced_numbers(content, b"yMat", name)
    lengths = [size * size if size > 0 else -size for size in sizes]
    if numbers.size != sum(lengths):
        raise FileFormatError(name, f"expected {sum(lengths)} numbers in yMat, got {numbers.size}")
    parts = np.split(numbers, np.cumsum(lengths)[:-1])
    return Solution(
        dual, [part if size < 0 else part.reshape(size, size) for part, size in zip(parts, sizes, strict=True)]
    )


def _braced_numbers(content: bytes, word: bytes, name: str) -> Array:
    """Return all numbers between the brace after a word and the one that closes it."""
    begin = content.find(b"{", content.index(word))
    if begin < 0:
        raise FileFormatError(name, f"expected {{...}} after {word.decode()}")
    letters = np.frombuffer(content, np.uint8, offset=begin)
    depth = np.cumsum((letters == ord("{")).astype(np.int8) - (letters == ord("}")).astype(np.int8), dtype=np.int64)
    ends = np.flatnonzero(depth == 0)
    if ends.size == 0:
        raise FileFormatError(name, f"a brace after {word.decode()} is never closed")
    numbers = parse_numbers(content[begin : begin + int(ends[0]) + 1].translate(LOOSE))
    if numbers is None:
        raise FileFormatError(name, f"something in {word.decode()} is not a number")
    return numbers
