"""A small dense quadratic program on the simplex or the orthant, solved to rounding by an active set."""

from __future__ import annotations

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd.errors import OracleError

_RIDGE = 1e-13
_TOLERANCE = 1e-12
_TINY = 1e-200


def minimise_quadratic(
    hessian: FloatArray, linear: FloatArray, start: FloatArray, *, sums: FloatArray | None
) -> FloatArray:
    """Return argmin of 1/2 w'Hw + q'w over w >= 0 and, where there are ``sums``, S w = 1.

    The rows of S are the indicators of disjoint groups that make up all of w: one row is the simplex, several are a
    product of simplices. The start is feasible.

    A primal active-set method: solve on the free entries, step as far as the signs allow, drop the entry that
    blocks, and let in the one with the most negative reduced cost. H may be singular: a ridge far below rounding
    of the data turns flat directions into long steps, which the blocking entry ends.

    >>> minimise_quadratic(np.eye(2), np.array([0.0, -0.5]), np.array([1.0, 0.0]), sums=np.ones((1, 2)))
    array([0.25, 0.75])
    """
    size = linear.size
    scale = max(float(np.abs(np.diag(hessian)).max(initial=0.0)), float(np.abs(linear).max()), _TINY)
    matrix = hessian + (_RIDGE * scale) * np.eye(size)
    weights = start.copy()
    free = weights > 0
    entering = -1
    for _ in range(20 * size + 50):
        target, multiplier = _free_minimiser(matrix, linear, np.flatnonzero(free), sums)
        if not np.isfinite(target).all():
            raise OracleError("images of atoms whose squares are not finite: divide A and b by a common factor")
        if target.size == 0 or target.min() >= 0.0:
            weights = np.zeros(size)
            weights[free] = target
            reduced = matrix @ weights + linear + (0.0 if sums is None else multiplier @ sums)
            reduced[free] = 0.0
            entering = int(np.argmin(reduced))
            threshold = _TOLERANCE * (float(np.abs(linear).max()) + scale * float(weights.max(initial=1.0)))
            if reduced[entering] >= -threshold:
                break
            free[entering] = True
        else:
            places = np.flatnonzero(free)
            blocked = target < 0.0
            ratios = weights[places[blocked]] / (weights[places[blocked]] - target[blocked])
            first = int(np.argmin(ratios))
            leaving = int(places[blocked][first])
            weights[places] += ratios[first] * (target - weights[places])
            weights[leaving] = 0.0
            free[leaving] = False
            if leaving == entering and ratios[first] == 0.0:
                break
    return weights if sums is None else weights / ((sums @ weights) @ sums)


def _free_minimiser(
    matrix: FloatArray, linear: FloatArray, places: IntArray, sums: FloatArray | None
) -> tuple[Array, Array]:
    """Return the minimiser over the free entries, signs ignored, and the multipliers of the sums."""
    block = matrix[np.ix_(places, places)]
    if sums is None:
        return (_solved(block, -linear[places]) if places.size else linear[places]), np.zeros(0)
    size, count = places.size, sums.shape[0]
    balance = float(np.abs(np.diag(block)).max(initial=1e-300))
    system = np.zeros((size + count, size + count))
    system[:size, :size] = block
    system[size:, :size] = balance * sums[:, places]
    system[:size, size:] = system[size:, :size].T
    right = np.append(-linear[places], np.full(count, balance))
    solution = _solved(system, right)
    return solution[:size], balance * solution[size:]


def _solved(system: Array, right: Array) -> Array:
    """Return the solution, the shortest one when the system is singular in spite of the ridge."""
    try:
        return np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(system, right, rcond=None)[0]
