"""Warm starts: from an earlier result, or a dual vector, to the first state of a run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd._util.blas import inner
from unipd.atoms import Blocks, combination, dense, inner_product, scale_atom
from unipd.errors import InvalidInput
from unipd.methods import Method, State
from unipd.methods.base import WarmPoint, start_from
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.run.result import Result
from unipd.trackers.atoms import HasAtoms

_FAR = 1e8
"""Multiple of the size of f at which the maximiser of <y, x> - f(x) is that of <y, x>."""
_SAME_SIZE = 1e-9
"""Relative difference in size up to which two sets count as one."""


def first_state(
    method: Method, problem: Problem, tracker: Tracker, dual: Array, accuracy: float, start: Result | Array | None
) -> State:
    """Return the first state: at the point of a result where the method can start there, else at lam_0."""
    state = None
    if isinstance(start, Result):
        state = start_from(method, problem, tracker, _warm_point(problem, start, dual), accuracy)
    return method.start(problem, tracker, dual, accuracy) if state is None else state


def _warm_point(problem: Problem, result: Result, dual: Array) -> WarmPoint:
    """Return the dual vector of a result, and its point and atoms as far as they lie in X.

    Where X is a larger or a smaller copy of the set of the result, the atoms are those of X in the same directions.
    """
    is_same_set = result.problem is not None and result.problem.sharp is problem.sharp

    def lies_in_set(x: Any) -> bool:
        known = problem.sharp.has_membership_test
        return is_same_set or (known and np.shape(x) == problem.sharp.shape and problem.sharp.contains(x))

    state = result.state if isinstance(result.state, State) else None
    last, primal = (None, None) if state is None else (state.unwrap(), state.primal)
    x = result.x if result.x is not None and lies_in_set(result.x) else None
    if not isinstance(primal, HasAtoms):
        return WarmPoint(x, dual=dual, state=last)
    ratio = 1.0 if is_same_set else _size_ratio(problem, primal)
    atoms, idle = (
        tuple(known) if ratio == 1.0 else tuple(scale_atom(atom, ratio) for atom in known)
        for known in (primal.atoms, last.idle_atoms if last else ())
    )
    if not all(map(lies_in_set, (*atoms, *idle))) or (x is None and ratio == 1.0):
        return WarmPoint(x, dual=dual, state=last)
    weights = tuple(map(float, primal.weights))
    return WarmPoint(x if ratio == 1.0 else combination(weights, atoms), weights, atoms, idle, dual, last)


def _size_ratio(problem: Problem, primal: HasAtoms) -> float:
    """Return the ratio of the vertex of X in the direction of the heaviest atom to that atom; 1 where unknown."""
    size, shape = abs(problem.sharp.maximum()), problem.sharp.shape
    if not (problem.sharp.linear and math.isfinite(size) and len(primal.weights) > 0):
        return 1.0
    atom = primal.atoms[int(np.argmax(primal.weights))]
    direction = None if isinstance(atom, Blocks) else np.asarray(dense(atom))
    squared = 0.0 if direction is None or direction.shape != shape else inner(direction, direction)
    if direction is None or squared == 0.0:
        return 1.0
    far = _FAR * max(1.0, size) / squared * direction  # so far that the cost in f does not count
    vertices = problem.sharp.best_vertices(far, 1, -math.inf)
    ratio = inner_product(direction, vertices[0]) / squared if vertices else 1.0
    return ratio if ratio > 0.0 and abs(ratio - 1.0) > _SAME_SIZE else 1.0


def starting_dual(problem: Problem, start: Result | Array | None) -> Array:
    """Return lam_0: zero, the dual vector of an earlier result, or the given one.

    Where h is infinite at zero (a likelihood), prox_h(0) takes the place of zero.
    A result may have fewer rows, those of an earlier problem to which rows have been appended: these start at 0. It is
    brought into the domain of h, which may be that of another coupling.
    """
    if start is None:
        zero = np.zeros(problem.dual_shape, problem.dtype)
        is_inside = problem.split or problem.loss is None or math.isfinite(problem.coupling.conjugate(zero))
        return zero if is_inside else problem.coupling.prox_conjugate(zero, 1.0)
    dual = start.dual if isinstance(start, Result) else start
    if isinstance(start, Result) and np.ndim(dual) == 1 == len(problem.dual_shape):
        dual = np.append(dual, np.zeros(max(problem.b.size - np.size(dual), 0), np.asarray(dual).dtype))
    vector = validate.finite_array("start", dual, shape=problem.dual_shape)
    if vector.dtype.kind == "c" and problem.dtype.kind != "c":
        raise InvalidInput("start", "a real dual vector", "a complex one")
    vector = vector.astype(problem.dtype)
    if isinstance(start, Result) and not problem.free_dual and not math.isfinite(problem.coupling.conjugate(vector)):
        vector = problem.coupling.prox_conjugate(vector, 1.0)
    return vector
