"""The point of a set that is nearest to a given one, from nothing but the set's oracle."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array

ROUNDS = 1000


def nearest(maximiser: Any, point: Array, tolerance: float) -> Array:
    """Return a point of a bounded set X within ``tolerance`` of the one nearest to ``point``.

    Wolfe's idea: project onto the hull of the vertices met so far, ask the oracle for the vertex farthest along the
    residual r = point - x, and stop when <r, vertex - x> <= tolerance^2 or rounding ends the descent. The projection
    is one of nonnegative least squares: with columns v_i - point, the minimiser over u >= 0 of
    ||sum_i u_i (v_i - point)||^2 + (1 - sum_i u_i)^2 is a multiple of the weights.

    Parameters
    ----------
    maximiser
        Given a direction, returns a point of X with the largest inner product.
    point
        A real array.
    tolerance
        Accuracy of the distance.

    Examples
    --------
    >>> from unipd.sharp import Simplex
    >>> nearest(Simplex(2).maximiser, np.array([2.0, 1.0]), 1e-9)
    array([1., 0.])
    """
    from scipy.optimize import nnls

    target = np.asarray(point, np.float64).reshape(-1)
    found = [_vector(maximiser, np.asarray(point, np.float64))]
    heavy = 1.0 + max(float(np.abs(target).max(initial=0.0)), float(np.abs(found[0]).max(initial=0.0)))
    heaviest = np.append(np.zeros(target.size), heavy)
    current, distance = found[0], np.inf
    for _ in range(ROUNDS):
        residual = target - current
        vertex = _vector(maximiser, residual.reshape(np.shape(point)))
        nearer, distance = distance, float(np.linalg.norm(residual))
        if float(residual @ (vertex - current)) <= tolerance**2 or distance >= nearer:
            break
        found.append(vertex)
        columns = np.column_stack([np.append(column - target, heavy) for column in found])
        weights, _ = nnls(columns, heaviest, maxiter=50 * columns.shape[1])
        weights /= weights.sum()
        found = [column for column, weight in zip(found, weights, strict=True) if weight > 0]
        current = np.column_stack(found) @ weights[weights > 0]
    return current.reshape(np.shape(point))


def _vector(maximiser: Any, direction: Array) -> Array:
    return np.asarray(atoms.dense(maximiser(direction)), np.float64).reshape(-1)
