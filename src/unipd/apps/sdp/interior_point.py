"""Interior points: the steps are those of QICS, the points, bounds and proofs are measured here.

The multipliers of an iterate need not have a slack in the dual cone: a small share of an earlier iterate whose slack
lies well inside, or of a positive definite combination of the data, mends that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import scipy
import scipy.sparse as sp

from unipd._typing import Array
from unipd._util.arrays import norm
from unipd._util.lazy import import_extra
from unipd.apps.sdp.cones import EPS, choose_size, combine_to_identity, make_admissible, measure_margins, move_into_cone
from unipd.apps.sdp.data import (
    FREE,
    NONNEGATIVE,
    PSD,
    SECOND_ORDER,
    Block,
    Columns,
    SdpData,
    split_blocks,
    to_equations,
)
from unipd.methods.base import Certificate, Counts, State, empty_certificate, measure_point
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.spectral import CONDITIONAL, RIGOROUS
from unipd.status import Status
from unipd.trackers import Fixed

STEPS = 150
"""Most steps; well-posed programs take 10 to 40."""
IDLE_STEPS, PROGRESS = 5, 0.8
"""Steps in a row, once the accuracy is reached, that may leave more than this share of the remaining error."""
ORDINARY_COST, ORDINARY_SIDE = 8, 16
"""Costs and right-hand sides of sizes up to two to this power, up and down, are left in their unit."""
LEAST_SAVING = 0.25
"""Share of the entries that must be saved for rows to be combined: products of entries fill the Schur complement."""
SCALINGS = 4
"""Rounds of equilibration."""
SHIFTS = (1e-15, 1e-13, 1e-11)
"""Shares of the largest diagonal entry added to the equations of that move until they factorise."""


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
        unit = replace(
            data, constraints=data.unit_constraints, lower=data.lower / data.norms, upper=data.upper / data.norms
        )
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


ANCHORS = 8
"""Earlier multipliers with a slack inside the dual cone that are kept to mend later ones."""
FEASIBILITY_FACTOR = 10.0
"""X is to be more nearly feasible than requested by this factor, if a few more steps achieve it."""
CORRECTED_GAP = 10.0
"""Multiple of the accuracy below which the gap must be before X is moved onto the constraints."""
ANCHOR_SHARES = (0.0, 0.03, 0.1, 0.3, 0.5)
"""Shares of an earlier feasible X, which lies further inside, that are tried where X alone cannot be moved there."""
PREFERENCE = 0.1
"""A bound for X of any size may be worse by this share of the accuracy than one that is limited."""
FACE_SHARES = (1e-2, 1e-4, 1e-6)
"""Shares of its largest eigenvalue up to which eigenvalues of the slack count as zero where steps end."""
MOST_FACE_ENTRIES = 10_000_000
"""Most entries of the dense matrix of a face."""
INSIDE = 16.0 * float(np.finfo(np.float64).eps)
"""A mended slack lies inside by this times its order and its size, so that a factorisation can prove it."""


@dataclass(frozen=True)
class InteriorPointState(State):
    """State of the interior-point method."""

    accuracy: float
    """The requested accuracy."""
    stepper: Stepper
    """What takes the steps."""
    vector: Array
    """The iterate of the stepper."""
    small_steps: int
    """Consecutive steps of hardly any length."""
    kept_bound: float
    """Best bound so far for X of any size (or of the size that the template allows), ..."""
    kept_dual: Array
    """... and its multipliers."""
    anchors: Array
    """Earlier multipliers with a slack inside the dual cone, as rows."""
    anchor_margins: Array
    """Their margins, block by block."""
    combination: Array
    """(level, z) of level C + A^*(z), which lies inside the dual cone, or nothing: its margins are then negative."""
    combination_margins: Array
    feasible: Array
    """All variables of the last iterate whose X has been moved onto the constraints, or nothing."""

    def cap_bound(self, bound: float, bound_kind: str) -> InteriorPointState:
        """Return the state with no dual bound above ``bound``."""
        return replace(super().cap_bound(bound, bound_kind), kept_bound=min(self.kept_bound, bound))

    def shared_objects(self, problem: Problem) -> dict[str, Any]:
        """Return the problem and what takes the steps, which all states share."""
        return {"problem": problem, "stepper": self.stepper}


@dataclass(frozen=True, eq=False)
class InteriorPoint:
    """Interior points for the template of a program: constraints of unit norm, X in a truncated product of cones."""

    data: SdpData = field(repr=False)
    size: float | None = None
    """A bound on the size of every feasible X, on which the dual bound may rest; None where there is none."""
    is_equilibrated: bool = False
    """Whether variables and rows are in units that even out the data."""

    name = "interior"
    """Name in results."""
    stepper: ClassVar[Callable[[SdpData, bool], Stepper]] = Embedding
    """What takes the steps."""

    def rebuild(self, problem: Problem) -> dict[str, Any]:
        """Return the problem and what takes the steps, which all states of a run share."""
        return {"problem": problem, "stepper": self.stepper(self.data, self.is_equilibrated)}

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> InteriorPointState:
        """Start from multiples of the identity, whatever tracker and dual start are."""
        stepper, whole = self.stepper(self.data, self.is_equilibrated), problem.sharp.cost_map.cost_and_constraints
        level, z = combine_to_identity(self.data)
        combination = np.concatenate([[level], z])
        state = InteriorPointState(
            dual=dual,
            primal=tracker,
            image=np.zeros(problem.b.size),
            mean_objective=math.nan,
            certificate=empty_certificate(dual),
            counts=Counts(),
            accuracy=accuracy,
            stepper=stepper,
            vector=stepper.vector,
            small_steps=0,
            kept_bound=-math.inf,
            kept_dual=dual,
            anchors=np.zeros((0, problem.b.size)),
            anchor_margins=np.zeros((0, len(self.data.blocks))),
            combination=combination,
            combination_margins=measure_margins(self.data.blocks, whole.adjoint(combination)),
            feasible=np.zeros(0),
        )
        origin = self._measure(problem, make_admissible(self.data, np.zeros_like(dual)))  # C itself may lie inside
        if origin.is_inside:
            state = replace(state, kept_bound=origin.objective, kept_dual=origin.dual)
        return _keep_anchor(state, origin)

    def step(self, problem: Problem, state: InteriorPointState) -> InteriorPointState:
        """Take one step along the central path; measure the point and prove a bound.

        Once the accuracy is reached, steps continue until <X, S> is as small, and X more nearly feasible: with large
        multipliers an X that is slightly infeasible may have a small gap far from the optimum.
        """
        here = self._advance(problem, state)
        best, level, idle = here, self._remaining_error(problem, here), 0
        while best.certificate.relative_error(problem) <= state.accuracy < self._remaining_error(problem, best):
            if here.failure is not None or idle == IDLE_STEPS:
                break
            here = self._advance(problem, here)
            error = self._remaining_error(problem, here)
            level, idle = (error, 0) if error < PROGRESS * level else (level, idle + 1)
            is_better = error < self._remaining_error(problem, best)
            if is_better and here.certificate.relative_error(problem) <= state.accuracy:
                best = here
        return best if best is here else replace(best, iteration=here.iteration, counts=here.counts)

    def _advance(self, problem: Problem, state: InteriorPointState) -> InteriorPointState:
        """Take one step and evaluate it."""
        stepper = state.stepper
        stepper.restore(state.vector, state.iteration, state.small_steps)
        can_continue = stepper.step()
        vector, iteration = stepper.vector, state.iteration + 1
        if not np.isfinite(vector).all() or not stepper.has_point:
            return replace(state, iteration=iteration, failure=Status.STALLED)
        moved = replace(
            state,
            iteration=iteration,
            vector=vector,
            small_steps=stepper.small_steps,
            failure=None if can_continue else Status.STALLED,
        )
        evaluated = self._evaluate(problem, moved)
        is_stalled = not can_continue and evaluated.certificate.relative_error(problem) > state.accuracy
        return self._restrict(problem, evaluated) if is_stalled else evaluated

    def _restrict(self, problem: Problem, state: InteriorPointState) -> InteriorPointState:
        """Return the state with X and the multipliers moved to where X S = 0 holds, if that is better.

        Where steps end, rounding leaves both within some 1e-8 of an optimal face; on it the gap is of second order.
        """
        dual, (parts, _) = state.certificate.dual, state.stepper.decode(state.vector)
        slack = split_blocks(self.data.blocks, problem.sharp.cost_map.slack(dual))
        best = state
        for share in FACE_SHARES:
            moved = move_to_face(self.data, parts, slack, dual, share)
            if moved is None:
                continue
            found = self._measure(problem, make_admissible(self.data, moved.dual))
            candidates = [self._measure(problem, dual), found, *self._mend(problem, state, found)]
            other = self._certify(problem, state, moved.parts, candidates)
            best = min(best, other, key=lambda one: one.certificate.relative_error(problem))
        return best

    def _evaluate(self, problem: Problem, state: InteriorPointState) -> InteriorPointState:
        """Return the state with point, image, bound and certificate of its iterate."""
        parts, raw = state.stepper.decode(state.vector)
        found = self._measure(problem, make_admissible(self.data, raw))
        mended = self._mend(problem, state, found)
        state = _keep_anchor(state, found)
        state = replace(
            state,
            dual=found.dual,
            counts=state.counts.plus(1 + len(mended), 0, 1 + len(mended)),
            dual_step=norm(found.dual - state.dual),
        )
        state = self._certify(problem, state, parts, [found, *mended])
        is_near = abs(state.certificate.gap(problem)) <= CORRECTED_GAP * state.accuracy
        if not is_near or self._feasibility_error(state) <= state.accuracy:
            return state
        return self._correct(problem, state, [found, *mended])

    def _correct(
        self, problem: Problem, state: InteriorPointState, candidates: list[DualCandidate]
    ) -> InteriorPointState:
        """Return the state with X moved onto the constraints, mixed with an earlier such X if need be."""
        best = state
        for share in ANCHOR_SHARES if state.feasible.size else ANCHOR_SHARES[:1]:
            vector = state.stepper.correct(state.stepper.mix(state.vector, state.feasible, share))
            if vector is None:
                continue
            moved = self._certify(problem, state, state.stepper.decode(vector)[0], candidates)
            is_feasible = self._feasibility_error(moved) <= state.accuracy
            moved = replace(moved, feasible=vector if is_feasible else state.feasible)
            best = min(best, moved, key=lambda candidate: self._remaining_error(problem, candidate))
            if is_feasible:
                break
        return best

    def _certify(
        self, problem: Problem, state: InteriorPointState, parts: list[Array], candidates: list[DualCandidate]
    ) -> InteriorPointState:
        """Return the state with a point and the best bound that multipliers or earlier ones prove for it."""
        point = self.data.point(parts)
        cost, image = problem.sharp.cost_map.cost_and_image(point)
        primal, size = Fixed(point), self.size or choose_size(self.data, point)
        bonus = PREFERENCE * state.accuracy * problem.scale(cost)
        best = max(candidates, key=lambda candidate: candidate.bound(size) + bonus * candidate.is_inside)
        bound, dual = best.bound(size), best.dual
        if (best.is_inside or self.size is not None) and bound > state.kept_bound:
            state = replace(state, kept_bound=bound, kept_dual=dual)
        kind = CONDITIONAL
        if state.kept_bound >= bound - bonus:
            bound, dual, kind, size = state.kept_bound, state.kept_dual, RIGOROUS, math.inf
        certificate = Certificate(*measure_point(problem, primal, image, cost), bound, dual, kind, size_limit=size)
        return replace(
            state,
            primal=primal,
            image=image,
            mean_objective=cost,
            certificate=certificate,
        )

    def _measure(self, problem: Problem, dual: Array) -> DualCandidate:
        """Return what multipliers prove."""
        margins = measure_margins(self.data.blocks, problem.sharp.cost_map.slack(dual))
        return DualCandidate(dual, _dual_objective(problem, dual), margins)

    def _feasibility_error(self, state: InteriorPointState) -> float:
        """Return the larger of a multiple of the infeasibility and DIMACS's first error, in the units of the data."""
        violation = float(np.linalg.norm(self.data.violation(state.image * self.data.norms)))
        dimacs = violation / (1.0 + float(np.abs(self.data.b).max()))
        return max(FEASIBILITY_FACTOR * state.certificate.infeasibility, dimacs)

    def _remaining_error(self, problem: Problem, state: InteriorPointState) -> float:
        """Return the largest of gap, |<X, S>| over twice the scale of gaps (as in DIMACS) and the feasibility error."""
        product = abs(state.mean_objective + float(state.certificate.dual @ state.image))
        gap = abs(state.certificate.gap(problem))
        return max(0.5 * product / problem.scale(state.mean_objective), gap, self._feasibility_error(state))

    def _mend(self, problem: Problem, state: InteriorPointState, found: DualCandidate) -> list[DualCandidate]:
        """Return the multipliers changed a little, so that their slack lies inside the dual cone, in up to two ways.

        Margins are concave: (1 - t) S + t S_0 has at least the margin (1 - t) m + t m_0, for the slack S_0 of earlier
        multipliers; and so has S + s (level C + A^*(z)), a multiple of the slack of (lam + s z) / (1 + s level).
        """
        is_cone = self.data.is_bounding
        here = found.margins[is_cone]
        if here.min(initial=math.inf) >= 0.0:
            return []
        rounding = INSIDE * float(np.abs(problem.sharp.cost_map.slack(found.dual).diagonal()).max())
        target = rounding * np.array([block.size for block in self.data.blocks])[is_cone]
        is_short, mended = here < target, list[DualCandidate]()
        there = state.combination_margins[is_cone]
        if (there > 0.0).all():
            step = float(np.max((target - here)[is_short] / there[is_short], initial=0.0))
            level, z = state.combination[0], state.combination[1:]
            mended.append(self._measure(problem, (found.dual + step * z) / (1.0 + step * level)))
        best: tuple[float, float, Array] | None = None
        for anchor, margins in zip(state.anchors, state.anchor_margins[:, is_cone], strict=True):
            if (margins > target).all():
                share = float(np.max((target - here)[is_short] / (margins - here)[is_short], initial=0.0))
                loss = share * (found.objective - _dual_objective(problem, anchor))
                best = (loss, share, anchor) if best is None or loss < best[0] else best
        if best is not None:
            mended.append(self._measure(problem, (1.0 - best[1]) * found.dual + best[1] * best[2]))
        return mended


class FacePoint(NamedTuple):
    """The blocks of X and the multipliers (rows of unit norm) on a face."""

    parts: list[Array]
    dual: Array


def move_to_face(data: SdpData, parts: list[Array], slack: list[Array], dual: Array, share: float) -> FacePoint | None:
    """Return X where the slack is zero up to a share, on the tight constraints, and multipliers for which it is zero.

    Both moves are the least ones, and linear; None where the face is too large.
    """
    columns = Columns(data)
    rows = columns.matrix(data.unit_constraints, data.size)
    bases = [_face_basis(block, part, share) for block, part in zip(data.blocks, slack, strict=True)]
    if sum(basis.size for basis in bases) > MOST_FACE_ENTRIES:
        return None
    ends = np.cumsum([basis.shape[1] for basis in bases])[:-1]
    pairs = zip(columns.start, bases, strict=True)
    restricted = np.hstack([rows[:, start : start + basis.shape[0]] @ basis for start, basis in pairs])
    inside, rest = (
        np.concatenate([basis.T @ part.ravel() for basis, part in zip(bases, whole, strict=True)])
        for whole in (parts, slack)
    )
    image, lower, upper = restricted @ inside, data.lower / data.norms, data.upper / data.norms
    is_tight = data.equal | (np.abs(dual) > INSIDE * np.abs(dual).max(initial=0.0))
    target = np.where(is_tight, np.where((dual > 0.0) | data.equal, upper, lower), np.clip(image, lower, upper))
    is_active = is_tight | (target != image)
    inside += np.linalg.lstsq(restricted[is_active], (target - image)[is_active], rcond=None)[0]
    moved = dual.copy()
    moved[is_active] -= np.linalg.lstsq(restricted[is_active].T, rest, rcond=None)[0]
    split = zip(data.blocks, bases, np.split(inside, ends), parts, strict=True)
    return FacePoint([move_into_cone(block, (basis @ x).reshape(part.shape)) for block, basis, x, part in split], moved)


def _face_basis(block: Block, part: Array, share: float) -> Array:
    """Return an orthonormal basis of the matrices or vectors where a block of the slack is nearly zero, as columns."""
    if block.kind in (FREE, SECOND_ORDER):
        return np.eye(block.size)
    if block.kind == NONNEGATIVE:
        return np.eye(block.size)[:, part <= share * part.max()]
    values, vectors = np.linalg.eigh(part)
    kept = vectors[:, values <= share * np.abs(values).max()]
    i, j = np.triu_indices(kept.shape[1])
    products = kept[:, None, i] * kept[None, :, j]
    symmetric = np.where(i == j, 0.5, math.sqrt(0.5)) * (products + products.transpose(1, 0, 2))
    return symmetric.reshape(block.size**2, i.size)


class DualCandidate(NamedTuple):
    """Multipliers lam and what their slack S = C + A^*(lam) proves."""

    dual: Array
    objective: float
    """-<lam, b> - h(lam): the dual bound, if the slack lies in the dual cone."""
    margins: Array
    """Of the slack, block by block."""

    @property
    def is_inside(self) -> bool:
        """Whether the slack lies in the dual cone, proved: the dual bound then holds for every X."""
        return bool(self.margins.min() >= 0.0)

    def bound(self, size: float) -> float:
        """Return the lower bound on <C, X> for feasible X of at most this size."""
        return self.objective + size * min(0.0, float(self.margins.min()))


def _dual_objective(problem: Problem, dual: Array) -> float:
    """Return -<lam, b> - h(lam)."""
    return -float(dual @ problem.b) - problem.coupling.conjugate(dual)


def _keep_anchor(state: InteriorPointState, found: DualCandidate) -> InteriorPointState:
    """Return the state with these multipliers among the anchors, if their slack lies inside."""
    if (found.margins[state.stepper.form.data.is_bounding] <= 0.0).any():
        return state
    kept = slice(1 if state.anchors.shape[0] == ANCHORS else 0, None)
    return replace(
        state,
        anchors=np.concatenate([state.anchors[kept], found.dual[None]]),
        anchor_margins=np.concatenate([state.anchor_margins[kept], found.margins[None]]),
    )
