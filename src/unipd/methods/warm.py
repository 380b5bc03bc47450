"""Starting from the point of an earlier result, not only from its dual vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from unipd._typing import Array
from unipd.methods.base import Method, State
from unipd.primal import AtomList
from unipd.primal.active_set import ActiveSet
from unipd.problem import Problem
from unipd.protocols import Tracker


@dataclass(frozen=True)
class WarmPoint:
    """A point of X as a convex combination of atoms; of one, the point itself, where they are not known."""

    point: Any
    weights: tuple[float, ...] = ()
    atoms: tuple[Any, ...] = ()


@runtime_checkable
class StartsFromPoint(Protocol):
    """A method whose state is a primal point, so that it can start from one."""

    def start_at(self, problem: Problem, tracker: Tracker, warm: WarmPoint, accuracy: float) -> State | None:
        """Return the state at the point, None where the method has no use for it."""
        ...


def started(method: Method, problem: Problem, tracker: Tracker, dual: Array, accuracy: float, earlier: Any) -> State:
    """Return the first state: at the point of an earlier result where the method can use it, else at lam_0."""
    warm = warm_point(problem, earlier) if isinstance(method, StartsFromPoint) else None
    state = method.start_at(problem, tracker, warm, accuracy) if warm and isinstance(method, StartsFromPoint) else None
    return method.start(problem, tracker, dual, accuracy) if state is None else state


def warm_point(problem: Problem, earlier: Any) -> WarmPoint | None:
    """Return the point of a result with its atoms, None where there is none or it does not lie in X for sure."""
    x = getattr(earlier, "x", None)
    if x is None or not _inside(problem, earlier, x):
        return None
    primal = getattr(getattr(earlier, "state", None), "primal", None)  # a result from a file has no state
    if isinstance(primal, ActiveSet):
        weights, atoms = primal.weights, tuple(vertex.atom for vertex in primal.vertices)
    elif isinstance(primal, AtomList):
        weights, atoms = primal.weights, tuple(primal.atoms)
    else:
        return WarmPoint(x)
    if not all(_inside(problem, earlier, atom) for atom in atoms):
        return WarmPoint(x)
    return WarmPoint(x, tuple(map(float, weights)), atoms)


def _inside(problem: Problem, earlier: Any, x: Any) -> bool:
    if getattr(getattr(earlier, "problem", None), "sharp", None) is problem.sharp:
        return True
    known = bool(getattr(problem.sharp, "membership_known", True))
    return known and getattr(x, "shape", None) == problem.sharp.shape and problem.sharp.contains(x)
