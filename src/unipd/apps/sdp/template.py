"""Cone programs that are the template: linear costs, squares and absolute values over a simplex, a box or a ball.

Nothing is guessed: every row and column has its place in one of the patterns below, which are those that CVXPY writes,
or the program is not taken. Columns besides those of x are epigraphs, t:

- a square, t >= ||v||^2 / (4 beta k): a second-order cone (beta + k t, beta - k t, v), v affine in x, t with a cost;
- absolute values, k t_i >= |r_i|: two inequalities each, r affine in x, every t_i with a cost;
- a limit, t <= a, where t has no cost and loosens all its other rows: t = a;
- the l1 ball, |x_i| <= k t_i and sum t <= a.

Other sets are a simplex, a box, a Euclidean ball, and psd matrices of bounded trace, which nuclear balls are, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from unipd import couplings, sharp
from unipd._typing import Array, IntArray
from unipd.apps.sdp.cone_program import ConeProgram, ConeSolution, Layout
from unipd.apps.sdp.data import PSD
from unipd.atoms import dense
from unipd.maps import SdpMap, SparseMatrix
from unipd.methods import Factored
from unipd.problem import Problem
from unipd.run import Result, solve
from unipd.status import Status

EQUATION, INEQUALITY, HEAD, TAIL, MATRIX = range(5)
"""Kinds of rows: those of the zero and nonnegative cones, first and other ones of second-order cones, psd cones."""


class Shape(NamedTuple):
    """The set X that some rows describe."""

    oracle: Any
    columns: IntArray
    """Those of x."""
    rows: IntArray
    multipliers: Callable[[Array], Array]
    """Of these rows, from the gradient of the rest of the Lagrangian in x."""
    lifted: IntArray = np.zeros(0, np.int64)
    """Columns of t."""
    lift: float = 0.0
    """t is this times |x|."""
    layout: Layout | None = None
    """Where the columns lie in a matrix x."""


class Residual(NamedTuple):
    """A cost of squares, or of absolute values, of residuals factor (A x - b)."""

    coupling: Any
    rows: IntArray
    heads: IntArray
    """The other rows of the epigraph."""
    columns: IntArray
    """Those of t."""
    factor: Array
    value: Callable[[Array], Array]
    """t from the residuals."""
    multipliers: Callable[[Array], tuple[Array, Array]]
    """Of the rows and heads, from those of the residuals."""


class Pattern:
    """A program, and which of its rows and columns are not explained yet."""

    def __init__(self, program: ConeProgram) -> None:
        self.A, self.b, self.c, self.cones = program.A, program.b, program.c, program.cones
        cones, heads = self.cones, np.array(self.cones.second_order, np.int64)
        self.kind = np.repeat(
            [EQUATION, INEQUALITY, TAIL, MATRIX],
            [cones.zero, cones.nonnegative, heads.sum(), self.b.size - cones.zero - cones.nonnegative - heads.sum()],
        )
        self.heads = cones.zero + cones.nonnegative + np.cumsum(heads) - heads
        self.kind[self.heads] = HEAD
        self.by_columns: Any = sp.csc_array(self.A)
        self.row_sizes, self.column_sizes = np.diff(self.A.indptr), np.diff(self.by_columns.indptr)
        self.is_open, self.is_main = np.ones(self.b.size, bool), np.ones(self.c.size, bool)

    def close(self, rows: IntArray, columns: IntArray) -> None:
        """Mark rows and columns as explained."""
        self.is_open[rows], self.is_main[columns] = False, False

    def list_open(self, kind: int) -> IntArray:
        """Return the rows of a kind that are not explained yet."""
        return np.flatnonzero(self.is_open & (self.kind == kind))

    def read_single(self, rows: IntArray) -> tuple[IntArray, Array] | None:
        """Return columns and values of rows with b = 0 and one entry, if they are such and the columns are all of x."""
        if (self.row_sizes[rows] != 1).any() or self.b[rows].any():
            return None
        columns, values = self.A.indices[self.A.indptr[rows]], self.A.data[self.A.indptr[rows]]
        return (columns, values) if self.covers(columns) else None

    def covers(self, columns: IntArray) -> bool:
        """Whether these are the columns of x, each once."""
        return np.array_equal(np.sort(columns), np.flatnonzero(self.is_main))

    def find_sum(self, columns: IntArray) -> tuple[int, float, bool] | None:
        """Return the row sum x_j = b or <= b over these columns: place, weight, whether it is an equation."""
        is_candidate = self.is_open & (self.kind <= INEQUALITY) & (self.b > 0.0)
        is_candidate &= (self.row_sizes == columns.size) & (self.row_sizes > 0)
        for row in np.flatnonzero(is_candidate):
            entries = self.A[[row]]
            if np.ptp(entries.data) == 0.0 < entries.data[0] and np.isin(columns, entries.indices).all():
                return int(row), float(entries.data[0]), bool(self.kind[row] == EQUATION)
        return None

    def find_bounds(self, sign: float) -> IntArray | None:
        """Return the tightest of the rows that bound every x_j from one side; None where one is missing."""
        rows = self.list_open(INEQUALITY)
        rows = rows[self.row_sizes[rows] == 1]
        places = self.A.indptr[rows]
        is_side = sign * self.A.data[places] > 0.0
        rows, places = rows[is_side], places[is_side]
        order = np.lexsort([self.b[rows] / np.abs(self.A.data[places]), self.A.indices[places]])
        columns, first = np.unique(self.A.indices[places][order], return_index=True)
        return rows[order][first] if self.covers(columns) else None


class Limits:
    """The columns of a program that can be fixed at their only bound, and the program without them."""

    def __init__(self, whole: ConeProgram) -> None:
        pattern, table = Pattern(whole), sp.coo_array(whole.A)
        kind, is_positive = pattern.kind[table.row], table.data > 0.0
        is_bound = is_positive & (kind == INEQUALITY) & (pattern.row_sizes[table.row] == 1)
        is_loose = ~is_positive & ((kind == INEQUALITY) | (kind == HEAD))
        bounds, loose = (np.bincount(table.col, mask, whole.c.size) for mask in (is_bound, is_loose))
        is_fixed = (whole.c == 0.0) & (bounds == 1) & (loose > 0) & (loose == pattern.column_sizes - 1)
        chosen = np.flatnonzero(is_bound & is_fixed[table.col])
        self.whole, self.columns, self.rows, self.factor = (
            whole,
            table.col[chosen],
            table.row[chosen],
            table.data[chosen],
        )
        self.values = whole.b[self.rows] / self.factor
        self.kept_columns = np.delete(np.arange(whole.c.size), self.columns)
        self.kept_rows = np.delete(np.arange(whole.b.size), self.rows)

    @property
    def program(self) -> ConeProgram:
        """The program without them."""
        whole = self.whole
        b = whole.b - whole.A[:, self.columns] @ self.values
        cones = replace(whole.cones, nonnegative=whole.cones.nonnegative - self.rows.size)
        table = whole.A[self.kept_rows][:, self.kept_columns]
        return ConeProgram(whole.c[self.kept_columns], table, b[self.kept_rows], cones)

    def restore(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Return x and y of the whole program."""
        all_x, all_y = np.zeros(self.whole.c.size), np.zeros(self.whole.b.size)
        all_x[self.kept_columns], all_x[self.columns], all_y[self.kept_rows] = x, self.values, y
        all_y[self.rows] = -(self.whole.A.T @ all_y)[self.columns] / self.factor
        return all_x, all_y


def take_squares(pattern: Pattern) -> list[Residual]:
    """Explain the squares in the cost."""
    found: list[Residual] = []
    for head, size in zip(pattern.heads, pattern.cones.second_order, strict=True):
        if size < 3 or (pattern.row_sizes[head : head + 2] != 1).any():
            continue
        places = pattern.A.indptr[head : head + 2]
        (column, other), (minus, k) = pattern.A.indices[places], pattern.A.data[places]
        beta, cost = float(pattern.b[head]), float(pattern.c[column])
        is_square = column == other and pattern.column_sizes[column] == 2 and -minus == k > 0.0 < beta
        if not (is_square and beta == pattern.b[head + 1] and cost > 0.0):
            continue
        factor = (cost / (2.0 * beta * k)) ** 0.5

        def measure(residual: Array, cost: float = cost) -> Array:
            return np.array([residual @ residual / (2.0 * cost)])

        def multipliers(dual: Array, factor: float = factor, price: float = cost / k) -> tuple[Array, Array]:
            y = factor * dual
            total = float(y @ y) / price  # (total + price) (total - price) = 4 ||y||^2 on the boundary of the cone
            return y, np.array([total + price, total - price]) / 2.0

        rows = np.arange(head + 2, head + size)
        heads, columns = np.array([head, head + 1]), np.array([column])
        pattern.close(np.concatenate([heads, rows]), columns)
        parts = (rows, heads, columns, np.full(rows.size, factor))
        found.append(Residual(couplings.LeastSquares(), *parts, measure, multipliers))
    return found


def take_absolutes(pattern: Pattern) -> list[Residual]:
    """Explain the absolute values in the cost, all at once."""
    columns = np.flatnonzero(pattern.is_main & (pattern.c > 0.0) & (pattern.column_sizes == 2))
    table = pattern.by_columns[:, columns]
    (first, second), (k, other) = table.indices.reshape(-1, 2).T, -table.data.reshape(-1, 2).T
    rest = _select(pattern.A, np.bincount(columns, minlength=pattern.c.size) == 0)
    is_alone = np.bincount(table.indices, minlength=pattern.b.size) == 1
    is_pair = is_alone[first] & is_alone[second]
    is_pair &= (k == other) & (k > 0.0) & (pattern.kind[first] == INEQUALITY) & (pattern.kind[second] == INEQUALITY)
    is_pair &= (abs(rest[first] + rest[second]).sum(axis=1) == 0.0) & (pattern.b[first] == -pattern.b[second])
    if not is_pair.any():
        return []
    columns, first, second, k = columns[is_pair], first[is_pair], second[is_pair], k[is_pair]
    factor = pattern.c[columns] / k
    pattern.close(np.concatenate([first, second]), columns)

    def multipliers(dual: Array) -> tuple[Array, Array]:
        share = np.clip(dual, -1.0, 1.0)
        return factor * (1.0 + share) / 2.0, factor * (1.0 - share) / 2.0

    def measure(residual: Array) -> Array:
        return np.abs(residual) / (factor * k)

    return [Residual(couplings.Absolute(), first, second, columns, factor, measure, multipliers)]


def match_psd(pattern: Pattern) -> Shape | None:
    """Match psd matrices of given or bounded trace."""
    rows = pattern.list_open(MATRIX)
    found = pattern.read_single(rows) if len(pattern.cones.psd) == 1 else None
    if found is None:
        return None
    (order,), (columns, values) = pattern.cones.psd, found
    layout = Layout(0, [(PSD, order)])
    is_diagonal = layout.row == layout.col
    trace = pattern.find_sum(columns[is_diagonal])
    if trace is None or not np.allclose(values * layout.weight, -1.0, rtol=1e-12, atol=0.0):
        return None
    row, weight, is_fixed = trace

    def multipliers(gradient: Array) -> Array:
        price = _price(float(np.linalg.eigvalsh(layout.fold(gradient))[0]), is_fixed)
        return np.append(gradient * layout.weight + price * is_diagonal, price / weight)

    kind = sharp.Spectrahedron if is_fixed else sharp.TraceBall
    return Shape(kind(order, pattern.b[row] / weight), columns, np.append(rows, row), multipliers, layout=layout)


def match_euclidean_ball(pattern: Pattern) -> Shape | None:
    """Match ||x||_2 <= a."""
    head, tail = pattern.list_open(HEAD), pattern.list_open(TAIL)
    found = pattern.read_single(tail) if head.size == 1 else None
    if found is None or pattern.row_sizes[head[0]] or pattern.b[head[0]] <= 0.0 or np.ptp(np.abs(found[1])) != 0.0:
        return None
    columns, values = found

    def multipliers(gradient: Array) -> Array:
        y = -gradient / values
        return np.append(np.linalg.norm(y), y)

    oracle = sharp.L2Ball(columns.size, pattern.b[head[0]] / abs(values[0]))
    return Shape(oracle, columns, np.append(head, tail), multipliers)


def match_l1_ball(pattern: Pattern) -> Shape | None:
    """Match |x_i| <= k t_i, sum t <= a."""
    lifted = np.flatnonzero(pattern.is_main & (pattern.c == 0.0) & (pattern.column_sizes == 3))
    total = pattern.find_sum(lifted)
    if total is None or total[2]:
        return None
    row, weight, _ = total
    table = pattern.by_columns[:, lifted]
    is_pair = table.indices != row
    (first, second), k = table.indices[is_pair].reshape(-1, 2).T, -table.data[is_pair]
    is_x = pattern.is_main & (np.bincount(lifted, minlength=pattern.c.size) == 0)
    both, rest, other = np.append(first, second), _select(pattern.A[first], is_x), _select(pattern.A[second], is_x)
    is_ball = (pattern.row_sizes[both] == 2).all() and (pattern.kind[both] == INEQUALITY).all()
    is_ball &= np.ptp(k) == 0.0 < k[0] and not pattern.b[both].any() and abs(rest + other).sum() == 0.0
    is_ball &= (np.diff(rest.indptr) == 1).all() and np.array_equal(np.sort(rest.indices), np.flatnonzero(is_x))
    if not (is_ball and np.ptp(np.abs(rest.data)) == 0.0):
        return None
    size = float(abs(rest.data[0]))

    def multipliers(gradient: Array) -> Array:
        bound, signed = np.abs(gradient).max() / size, -gradient / rest.data
        return np.concatenate([(bound + signed) / 2.0, (bound - signed) / 2.0, [k[0] * bound / weight]])

    oracle, rows = sharp.L1Ball(lifted.size, pattern.b[row] / weight * k[0] / size), np.append(both, row)
    return Shape(oracle, rest.indices, rows, multipliers, lifted, size / float(k[0]))


def match_simplex(pattern: Pattern) -> Shape | None:
    """Match x >= 0 with a given or bounded sum."""
    columns = np.flatnonzero(pattern.is_main)
    total, lower = pattern.find_sum(columns), pattern.find_bounds(-1.0)
    if total is None or lower is None or pattern.b[lower].any():
        return None
    row, weight, is_fixed = total
    values = -pattern.A.data[pattern.A.indptr[lower]]

    def multipliers(gradient: Array) -> Array:
        price = _price(float(gradient.min()), is_fixed)
        return np.append((gradient + price) / values, price / weight)

    kind = sharp.Simplex if is_fixed else sharp.UnitSimplex
    return Shape(kind(columns.size, pattern.b[row] / weight), columns, np.append(lower, row), multipliers)


def match_box(pattern: Pattern) -> Shape | None:
    """Match l <= x <= u."""
    lower, upper = pattern.find_bounds(-1.0), pattern.find_bounds(1.0)
    if lower is None or upper is None:
        return None
    below, above = (pattern.A.data[pattern.A.indptr[rows]] for rows in (lower, upper))
    low, high = pattern.b[lower] / below, pattern.b[upper] / above
    if (low > high).any():
        return None

    def multipliers(gradient: Array) -> Array:
        return np.append(np.maximum(gradient, 0.0) / -below, np.maximum(-gradient, 0.0) / above)

    return Shape(sharp.Box(low, high), np.flatnonzero(pattern.is_main), np.append(lower, upper), multipliers)


def _select(table: Any, is_kept: Any) -> Any:
    """Return rows with the entries of these columns only."""
    kept = sp.csr_array(table * is_kept[None])
    kept.eliminate_zeros()
    return kept


def _price(least: float, is_fixed: bool) -> float:
    """Return the multiplier of the sum of x (or of eigenvalues) that leaves no negative slack."""
    return -least if is_fixed else max(-least, 0.0)


MATCHES = (match_psd, match_euclidean_ball, match_l1_ball, match_simplex, match_box)


class Template:
    """The template of a cone program, and its solutions back."""

    def __init__(self, limits: Limits, rows: IntArray, residuals: list[Residual], shape: Shape) -> None:
        self.limits, self.rows, self.residuals, self.shape = limits, rows, residuals, shape
        program = self.program = limits.program
        equations = int(np.count_nonzero(rows < program.cones.zero))
        parts = [(couplings.Equality(), rows[:equations], 1.0), (couplings.AtMost(), rows[equations:], 1.0)]
        parts += [(residual.coupling, residual.rows, residual.factor) for residual in residuals]
        parts = [part for part in parts if part[1].size]
        picked = np.concatenate([places for _, places, _ in parts])
        factor = np.concatenate([np.broadcast_to(scale, places.shape) for _, places, scale in parts])
        coupling = couplings.Product([kind for kind, _, _ in parts], [places.size for _, places, _ in parts])
        table = sp.csr_array(program.A[picked][:, shape.columns] * factor[:, None])
        cost: Array = program.c[shape.columns]
        if shape.layout is None:
            linear_map: Any = SparseMatrix(table)
        else:
            layout, order = shape.layout, shape.layout.order
            linear_map = SdpMap((order, order), layout.entries(table * layout.weight[None]), picked.size)
            cost = layout.fold(cost)
        oracle = sharp.Linear(cost, shape.oracle) if cost.any() else shape.oracle
        self.problem = Problem(oracle, linear_map, factor * program.b[picked], coupling)
        self.shapes = (self.problem.b.shape, cost.shape)
        """Of multipliers and points."""

    def recover(self, result: Result) -> tuple[Array, Array]:
        """Return x and y."""
        program, shape = self.program, self.shape
        x, y = np.zeros(program.c.size), np.zeros(program.b.size)
        point = dense(result.x)
        x[shape.columns] = point if shape.layout is None else point[shape.layout.row, shape.layout.col]
        x[shape.lifted] = shape.lift * np.abs(x[shape.columns[: shape.lifted.size]])
        count = self.rows.size
        y[self.rows], rest = result.dual[:count], result.dual[count:]
        for residual in self.residuals:
            rows, dual = residual.rows, rest[: residual.rows.size]
            x[residual.columns] = residual.value(residual.factor * (program.A[rows] @ x - program.b[rows]))
            y[rows], y[residual.heads] = residual.multipliers(dual)
            rest = rest[rows.size :]
        y[shape.rows] = shape.multipliers((program.c + program.A.T @ y)[shape.columns])
        return self.limits.restore(x, y)

    def solve(self, accuracy: float, **options: Any) -> ConeSolution:
        """Solve the template until the gap is small relative to the value or 1, with options of :func:`unipd.solve`.

        The template's own gaps are relative to what its losses are at x = 0.
        """
        is_low_rank = self.shape.layout is not None and self.rows.size == 0  # atoms are added where one does not do
        method = Factored(rank=1) if is_low_rank else "auto"
        result = solve(self.problem, method, accuracy=accuracy, **options)
        wanted = accuracy * max(1.0, abs(result.objective)) / self.problem.scale(result.objective)
        if result.status.success and result.gap > wanted:
            options["start"] = result
            result = solve(self.problem, method, accuracy=wanted, **options)
        if result.status is Status.INFEASIBLE:
            return ConeSolution(None, None, float("nan"), result.status, result)
        with np.errstate(over="ignore", invalid="ignore"):  # multipliers of an infeasible program have no limit
            x, y = self.recover(result)
        return ConeSolution(x, y, float(self.limits.whole.c @ x), result.status, result)


def find_template(program: ConeProgram) -> Template | None:
    """Return the template that a program is, or None."""
    limits = Limits(program)
    pattern = Pattern(limits.program)
    residuals = take_squares(pattern) + take_absolutes(pattern)
    shape = next((found for match in MATCHES if (found := match(pattern)) is not None), None)
    if shape is None or (shape.layout is not None and not residuals):  # a semidefinite program
        return None
    pattern.close(shape.rows, shape.lifted)
    rows = np.flatnonzero(pattern.is_open)
    is_template = bool((pattern.kind[rows] <= INEQUALITY).all()) and rows.size + len(residuals) > 0
    return Template(limits, rows, residuals, shape) if is_template else None
