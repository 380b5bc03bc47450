"""The standard form of conic solvers, and the steps of QICS on its homogeneous embedding.

:class:`Stepper` is what takes the steps of :mod:`~unipd.apps.sdp.interior_point`; :class:`Embedding` is that of QICS.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any, Protocol

import numpy as np
import scipy
import scipy.sparse as sp

from unipd._typing import Array
from unipd._util.arrays import norm
from unipd._util.lazy import import_extra
from unipd.apps.sdp.cones import EPS
from unipd.apps.sdp.data import (
    FREE,
    NONNEGATIVE,
    PSD,
    SECOND_ORDER,
    Columns,
    SdpData,
    to_equations,
)

STEPS = 150
"""Most steps; well-posed programs take 10 to 40."""
ORDINARY_COST, ORDINARY_SIDE = 8, 16
"""Costs and right-hand sides of sizes up to two to this power, up and down, are left in their unit."""
LEAST_SAVING = 0.25
"""Share of the entries that must be saved for rows to be combined: products of entries fill the Schur complement."""
SCALINGS = 4
"""Rounds of equilibration."""
SHIFTS = (1e-15, 1e-13, 1e-11)
"""Shares of the largest diagonal entry added to the equations of the move onto the constraints until they factorise."""


def load_qics() -> Any:
    """Return the module qics, or raise with the name of the extra that has it."""
    purpose = "a semidefinite program without a bound on the trace"
    import_extra("qics.cones", "sdp", purpose)
    return import_extra("qics", "sdp", purpose)


@contextmanager
def _single_numba_thread() -> Generator[None]:
    """Run the parallel loops of QICS on one thread: they are so short that others wait most of the time, spinning."""
    numba = import_module("numba")
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(before)


class ConicForm:
    """min <d, u> + <c, x> subject to F u + M x = r, x in a product of cones.

    Rows have unit norm (if equilibrated with variables in other units), and inequalities slacks. Psd blocks without
    constraints are left out: X is 0 there.
    """

    def __init__(self, data: SdpData, is_equilibrated: bool = False) -> None:
        self.data = data
        lower, upper = data.lower / data.norms, data.upper / data.norms
        if not data.is_used.any():  # 0 = 0 as 0 >= 0: QICS needs a variable
            upper = np.where(data.equal, math.inf, upper)
        unit = replace(data, constraints=data.unit_constraints, lower=lower, upper=upper)
        program = to_equations(unit)
        is_vector = np.array([block.is_vector for block in program.blocks])
        self.columns = Columns(program, is_vector | program.is_used)
        self.width = sum(self.columns.sizes[FREE])
        """Length of u."""
        matrix, cost = self.columns.matrix(program.constraints, program.size), self.columns.matrix(program.cost, 1)
        self.rows, matrix = subtract_single_entries(matrix)
        """Combinations of the rows of the program."""
        ones = (np.ones(matrix.shape[0]), np.ones(matrix.shape[1]))
        self.row_scale, self.column_scale = equilibrate(self.columns, matrix) if is_equilibrated else ones
        self.matrix: Any = sp.csr_array(self.row_scale[:, None] * matrix * self.column_scale[None])
        """F and M, side by side."""
        self.cost: Array = cost.toarray()[0] * self.column_scale
        """d and c."""
        self.right_hand_side: Array = (self.rows @ program.b) * self.row_scale

    def cones(self) -> list[Any]:
        """Return the cones of x, new ones: they remember the data."""
        kinds, sizes = load_qics().cones, self.columns.sizes
        entries = sum(sizes[NONNEGATIVE])
        second = [kinds.SecondOrder(size - 1) for size in sizes[SECOND_ORDER]]
        psd = [kinds.PosSemidefinite(size) for size in sizes[PSD]]
        return [*([kinds.NonNegOrthant(entries)] if entries else []), *second, *psd]

    def parts(self, u: Array, x: Array) -> list[Array]:
        """Return the blocks of X."""
        return self.columns.parts(self.column_scale * np.concatenate([u, x]))[: len(self.data.blocks)]

    def multipliers(self, y: Array) -> Array:
        """Return those of the rows of the program, of unit norm."""
        return (self.rows.T @ (self.row_scale * y))[: self.data.size]


def subtract_single_entries(matrix: Any) -> tuple[Any, Any]:
    """Return T and T M, with fewer entries: rows with a single one are subtracted from others that have it as well.

    Rows keep unit norm. T is the identity where that would save little.

    >>> T, matrix = subtract_single_entries(sp.csr_array([[0.6, 0.8], [1.0, 0.0]]))
    >>> matrix.toarray(), T.toarray().round(2)
    (array([[0., 1.],
           [1., 0.]]), array([[ 1.25, -0.75],
           [ 0.  ,  1.  ]]))
    """
    table: Any = sp.coo_array(matrix)
    counts = np.bincount(table.row, minlength=matrix.shape[0])
    identity: Any = sp.eye_array(matrix.shape[0], format="csr")
    is_single = counts[table.row] == 1
    owner, pivot = np.full(matrix.shape[1], -1), np.ones(matrix.shape[1])
    owner[table.col[is_single]], pivot[table.col[is_single]] = table.row[is_single], table.data[is_single]
    is_double = ~is_single & (owner[table.col] >= 0)
    if np.count_nonzero(is_double) < LEAST_SAVING * table.data.size:
        return identity, matrix
    row, col, value = (part[~is_double] for part in (table.row, table.col, table.data))
    rest: Any = sp.csr_array((value, (row, col)), shape=matrix.shape)
    row, col, value = (part[is_double] for part in (table.row, table.col, table.data))
    others: Any = sp.csr_array((value / pivot[col], (row, owner[col])), shape=identity.shape)
    norms = np.sqrt(rest.power(2).sum(axis=1))
    scale: Any = sp.diags_array(1.0 / np.where(norms > 0.0, norms, 1.0))
    return sp.csr_array(scale @ (identity - others)), sp.csr_array(scale @ rest)


def equilibrate(columns: Columns, matrix: Any) -> tuple[Array, Array]:
    """Return scales of rows and variables that even out the norms of both, within what the cones allow.

    A psd block becomes D X D with a diagonal D, a second-order one a multiple.
    """
    squares, blocks = sp.csr_array(matrix.power(2)), columns.data.blocks
    scales = [np.ones(block.size) for block in blocks]
    rows, whole = np.ones(matrix.shape[0]), np.ones(matrix.shape[1])
    for _ in range(SCALINGS):
        sums = columns.parts((squares.T @ rows**2) * whole**2)
        for scale, block, part in zip(scales, blocks, sums, strict=True):
            size = np.sqrt(part.sum(axis=0) if block.kind == PSD else part)
            size = np.full(block.size, norm(size) / math.sqrt(block.size)) if block.kind == SECOND_ORDER else size
            scale /= np.where(size > 0.0, size, 1.0) ** (0.25 if block.kind == PSD else 1.0)
        pairs = zip(scales, blocks, strict=True)
        whole = columns.join([np.outer(scale, scale) if block.kind == PSD else scale for scale, block in pairs])
        rows = 1.0 / np.sqrt(np.maximum(squares @ whole**2, EPS))
    return rows, whole


class Stepper(Protocol):
    """What takes the steps of a method for products of cones. Iterates are vectors, whose meaning it alone knows."""

    form: ConicForm

    @property
    def vector(self) -> Array:
        """The iterate."""
        ...

    @property
    def has_point(self) -> bool:
        """Whether the iterate gives X and multipliers."""
        ...

    @property
    def small_steps(self) -> int:
        """Consecutive steps of hardly any length."""
        ...

    def restore(self, vector: Array, iteration: int, small_steps: int) -> None:
        """Go to an earlier iterate."""
        ...

    def step(self) -> bool:
        """Take a step, or some; return whether to continue."""
        ...

    def decode(self, vector: Array) -> tuple[list[Array], Array]:
        """Return the blocks of X and the multipliers of an iterate, rows of unit norm and lam = -y."""
        ...

    def mix(self, vector: Array, other: Array, share: float) -> Array:
        """Return an iterate with a share of the X of another one, to lie further inside the cone."""
        ...

    def correct(self, vector: Array) -> Array | None:
        """Return the iterate with X moved onto the constraints inside its cone; None where that fails or is no use."""
        ...


class Embedding:
    """A :class:`Stepper`: the program inside QICS.

    Programs without free variables are stated for x, others for the multipliers, whose equations are F^T y = d.
    """

    def __init__(self, data: SdpData, is_equilibrated: bool = False) -> None:
        qics, self.form = load_qics(), ConicForm(data, is_equilibrated)
        width, whole, r = self.form.width, self.form.matrix, self.form.right_hand_side
        free, matrix, d, c = whole[:, :width], whole[:, width:], self.form.cost[:width], self.form.cost[width:]
        self.cost_unit, self.size_unit = _unit(self.form.cost, ORDINARY_COST), _unit(r, ORDINARY_SIDE)
        """What the costs inside are multiples of, and with them the multipliers; and right-hand sides with X."""
        c, d, r = c / self.cost_unit, d / self.cost_unit, r / self.size_unit
        self.has_free = width > 0
        if self.has_free:
            options: dict[str, Any] = {"c": -r[:, None], "A": sp.csr_matrix(free.T), "b": d[:, None]}
            options |= {"G": sp.csr_matrix(matrix.T), "h": c[:, None]}
        else:
            options = {"c": c[:, None], "A": sp.csr_matrix(matrix), "b": r[:, None]}
        model = qics.Model(cones=self.form.cones(), **options)
        self.solver = qics.Solver(model, max_iter=STEPS, max_time=math.inf, tol_gap=0.0, tol_feas=0.0, verbose=0)
        self.solver.setup_solver()
        self.solver.setup_point()
        self.solver.calc_mu()
        self.solver.get_gap_feas()
        self.solver.copy_solver_data()

    @property
    def vector(self) -> Array:
        """A copy of all variables."""
        return self.solver.point.vec[:, 0].copy()

    @property
    def has_point(self) -> bool:
        """Whether the variables give a point: tau is positive."""
        return bool(self.solver.point.vec[-2, 0] > 0.0)

    @property
    def small_steps(self) -> int:
        """Consecutive steps of hardly any length."""
        return int(self.solver.consecutive_small_steps)

    def restore(self, vector: Array, iteration: int, small_steps: int) -> None:
        """Go to an earlier iterate."""
        solver = self.solver
        solver.iter, solver.consecutive_small_steps = iteration, small_steps
        if np.array_equal(solver.point.vec[:, 0], vector):
            return
        solver.point.vec[:, 0] = vector
        self._set_cones(solver.point.s, solver.point.z)
        solver.calc_mu()
        solver.get_gap_feas()

    @_single_numba_thread()
    def step(self) -> bool:
        """Take a step; return whether it led to another iterate from which to continue."""
        solver = self.solver
        with np.errstate(all="ignore"):
            try:
                has_ended = solver.step_and_check()
            except (np.linalg.LinAlgError, ValueError):  # LAPACK refuses numbers that are not finite
                return False
        return not has_ended and bool(np.isfinite(solver.point.vec).all())

    def _set_cones(self, primal: Any, dual: Any) -> bool:
        """Tell the cones their points; return whether these lie inside."""
        cones = self.solver.model.cones
        for index, cone in enumerate(cones):
            cone.set_point(primal[index], dual[index])
        return min(bool(cone.get_feas()) for cone in cones)  # of all of them: each factorises its point

    def mix(self, vector: Array, other: Array, share: float) -> Array:
        """Return an iterate with a share of the X of another one."""
        if share == 0.0:
            return vector
        model = self.solver.model
        mixed, rows = vector.copy(), slice(model.n + model.p + model.q, -2)
        mixed[rows] += share * (other[rows] * (vector[-2] / other[-2]) - vector[rows])
        return mixed

    @_single_numba_thread()
    def correct(self, vector: Array) -> Array | None:
        """Return the iterate with X moved onto the constraints inside its cone; None where that fails.

        X + X A^*(w) X is the nearest such point in the metric of the barrier at X, with A(X A^*(w) X) = b - A(X).
        """
        model, point = self.solver.model, self.solver.point
        if self.has_free:
            return None
        first = model.n + model.p + model.q
        moved = import_module("qics.point").VecProduct(model.cones)
        moved.vec[:, 0] = vector[first:-2]
        self._set_cones(moved, moved)
        schur = np.zeros((model.p, model.p))
        for cone, rows in zip(model.cones, model.A_invG_views, strict=True):
            if not getattr(cone, "grad_updated", True):
                cone.update_grad()
            schur += cone.invhess_congr(rows)
        residual = model.b[:, 0] * vector[-2] + model.A_invG @ moved.vec[:, 0]
        weights = _solve_regularised(np.triu(schur) + np.triu(schur, 1).T, residual)
        has_moved = False
        if weights is not None:
            direction, change = (type(moved)(model.cones) for _ in range(2))
            direction.vec[:, 0] = model.A_invG.T @ weights
            for index, cone in enumerate(model.cones):
                cone.invhess_prod_ip(change[index], direction[index])
            moved.vec[:] -= change.vec
            has_moved = bool(np.isfinite(moved.vec).all()) and self._set_cones(moved, moved)
        self._set_cones(point.s, point.z)
        return np.concatenate([vector[:first], moved.vec[:, 0], vector[-2:]]) if has_moved else None

    def decode(self, vector: Array) -> tuple[list[Array], Array]:
        """Return the blocks of X and the multipliers of an iterate, rows of unit norm and lam = -y."""
        solver = self.solver
        model = solver.model
        n, p, q = model.n, model.p, model.q
        x, y, z, s = np.split(vector[:-2], [n, n + p, n + p + q])
        tau, height = float(vector[-2]), model.h_scale[:, 0]
        if self.has_free:
            u, dual, x = y / model.b_scale[:, 0] / tau, -x / model.c_scale[:, 0] / tau, z / height / tau
        else:
            u, dual, x = np.zeros(0), y / model.b_scale[:, 0] / tau, s * height / tau
        return self.form.parts(self.size_unit * u, self.size_unit * x), self.cost_unit * self.form.multipliers(dual)


def _unit(values: Array, ordinary: int) -> float:
    """Return the power of two nearest to the largest size, 1 for ordinary ones: QICS has absolute tolerances."""
    exponent = round(math.log2(float(np.abs(values).max(initial=0.0)) or 1.0))
    return 2.0**exponent if abs(exponent) > ordinary else 1.0


def _solve_regularised(matrix: Array, right: Array) -> Array | None:
    """Return the solution of M w = r for a psd M, nearly singular perhaps, with one step of refinement; or None."""
    for shift in SHIFTS:
        shifted = matrix + shift * np.abs(matrix.diagonal()).max(initial=0.0) * np.eye(right.size)
        try:
            factor = scipy.linalg.cho_factor(shifted)
        except (scipy.linalg.LinAlgError, ValueError):  # not definite, or not finite
            continue
        first = scipy.linalg.cho_solve(factor, right)
        return first + scipy.linalg.cho_solve(factor, right - matrix @ first)
    return None
