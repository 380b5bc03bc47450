"""Primal-dual interior-point method for small programs: predictor-corrector steps on a dense standard form."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp

from unipd._typing import Array, IntArray
from unipd.atoms import LowRank
from unipd.couplings import Box
from unipd.dual import evaluate
from unipd.methods.base import Counts, State, empty_certificate, primal_certificate
from unipd.problem import Problem
from unipd.protocols import Tracker, norm
from unipd.sharp import TraceBall
from unipd.status import Status
from unipd.trackers import Fixed

LEAST_STEP = 1e-4
"""Step length, as a share of a full step, below which rounding dominates."""
BOUNDARY_SHARE = 0.9
"""A step goes at most this share of the way to the boundary, ..."""
BOUNDARY_BONUS = 0.09
"""... plus this times the length of the predictor step: nearly to the boundary after a full one."""
DEPENDENT = 1e-12
"""Share of the largest pivot of A A^* below which a constraint counts as a combination of others."""
SHIFTS = (0.0, 1e-15, 1e-13, 1e-11)
"""Shares of the largest entry added to the diagonal of a step's equations until they factorise."""


@dataclass(frozen=True, eq=False)
class DenseProgram:
    """The data of a small program, constraints linearly independent."""

    rows: Any
    """CSR matrix with the entries of A_i as row i."""
    b: Array
    cost: Array

    @property
    def order(self) -> int:
        """Order of X."""
        return int(self.cost.shape[0])

    def image(self, matrix: Array) -> Array:
        """Return A(X)."""
        return self.rows @ matrix.ravel()

    def adjoint(self, y: Array) -> Array:
        """Return sum_i y_i A_i."""
        return (self.rows.T @ y).reshape(self.cost.shape)


@dataclass(frozen=True, eq=False)
class Iterate:
    """X and S positive definite, and the multipliers y."""

    x: Array
    s: Array
    y: Array


def independent_rows(rows: Any) -> Array:
    """Return the indices of constraints of which all others are combinations.

    >>> import scipy.sparse as sp
    >>> independent_rows(sp.csr_array(np.array([[1.0, 0.0], [2.0, 0.0], [1.0, 1.0]]))).size
    2
    """
    gram = (rows @ rows.T).toarray()
    _, pivots, rank, _ = scipy.linalg.lapack.dpstrf(gram, tol=DEPENDENT * float(gram.diagonal().max(initial=0.0)))
    return np.sort(pivots[:rank] - 1)


def initial_iterate(program: DenseProgram) -> Iterate:
    """Return multiples of the identity, large enough for data of unit size."""
    eye = np.eye(program.order)
    return Iterate(10.0 * eye, max(10.0, float(np.linalg.norm(program.cost))) * eye, np.zeros(program.b.size))


def predictor_corrector_step(program: DenseProgram, here: Iterate) -> Iterate | None:
    """Return the iterate after a predictor-corrector step; None when rounding allows none.

    >>> import scipy.sparse as sp
    >>> program = DenseProgram(sp.csr_array(np.eye(2).reshape(1, 4)), np.ones(1), np.diag([1.0, 3.0]))
    >>> here = initial_iterate(program)
    >>> for _ in range(12):
    ...     here = predictor_corrector_step(program, here)
    >>> float(np.round(here.y[0], 6))
    1.0
    """
    try:
        roots = [np.linalg.cholesky(matrix) for matrix in (here.x, here.s)]
        system = _System(program, here)
    except np.linalg.LinAlgError:
        return None
    mu = float(np.sum(here.x * here.s)) / program.order
    dx, ds, _ = system.direction(0.0, 0.0)
    ahead = [min(1.0, _step_to_boundary(root, move)) for root, move in zip(roots, (dx, ds), strict=True)]
    left = float(np.sum((here.x + ahead[0] * dx) * (here.s + ahead[1] * ds))) / program.order
    sigma = min(1.0, max(left / mu, 0.0) ** max(1.0, 3.0 * min(ahead) ** 2))
    dx, ds, dy = system.direction(sigma * mu, dx @ ds)
    share = BOUNDARY_SHARE + BOUNDARY_BONUS * min(ahead)
    primal, dual = (min(1.0, share * _step_to_boundary(root, move)) for root, move in zip(roots, (dx, ds), strict=True))
    if not max(primal, dual) > LEAST_STEP:
        return None
    return Iterate(here.x + primal * dx, here.s + dual * ds, here.y + dual * dy)


class _System:
    """The equations of a step for dy, factorised."""

    def __init__(self, program: DenseProgram, here: Iterate) -> None:
        self.program, self.here = program, here
        self.inverse: Array = np.linalg.inv(here.s)
        order, size = program.order, program.b.size
        matrices = program.rows.toarray().reshape(size, order, order)
        products = (here.x @ matrices @ self.inverse).reshape(size, -1)
        schur = np.asarray(program.rows @ products.T)
        self.schur: Array = (schur + schur.T) / 2
        self.root = _cholesky_factor(self.schur)

    def direction(self, centre: float, second: Any) -> tuple[Array, Array, Array]:
        """Return dX, dS and dy; ``second`` is dX dS of the prediction (0 for the prediction itself)."""
        program, here = self.program, self.here
        dual_residual = program.cost - program.adjoint(here.y) - here.s
        base = centre * self.inverse - here.x - _symmetric((here.x @ dual_residual + second) @ self.inverse)
        residual = program.b - program.image(here.x) - program.image(base)
        dy = scipy.linalg.cho_solve(self.root, residual)
        dy = dy + scipy.linalg.cho_solve(self.root, residual - self.schur @ dy)
        change = program.adjoint(dy)
        return base + _symmetric(here.x @ change @ self.inverse), dual_residual - change, dy


def _cholesky_factor(matrix: Array) -> Any:
    """Return the Cholesky factor of a matrix that is positive definite up to rounding."""
    for share in SHIFTS:
        with contextlib.suppress(np.linalg.LinAlgError):
            return scipy.linalg.cho_factor(matrix + share * float(matrix.diagonal().max()) * np.eye(matrix.shape[0]))
    raise np.linalg.LinAlgError("the equations of a step are singular")


def _symmetric(matrix: Array) -> Array:
    return (matrix + matrix.T) / 2


def _step_to_boundary(root: Array, move: Array) -> float:
    """Return the largest t with L L^T + t D psd."""
    half = scipy.linalg.solve_triangular(root, move, lower=True)
    inner = scipy.linalg.solve_triangular(root, half.T, lower=True)
    lowest = float(scipy.linalg.eigvalsh(_symmetric(inner), subset_by_index=[0, 0])[0])
    return -1.0 / lowest if lowest < 0.0 else np.inf


@dataclass(frozen=True, eq=False)
class DenseStandardForm:
    """A template as a :class:`DenseProgram`: slacks on the diagonal, C and X of unit size."""

    program: DenseProgram
    template_rows: IntArray
    """The template's constraint of each row of the program, -1 for additional rows."""
    unit: float
    """X = unit times that of the program."""
    price: float
    """Multipliers are ``price`` times those of the program."""

    def dual(self, problem: Problem, y: Array) -> Array:
        """Return lam = -y for the template, in the domain of h."""
        out = np.zeros(problem.b.size)
        own = self.template_rows >= 0
        out[self.template_rows[own]] = -self.price * y[own]
        lower, upper = _sides(problem)
        return np.clip(out, np.where(np.isinf(lower), 0.0, -np.inf), np.where(np.isinf(upper), 0.0, np.inf))

    def point(self, problem: Problem, x: Array) -> LowRank:
        """Return X as factors, with the trace that the template requires."""
        order, oracle = problem.map.domain[0], _oracle(problem)
        values, vectors = np.linalg.eigh(self.unit * x[:order, :order])
        values = np.maximum(values, 0.0)
        share = oracle.trace / max(float(values.sum()), 1e-300)
        values = values * (min(1.0, share) if isinstance(oracle, TraceBall) else share)
        left = vectors * np.sqrt(values)
        return LowRank(left, left, np.ones(order))


def standard_form(problem: Problem) -> DenseStandardForm:
    """Return the program with equations only: a slack for each inequality and for a trace that is bounded.

    A constraint bounded on both sides has a second slack: the two add up to the distance of the bounds.
    """
    cost_map: Any = problem.map
    order, size, oracle = cost_map.domain[0], problem.b.size, _oracle(problem)
    lower, upper = _sides(problem)
    one = np.flatnonzero(lower != upper)
    both = np.flatnonzero((lower != upper) & np.isfinite(lower) & np.isfinite(upper))
    second, is_bounded = np.arange(both.size), isinstance(oracle, TraceBall)
    slacks = np.zeros((size + both.size + 1, one.size + both.size + is_bounded))
    slacks[one, np.arange(one.size)] = np.where(np.isfinite(upper[one]), 1.0, -1.0)
    slacks[size + second, np.searchsorted(one, both)] = slacks[size + second, one.size + second] = 1.0
    slacks[-1, one.size + both.size :] = 1.0
    matrices = [cost_map.adjoint(unit).toarray() for unit in np.eye(size)]
    matrices += [np.zeros((order, order))] * both.size + [np.eye(order)]
    pairs = zip(matrices, slacks, strict=True)
    rows = sp.csr_array(np.stack([_with_slacks(matrix, slack).ravel() for matrix, slack in pairs]))
    right = np.concatenate([problem.b, upper[both] - lower[both], [oracle.trace]])
    cost = _with_slacks(cost_map.cost.toarray(), np.zeros(slacks.shape[1]))
    chosen, unit, price = independent_rows(rows), oracle.trace / order, float(np.linalg.norm(cost)) or 1.0
    program = DenseProgram(rows[chosen], right[chosen] / unit, cost / price)
    return DenseStandardForm(program, np.where(chosen < size, chosen, -1), unit, price)


def _with_slacks(matrix: Array, slack: Array) -> Array:
    """Return the block diagonal matrix of a matrix and the coefficients of the slacks."""
    return scipy.linalg.block_diag(matrix, np.diag(slack))


def _oracle(problem: Problem) -> Any:
    """Return the set of X."""
    return problem.sharp.oracle  # type: ignore[attr-defined]


def _sides(problem: Problem) -> tuple[Array, Array]:
    """Return the bounds of the residuals."""
    coupling = problem.coupling
    if isinstance(coupling, Box):
        return np.broadcast_to(coupling.lower, problem.b.shape), np.broadcast_to(coupling.upper, problem.b.shape)
    return np.zeros(problem.b.size), np.zeros(problem.b.size)


@dataclass(frozen=True)
class InteriorPointState(State):
    """State of the interior-point method."""

    standard: DenseStandardForm
    here: Iterate

    def shared_objects(self, problem: Problem) -> dict[str, Any]:
        """Return the problem and its dense standard form."""
        return {"problem": problem, "standard": self.standard}


class InteriorPoint:
    """Primal-dual interior-point method for the template of a small semidefinite program.

    >>> from unipd.apps.sdp import SDP
    >>> SDP.from_matrices(np.diag([3.0, 1.0]), [np.eye(2)], [1.0]).solve(method=InteriorPoint()).status.value
    'solved'
    """

    name = "interior"
    """Name in results."""

    def rebuild(self, problem: Problem) -> dict[str, Any]:
        """Return the problem and its dense standard form, which all states of a run share."""
        return {"problem": problem, "standard": standard_form(problem)}

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> InteriorPointState:
        """Start from multiples of the identity, whatever tracker and dual start are."""
        standard = standard_form(problem)
        blank = InteriorPointState(
            iteration=0,
            dual=dual,
            primal=tracker,
            image=np.zeros(problem.b.size),
            mean_objective=math.nan,
            certificate=empty_certificate(dual),
            counts=Counts(),
            smoothness=math.nan,
            dual_step=math.nan,
            gradient_change=math.nan,
            failure=None,
            standard=standard,
            here=initial_iterate(standard.program),
        )
        return _evaluate_iterate(problem, blank)

    def step(self, problem: Problem, state: InteriorPointState) -> InteriorPointState:
        """Take one step along the central path and certify it by the oracle."""
        here = predictor_corrector_step(state.standard.program, state.here)
        if here is None:
            return replace(state, iteration=state.iteration + 1, failure=Status.STALLED)
        return _evaluate_iterate(problem, replace(state, iteration=state.iteration + 1, here=here))


def _evaluate_iterate(problem: Problem, state: InteriorPointState) -> InteriorPointState:
    """Return the state with point, image, bound and certificate of its iterate."""
    lam = state.standard.dual(problem, state.here.y)
    answer = evaluate(problem, lam, certified=True)
    point = state.standard.point(problem, state.here.x)
    cost, image = problem.sharp.cost_map.cost_and_image(point)
    primal = Fixed(point)
    bound = state.certificate.update_bound(problem, answer)
    return replace(
        state,
        dual=lam,
        primal=primal,
        image=image,
        mean_objective=cost,
        certificate=primal_certificate(problem, primal, image, cost, bound),
        counts=state.counts.plus(1, 0, answer.matvecs),
        dual_step=norm(lam - state.dual),
    )
