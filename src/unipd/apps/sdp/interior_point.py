"""Interior points: the steps are those of QICS, the points, bounds and proofs are measured here.

QICS (He, Saunderson and Fawzi) follows the central path of the homogeneous self-dual embedding. Its multipliers need
not have a slack in the dual cone: a small share of an earlier iterate, whose slack lies well inside, mends that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr

from unipd._typing import Array, IntArray
from unipd.apps.sdp.cones import measure_margins, measure_size
from unipd.apps.sdp.data import FREE, NONNEGATIVE, PSD, SECOND_ORDER, SdpData
from unipd.errors import MissingExtra
from unipd.maps.sdp import Entries
from unipd.methods.base import Certificate, Counts, State, empty_certificate, measure_point
from unipd.problem import Problem
from unipd.protocols import Tracker, norm
from unipd.spectral import RIGOROUS
from unipd.status import Status
from unipd.trackers import Fixed

STEPS = 150
"""Most steps; well-posed programs take 10 to 40."""
ANCHORS = 8
"""Earlier multipliers with a slack inside the dual cone that are kept to mend later ones."""
FEASIBILITY_FACTOR = 10.0
"""X is to be more nearly feasible than requested by this factor, if a few more steps achieve it."""
LSQR_STEPS = 200
"""Most steps of the least-squares problem for a combination of the constraints that is positive definite."""
PREFERENCE = 0.1
"""A bound for X of any size may be worse by this share of the accuracy than one that is limited."""
INSIDE = 16.0 * float(np.finfo(np.float64).eps)
"""A mended slack lies inside by this times its order and its size, so that a factorisation can prove it."""
TRACE_MULTIPLE = 10.0
"""Without a proof for X of any size, the dual bound holds for X of this multiple of the size of the point returned."""


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


@dataclass(frozen=True, eq=False)
class ConicForm:
    """min <c, x> + <d, u> subject to M x + F u = r, x in a product of cones.

    Rows have unit norm, and inequalities slacks. The columns of x are those of the psd blocks (by rows), of all
    nonnegative entries and slacks, and of the second-order vectors.
    """

    data: SdpData

    @cached_property
    def slack_rows(self) -> IntArray:
        """Constraints with a slack."""
        return np.flatnonzero(~self.data.equal)

    @cached_property
    def range_rows(self) -> IntArray:
        """Those of them with two sides: the slack has an upper bound, by another slack and another row."""
        both = np.isfinite(self.data.lower) & np.isfinite(self.data.upper)
        return np.flatnonzero(both[self.slack_rows])

    @cached_property
    def offsets(self) -> tuple[IntArray, int, int]:
        """First column of each block (of free blocks among those of u), that of the slacks, and the columns of x."""
        starts, place, slacks = np.zeros(len(self.data.blocks), np.int64), 0, 0
        for kind in (PSD, NONNEGATIVE, SECOND_ORDER, FREE):
            place = 0 if kind == FREE else place
            for index, block in enumerate(self.data.blocks):
                if block.kind == kind:
                    starts[index] = place
                    place += block.size**2 if kind == PSD else block.size
            if kind == NONNEGATIVE:
                slacks = place
                place += self.slack_rows.size + self.range_rows.size
            if kind == SECOND_ORDER:
                columns = place
        return starts, slacks, columns  # pyright: ignore[reportPossiblyUnboundVariable]

    def cones(self) -> list[Any]:
        """Return the cones of x, new ones: they remember the data."""
        kinds, blocks = load_qics().cones, self.data.blocks
        psd = [kinds.PosSemidefinite(block.size) for block in blocks if block.kind == PSD]
        entries = sum(block.size for block in blocks if block.kind == NONNEGATIVE)
        entries += self.slack_rows.size + self.range_rows.size
        second = [kinds.SecondOrder(block.size - 1) for block in blocks if block.kind == SECOND_ORDER]
        return [*psd, *([kinds.NonNegOrthant(entries)] if entries else []), *second]

    def matrices(self) -> tuple[Any, Any]:
        """Return M and F."""
        data, (_, slacks, columns) = self.data, self.offsets
        factors = 1.0 / data.norms
        main, free = self._place(data.constraints, data.size, factors)
        signs = np.where(np.isfinite(data.upper), 1.0, -1.0)[self.slack_rows]
        count, extra = self.slack_rows.size, self.range_rows.size
        places = slacks + np.arange(count)
        slack = sp.csr_array((signs, (self.slack_rows, places)), shape=(data.size, columns))
        ends = np.concatenate([slacks + self.range_rows, slacks + count + np.arange(extra)])
        bottom = sp.csr_array((np.ones(2 * extra), (np.tile(np.arange(extra), 2), ends)), shape=(extra, columns))
        return sp.csr_array(sp.vstack([main + slack, bottom])), sp.csr_array(
            sp.vstack([free, sp.csr_array((extra, free.shape[1]))])
        )

    def costs(self) -> tuple[Array, Array]:
        """Return c and d."""
        main, free = self._place(self.data.cost, 1, np.ones(1))
        return main.toarray()[0], free.toarray()[0]

    def right_hand_side(self) -> Array:
        """Return r."""
        data = self.data
        rows = self.slack_rows[self.range_rows]
        return np.concatenate([data.b, data.upper[rows] - data.lower[rows]]) / np.concatenate(
            [data.norms, data.norms[rows]]
        )

    def _place(self, entries: Entries, rows: int, factors: Array) -> tuple[Any, Any]:
        """Return the entries of matrices as rows over x and u."""
        blocks, (offsets, _, columns) = self.data.blocks, self.offsets
        owner = np.repeat(np.arange(len(blocks)), [block.size for block in blocks])[entries.row]
        start = np.array([block.start for block in blocks])[owner]
        stride = np.array([0 if block.is_vector else block.size for block in blocks])[owner]
        is_free = np.array([block.kind == FREE for block in blocks])[owner]
        row, col, value = entries.row - start, entries.col - start, entries.value * factors[entries.constraint]
        first, mirrored, twice = offsets[owner] + row * stride + col, offsets[owner] + col * stride + row, row != col
        place = (
            np.concatenate([entries.constraint[~is_free], entries.constraint[twice]]),
            np.concatenate([first[~is_free], mirrored[twice]]),
        )
        main = sp.csr_array((np.concatenate([value[~is_free], value[twice]]), place), shape=(rows, columns))
        width = sum(block.size for block in blocks if block.kind == FREE)
        free = sp.csr_array((value[is_free], (entries.constraint[is_free], first[is_free])), shape=(rows, width))
        return main, free

    def parts(self, x: Array, u: Array) -> list[Array]:
        """Return the blocks of X."""
        parts: list[Array] = []
        for block, start in zip(self.data.blocks, self.offsets[0], strict=True):
            if block.is_vector:
                parts.append((u if block.kind == FREE else x)[start : start + block.size])
            else:
                matrix = x[start : start + block.size**2].reshape(block.size, block.size)
                parts.append(0.5 * (matrix + matrix.T))
        return parts


class Embedding:
    """The program inside QICS: a step, and where it led.

    Programs without free variables are stated for x, others for the multipliers, whose equations are F^T y = d.
    """

    def __init__(self, data: SdpData) -> None:
        qics, self.form = load_qics(), ConicForm(data)
        matrix, free = self.form.matrices()
        (c, d), r = self.form.costs(), self.form.right_hand_side()
        self._matrix, self.has_free, self._free, self._free_cost = matrix, free.shape[1] > 0, free[: data.size], d
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
        for index, cone in enumerate(solver.model.cones):
            cone.set_point(solver.point.s[index], solver.point.z[index])
            cone.get_feas()
        solver.calc_mu()
        solver.get_gap_feas()

    def step(self) -> bool:
        """Take a step; return whether it led to another iterate from which to continue."""
        solver = self.solver
        with np.errstate(all="ignore"):
            try:
                has_ended = solver.step_and_check()
            except (np.linalg.LinAlgError, ValueError):  # LAPACK refuses numbers that are not finite
                return False
        return not has_ended and bool(np.isfinite(solver.point.vec).all())

    def make_admissible(self, dual: Array, *, is_ray: bool = False) -> Array:
        """Return multipliers with the signs of inequalities and F^T lam = -d (0 for a ray), up to rounding."""
        data = self.form.data
        has_lower, has_upper = np.isfinite(data.lower), np.isfinite(data.upper)
        out = np.clip(dual, np.where(has_lower, -np.inf, 0.0), np.where(has_upper, np.inf, 0.0))
        if self.has_free:  # weights keep the signs: multipliers of inequalities change by a share of themselves
            largest = float(np.abs(out).max()) or 1.0
            weights = np.where(has_lower & has_upper, largest, np.abs(out))[:, None]
            columns, cost = (weights * self._free.toarray()).T, 0.0 if is_ray else self._free_cost
            for _ in range(2):  # the second time for the rounding of the first
                out -= weights[:, 0] * np.linalg.lstsq(columns, cost + self._free.T @ out, rcond=None)[0]
        return out

    def combine_to_identity(self) -> tuple[float, Array]:
        """Return the level >= 0 and z for which level C + A^*(z) is nearest to the identity, by least squares.

        Where that is positive definite, a multiple of it moves every slack into the cone.
        """
        form, blocks = self.form, self.form.data.blocks
        starts, slacks, columns = form.offsets
        target, (cost, _) = np.zeros(columns), form.costs()
        for block, start in zip(blocks, starts, strict=True):
            if block.kind == PSD:
                target[start : start + block.size**2] = np.eye(block.size).ravel()
            elif block.kind != FREE:
                target[start : start + (1 if block.kind == SECOND_ORDER else block.size)] = 1.0
        size = float(np.linalg.norm(cost)) or 1.0
        rows = sp.vstack([self._matrix, sp.csr_array(cost[None] / size)]).T
        keep = np.ones(columns, bool)
        keep[slacks : slacks + form.slack_rows.size + form.range_rows.size] = False  # signs are imposed afterwards
        found = lsqr(sp.csr_array(rows)[keep], target[keep], atol=1e-12, btol=1e-12, iter_lim=LSQR_STEPS)[0]
        level, z = max(float(found[-1]) / size, 0.0), found[: form.data.size]
        return level, level * self.make_admissible(z / level) if level > 0.0 else self.make_admissible(z, is_ray=True)

    def decode(self, vector: Array) -> tuple[list[Array], Array]:
        """Return the blocks of X and the multipliers of an iterate, rows of unit norm and lam = -y."""
        solver = self.solver
        model, rows = solver.model, self.form.data.size
        n, p, q = model.n, model.p, model.q
        x, y, z, s = np.split(vector[:-2], [n, n + p, n + p + q])
        tau, height = float(vector[-2]), model.h_scale[:, 0]
        if self.has_free:
            u, dual = y / model.b_scale[:, 0] / tau, x / model.c_scale[:, 0] / tau
            return self.form.parts(z / height / tau, u), -dual[:rows]
        return self.form.parts(s * height / tau, np.zeros(0)), (y / model.b_scale[:, 0] / tau)[:rows]


@dataclass(frozen=True)
class InteriorPointState(State):
    """State of the interior-point method."""

    accuracy: float
    """The requested accuracy."""
    embedding: Embedding
    vector: Array
    """All variables of the embedding."""
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

    def shared_objects(self, problem: Problem) -> dict[str, Any]:
        """Return the problem and its embedding."""
        return {"problem": problem, "embedding": self.embedding}


@dataclass(frozen=True, eq=False)
class InteriorPoint:
    """Interior points for the template of a program: constraints of unit norm, X in a truncated product of cones."""

    data: SdpData = field(repr=False)
    size: float | None = None
    """A bound on the size of every feasible X, on which the dual bound may rest; None where there is none."""

    name = "interior"
    """Name in results."""

    def rebuild(self, problem: Problem) -> dict[str, Any]:
        """Return the problem and its embedding, which all states of a run share."""
        return {"problem": problem, "embedding": Embedding(self.data)}

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> InteriorPointState:
        """Start from multiples of the identity, whatever tracker and dual start are."""
        embedding, whole = Embedding(self.data), problem.sharp.cost_map.cost_and_constraints
        level, z = embedding.combine_to_identity()
        combination = np.concatenate([[level], z])
        state = InteriorPointState(
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
            accuracy=accuracy,
            embedding=embedding,
            vector=embedding.vector,
            small_steps=0,
            kept_bound=-math.inf,
            kept_dual=dual,
            anchors=np.zeros((0, problem.b.size)),
            anchor_margins=np.zeros((0, len(self.data.blocks))),
            combination=combination,
            combination_margins=measure_margins(self.data.blocks, whole.adjoint(combination)),
        )
        origin = self._measure(problem, embedding.make_admissible(np.zeros_like(dual)))  # C itself may lie inside
        if origin.is_inside:
            state = replace(state, kept_bound=origin.objective, kept_dual=origin.dual)
        return _keep_anchor(state, origin)

    def step(self, problem: Problem, state: InteriorPointState) -> InteriorPointState:
        """Take one step along the central path; measure the point and prove a bound.

        Once the accuracy is reached, steps continue until <X, S> is as small, and X more nearly feasible: with large
        multipliers an X that is slightly infeasible may have a small gap far from the optimum.
        """
        here = self._advance(problem, state)
        best = here
        while best.certificate.relative_error(problem) <= state.accuracy < _remaining_error(problem, best):
            if here.failure is not None:
                break
            here = self._advance(problem, here)
            is_better = _remaining_error(problem, here) < _remaining_error(problem, best)
            if is_better and here.certificate.relative_error(problem) <= state.accuracy:
                best = here
        return best if best is here else replace(best, iteration=here.iteration, counts=here.counts)

    def _advance(self, problem: Problem, state: InteriorPointState) -> InteriorPointState:
        """Take one step and evaluate it."""
        embedding = state.embedding
        embedding.restore(state.vector, state.iteration, state.small_steps)
        can_continue = embedding.step()
        vector, iteration = embedding.vector, state.iteration + 1
        if not np.isfinite(vector).all() or vector[-2] <= 0.0:
            return replace(state, iteration=iteration, failure=Status.STALLED)
        moved = replace(
            state,
            iteration=iteration,
            vector=vector,
            small_steps=int(embedding.solver.consecutive_small_steps),
            failure=None if can_continue else Status.STALLED,
        )
        return self._evaluate(problem, moved)

    def _evaluate(self, problem: Problem, state: InteriorPointState) -> InteriorPointState:
        """Return the state with point, image, bound and certificate of its iterate."""
        parts, raw = state.embedding.decode(state.vector)
        point = self.data.point(parts)
        cost, image = problem.sharp.cost_map.cost_and_image(point)
        primal = Fixed(point)
        size = self.size or TRACE_MULTIPLE * measure_size(self.data, point)
        found = self._measure(problem, state.embedding.make_admissible(raw))
        mended = self._mend(problem, state, found)
        bonus = PREFERENCE * state.accuracy * problem.scale(cost)
        best = max((found, *mended), key=lambda candidate: candidate.bound(size) + bonus * candidate.is_inside)
        state = _keep_anchor(state, found)
        if (best.is_inside or self.size is not None) and best.bound(size) > state.kept_bound:
            state = replace(state, kept_bound=best.bound(size), kept_dual=best.dual)
        bound, dual = best.bound(size), best.dual
        if state.kept_bound >= bound - bonus:
            bound, dual = state.kept_bound, state.kept_dual
        return replace(
            state,
            dual=found.dual,
            primal=primal,
            image=image,
            mean_objective=cost,
            certificate=Certificate(
                *measure_point(problem, primal, image, cost), dual_bound=bound, ray=dual, bound_kind=RIGOROUS
            ),
            counts=state.counts.plus(1 + len(mended), 0, 1 + len(mended)),
            dual_step=norm(found.dual - state.dual),
        )

    def _measure(self, problem: Problem, dual: Array) -> DualCandidate:
        """Return what multipliers prove."""
        margins = measure_margins(self.data.blocks, problem.sharp.cost_map.slack(dual))
        return DualCandidate(dual, _dual_objective(problem, dual), margins)

    def _mend(self, problem: Problem, state: InteriorPointState, found: DualCandidate) -> list[DualCandidate]:
        """Return the multipliers changed a little, so that their slack lies inside the dual cone, in up to two ways.

        Margins are concave: (1 - t) S + t S_0 has at least the margin (1 - t) m + t m_0, for the slack S_0 of earlier
        multipliers; and so has S + s (level C + A^*(z)), a multiple of the slack of (lam + s z) / (1 + s level).
        """
        is_cone = np.array([block.kind != FREE for block in self.data.blocks])
        here = found.margins[is_cone]
        if here.min(initial=math.inf) >= 0.0:
            return []
        rounding = INSIDE * float(np.abs(problem.sharp.cost_map.slack(found.dual).diagonal()).max())
        target = rounding * np.array([block.size for block in self.data.blocks])[is_cone]
        mended: list[DualCandidate] = []
        there = state.combination_margins[is_cone]
        if (there > 0.0).all():
            step = float(np.max((target - here) / there, where=here < target, initial=0.0))
            level, z = state.combination[0], state.combination[1:]
            mended.append(self._measure(problem, (found.dual + step * z) / (1.0 + step * level)))
        best: tuple[float, float, Array] | None = None
        for anchor, margins in zip(state.anchors, state.anchor_margins[:, is_cone], strict=True):
            if (margins > target).all():
                share = float(np.max((target - here) / (margins - here), where=here < target, initial=0.0))
                loss = share * (found.objective - _dual_objective(problem, anchor))
                best = (loss, share, anchor) if best is None or loss < best[0] else best
        if best is not None:
            mended.append(self._measure(problem, (1.0 - best[1]) * found.dual + best[1] * best[2]))
        return mended


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


def _remaining_error(problem: Problem, state: InteriorPointState) -> float:
    """Return the larger of |<X, S>|, relative to the scale of gaps, and a multiple of the infeasibility."""
    product = abs(state.mean_objective + float(state.certificate.dual @ state.image))
    return max(product / problem.scale(state.mean_objective), FEASIBILITY_FACTOR * state.certificate.infeasibility)


def _keep_anchor(state: InteriorPointState, found: DualCandidate) -> InteriorPointState:
    """Return the state with these multipliers among the anchors, if their slack lies inside."""
    blocks = state.embedding.form.data.blocks
    if any(margin <= 0.0 for margin, block in zip(found.margins, blocks, strict=True) if block.kind != FREE):
        return state
    kept = slice(1 if state.anchors.shape[0] == ANCHORS else 0, None)
    return replace(
        state,
        anchors=np.concatenate([state.anchors[kept], found.dual[None]]),
        anchor_margins=np.concatenate([state.anchor_margins[kept], found.margins[None]]),
    )
