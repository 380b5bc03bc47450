"""Coordinate descent over working sets: solve over a few coordinates, let the oracle price the others."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd._util.arrays import norm, submatrix
from unipd.atoms import Blocks, dense
from unipd.dual import evaluate, oracle_errors
from unipd.methods.base import (
    Counts,
    State,
    WarmPoint,
    empty_certificate,
    measure_point,
    require_applicable,
    target_eps,
    zero_image,
)
from unipd.methods.coordinate.restricted import (
    LARGEST_SYSTEM,
    Multiplier,
    Restricted,
    loss_hessian,
    minimize_restricted,
)
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.sharp.coordinates import Coordinates
from unipd.status import Status
from unipd.trackers import Fixed

FIRST_GROUPS = 40
"""Groups of the first working set."""
INNER_SHARE, GAP_SHARE = 0.3, 1e-2
"""The problem over a working set is solved to this share of the accuracy, or this share of the gap if that is larger:
far, since passes over a working set cost little beside an oracle call."""
SMALL_GRAM, GRAM_SHARE = 200, 2
"""Entries up to which the Gram matrix is kept even if A has fewer rows, and entries for every row up to which systems
that are factorised keep it: those of groups are well-conditioned, and solved iteratively."""
GROWTH = 2
"""The working set has room for this many times the groups in use."""


@dataclass(frozen=True)
class CoordinateState(State):
    """State of the coordinate method."""

    groups: IntArray
    """The groups of coordinates in the working set."""
    x: FloatArray
    """Their entries, group after group."""
    rows: FloatArray
    """Their columns of A as rows; empty for a sparse A."""
    gram: FloatArray
    """A^T D A over the working set, where it is kept; else empty."""
    hessian: FloatArray
    """D; empty without a Gram matrix."""
    multiplier: Multiplier
    """Of the budget."""
    eps: float
    """Requested absolute accuracy."""
    is_warm: bool = False
    """Whether x and the working set are those of a similar problem."""

    @property
    def absolute_accuracy(self) -> float:
        """The absolute accuracy requested."""
        return self.eps


@dataclass(frozen=True)
class CoordinateDescent:
    """Coordinate descent with working sets, over an l1 or group ball, a simplex or a box, or boxes beside one of them.

    Every iteration solves the problem over a working set of coordinates (compiled passes of coordinate descent, Newton
    steps on the support), calls the oracle at the gradient of the loss, which certifies the gap over all of X, and
    moves the coordinates with the largest prices into the working set. The loss is smooth and separable, and A gives
    its columns. Thousands of nonzeros cost no more than their columns; atoms of the corrective method cost a system of
    equations.

    Parameters
    ----------
    working_set
        Groups of the first working set; it grows with the solution.
    eps
        Absolute accuracy; default: the relative accuracy times the size of the objective.

    Raises
    ------
    InvalidInput
        ``working_set``: expected an integer of at least 1.

    See Also
    --------
    Corrective, unipd.sharp.Coordinates

    Examples
    --------
    >>> import numpy as np, unipd
    >>> A, loss = np.array([[1.0, 2.0], [3.0, 4.0]]), unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.L1Ball(2), A, [1.0, 1.0], loss)
    >>> unipd.solve(problem, unipd.CoordinateDescent(), accuracy=1e-8).status.value
    'solved'
    """

    name = "coordinate"

    working_set: int = FIRST_GROUPS
    eps: float | None = None

    def __post_init__(self) -> None:
        validate.integer("working_set", self.working_set, minimum=1)

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> CoordinateState:
        """Start at zero, or at the oracle's vertex where zero is not in X; the tracker is always the method's."""
        _require_coordinates(problem)
        assert problem.loss is not None
        if not np.any(dual):
            dual = problem.loss.gradient(-problem.b)
        with oracle_errors:
            direction = problem.map.negated_adjoint(dual)
        point = evaluate(problem, dual, direction=direction)
        ball, prices = problem.sharp.coordinates(), _flat(direction)
        outside = np.flatnonzero(ball.weights == 0.0)
        groups, _ = _next_groups(ball, prices, outside, np.zeros(outside.size), self.working_set)
        part = ball.restrict(groups)
        x = np.clip(np.zeros(part.size), part.lower, part.upper)
        if ball.is_tight:
            x[np.argmax(np.where(part.weights > 0.0, part.scores(prices), -math.inf))] = ball.budget
        tracker = Fixed(_as_point(problem, ball, part, x))
        image = problem.map.image(tracker.point()) if x.any() else np.zeros(problem.dual_shape, problem.dtype)
        cost = problem.sharp.objective(tracker.point())
        certificate = empty_certificate(dual).update_bound(problem, point)
        return CoordinateState(
            dual=dual,
            primal=tracker,
            image=image,
            mean_objective=cost,
            certificate=certificate.update_point(measure_point(problem, tracker, image, cost)),
            counts=Counts(1, 0, point.matvecs + 1),
            smoothness=0.0,
            groups=groups,
            x=x,
            rows=np.zeros((0, problem.b.size)),
            gram=np.zeros((0, 0)),
            hessian=np.zeros(0),
            multiplier=_first_multiplier(ball, prices),
            eps=target_eps(problem, self.eps, accuracy, cost),
        )

    def start_at(self, problem: Problem, tracker: Tracker, warm: WarmPoint, accuracy: float) -> CoordinateState:
        """Start with the groups in use in another run, at its entries as far as they are within the bounds.

        Another run of this method has priced all groups at its last dual vector, so that no oracle call is needed.
        """
        _require_coordinates(problem)
        ball, earlier = problem.sharp.coordinates(), warm.state if isinstance(warm.state, CoordinateState) else None
        point = warm.point if earlier is None else earlier.primal.point()
        x = np.zeros(0) if point is None else _flat(point if isinstance(point, Blocks) else dense(point))
        if x.size != ball.size:
            return self.start(problem, tracker, warm.dual, accuracy)
        if earlier is not None and earlier.groups.max() < ball.weights.size:
            groups = earlier.groups
            first = _carry_over(problem, earlier, ball.restrict(groups).members)
            first = replace(first, eps=target_eps(problem, self.eps, accuracy, problem.sharp.objective(point)))
        else:
            first = self.start(problem, tracker, warm.dual, accuracy)
            ordered = replace(ball, lower=ball.lower[ball.members], upper=ball.upper[ball.members])
            known_groups = np.flatnonzero(ordered.norms(x[ball.members]))
            groups = np.concatenate([known_groups, np.setdiff1d(first.groups, known_groups)])
        part = ball.restrict(groups)
        entries = np.clip(x[part.members], part.lower, part.upper)
        if ball.is_tight and not part.total(entries) > 0.0:
            return self.start(problem, tracker, warm.dual, accuracy)
        dual, certificate = warm.dual, empty_certificate(warm.dual)
        return replace(first, dual=dual, certificate=certificate, groups=groups, x=entries, is_warm=True)

    def step(self, problem: Problem, state: CoordinateState) -> CoordinateState:
        """Solve over the working set, price the other coordinates, and choose the next working set."""
        # 1: the problem over the working set gives x and lam
        ball: Coordinates = problem.sharp.coordinates()
        restricted, state = _restrict(problem, ball, state)
        gap = state.certificate.absolute_gap if not state.is_warm else 0.0  # a known working set may be the last one
        tolerance = max(INNER_SHARE * state.eps, GAP_SHARE * gap if math.isfinite(gap) else 0.0)
        solution = minimize_restricted(restricted, state.x, state.multiplier, tolerance, is_warm=state.is_warm)
        here = solution.point
        dual, image = here.dual.astype(problem.dtype, copy=False), here.residual + problem.b

        # 2: the oracle certifies; its direction prices all coordinates
        with oracle_errors:
            direction = problem.map.negated_adjoint(dual)
        point = evaluate(problem, dual, direction=direction)
        tracker = Fixed(_as_point(problem, ball, restricted.ball, here.x))
        cost = problem.sharp.objective(tracker.point())
        measures = measure_point(problem, tracker, image, cost)
        certificate = state.certificate.update_point_and_bound(problem, measures, point)

        # 3: the groups in use stay, and the best priced others enter
        norms = restricted.ball.norms(here.x)
        groups, kept = _next_groups(ball, _flat(direction), state.groups, norms, self.working_set)
        moved = _select(restricted.ball, state, kept, here.x)
        is_idle = groups.size == kept.size == state.groups.size and certificate.objective >= state.certificate.objective
        is_idle = is_idle and certificate.dual_bound <= state.certificate.dual_bound
        is_idle = is_idle and certificate.absolute_gap > state.eps
        return replace(
            moved,
            failure=Status.STALLED if is_idle else None,
            iteration=state.iteration + 1,
            dual=dual,
            primal=tracker,
            image=image,
            mean_objective=cost,
            certificate=certificate,
            counts=state.counts.plus(1, 0, point.matvecs + solution.products),
            dual_step=norm(dual - state.dual),
            groups=groups,
            x=np.append(moved.x, np.zeros(ball.restrict(groups[kept.size :]).size)),
            multiplier=solution.multiplier,
            is_warm=False,
        )


_NEEDS = (
    "a set with coordinates, a separable smooth loss, and a real matrix in double precision (or a map with columns)"
)


def has_coordinates(problem: Problem) -> bool:
    """Whether the coordinate method applies: X by coordinates, a separable smooth loss, and the columns of A.

    Parameters
    ----------
    problem
        The problem.

    See Also
    --------
    unipd.methods.CoordinateDescent

    Examples
    --------
    >>> import unipd
    >>> loss = unipd.couplings.LeastSquares()
    >>> has_coordinates(unipd.Problem(unipd.sharp.L1Ball(2), np.eye(2), [1.0, 2.0], loss))
    True
    """
    if not problem.has_smooth_loss or problem.dtype != np.float64 or not problem.coupling.is_separable:
        return False
    return problem.sharp.coordinates() is not None and problem.map.columns(np.zeros(1, np.intp)) is not None


def _require_coordinates(problem: Problem) -> None:
    """Raise unless the coordinate method applies."""
    require_applicable(problem, CoordinateDescent.name, _NEEDS, is_met=has_coordinates(problem))


def _flat(direction: Any) -> FloatArray:
    """Return A^* lam as one vector, block after block."""
    if isinstance(direction, (tuple, Blocks)):
        return np.concatenate([np.asarray(part, np.float64).reshape(-1) for part in direction])
    return np.asarray(direction, np.float64).reshape(-1)


def _first_multiplier(ball: Coordinates, direction: FloatArray) -> Multiplier:
    """Return half the best price as mu, 0 without a budget; rho is found later."""
    best = max(0.0, float(ball.scores(direction).max()) - ball.linear)
    return Multiplier(0.5 * best if math.isfinite(ball.budget) else 0.0, 0.0)


def _next_groups(
    ball: Coordinates, direction: FloatArray, groups: IntArray, norms: FloatArray, least: int
) -> tuple[IntArray, IntArray]:
    """Return the next working set and the places of those of the present groups that stay, which come first.

    Groups in use stay, and those outside the budget; the best priced others fill the room. The working set remains as
    it is where no other group has a better price than those in use.
    """
    scores = ball.scores(direction)
    in_use = (norms > 0.0) | (ball.weights[groups] == 0.0)
    room = max(least, GROWTH * int(in_use.sum())) - int(in_use.sum())
    others = scores.copy()
    others[groups] = -math.inf
    if in_use.any() and others.max() <= scores[groups[in_use]].max():
        return groups, np.arange(groups.size)
    others[groups] = np.where(in_use, -math.inf, scores[groups])
    room = min(room, others.size - int(in_use.sum()))
    best = np.argpartition(-others, room - 1)[:room] if room > 0 else np.zeros(0, np.intp)
    chosen = np.zeros(scores.size, bool)
    chosen[best] = True
    kept = np.flatnonzero(in_use | chosen[groups])
    chosen[groups] = False
    return np.concatenate([groups[kept], np.flatnonzero(chosen)]), kept


def _select(ball: Coordinates, state: CoordinateState, kept: IntArray, x: FloatArray) -> CoordinateState:
    """Return the state with the entries, columns and Gram matrix of the groups that stay."""
    entries = np.flatnonzero(ball.spread(np.isin(np.arange(ball.weights.size), kept)))
    if entries.size == x.size:
        return replace(state, x=x)
    rows = state.rows[entries] if state.rows.size else state.rows
    gram = submatrix(state.gram, entries, entries) if state.gram.size else state.gram
    return replace(state, x=x[entries], rows=rows, gram=gram)


def _as_point(problem: Problem, ball: Coordinates, part: Coordinates, x: FloatArray) -> Any:
    """Return x as a point of X, by block where X is a product."""
    whole = np.zeros(ball.size)
    whole[part.members] = x
    blocks = problem.sharp.block_oracles
    if not blocks:
        return whole.reshape(problem.sharp.shape)
    ends = np.cumsum([math.prod(oracle.shape) for oracle in blocks])[:-1]
    pieces = np.split(whole, ends)
    return Blocks(tuple(piece.reshape(oracle.shape) for piece, oracle in zip(pieces, blocks, strict=True)))


def _carry_over(problem: Problem, earlier: CoordinateState, members: IntArray) -> CoordinateState:
    """Return the first state after another run, with its Gram matrix where columns and loss are the same."""
    assert problem.loss is not None
    first = replace(earlier, iteration=0, image=zero_image(problem), counts=Counts(), failure=None)
    is_same = earlier.gram.size > 0 and problem.loss.quadratic_weights is not None
    if is_same:
        with oracle_errors:
            columns: Any = problem.map.columns(members[: earlier.rows.shape[0]])
        is_same = not scipy.sparse.issparse(columns) and np.array_equal(columns.T, earlier.rows)
        is_same = is_same and np.array_equal(loss_hessian(problem.loss, problem.b), earlier.hessian)
    if is_same:
        return first
    return replace(first, rows=np.zeros((0, problem.b.size)), gram=np.zeros((0, 0)), hessian=np.zeros(0))


def _restrict(problem: Problem, ball: Coordinates, state: CoordinateState) -> tuple[Restricted, CoordinateState]:
    """Return the problem over the working set, and the state with the columns and Gram matrix of all its groups."""
    part = ball.restrict(state.groups)
    assert problem.loss is not None
    known = state.rows.shape[0]
    with oracle_errors:
        fresh: Any = problem.map.columns(part.members[known:])
    is_quadratic = problem.loss.quadratic_weights is not None
    hessian = loss_hessian(problem.loss, problem.b) if is_quadratic else None
    if scipy.sparse.issparse(fresh):
        return Restricted(problem, part, scipy.sparse.csc_array(fresh), None, hessian), state
    rows = np.concatenate([state.rows, fresh.T]) if known else fresh.T
    gram: FloatArray | None = None
    most = 0 if part.has_groups else min(GRAM_SHARE * problem.b.size, LARGEST_SYSTEM)
    if hessian is not None and part.size <= max(problem.b.size, SMALL_GRAM, most):
        gram = _extend_gram(state.gram, rows, hessian)
    else:
        rows = np.ascontiguousarray(rows)
    state = replace(state, rows=rows, gram=np.zeros((0, 0)), hessian=np.zeros(0))
    if gram is not None and hessian is not None:
        state = replace(state, gram=gram, hessian=hessian)
    return Restricted(problem, part, rows, gram, hessian), state


def _extend_gram(gram: FloatArray, rows: FloatArray, hessian: FloatArray) -> FloatArray:
    """Return A^T D A, of which the leading block is known."""
    known = gram.shape[0]
    if known == rows.shape[0]:
        return gram
    scale = float(hessian[0])
    is_uniform = bool((hessian == scale).all())
    product = rows[known:] @ rows.T if is_uniform else (rows[known:] * hessian) @ rows.T
    larger = np.empty((rows.shape[0], rows.shape[0]))
    larger[:known, :known] = gram
    larger[known:] = scale * product if is_uniform else product
    larger[:known, known:] = larger[known:, :known].T
    return larger
