"""The point of a set that is nearest to a given one, from nothing but the set's oracle."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array

ROUNDS = 1000


def nearest(maximiser: Any, point: Array, tolerance: float) -> Array:
    """Return a point of a bounded set X within ``tolerance`` of the one nearest to ``point``.

    Wolfe's idea: project onto the hull of the vertices met so far (nonnegative least squares), ask the oracle for the
    vertex farthest along the residual r = point - x, and stop when <r, vertex - x> <= tolerance^2.

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
    current = found[0]
    for _ in range(ROUNDS):
        residual = target - current
        vertex = _vector(maximiser, residual.reshape(np.shape(point)))
        if float(residual @ (vertex - current)) <= tolerance**2:
            break
        found.append(vertex)
        columns = np.column_stack([np.append(column, heavy) for column in found])
        weights, _ = nnls(columns, np.append(target, heavy), maxiter=50 * columns.shape[1])
        weights /= weights.sum()
        found = [column for column, weight in zip(found, weights, strict=True) if weight > 0]
        current = np.column_stack(found) @ weights[weights > 0]
    return current.reshape(np.shape(point))


def _vector(maximiser: Any, direction: Array) -> Array:
    return np.asarray(atoms.dense(maximiser(direction)), np.float64).reshape(-1)
