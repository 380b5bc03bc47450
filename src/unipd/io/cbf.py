"""The Conic Benchmark Format (CBF), linear, second-order and psd cones: data, reader and writer."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, IntArray
from unipd._util import validate
from unipd._util.files import write_packed
from unipd.errors import FileFormatError, InvalidInput
from unipd.io.reading import (
    PLAIN,
    Limits,
    Source,
    TableLayout,
    equal_records,
    name_of,
    parse_number,
    quote_token,
    read_bounded,
    read_table,
    require_rows,
)
from unipd.maps.sdp import Entries
from unipd.memory import require_room

_FREE, _NONNEGATIVE, _SECOND_ORDER, _PSD = "free", "nonnegative", "second_order", "psd"
_NAMES = {_FREE: "F", _NONNEGATIVE: "L+", _SECOND_ORDER: "Q"}
"""Kinds of blocks that are vectors, with their names in the format."""
_SCALAR_CONES, _PSD_CONE = ("F", "L+", "L-", "L=", "Q", "QR"), "PSD"
_CONES = ("VAR", "PSDVAR", "CON", "PSDCON")
"""Sections of cones."""
_TABLES = {
    "OBJFCOORD": "Xkl",
    "OBJACOORD": "x",
    "FCOORD": "cXkl",
    "ACOORD": "cx",
    "BCOORD": "c",
    "HCOORD": "Pxkl",
    "DCOORD": "Pkl",
}
"""Sections of coordinates and what their indices count: entries of VAR (x) and CON (c), matrices of PSDVAR (X) and
PSDCON (P), row and column of such a matrix (k, l)."""
_COUNTED = {"x": "VAR", "X": "PSDVAR", "c": "CON", "P": "PSDCON"}
_WORDS = ("VER", "OBJSENSE", "OBJBCOORD", "INT")
"""Sections of one word or number."""
_REFUSED = {"POWCONES": "power cones", "POW*CONES": "dual power cones", "CHANGE": "several programs in one file"}
_OTHER_CONES = {"EXP": "an exponential cone", "POW": "a power cone"}
_KEYWORD = re.compile(rb"^[ \t]*(?!(?:MIN|MAX)\b)([A-Z][A-Z*]{2,})[ \t\r]*$", re.MULTILINE)
"""A line with a word alone (cones have shorter names), which begins a section."""
_VERSIONS, _DIGITS = (1, 2, 3, 4), 15
"""Versions of the format, which differ in cones, and most digits of a whole number."""
_GROWTH, _ROW_BYTES = 8.0, 200.0
"""Bytes in memory per byte of the file with copies, and per row and variable."""
_HALF = float(np.sqrt(0.5))


@dataclass(frozen=True, eq=False)
class CbfProblem:
    """A conic program of the Conic Benchmark Format, with its variables as the blocks of one matrix X.

        min or max  <C, X> + constant   subject to  lower_i <= <A_i, X> <= upper_i,  X in a product of cones

    A block is a psd matrix, or a vector on the diagonal of X: free, nonnegative or in a second-order cone
    x_1 >= ||(x_2, ..., x_k)||. Two problems are equal exactly when their arrays are.

    Parameters
    ----------
    blocks
        Kind ("free", "nonnegative", "second_order" or "psd") and size of each block, one after another.
    cost
        The nonzeros of C, as constraint 0.
    constraints
        The nonzeros of A_1, ..., A_m, counting from zero.
    lower, upper
        Bounds of <A_i, X>, infinite where there is none.
    maximise
        Whether the objective is maximised.
    constant
        Constant of the objective.

    Raises
    ------
    InvalidInput
        If an entry lies outside X, or bounds and constraints differ in number.

    See Also
    --------
    read_cbf, SedumiProblem, unipd.SDP

    Examples
    --------
    max X_12 subject to X_11 = X_22 = 1:

    >>> cost, rows = Entries([0], [0], [1], [0.5]), Entries([0, 1], [0, 1], [0, 1], [1.0, 1.0])
    >>> CbfProblem((("psd", 2),), cost, rows, np.ones(2), np.ones(2), maximise=True)
    CbfProblem(max, constraints=2, psd=2)
    """

    blocks: tuple[tuple[str, int], ...]
    cost: Entries
    constraints: Entries
    lower: Array
    upper: Array
    maximise: bool = False
    constant: float = 0.0

    def __post_init__(self) -> None:
        for kind, size in self.blocks:
            validate.choice("blocks", kind, (*_NAMES, _PSD))
            validate.integer("blocks", size, minimum=1)
        order = sum(size for _, size in self.blocks)
        for name, rows in (("cost", 1), ("constraints", self.lower.size)):
            given = getattr(self, name).canonical()
            largest = [int(part.max(initial=-1)) for part in (given.constraint, given.col)]
            if largest[0] >= rows or largest[1] >= order:
                raise InvalidInput(name, f"{rows} matrices of order {order}", f"an entry outside: {largest}")
            object.__setattr__(self, name, given)
        if self.lower.ndim != 1 or self.lower.shape != self.upper.shape:
            raise InvalidInput("lower, upper", "bounds of every constraint", f"{self.lower.size}, {self.upper.size}")

    __eq__ = equal_records
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        totals = {kind: sum(size for other, size in self.blocks if other == kind) for kind in (*_NAMES, _PSD)}
        sizes = "".join(f", {kind}={total}" for kind, total in totals.items() if total)
        return f"CbfProblem({'max' if self.maximise else 'min'}, constraints={self.lower.size}{sizes})"


def read_cbf(source: Source, *, limits: Limits | None = None) -> CbfProblem:
    r"""Read a conic program in the Conic Benchmark Format (``.cbf``), compressed with gzip or not.

    The blocks of X are the cones of VAR in the order of the file, the matrices of PSDVAR, then what constraints in
    second-order cones (CON) and psd matrices (PSDCON) require: a variable of that cone each, equal to the affine
    expression. Nonpositive variables (L-) change their sign, (x_1, x_2) in a rotated cone (QR) become
    (x_1 + x_2, x_1 - x_2) / sqrt 2, variables that are zero (L=) and constraints that hold always (F) are left out.
    Integer variables, exponential and power cones are refused by name.

    Parameters
    ----------
    source
        A path, or a binary stream.
    limits
        Limits beyond which the file is refused (:class:`~unipd.io.Limits`).

    Returns
    -------
    CbfProblem

    Raises
    ------
    FileFormatError
        With the path, the line number and what is wrong there.

    See Also
    --------
    write_cbf, read_sdpa, unipd.SDP

    Examples
    --------
    min x_1 subject to x_1 >= ||(3, 4)||:

    >>> import io
    >>> text = b"VER\n1\nOBJSENSE\nMIN\nVAR\n1 1\nF 1\nCON\n3 1\nQ 3\n"
    >>> text += b"OBJACOORD\n1\n0 1.0\nACOORD\n1\n0 0 1.0\nBCOORD\n2\n1 3.0\n2 4.0\n"
    >>> read_cbf(io.BytesIO(text))
    CbfProblem(min, constraints=3, free=1, second_order=3)
    """
    return _Reader(read_bounded(source, limits, _GROWTH), name_of(source), limits or Limits()).read()


@dataclass(eq=False)
class _Reader:
    """Reads the sections of a file: the cones, then the coordinates, which refer to them."""

    content: bytes
    name: str
    limits: Limits
    cones: dict[str, list[tuple[str, int]]] = field(default_factory=lambda: {key: [] for key in _CONES})
    """The cones of VAR, PSDVAR, CON and PSDCON, with their sizes."""
    tables: dict[str, tuple[IntArray, Array]] = field(
        default_factory=lambda: {key: (np.zeros((len(kinds), 0), int), np.zeros(0)) for key, kinds in _TABLES.items()}
    )
    """Indices and values of each section of coordinates."""
    maximise: bool = False
    constant: float = 0.0

    def read(self) -> CbfProblem:
        """Return the program."""
        seen: dict[str, int] = {}
        for keyword, body, line in self._sections():
            if keyword in seen:
                raise self._error(f"{keyword} was given on line {seen[keyword]} already", line)
            seen[keyword] = line
            if keyword in _TABLES:
                self.tables[keyword] = self._read_table(keyword, body, line)
                continue
            rows = list(_list_tokens(body, line))
            if not rows:
                raise self._error(f"{keyword} has no content", line)
            if keyword in _CONES:
                if any(table in seen for table in _TABLES):
                    raise self._error(f"{keyword} follows coordinates, which refer to it", line)
                self.cones[keyword] = self._read_cones(keyword, rows)
            else:
                self._read_word(keyword, *rows[0], rows[1:])
        for keyword in ("VER", "OBJSENSE"):
            if keyword not in seen:
                raise self._error(f"expected the keyword {keyword}")
        return self._assemble()

    def _error(self, problem: str, line: int | None = None) -> FileFormatError:
        return FileFormatError(self.name, problem, line)

    def _sections(self) -> Iterator[tuple[str, bytes, int]]:
        """Yield (keyword, text up to the next one, line of the keyword)."""
        found = list(_KEYWORD.finditer(self.content))
        begin = self.content[: found[0].start()] if found else self.content
        for line, tokens in _list_tokens(begin, 1):
            raise self._error(f"expected a keyword, got {quote_token(tokens[0])}", line)
        if not found:
            raise self._error("expected the keyword VER")
        line, place = 1, 0
        ends = [match.start() for match in found[1:]] + [len(self.content)]
        for match, end in zip(found, ends, strict=True):
            line += self.content.count(b"\n", place, match.start())
            place, keyword = match.start(), match.group(1).decode()
            if keyword in _REFUSED:
                raise self._error(f"{keyword}, {_REFUSED[keyword]}, is not supported", line)
            if keyword not in (*_TABLES, *_CONES, *_WORDS):
                raise self._error(f"the keyword {keyword} is not supported", line)
            yield keyword, self.content[match.end() : end], line

    def _read_word(self, keyword: str, line: int, tokens: list[bytes], rest: Sequence[Any]) -> None:
        """Read a section of one line with one word or number."""
        if len(tokens) != 1 or (rest and keyword != "INT"):
            raise self._error(f"expected one word or number after {keyword}", line)
        token = tokens[0]
        if keyword == "OBJBCOORD":
            value = parse_number(token)
            if value is None or not np.isfinite(value):
                raise self._error(f"{quote_token(token)} is not a finite number", line)
            self.constant = value
        elif keyword == "OBJSENSE":
            if token not in (b"MIN", b"MAX"):
                raise self._error(f"expected MIN or MAX, got {quote_token(token)}", line)
            self.maximise = token == b"MAX"
        elif keyword == "VER":
            if self._count(token, line) not in _VERSIONS:
                raise self._error(f"the version {quote_token(token)} of the format is not supported", line)
        elif self._count(token, line):
            raise self._error("INT, integer variables, is not supported", line)

    def _read_cones(self, keyword: str, rows: list[tuple[int, list[bytes]]]) -> list[tuple[str, int]]:
        """Return cones and sizes: lines "cone size" after the numbers of entries and lines, or sizes of matrices."""
        (at, header), *body = rows
        width = 1 if keyword.startswith(_PSD_CONE) else 2
        if len(header) != width:
            raise self._error(f"expected {width} numbers after {keyword}, got {len(header)}", at)
        numbers = [self._count(token, at) for token in header]
        if len(body) != numbers[-1]:
            raise self._error(f"{keyword} announces {numbers[-1]} cones, and {len(body)} lines follow", at)
        cones: list[tuple[str, int]] = []
        for line, tokens in body:
            if len(tokens) != width:
                raise self._error(f"expected {width} words, got {len(tokens)}", line)
            cone = tokens[0].decode("ascii", "replace") if width == 2 else _PSD_CONE
            size = self._count(tokens[-1], line)
            if cone not in (*_SCALAR_CONES, _PSD_CONE):
                what = next((f", {what}," for part, what in _OTHER_CONES.items() if part in cone), "")
                raise self._error(f"the cone {quote_token(tokens[0])}{what} is not supported", line)
            if cone == "QR" and size < 2:
                raise self._error(f"a rotated cone has 2 entries or more, got {size}", line)
            cones.append((cone, size))
        total = sum(size for _, size in cones)
        if width == 2 and total != numbers[0]:
            raise self._error(f"{keyword} announces {numbers[0]} entries, and its cones have {total}", at)
        most = self.limits.constraints if keyword == "CON" else self.limits.order
        if total > most:
            raise self._error(f"the sizes of {keyword} sum to {total}, more than the limit of {most}", at)
        return cones

    def _count(self, token: bytes, line: int) -> int:
        """Return a whole number that is not negative."""
        if not token.isdigit() or len(token) > _DIGITS:
            raise self._error(f"expected a whole number, got {quote_token(token)}", line)
        return int(token)

    def _size(self, keyword: str) -> int:
        return sum(size for _, size in self.cones[keyword])

    def _read_table(self, keyword: str, body: bytes, line: int) -> tuple[IntArray, Array]:
        """Return the indices, one row for each kind, and the values; of symmetric matrices row <= column."""
        at, header = next(_list_tokens(body, line), (line, []))
        if len(header) != 1:
            raise self._error(f"expected the number of entries of {keyword}", at)
        kinds, announced = _TABLES[keyword], self._count(header[0], at)
        text = b"".join(body.split(b"\n", at - line + 1)[at - line + 1 :])
        rows, lines = read_table(text, TableLayout((len(kinds) + 1,), b"#", PLAIN), self.name, at + 1)
        if rows.shape[0] != announced:
            raise self._error(f"{keyword} announces {announced} entries, and {rows.shape[0]} follow", at)
        index, value = rows[:, :-1].T, rows[:, -1].copy()
        require_rows(np.isfinite(value), lines, self.name, "the value is not finite")
        is_whole = ((index == np.floor(index)) & (index >= 0.0)).all(axis=0)
        require_rows(is_whole, lines, self.name, "an index is not a whole number from 0")
        for kind, part in zip(kinds, index, strict=True):
            if kind in _COUNTED:
                owner = _COUNTED[kind]
                count: Any = self._size(owner) if kind in "xc" else len(self.cones[owner])
            else:  # a row or column of the matrix that the index "X" or "P" says
                which = "X" if "X" in kinds else "P"
                orders = np.array([size for _, size in self.cones[_COUNTED[which]]], np.int64)
                owner, count = "its matrix", orders[index[kinds.index(which)].astype(np.int64)]
            require_rows(part < count, lines, self.name, f"an index is beyond the size of {owner}")
        index = index.astype(np.int64)
        if "k" in kinds:
            index[-2:] = np.sort(index[-2:], axis=0)
        order = np.lexsort(index[::-1])
        is_first = np.ones(order.size, bool)
        is_first[order[1:]] = (index[:, order[1:]] != index[:, order[:-1]]).any(axis=0)
        require_rows(is_first, lines, self.name, "this entry was given before")
        return index, value

    def _assemble(self) -> CbfProblem:
        """Return the program: row 0 is the objective, then CON and PSDCON, over VAR, PSDVAR and the slacks."""
        variables, matrices, rows, required = (self.cones[key] for key in _CONES)
        triangles = 1 + self._size("CON") + np.cumsum([0, *(size * (size + 1) // 2 for _, size in required)])
        count = int(triangles[-1])
        bounding = count - 1 - sum(size for cone, size in rows if cone == "F")
        if not 0 < bounding <= self.limits.constraints:
            raise self._error(f"expected from 1 to {self.limits.constraints} constraints, got {bounding} that bound X")
        kept = [cone for cone in variables if cone[0] != "L="]
        slacks = [cone for cone in rows if cone[0] in ("Q", "QR")]
        cones = [*kept, *matrices, *slacks, *required]
        starts = np.cumsum([0, *(size for _, size in cones)])
        require_room(self.name, _ROW_BYTES * (count + self._size("VAR") + float(starts[-1])))
        names = np.array(["", *_repeat(rows), *[_PSD_CONE] * (count - int(triangles[0]))])
        turn = _turn([("F", 1), *((cone if cone == "QR" else "F", size) for cone, size in rows)], count)
        first, right = self._collect_vectors(turn, triangles)
        parts = [first, self._collect_matrices(turn, starts[len(kept) :])]
        with_slack = np.flatnonzero((names == "Q") | (names == "QR"))
        place = int(starts[len(kept) + len(matrices)]) + np.arange(with_slack.size)
        parts.append((with_slack, place, place, -np.ones(with_slack.size)))
        for (_, size), row, start in zip(required, triangles, starts[len(cones) - len(required) :], strict=False):
            high, low = np.tril_indices(size)
            value = np.where(low == high, -1.0, -0.5)
            parts.append((row + np.arange(value.size), start + low, start + high, value))
        row, low, high, value = (np.concatenate(column) for column in zip(*parts, strict=True))
        entries, is_kept = Entries(row, low, high, value), np.append(False, names[1:] != "F")
        cost, constraints = entries.select(row == 0), entries.select(is_kept[row])
        constraints = replace(constraints, constraint=(np.cumsum(is_kept) - 1)[constraints.constraint])
        ends = (("L-", -np.inf), ("L+", np.inf))
        lower, upper = (np.where(names == cone, end, right)[is_kept] for cone, end in ends)
        blocks = tuple((_kind_of(*cone), cone[1]) for cone in cones if cone[1])
        return CbfProblem(blocks, cost, constraints, lower, upper, self.maximise, -float(right[0]))

    def _collect_vectors(self, turn: Any, triangles: IntArray) -> tuple[tuple[Any, Any, Any, Any], Array]:
        """Return the entries of all rows over VAR, and the right-hand sides."""
        row, col, value = self._collect(("OBJACOORD", "ACOORD", "HCOORD", "BCOORD", "DCOORD"), "x", triangles)
        constant, count = self._size("VAR"), int(triangles[-1])
        row, value = np.append(row, 0), np.append(value, self.constant)
        col = np.append(np.where(col < 0, constant, col), constant)
        table = sp.csr_array((value, (row, col)), shape=(count, constant + 1))
        table = sp.csr_array(turn @ table @ _turn(self.cones["VAR"], constant + 1))
        over: Any = sp.coo_array(table[:, :-1])
        return (over.row, over.col, over.col, over.data), -table[:, [-1]].toarray()[:, 0]

    def _collect_matrices(self, turn: Any, starts: IntArray) -> tuple[Any, Any, Any, Any]:
        """Return the entries of all rows over PSDVAR, whose matrices start there."""
        keywords = ("OBJFCOORD", "FCOORD")
        row, matrix, value = self._collect(keywords, "X", np.zeros(0, np.int64))
        low, high = (np.concatenate([self._index(key, kind) for key in keywords]) for kind in "kl")
        start, order = starts[matrix], int(starts[-1])
        keys, column = np.unique((start + low) * order + start + high, return_inverse=True)
        over: Any = sp.coo_array(turn @ sp.csr_array((value, (row, column)), shape=(turn.shape[0], keys.size)))
        return (over.row, *np.divmod(keys[over.col], order), over.data)

    def _index(self, keyword: str, kind: str) -> IntArray:
        """Return the indices of one kind in a section, -1 where it has none."""
        index, value = self.tables[keyword]
        kinds = _TABLES[keyword]
        return index[kinds.index(kind)] if kind in kinds else np.full(value.size, -1)

    def _collect(self, keywords: Sequence[str], kind: str, triangles: IntArray) -> tuple[IntArray, IntArray, Array]:
        """Return the rows of the entries of some sections, their indices of a kind, and the values."""
        rows: list[IntArray] = []
        for keyword in keywords:
            row = 1 + self._index(keyword, "c")
            if "P" in _TABLES[keyword]:
                low, high = self._index(keyword, "k"), self._index(keyword, "l")
                row = triangles[self._index(keyword, "P")] + high * (high + 1) // 2 + low
            rows.append(row)
        indices = [self._index(keyword, kind) for keyword in keywords]
        return np.concatenate(rows), np.concatenate(indices), np.concatenate([self.tables[key][1] for key in keywords])


def _list_tokens(text: bytes, line: int) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number and the words of each line that is neither blank nor a comment."""
    for number, raw in enumerate(text.split(b"\n"), line):
        tokens = raw.translate(PLAIN).split()
        if tokens and not tokens[0].startswith(b"#"):
            yield number, tokens


def _repeat(cones: Sequence[tuple[str, int]]) -> list[str]:
    """Return the cone of every entry."""
    return [cone for cone, size in cones for _ in range(size)]


def _turn(cones: Sequence[tuple[str, int]], size: int) -> Any:
    """Return the sparse matrix that maps entries in our cones to those in the cones of the format, and more after them.

    Nonpositive entries change their sign, those that are zero have no column, and the first two of a rotated cone are
    turned, which is its own inverse.
    """
    sizes = [size for _, size in cones]
    names = np.array([*_repeat(cones), *[""] * (size - sum(sizes))])
    starts = np.cumsum([0, *sizes])[:-1]
    first = starts[[index for index, (cone, _) in enumerate(cones) if cone == "QR"]].astype(np.int64)
    diagonal = np.where(names == "L-", -1.0, 1.0)
    diagonal[first], diagonal[first + 1] = _HALF, -_HALF
    index, mixed = np.arange(size), np.full(2 * first.size, _HALF)
    row, col = np.concatenate([index, first, first + 1]), np.concatenate([index, first + 1, first])
    matrix = sp.csr_array((np.concatenate([diagonal, mixed]), (row, col)), shape=(size, size))
    return matrix[:, np.flatnonzero(names != "L=")]


def _kind_of(cone: str, size: int) -> str:
    """Return the kind of block of a cone; those of one entry are half-lines."""
    if cone == "F":
        return _FREE
    if cone in ("L+", "L-") or size == 1:
        return _NONNEGATIVE
    return _PSD if cone == _PSD_CONE else _SECOND_ORDER


def write_cbf(problem: Any, path: str | os.PathLike[str], *, comment: str = "") -> None:
    """Write a conic program in the Conic Benchmark Format, compressed when the path ends in ``.gz``.

    ``problem`` is a :class:`CbfProblem`, or has a method ``to_cbf`` that returns one, as an SDP has. Numbers have the
    digits that give the same doubles back. Vectors come before matrices, and a constraint with two different bounds
    becomes two.

    Parameters
    ----------
    problem
        The program.
    path
        Path of the file.
    comment
        Lines at the head of the file.

    See Also
    --------
    read_cbf, write_sdpa

    Examples
    --------
    >>> import tempfile
    >>> one = Entries([0], [0], [0], [1 / 3])
    >>> problem = CbfProblem((("nonnegative", 1),), one, one, np.array([0.1]), np.array([np.inf]), constant=0.2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_cbf(problem, f"{folder}/p.cbf.gz")
    ...     read_cbf(f"{folder}/p.cbf.gz") == problem
    True
    """
    given: CbfProblem = problem if isinstance(problem, CbfProblem) else problem.to_cbf()
    lines = [f"# {line}" for line in comment.splitlines()]
    content = "\n".join([*lines, *_list_lines(given), ""]).encode()
    with write_packed(path) as file:
        file.write(content)


def _list_lines(problem: CbfProblem) -> list[str]:
    """Return the lines of a program, sections with the cones first."""
    vectors = [(_NAMES[kind], size) for kind, size in problem.blocks if kind != _PSD]
    matrices = [size for kind, size in problem.blocks if kind == _PSD]
    lower, upper = problem.lower, problem.upper
    is_range = np.isfinite(lower) & np.isfinite(upper) & (lower != upper)
    cones = np.select([lower == upper, np.isfinite(lower), np.isfinite(upper)], ["L=", "L+", "L-"], "F")
    cones = np.append(cones, np.full(np.count_nonzero(is_range), "L-"))
    right = np.append(np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0)), upper[is_range])
    starts = np.flatnonzero(np.append(True, cones[1:] != cones[:-1]))
    sizes = np.diff(starts, append=cones.size).tolist()
    runs = [(str(cone), size) for cone, size in zip(cones[starts], sizes, strict=True)]
    number = problem.constraints.constraint
    twice = problem.constraints.select(is_range[number])
    second = Entries(lower.size + np.cumsum(is_range)[twice.constraint] - 1, twice.row, twice.col, twice.value)
    constraints = Entries.concatenate([problem.constraints, second])
    lines = ["VER", "1", "", "OBJSENSE", "MAX" if problem.maximise else "MIN", ""]
    if matrices:
        lines += ["PSDVAR", str(len(matrices)), *map(str, matrices), ""]
    for keyword, parts in (("VAR", vectors), ("CON", runs)):
        if parts:
            total = sum(size for _, size in parts)
            lines += [keyword, f"{total} {len(parts)}", *(f"{cone} {size}" for cone, size in parts), ""]
    lines += _list_coordinates(problem, problem.cost, "OBJFCOORD", "OBJACOORD", has_row=False)
    if problem.constant:
        lines += ["OBJBCOORD", repr(float(problem.constant)), ""]
    lines += _list_coordinates(problem, constraints, "FCOORD", "ACOORD", has_row=True)
    places = np.flatnonzero(right)
    return lines + _format_table("BCOORD", [places], -right[places])


def _list_coordinates(problem: CbfProblem, entries: Entries, matrix: str, vector: str, *, has_row: bool) -> list[str]:
    """Return the sections of entries in matrices and in vectors."""
    sizes = np.array([size for _, size in problem.blocks])
    is_matrix = np.array([kind == _PSD for kind, _ in problem.blocks])
    owner = np.repeat(np.arange(sizes.size), sizes)
    start, number = np.cumsum(sizes) - sizes, np.cumsum(is_matrix) - 1
    place = np.cumsum(~is_matrix[owner]) - 1
    block = owner[entries.row]
    inside, first = is_matrix[block], [entries.constraint] if has_row else []
    columns = [*first, number[block], entries.col - start[block], entries.row - start[block]]
    others = [part[~inside] for part in (*first, place[entries.row])]
    lines = _format_table(matrix, [part[inside] for part in columns], entries.value[inside])
    return lines + _format_table(vector, others, entries.value[~inside])


def _format_table(keyword: str, indices: Sequence[IntArray], values: Array) -> list[str]:
    """Return the lines of a section of coordinates, none without entries."""
    if values.size == 0:
        return []
    form = " ".join(["{}"] * len(indices) + ["{!r}"]).format
    return [keyword, str(values.size), *map(form, *(part.tolist() for part in indices), values.tolist()), ""]
