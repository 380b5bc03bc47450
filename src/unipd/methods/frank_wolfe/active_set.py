"""Frank-Wolfe over an active set: x as a convex combination of vertices, whose weights an iteration moves.

Away steps move towards the oracle's vertex or away from the worst active one, pairwise steps from that to this one.
Blended pairwise conditional gradients (Tsuji, Tanaka and Pokutta, 2022), plain and lazy (Braun, Pokutta and Zink), move
weight within the active set as long as that promises as much decrease as a new vertex does: a new vertex never takes
the place of an old one in one step (a swap step), and the active set stays small.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from unipd import atoms
from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd._util.arrays import inner
from unipd.atoms import Atom
from unipd.dual import DualValue, call_oracle, call_oracle_along, dual_value, image_of
from unipd.methods.base import (
    ORACLE_SHARE,
    Counts,
    Measures,
    WarmPoint,
    empty_certificate,
    fast_replace,
    known_objective,
    zero_image,
)
from unipd.methods.descent import direction_between, exact_step, loss_gradient, step_along
from unipd.methods.frank_wolfe.frank_wolfe import GradientState, gradient_at, linear_score, require_smooth_loss
from unipd.problem import Problem
from unipd.protocols import SharpAnswer, Tracker
from unipd.trackers.atoms import is_low_rank, vertex_key

REFRESH = 256
"""Iterations after which the sum of the weights and A x are recomputed, so that rounding does not accumulate."""
_SMALLEST = 1e-14
"""Weights up to which a vertex is dropped."""


@dataclass(frozen=True)
class Vertex:
    """An atom with its image and its cost."""

    atom: Atom
    image: Array
    objective: float
    key: bytes
    """See :func:`~unipd.trackers.atoms.vertex_key`."""


@dataclass(frozen=True, eq=False)
class ActiveSet:
    """Tracker of x = sum_i w_i v_i over distinct vertices; a vertex whose weight reaches zero is dropped."""

    vertices: tuple[Vertex, ...]
    weights: FloatArray

    error = None
    has_shared_atoms = False

    @property
    def exact_objective(self) -> bool:
        """Whether f(x) is evaluated at x: not for low-rank atoms, whose sum is expensive to decompose."""
        return not any(is_low_rank(vertex.atom) for vertex in self.vertices)

    @cached_property
    def _nonzeros(self) -> tuple[IntArray, Array, IntArray] | None:
        """Indices and values of the nonzeros of all vertices, and where each begins; None unless all are sparse."""
        points: list[Any] = [vertex.atom for vertex in self.vertices]
        if {type(point) for point in points} != {atoms.SparsePoint}:
            return None
        sizes = np.array([point.indices.size for point in points])
        if not sizes.all():
            return None
        indices = np.concatenate([point.indices for point in points])
        return indices, np.concatenate([point.values for point in points]), np.cumsum(sizes) - sizes

    @cached_property
    def _objectives(self) -> FloatArray:
        return np.array([vertex.objective for vertex in self.vertices])

    @cached_property
    def _places(self) -> dict[bytes, int]:
        return {vertex.key: place for place, vertex in enumerate(self.vertices)}

    def scores(self, dual: Array, direction: Any) -> FloatArray:
        """Return <lam, A v> + f(v) of every vertex; sparse ones read it from ``direction``, -A^* lam."""
        if self._nonzeros is None or not isinstance(direction, np.ndarray):
            return np.array([inner(dual, vertex.image) for vertex in self.vertices]) + self._objectives
        indices, values, starts = self._nonzeros
        return self._objectives - np.add.reduceat(np.real(values.conj() * direction.take(indices)), starts)

    def find(self, key: bytes) -> Vertex | None:
        """Return the vertex of this key, if there is one."""
        place = self._places.get(key)
        return None if place is None else self.vertices[place]

    def move_weight(self, gamma: float, toward: Vertex | None, away: int | None) -> ActiveSet:
        """Move weight gamma to a vertex (None: to all in proportion) from the one at ``away`` (None: from all)."""
        factor = 1.0 - gamma if away is None else 1.0 + gamma if toward is None else 1.0
        vertices, weights = self.vertices, factor * self.weights
        if away is not None:
            weights[away] -= gamma
        if toward is not None:
            place = self._places.get(toward.key)
            if place is None:
                vertices, weights = (*vertices, toward), np.append(weights, gamma)
            else:
                weights[place] += gamma
        moved = ActiveSet(vertices, weights) if vertices is not self.vertices else self._reweight(weights)
        is_drop_step = gamma >= 1.0 or (away is not None and weights[away] <= _SMALLEST)
        return moved.normalize() if is_drop_step else moved

    def _reweight(self, weights: FloatArray) -> ActiveSet:
        """Return the same vertices with other weights; what is cached of the vertices stays."""
        other = copy.copy(self)
        object.__setattr__(other, "weights", weights)
        return other

    def normalize(self) -> ActiveSet:
        """Return the set without vertices of weight zero, whose weights sum to one."""
        kept = np.flatnonzero(self.weights > _SMALLEST)
        weights = self.weights[kept]
        return ActiveSet(tuple(self.vertices[place] for place in kept), weights / weights.sum())

    def mix(self, gamma: float, atom: Any) -> ActiveSet:
        """Refuse: vertices enter with their images, through :meth:`move_weight`."""
        raise NotImplementedError("an active set moves weight between vertices; it does not mix atoms")

    def image(self) -> Array:
        """Return A x."""
        total = np.zeros_like(self.vertices[0].image)
        for weight, vertex in zip(self.weights, self.vertices, strict=True):
            total += weight * vertex.image
        return total

    def objective(self) -> float:
        """Return sum_i w_i f(v_i)."""
        return inner(self.weights, self._objectives)

    @property
    def atoms(self) -> list[Any]:
        """The atoms, in the order of the weights."""
        return [vertex.atom for vertex in self.vertices]

    def point(self) -> Any:
        """Return x."""
        return atoms.combination(self.weights.tolist(), self.atoms)

    @property
    def nbytes(self) -> int:
        """Bytes of the vertices and their images."""
        return sum(vertex.atom.nbytes + vertex.image.nbytes for vertex in self.vertices) + self.weights.nbytes


@dataclass(frozen=True, kw_only=True)
class ActiveSetState(GradientState):
    """State of a Frank-Wolfe method with an active set."""

    active: ActiveSet
    """The vertices that make up x; it is also the primal tracker."""
    gap_estimate: float = math.inf
    """Estimate of the Frank-Wolfe gap by which a lazy method decides whether to call the oracle."""


class Iterate(NamedTuple):
    """What a method knows of x when it chooses a move."""

    active: ActiveSet
    cost: float
    """f(x), or its bound by the vertices."""
    score: float
    """<lam, A x> + f(x)."""
    answer: SharpAnswer
    """The oracle's vertex v, with value -<lam, A v> - f(v)."""
    bound: DualValue
    """The value of the dual function that the answer gives."""
    scores: FloatArray
    """<lam, A v> + f(v) of every active vertex."""
    away: int
    """The place of the away vertex: the active one with the largest score."""

    @property
    def gap(self) -> float:
        """The Frank-Wolfe gap: rate of decrease towards the oracle's vertex."""
        return self.score + self.answer.value

    def forward_move(self) -> Move:
        """Return the Frank-Wolfe step: from all active vertices in proportion to the oracle's."""
        return Move(True, None, self.gap, self.answer.objective - self.cost, 1.0)


class Move(NamedTuple):
    """Where weight moves to and from."""

    toward: bool
    """Whether weight moves to the oracle's vertex; else to all active ones in proportion, or to ``gaining``."""
    away: int | None
    """The place of the vertex that loses weight; None: all do in proportion."""
    decrease: float
    """Initial rate of decrease of the objective along the move."""
    cost_change: float
    """Change of f along the whole move."""
    upper: float
    """Largest step."""
    gaining: int | None = None
    """The place of the active vertex to which weight moves, instead of the oracle's."""


@dataclass(frozen=True)
class ActiveSetFrankWolfe(ABC):
    """Base of the methods that move weight between vertices, with exact line search."""

    name: ClassVar[str]
    """Name on the command line."""

    @abstractmethod
    def choose_move(self, here: Iterate) -> Move:
        """Return the vertices between which weight moves."""

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> ActiveSetState:
        """Start from x^*(lam_0), for lam_0 = 0 from the vertex that the gradient at x = 0 points to.

        The tracker is always the active set.
        """
        require_smooth_loss(problem, self.name)
        lam = dual if dual.any() else loss_gradient(problem, zero_image(problem))[0]
        answer = call_oracle(problem, lam, tolerance=ORACLE_SHARE * accuracy * problem.typical_objective)
        state = _first_state(
            problem, ActiveSet((_vertex(problem, answer, vertex_key(answer.atom)),), np.ones(1)), lam, accuracy
        )
        certificate = state.certificate.update_bound(problem, dual_value(problem, lam, answer))
        return fast_replace(state, certificate=certificate, counts=Counts(1, 0, 1 + (answer.matvecs or 1)))

    def start_at(self, problem: Problem, tracker: Tracker, warm: WarmPoint, accuracy: float) -> ActiveSetState | None:
        """Start from the atoms of an earlier point, each a vertex; None where they are not known."""
        require_smooth_loss(problem, self.name)
        if warm.point is None or not warm.weights:
            return None
        vertices: dict[bytes, Vertex] = {}
        weights: dict[bytes, float] = {}
        for weight, atom in zip(warm.weights, warm.atoms, strict=True):
            key = vertex_key(atom)
            if key not in vertices:
                vertices[key] = Vertex(atom, image_of(problem, atom), problem.sharp.objective(atom), key)
            weights[key] = weights.get(key, 0.0) + weight
        active = ActiveSet(tuple(vertices.values()), np.array(list(weights.values()))).normalize()
        state = _first_state(problem, active, loss_gradient(problem, active.image())[0], accuracy)
        return fast_replace(state, counts=Counts().plus(matvecs=len(vertices)))

    def step(self, problem: Problem, state: ActiveSetState) -> ActiveSetState:
        """Call the oracle at the gradient and move weight."""
        here = call_oracle_at(problem, state)
        return apply_move(problem, state, here.bound.dual, self.choose_move(here), here)


def call_oracle_at(problem: Problem, state: ActiveSetState, scores: FloatArray | None = None) -> Iterate:
    """Call the oracle at the gradient; ``scores`` are those of the active vertices, if already computed."""
    active, (lam, sums) = state.active, gradient_at(problem, state)
    start = None if problem.exact else active.vertices[-1].atom
    direction, answer = call_oracle_along(problem, lam, None, problem.sharp, state.oracle_tolerance, start)
    bound = dual_value(problem, lam, answer, sums)
    if scores is None:
        scores = active.scores(lam, direction)
    score = linear_score(problem, state, bound)
    return Iterate(active, state.mean_objective, score, answer, bound, scores, int(scores.argmax()))


def apply_move(problem: Problem, state: ActiveSetState, lam: Array, move: Move, here: Iterate | None) -> ActiveSetState:
    """Move weight by exact line search; ``here`` is None where the oracle was not called, and the bound stays."""
    # 1: the ends of the segment
    active, image, cost = state.active, state.image, state.mean_objective
    products = 0 if here is None else here.answer.matvecs or 1
    tail = image if move.away is None else active.vertices[move.away].image
    vertex = None if move.gaining is None else active.vertices[move.gaining]
    if move.toward and here is not None:
        key = vertex_key(here.answer.atom)
        vertex = active.find(key)
        if vertex is None:
            vertex, products = _vertex(problem, here.answer, key), products + 1
    head = image if vertex is None else vertex.image

    # 2: exact line search, and the weights after it
    segment = direction_between(tail, head)
    gamma = exact_step(problem, image, segment, move.decrease, move.cost_change, move.upper)
    image, gradient, loss = step_along(problem, image, gamma, segment[0])
    active, cost = active.move_weight(gamma, vertex, move.away), cost + gamma * move.cost_change
    if (state.iteration + 1) % REFRESH == 0:
        active = active.normalize()
        image, cost = active.image(), active.objective()
        image, gradient, loss = step_along(problem, image, 0.0, image)

    # 3: the certificate there
    objective = loss + known_objective(problem, active, cost)
    measures, certificate = Measures(objective, 0.0, 0.0), state.certificate
    return fast_replace(
        state,
        iteration=state.iteration + 1,
        dual=lam,
        primal=active,
        active=active,
        image=image,
        mean_objective=cost,
        cached_gradient=(image, gradient),
        certificate=certificate.update_point(measures)
        if here is None
        else certificate.update_point_and_bound(problem, measures, here.bound),
        counts=state.counts.plus(0 if here is None else 1, 0, products),
    )


def _first_state(problem: Problem, active: ActiveSet, lam: Array, accuracy: float) -> ActiveSetState:
    return ActiveSetState(
        dual=lam,
        primal=active,
        image=active.image(),
        mean_objective=active.objective(),
        certificate=empty_certificate(lam),
        counts=Counts(),
        active=active,
        oracle_tolerance=ORACLE_SHARE * accuracy * problem.typical_objective,
    )


def _vertex(problem: Problem, answer: SharpAnswer, key: bytes) -> Vertex:
    """Return the oracle's vertex with its image: one product."""
    return Vertex(answer.atom, image_of(problem, answer.atom), answer.objective, key)


@dataclass(frozen=True)
class AwayStepFrankWolfe(ActiveSetFrankWolfe):
    """Away-step Frank-Wolfe: moves towards the oracle's vertex or away from the worst active one, whichever is steeper.

    See Also
    --------
    FrankWolfe, PairwiseFrankWolfe, BlendedPairwise

    Examples
    --------
    >>> import numpy as np, unipd
    >>> loss = unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.3, 0.7], loss)
    >>> unipd.solve(problem, unipd.AwayStepFrankWolfe(), accuracy=1e-8).status.value
    'solved'
    """

    name = "away-step"

    def choose_move(self, here: Iterate) -> Move:
        """Compare the Frank-Wolfe gap with the gap to the away vertex; an away step may go until that is dropped."""
        away, weight = here.away, float(here.active.weights[here.away])
        away_gap = float(here.scores[away]) - here.score
        if here.gap >= away_gap or weight >= 1.0:
            return here.forward_move()
        return Move(False, away, away_gap, here.cost - here.active.vertices[away].objective, weight / (1.0 - weight))


@dataclass(frozen=True)
class PairwiseFrankWolfe(ActiveSetFrankWolfe):
    """Pairwise Frank-Wolfe: moves weight from the worst active vertex straight to the oracle's, exact line search.

    See Also
    --------
    AwayStepFrankWolfe, BlendedPairwise

    Examples
    --------
    >>> import numpy as np, unipd
    >>> loss = unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.3, 0.7], loss)
    >>> unipd.solve(problem, unipd.PairwiseFrankWolfe(), accuracy=1e-8).status.value
    'solved'
    """

    name = "pairwise"

    def choose_move(self, here: Iterate) -> Move:
        """Move up to all the weight of the away vertex."""
        cost_change = here.answer.objective - here.active.vertices[here.away].objective
        weight = float(here.active.weights[here.away])
        return Move(True, here.away, float(here.scores[here.away]) + here.answer.value, cost_change, weight)


_LAZINESS = 2.0
"""K: a lazy step promises at least 1/K of the estimated gap. Larger ones save oracle calls and take shorter steps."""


@dataclass(frozen=True)
class BlendedPairwise(ActiveSetFrankWolfe):
    """Blended pairwise conditional gradients: pairwise steps within the active set, Frank-Wolfe steps to leave it.

    A pairwise step moves weight from the worst active vertex to the best active one. With ``lazy`` the oracle is called
    only when such a step promises less than half of an estimate of the Frank-Wolfe gap: for oracles that cost more than
    a scan of the active vertices. The bound comes from the oracle's answers alone, so that it is valid either way.

    Parameters
    ----------
    lazy
        Whether an active vertex that is good enough replaces a call of the oracle.

    Raises
    ------
    InvalidInput
        ``lazy``: expected True or False.

    See Also
    --------
    PairwiseFrankWolfe, FrankWolfe

    Examples
    --------
    >>> import numpy as np, unipd
    >>> loss = unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.3, 0.7], loss)
    >>> unipd.solve(problem, unipd.BlendedPairwise(lazy=True), accuracy=1e-8).status.value
    'solved'
    """

    name = "blended-pairwise"

    lazy: bool = False

    def __post_init__(self) -> None:
        validate.flag("lazy", self.lazy)

    def choose_move(self, here: Iterate) -> Move:
        """Compare the gap within the active set with the Frank-Wolfe gap."""
        local = _local_move(here.active, here.scores)
        return local if local.decrease >= here.gap else here.forward_move()

    def step(self, problem: Problem, state: ActiveSetState) -> ActiveSetState:
        """Move weight; a lazy method calls the oracle only where the active set promises too little."""
        if not self.lazy:
            return super().step(problem, state)

        # 1: a step within the active set, without the oracle; scores by images need no product either
        lam, estimate = gradient_at(problem, state)[0], state.gap_estimate
        scores = state.active.scores(lam, None)
        local = _local_move(state.active, scores)
        if local.decrease > 0.0 and _LAZINESS * local.decrease >= estimate:
            return apply_move(problem, state, lam, local, None)

        # 2: the oracle's gap; an estimate that it refutes is lowered to it, at least halved
        here = call_oracle_at(problem, state, scores)
        if _LAZINESS * here.gap < estimate:
            estimate = min(here.gap, 0.5 * estimate) if here.gap > 0.0 else 0.5 * estimate

        # 3: the same rule with the new estimate
        move = local if _LAZINESS * local.decrease >= estimate else here.forward_move()
        return fast_replace(apply_move(problem, state, lam, move, here), gap_estimate=estimate)


def _local_move(active: ActiveSet, scores: FloatArray) -> Move:
    """Return the pairwise step from the worst active vertex to the best, up to all the weight of the worst."""
    worst, best = int(scores.argmax()), int(scores.argmin())
    cost_change = active.vertices[best].objective - active.vertices[worst].objective
    weight = float(active.weights[worst])
    return Move(False, worst, float(scores[worst] - scores[best]), cost_change, weight, gaining=best)
