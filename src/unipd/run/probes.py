"""Points of X with which a proof is tried: those that a run has kept, and those that an oracle gives when asked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.atoms import Blocks, dense, inner
from unipd.errors import OracleError, UnboundedOracle
from unipd.methods.suspicion import is_foreign
from unipd.primal import ActiveSet, AtomList
from unipd.problem import Problem
from unipd.protocols import SharpAnswer, norm
from unipd.run.verify import tracker_error
from unipd.spectral import RIGOROUS

FAR = 1e6
"""Length of the longest directions."""
TILTS = 8
"""Directions that lean towards the oracle's last answer, each twice as far as the one before."""
RANDOM = 16
"""Directions with random numbers added."""
NO_MAXIMISER = (
    "the sharp oracle does not maximise: a point of X that it has returned does better than its answer; "
    "unipd.doctor.check (unipd doctor FILE.py:NAME) tells more"
)
_FORGIVEN = 1e-3
"""Relative amount by which a point may do better than an answer."""


def kept_points(problem: Problem, primal: Any) -> list[Any]:
    """Return the points of X that a run has at hand: xbar, of an oracle of the caller's own also the atoms kept.

    What a tracker approximates may lie outside of X, and is none.
    """
    points = [] if tracker_error(primal) else [primal.point()]
    if is_foreign(problem.sharp):
        points += primal.atoms if isinstance(primal, AtomList) else []
        points += [vertex.atom for vertex in primal.vertices] if isinstance(primal, ActiveSet) else []
    return [point for point in points if point is not None]


def answers(problem: Problem, opposite: Any) -> tuple[list[Any], int]:
    """Return points that the oracle gives around y, asked with -y at hand, and the number of questions.

    It is asked at -y. One of the caller's own is also asked in long multiples of y and -y, where an oracle that
    belongs to another f than it says (a forgotten objective, as in ``from_callable(lambda y: y, n)``) returns points
    that grow; along y tilted towards its last answer, where one that favours the second best comes out with the best;
    and along y with random numbers added. Operators are neither stretched nor tilted.
    """
    parts: tuple[Any, ...] = opposite if isinstance(opposite, tuple) else (opposite,)
    asking = _Asking(problem, isinstance(opposite, tuple))
    arrays = all(isinstance(part, np.ndarray) for part in parts)
    length = (math.hypot(*(norm(part) for part in parts)) or 1.0) if arrays else math.inf
    if not (is_foreign(problem.sharp) and length < math.inf):
        asking.answer(opposite)
        return asking.points, asking.questions
    direction = [-part for part in parts]
    for multiple in (-1.0, -FAR / length, FAR / length):
        asking.ask([multiple * part for part in direction])
    answer = asking.ask(direction)
    for doubling in range(TILTS):
        if answer is not None:
            answer = asking.ask(_towards(direction, _arrays(answer), 2.0**doubling * length))
    generator = np.random.default_rng(0)
    for _ in range(RANDOM):
        asking.ask(_towards(direction, [generator.standard_normal(part.shape) for part in direction], length))
    return asking.points, asking.questions


class _Asking:
    """An oracle under questions: no answer may be worse than a point that it gave before."""

    def __init__(self, problem: Problem, blocks: bool) -> None:
        self._problem = problem
        self._blocks = blocks
        self._found: list[SharpAnswer] = []
        self.questions = 0

    @property
    def points(self) -> list[Any]:
        """The points given."""
        return [answer.atom for answer in self._found]

    def answer(self, direction: Any) -> SharpAnswer | None:
        """Return the oracle's answer, None where there is no best point."""
        self.questions += 1
        try:
            answer = self._problem.sharp(direction)
        except UnboundedOracle:
            return None
        self._found.append(answer)
        return answer

    def ask(self, direction: list[Array]) -> Any:
        """Return the oracle's point in a direction; raise where one of those before is better."""
        earlier = list(self._found)
        answer = self.answer(tuple(direction) if self._blocks else direction[0])
        if answer is None:
            return None
        length = math.hypot(*(norm(part) for part in direction))
        for other in earlier if answer.bound == RIGOROUS else ():
            better = _paired(direction, other.atom) - other.objective - answer.value - answer.error
            size = length * (_size(other.atom) + _size(answer.atom)) + abs(other.objective) + abs(answer.objective)
            if better > _FORGIVEN * size:
                raise OracleError(NO_MAXIMISER)
        return answer.atom


def _towards(direction: list[Array], goal: list[Array], length: float) -> list[Array]:
    """Return y + length * goal / ||goal||; y itself where the goal is zero."""
    size = math.hypot(*(norm(part) for part in goal))
    share = 0.0 if size == 0.0 else length / size
    pairs = zip(direction, goal, strict=True)
    return [part + (share * piece).astype(part.dtype) for part, piece in pairs]


def _paired(direction: list[Array], atom: Any) -> float:
    """Return Re <y, x>."""
    parts = atom.parts if isinstance(atom, Blocks) else (atom,)
    return sum(inner(*pair) for pair in zip(direction, parts, strict=True))


def _size(atom: Any) -> float:
    return math.hypot(*(norm(part) for part in _arrays(atom)))


def _arrays(atom: Any) -> list[Array]:
    """Return the blocks of an atom as arrays."""
    parts = atom.parts if isinstance(atom, Blocks) else (atom,)
    return [np.asarray(dense(part)) for part in parts]
