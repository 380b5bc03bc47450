"""Interior points: the steps are those of QICS, the points, bounds and proofs are measured here.

The multipliers of an iterate need not have a slack in the dual cone: a small share of an earlier iterate whose slack
lies well inside, or of a positive definite combination of the data, mends that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from unipd._typing import Array
from unipd._util.arrays import norm
from unipd.apps.sdp.cones import choose_size, combine_to_identity, make_admissible, measure_margins, move_into_cone
from unipd.apps.sdp.data import (
    FREE,
    NONNEGATIVE,
    SECOND_ORDER,
    Block,
    Columns,
    SdpData,
    split_blocks,
)
from unipd.apps.sdp.embedding import Embedding, Stepper
from unipd.methods.base import Certificate, Counts, State, empty_certificate, measure_point
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.spectral import CONDITIONAL, RIGOROUS
from unipd.status import Status
from unipd.trackers import Fixed

IDLE_STEPS, PROGRESS = 5, 0.8
"""Steps in a row, once the accuracy is reached, that may leave more than this share of the remaining error."""
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
