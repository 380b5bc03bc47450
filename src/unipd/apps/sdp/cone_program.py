"""Cone programs in the form of SCS and CVXPY as semidefinite programs, and their solutions back.

min <c, x> subject to A x + s = b, s in K, has a primal and a dual form here. In the dual, max -<b, y> subject to
A^T y = -c, y in K^*, every x_j is a row. In the primal, rows of A with one x_j, and x_j in one row only, are solved for
x_j: the entries of s are then the variables and the other rows the constraints. The form with fewer rows is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, IntArray
from unipd.apps.sdp.data import FREE, NONNEGATIVE, PSD, SECOND_ORDER, Block, SdpData
from unipd.apps.sdp.infeasibility import NEGLIGIBLE_VIOLATION
from unipd.apps.sdp.program import SDP
from unipd.maps.sdp import Entries
from unipd.run import Result
from unipd.run.result import add_work
from unipd.run.stopping import remaining_budget
from unipd.status import Status

ROUNDING = 1e-14
"""Entries of eliminated rows and costs below this share of the terms that cancelled are zero."""


@dataclass(frozen=True)
class Cones:
    """K = {0}^zero x R_+^nonnegative x second-order cones x psd cones, in this order.

    Parameters
    ----------
    zero, nonnegative
        Their dimensions.
    second_order
        Dimensions of the second-order cones.
    psd
        Orders n of the psd cones: n (n + 1) / 2 rows, the lower triangle by columns, off-diagonal entries times
        sqrt 2.

    See Also
    --------
    ConeProgram

    Examples
    --------
    >>> Cones(1, 2, psd=(3,)).blocks(2)
    [('nonnegative', 2), ('psd', 3)]
    """

    zero: int
    nonnegative: int
    second_order: tuple[int, ...] = ()
    psd: tuple[int, ...] = ()

    def blocks(self, nonnegative: int) -> list[tuple[str, int]]:
        """Return kind and size of all cones except the zero cone, with this number of nonnegative entries.

        Cones of dimension 1 are half-lines.
        """
        parts = [(NONNEGATIVE, nonnegative)] if nonnegative else []
        parts += [(SECOND_ORDER if size > 1 else NONNEGATIVE, size) for size in self.second_order]
        return parts + [(PSD if order > 1 else NONNEGATIVE, order) for order in self.psd]


class Layout:
    """Where entries of s (or y), the vector of a product of cones, lie in the block diagonal matrix X.

    Entry i of the vector is X[row[i], col[i]] / weight[i].
    """

    def __init__(self, free: int, parts: list[tuple[str, int]]) -> None:
        blocks = [Block(0, free, FREE)] if free else []
        rows, cols, place = [np.arange(free)], [np.arange(free)], free
        for kind, size in parts:
            high, low = np.triu_indices(size) if kind == PSD else (np.arange(size), np.arange(size))
            rows.append(place + low)
            cols.append(place + high)
            blocks.append(Block(place, size, kind))
            place += size
        self.blocks, self.order = tuple(blocks), place
        self.row, self.col = np.concatenate(rows), np.concatenate(cols)
        self.weight = np.where(self.row == self.col, 1.0, np.sqrt(0.5))

    def entries(self, table: Any) -> Entries:
        """Return rows over the vector as symmetric matrices."""
        given: Any = sp.coo_array(table)
        place, value = given.col, given.data * self.weight[given.col]
        return Entries(given.row, self.row[place], self.col[place], value)

    def fold(self, gradient: Array) -> Array:
        """Return the symmetric matrix G with <G, X> = sum g_i X[row[i], col[i]]."""
        matrix = np.zeros((self.order, self.order))
        matrix[self.row, self.col] = gradient * self.weight**2
        return np.tril(matrix) + np.tril(matrix, -1).T

    def read(self, data: SdpData, x: Any) -> Array:
        """Return the vector of X."""
        out, place = np.zeros(self.row.size), 0
        for index, block in enumerate(self.blocks):
            part = data.block(x, index)
            values = part if block.is_vector else part.T[np.triu_indices(block.size)]
            out[place : place + values.size] = values
            place += values.size
        return out / self.weight


@dataclass(frozen=True)
class ConeSolution:
    """A solution of a cone program, or what came nearest to one.

    Parameters
    ----------
    x
        The point, None without one.
    y
        Multipliers, with c + A^T y = 0 and y in K^*.
    value
        <c, x>, nan without x.
    status
        What the run says about this program.
    result
        That of the semidefinite program that was solved.

    See Also
    --------
    ConeProgram

    Examples
    --------
    >>> program = ConeProgram(np.ones(1), -np.eye(1), np.array([-3.0]), Cones(0, 1))
    >>> round(program.solve(1e-6).value, 4)
    3.0
    """

    x: Array | None
    y: Array | None
    value: float
    status: Status
    result: Result


class ConeProgram:
    """min <c, x> subject to A x + s = b, s in K.

    Parameters
    ----------
    c
        Cost, of length n.
    A
        Matrix of shape (m, n), dense or sparse.
    b
        Right-hand side, of length m.
    cones
        K; its rows are in the order of those of A.

    See Also
    --------
    Cones, ConeSolution, unipd.cvxpy.Solver

    Examples
    --------
    The smallest x with x >= 1 and x >= 2:

    >>> program = ConeProgram(np.ones(1), -np.ones((2, 1)), np.array([-1.0, -2.0]), Cones(0, 2))
    >>> program.solve(1e-6).x.round(4)
    array([2.])
    """

    def __init__(self, c: Array, A: Any, b: Array, cones: Cones) -> None:
        matrix: Any = sp.csr_array(A)
        if b.size == 0:  # no constraints: 0 <= 1
            matrix, b, cones = sp.csr_array((1, c.size)), np.ones(1), Cones(0, 1)
        matrix.eliminate_zeros()
        self.c, self.A, self.b, self.cones = c, matrix, b, cones

    @cached_property
    def primal(self) -> Primal:
        """The primal form."""
        return Primal(self)

    @cached_property
    def form(self) -> Primal | Dual:
        """The form with fewer rows; at least one is needed."""
        is_primal = self.primal.is_possible and self.primal.kept.size <= self.c.size
        return self.primal if is_primal else Dual(self)

    def solve(self, accuracy: float, **options: Any) -> ConeSolution:
        """Solve the program, with the options of :meth:`SDP.solve`; in the other form where the first one fails."""
        first = SDP(self.form.data).solve(accuracy, **options)
        solution = self.read_result(self.form, first)
        is_far = first.status is Status.STALLED and first.relative_error > NEGLIGIBLE_VIOLATION
        form = Dual(self) if isinstance(self.form, Primal) else self.primal
        if not is_far or not form.is_possible:
            return solution
        options["stop"] = remaining_budget(options.get("stop"), first)
        options.pop("start", None)
        second = SDP(form.data).solve(accuracy, **options)
        return self.read_result(form, add_work(first, second)) if second.status.is_conclusive else solution

    def read_result(self, form: Primal | Dual, result: Result) -> ConeSolution:
        """Return the solution that the result of one of the two forms gives."""
        status = result.status
        if isinstance(form, Dual) and status in (Status.INFEASIBLE, Status.UNBOUNDED):
            status = Status.UNBOUNDED if status is Status.INFEASIBLE else Status.INFEASIBLE
        has_point = result.x is not None and status not in (Status.INFEASIBLE, Status.UNBOUNDED)
        x, y = form.recover(result) if has_point else (None, None)
        y = None if y is None else average_embeddings(self, y)
        return ConeSolution(x, y, float("nan") if x is None else float(self.c @ x), status, result)


class Dual:
    """min <b, y> subject to A^T y = -c, y in K^*: entries of y are the variables, x the multipliers."""

    is_possible = True
    """Whether there are variables and rows."""

    def __init__(self, program: ConeProgram) -> None:
        self.program, cones = program, program.cones
        self.layout = Layout(cones.zero, cones.blocks(cones.nonnegative))
        table = sp.csr_array(program.A.T)
        is_used = (np.diff(table.indptr) > 0) | (program.c != 0.0)
        self.kept: IntArray = np.flatnonzero(is_used) if is_used.any() else np.zeros(1, np.int64)
        cost, rows = self.layout.entries(program.b[None]), self.layout.entries(table[self.kept])
        right = -program.c[self.kept]
        self.data = SdpData(self.layout.order, cost, rows, right, right, self.layout.blocks)

    def recover(self, result: Result) -> tuple[Array, Array]:
        """Return x and y."""
        x = np.zeros(self.program.c.size)
        x[self.kept] = -result.dual
        return x, self.layout.read(self.data, result.x)


class Primal:
    """The program in the entries of s that determine some x_j, those of other cones, and the x_j that remain.

    Row i of ``pivot_rows`` is solved for x_j in ``pivot_columns``: x_J = (b_I - s_I - A_IR x_R) / d. Of the other rows,
    those of the zero and the nonnegative cone are equations and inequalities, those of other cones equations with s.
    """

    def __init__(self, program: ConeProgram) -> None:
        self.program, cones = program, program.cones
        A: Any = program.A
        first = cones.zero + cones.nonnegative
        self.pivot_rows, self.pivot_columns, pivots = find_pivots(A, cones.zero, first)
        self.remaining = np.flatnonzero(np.bincount(self.pivot_columns, minlength=A.shape[1]) == 0)
        others = np.flatnonzero(np.bincount(self.pivot_rows, minlength=A.shape[0]) == 0)
        self.factors = 1.0 / pivots
        # cost and rows over x_R and s, with x_J substituted
        whole = sp.csr_array(sp.vstack([sp.csr_array(program.c[None]), A[others]]))
        eliminated = whole[:, self.pivot_columns] * self.factors[None]
        self._pivot_part = A[self.pivot_rows][:, self.remaining]
        over_x = _subtract(whole[:, self.remaining], eliminated @ self._pivot_part)
        shifts = np.concatenate([[0.0], program.b[others]]) - eliminated @ program.b[self.pivot_rows]
        self.constant, right = -float(shifts[0]), shifts[1:]
        bounded = self.pivot_rows[self.pivot_rows < first]
        self.represented = np.concatenate([np.sort(bounded), np.arange(first, A.shape[0])])
        place = np.full(A.shape[0], -1)
        place[self.represented] = np.arange(self.represented.size)
        over_s = _select(eliminated, place[self.pivot_rows], self.represented.size)
        with_slack = np.flatnonzero(others >= first)
        slots = (1 + with_slack, place[others[with_slack]])
        over_s = sp.csr_array((np.ones(with_slack.size), slots), shape=over_s.shape) - over_s
        # x_j without rows and cost are zero; rows without variables that hold are dropped
        self.free = np.flatnonzero(abs(over_x).sum(axis=0))
        table = sp.csr_array(sp.hstack([over_x[:, self.free], over_s]))
        table.eliminate_zeros()
        lower = np.where((others >= cones.zero) & (others < first), -np.inf, right)
        is_kept = (np.diff(table.indptr)[1:] > 0) | (lower > 0.0) | (right < 0.0)
        self.kept: IntArray = others[is_kept]
        self.layout = Layout(self.free.size, cones.blocks(bounded.size))
        cost, rows = self.layout.entries(table[:1]), self.layout.entries(table[1:][is_kept])
        self._data = (self.layout.order, cost, rows, lower[is_kept], right[is_kept], self.layout.blocks)

    @property
    def is_possible(self) -> bool:
        """Whether there are variables and rows."""
        return self.layout.order > 0 and self.kept.size > 0

    @cached_property
    def data(self) -> SdpData:
        """The semidefinite program."""
        return SdpData(*self._data)

    def recover(self, result: Result) -> tuple[Array, Array]:
        """Return x and y."""
        program, vector = self.program, self.layout.read(self.data, result.x)
        x, s, y = np.zeros(program.c.size), np.zeros(program.b.size), np.zeros(program.b.size)
        x[self.remaining[self.free]], s[self.represented] = vector[: self.free.size], vector[self.free.size :]
        known = program.b[self.pivot_rows] - s[self.pivot_rows] - self._pivot_part @ x[self.remaining]
        x[self.pivot_columns] = self.factors * known
        y[self.kept] = result.dual
        y[self.pivot_rows] = -self.factors * (program.c + program.A.T @ y)[self.pivot_columns]
        return x, y


def find_pivots(A: Any, zero: int, first: int) -> tuple[IntArray, IntArray, Array]:
    """Return rows of A, columns for which they can be solved without fill, and their entries; none occurs twice.

    Those are rows with one entry, those of second-order and psd cones (from row ``first``) before those of the
    nonnegative cone (from row ``zero``), then rows whose column has no other entry.
    """
    counts = np.diff(A.indptr)
    order = np.concatenate([np.arange(first, A.shape[0]), np.arange(zero, first)])
    single = order[counts[order] == 1]
    columns, places = np.unique(A.indices[A.indptr[single]], return_index=True)
    rows = single[places]
    is_taken = np.zeros(A.shape[1], bool)
    is_taken[columns] = True
    table: Any = sp.coo_array(A)
    is_open = (table.row >= zero) & (np.bincount(table.row, is_taken[table.col], A.shape[0]) == 0.0)[table.row]
    is_open &= (np.bincount(table.col, minlength=A.shape[1]) == 1)[table.col]
    candidates = np.flatnonzero(is_open)
    candidates = candidates[np.argsort(-np.abs(table.data[candidates]), kind="stable")]
    further, places = np.unique(table.row[candidates], return_index=True)
    chosen = candidates[places]
    return (
        np.concatenate([rows, further]),
        np.concatenate([columns, table.col[chosen]]),
        np.concatenate([A.data[A.indptr[rows]], table.data[chosen]]),
    )


def average_embeddings(program: ConeProgram, y: Array) -> Array:
    """Return multipliers of the form [[P, -Q], [Q, P]] in psd cones whose rows all have it: complex matrices P + iQ.

    With J = [[0, -I], [I, 0]], the mean of Y and J Y J^T has this form, and the products of Y with the rows.

    >>> half = np.sqrt(0.5)  # X = x I, of order 2
    >>> program = ConeProgram(np.ones(1), -np.array([[1.0], [0.0], [1.0]]), np.zeros(3), Cones(0, 0, psd=(2,)))
    >>> average_embeddings(program, np.array([0.4, half, 0.6]))
    array([0.5, 0. , 0.5])
    """
    y, place = y.copy(), program.b.size - sum(order * (order + 1) // 2 for order in program.cones.psd)
    for order in program.cones.psd:
        column, row = np.triu_indices(order)
        cone, half = slice(place, place + row.size), order // 2
        place += row.size
        if order % 2:
            continue
        position = np.zeros((order, order), np.int64)
        position[row, column] = position[column, row] = np.arange(row.size)
        partner = position[(row + half) % order, (column + half) % order]
        sign = np.where((column < half) & (row >= half), -1.0, 1.0)
        part: Any = sp.csr_array(sp.hstack([program.A[cone], program.b[cone][:, None]]))
        if not (part[partner].multiply(sign[:, None]) != part).nnz:
            y[cone] = 0.5 * (y[cone] + sign * y[cone][partner])
    return y


def _subtract(first: Any, second: Any) -> Any:
    """Return the difference of sparse arrays, zero where it is rounding."""
    difference, size = sp.csr_array(first - second), abs(first) + abs(second)
    out = sp.csr_array(difference.multiply(abs(difference) > ROUNDING * size))
    out.eliminate_zeros()
    return out


def _select(table: Any, places: IntArray, width: int) -> Any:
    """Return a sparse array with its columns moved to these places."""
    given: Any = sp.coo_array(table)
    return sp.csr_array((given.data, (given.row, places[given.col])), shape=(table.shape[0], width))
