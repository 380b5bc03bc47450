"""A program inside QICS (He, Saunderson and Fawzi): its conic form, steps on the central path, and where they led."""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp

from unipd._typing import Array
from unipd.apps.sdp.data import FREE, NONNEGATIVE, PSD, SECOND_ORDER, SdpData
from unipd.apps.sdp.formats import Columns, to_equations
from unipd.errors import MissingExtra

STEPS = 150
"""Most steps; well-posed programs take 10 to 40."""
ORDINARY_COST, ORDINARY_SIDE = 8, 16
"""Costs and right-hand sides of sizes up to two to this power, up and down, are left in their unit."""
SHIFTS = (1e-15, 1e-13, 1e-11)
"""Shares of the largest diagonal entry added to the equations of that move until they factorise."""


def has_interior_points() -> bool:
    """Whether QICS is installed."""
    return find_spec("qics") is not None


def load_qics() -> Any:
    """Return the module qics, or raise with the name of the extra that has it."""
    try:
        import_module("qics.cones")
        return import_module("qics")
    except ImportError as error:
        raise MissingExtra("qics", "sdp", "a semidefinite program without a bound on the trace") from error


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

    Rows have unit norm, and inequalities slacks. Psd blocks without constraints are left out: X is 0 there.
    """

    def __init__(self, data: SdpData) -> None:
        self.data = data
        unit = replace(
            data, constraints=data.unit_constraints, lower=data.lower / data.norms, upper=data.upper / data.norms
        )
        program = to_equations(unit)
        is_vector = np.array([block.is_vector for block in program.blocks])
        self.columns = Columns(program, is_vector | program.is_used)
        self.width = sum(self.columns.sizes[FREE])
        """Length of u."""
        self.matrix: Any = self.columns.matrix(program.constraints, program.size)
        """F and M, side by side."""
        self.cost: Array = self.columns.matrix(program.cost, 1).toarray()[0]
        """d and c."""
        self.right_hand_side: Array = program.b

    def cones(self) -> list[Any]:
        """Return the cones of x, new ones: they remember the data."""
        kinds, sizes = load_qics().cones, self.columns.sizes
        entries = sum(sizes[NONNEGATIVE])
        second = [kinds.SecondOrder(size - 1) for size in sizes[SECOND_ORDER]]
        psd = [kinds.PosSemidefinite(size) for size in sizes[PSD]]
        return [*([kinds.NonNegOrthant(entries)] if entries else []), *second, *psd]

    def parts(self, u: Array, x: Array) -> list[Array]:
        """Return the blocks of X."""
        return self.columns.parts(np.concatenate([u, x]))[: len(self.data.blocks)]


class Embedding:
    """The program inside QICS: a step, and where it led.

    Programs without free variables are stated for x, others for the multipliers, whose equations are F^T y = d.
    """

    def __init__(self, data: SdpData) -> None:
        qics, self.form = load_qics(), ConicForm(data)
        width, whole, r = self.form.width, self.form.matrix, self.form.right_hand_side
        free, matrix, d, c = whole[:, :width], whole[:, width:], self.form.cost[:width], self.form.cost[width:]
        self.cost_unit, self.size_unit = _unit(data.cost.value, ORDINARY_COST), _unit(r, ORDINARY_SIDE)
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
        model, rows = solver.model, self.form.data.size
        n, p, q = model.n, model.p, model.q
        x, y, z, s = np.split(vector[:-2], [n, n + p, n + p + q])
        tau, height = float(vector[-2]), model.h_scale[:, 0]
        if self.has_free:
            u, dual, x = y / model.b_scale[:, 0] / tau, -x / model.c_scale[:, 0] / tau, z / height / tau
        else:
            u, dual, x = np.zeros(0), y / model.b_scale[:, 0] / tau, s * height / tau
        return self.form.parts(self.size_unit * u, self.size_unit * x), self.cost_unit * dual[:rows]


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
