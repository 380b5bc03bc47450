"""Small quadratic programs over simplices: an active-set solver, and the projection onto a product of simplices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from unipd._typing import Array, FloatArray, IntArray
from unipd.errors import OracleError

RIDGE = 1e-13
"""Added to the diagonal of a matrix that may be singular, relative to its size: far below rounding of the data."""
_TOLERANCE = 1e-14
"""A reduced cost counts as negative beyond this share of its terms, a few times what they round to."""
_TINY = 1e-200
_ENTERING_SHARE = 10
"""One in this many of the free entries may enter at once."""


def minimize_quadratic(
    hessian: FloatArray, linear: FloatArray, start: FloatArray, *, sums: FloatArray | None
) -> FloatArray:
    """Return argmin of 1/2 w'Hw + q'w over w >= 0 and, where there are ``sums``, S w = 1.

    The rows of S are the indicators of disjoint groups that make up all of w: one row is the simplex, several are a
    product of simplices. The start is feasible.

    A primal active-set method: solve on the free entries, step as far as the signs allow, drop the entry that
    blocks, and let in those with the most negative reduced costs. Where the solution cut off at zero is better than the
    point at which the first entry blocks, it is taken instead, and many entries leave at once. H may be singular: a
    ridge far below rounding of the data turns flat directions into long steps, which the blocking entry ends.

    >>> minimize_quadratic(np.eye(2), np.array([0.0, -0.5]), np.array([1.0, 0.0]), sums=np.ones((1, 2)))
    array([0.25, 0.75])
    """
    size = linear.size
    scale = max(float(np.abs(np.diag(hessian)).max(initial=0.0)), _TINY)
    if sums is not None:  # weights have no unit: a zero Hessian is compared with the linear term
        scale = max(scale, float(np.abs(linear).max()))
    matrix = hessian + (RIDGE * scale) * np.eye(size)
    weights, free = start.copy(), start > 0
    entering = np.zeros(0, np.intp)
    most = size  # entries that may enter at once
    for _ in range(20 * size + 50):
        target, multiplier = _free_minimiser(matrix, linear, np.flatnonzero(free), sums)
        if not np.isfinite(target).all():
            raise OracleError("images of atoms whose squares are not finite: divide A and b by a common factor")
        if target.size == 0 or target.min() >= 0.0:
            weights = np.zeros(size)
            weights[free] = target
            reduced = matrix @ weights + linear + (0.0 if sums is None else multiplier @ sums)
            reduced[free] = 0.0
            length = float(weights.max()) if sums is None else 1.0  # without sums, weights have a unit
            threshold = _TOLERANCE * (float(np.abs(linear).max()) + scale * length)
            entering = _most_negative(reduced, -threshold, min(most, max(1, int(free.sum()) // _ENTERING_SHARE)))
            if entering.size == 0:
                break
            free[entering] = True
            continue
        places = np.flatnonzero(free)
        blocked = places[(target < 0.0) & (weights[places] == 0.0)]
        if blocked.size:  # entries that have just come in, and would become negative
            free[blocked] = False
            if entering.size and not free[entering].any():
                if most == 1:
                    break
                most = 1
            continue
        weights = _shorten_step(matrix, linear, weights, places, target, sums)
        free = weights > 0
    return weights if sums is None else weights / ((sums @ weights) @ sums)


def _most_negative(values: FloatArray, least: float, count: int) -> IntArray:
    """Return the places of the most negative entries below ``least``, at most ``count``."""
    places = np.flatnonzero(values < least)
    return places if places.size <= count else places[np.argpartition(values[places], count - 1)[:count]]


def _shorten_step(
    matrix: FloatArray, linear: FloatArray, weights: FloatArray, places: IntArray, target: Array, sums: Array | None
) -> FloatArray:
    """Return the better of two points on the way to a target with negative entries.

    One is where the first entry becomes zero; the other is the target with zeros in place of negative entries.
    """
    negative = target < 0.0
    ratios = weights[places[negative]] / (weights[places[negative]] - target[negative])
    first = int(np.argmin(ratios))
    nearest, cut = weights.copy(), np.zeros_like(weights)
    nearest[places] += ratios[first] * (target - weights[places])
    nearest[places[negative][first]] = 0.0
    np.maximum(nearest, 0.0, out=nearest)
    cut[places] = np.maximum(target, 0.0)
    if sums is not None:
        totals = sums @ cut
        if totals.min() <= 0.0:
            return nearest
        cut /= totals @ sums
    values = [float((0.5 * (matrix @ point) + linear) @ point) for point in (nearest, cut)]
    return cut if values[1] < values[0] else nearest


def _free_minimiser(
    matrix: FloatArray, linear: FloatArray, places: IntArray, sums: FloatArray | None
) -> tuple[Array, Array]:
    """Return the minimiser over the free entries, signs ignored, and the multipliers of the sums."""
    block = matrix[np.ix_(places, places)]
    if sums is None:
        return (_solve_positive(block, -linear[places]) if places.size else linear[places]), np.zeros(0)
    size, count = places.size, sums.shape[0]
    balance = float(np.abs(np.diag(block)).max(initial=1e-300))
    system = np.zeros((size + count, size + count))
    system[:size, :size] = block
    system[size:, :size] = balance * sums[:, places]
    system[:size, size:] = system[size:, :size].T
    right = np.append(-linear[places], np.full(count, balance))
    solution = _solve(system, right)
    return solution[:size], balance * solution[size:]


def _solve_positive(system: Array, right: Array) -> Array:
    """Return the solution of a system that is positive definite up to rounding."""
    try:
        factor = scipy.linalg.cho_factor(system, check_finite=False)
    except np.linalg.LinAlgError:
        return _solve(system, right)
    return scipy.linalg.cho_solve(factor, right, check_finite=False)


def _solve(system: Array, right: Array) -> Array:
    """Return the solution, the shortest one when the system is singular in spite of the ridge."""
    try:
        return np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(system, right, rcond=None)[0]


def block_starts(blocks: IntArray, count: int) -> IntArray:
    """Return where each block begins in a sorted vector of block numbers, and the end of the last one.

    >>> block_starts(np.array([0, 0, 1]), 2)
    array([0, 2, 3])
    """
    return np.searchsorted(blocks, np.arange(count + 1))


def project_simplices(values: FloatArray, blocks: IntArray, starts: IntArray) -> FloatArray:
    """Return the nearest vector whose entries are nonnegative and sum to one in every block.

    In a block with sorted entries v_1 >= v_2 >= ..., the solution is max(v - theta, 0) with
    theta = (v_1 + ... + v_k - 1) / k for the last k with k v_k > v_1 + ... + v_k - 1. All blocks are done at once.

    Parameters
    ----------
    values
        The vector.
    blocks
        The block of every entry, in ascending order; no block is empty.
    starts
        Where the blocks begin, see :func:`block_starts`.

    Examples
    --------
    >>> project_simplices(np.array([0.5, 1.5, 3.0]), np.array([0, 0, 1]), np.array([0, 2, 3]))
    array([0., 1., 1.])
    """
    first = starts[:-1]
    shifted = np.maximum(values - np.maximum.reduceat(values, first)[blocks], -1.0)  # what is lower becomes 0 anyway
    ordered = shifted[np.lexsort((-shifted, blocks))]
    sums = np.cumsum(ordered)
    sums -= (sums[first] - ordered[first])[blocks]
    places = np.arange(1, values.size + 1) - first[blocks]
    kept = np.add.reduceat(ordered * places > sums - 1.0, first, dtype=np.intp)
    theta = (sums[first + kept - 1] - 1.0) / kept
    return np.maximum(shifted - theta[blocks], 0.0)


def project_simplex(values: FloatArray, total: float) -> FloatArray:
    """Return the nearest vector with nonnegative entries of this sum.

    >>> project_simplex(np.array([-1.0, 1.5, 2.0]), 1.0)
    array([0.  , 0.25, 0.75])
    """
    blocks, starts = np.zeros(values.size, np.intp), np.array([0, values.size])
    return total * project_simplices(values / total, blocks, starts)


def block_averages(matrix: Any, blocks: IntArray) -> Any:
    """Return the sum of the columns of every block over the square root of their number: M E with E E^T the averaging.

    Parameters
    ----------
    matrix
        M, dense or sparse.
    blocks
        The block of every column, ascending from 0 on.

    Examples
    --------
    >>> block_averages(np.eye(3), np.array([2, 2, 5])).round(3)
    array([[0.707, 0.   ],
           [0.707, 0.   ],
           [0.   , 1.   ]])
    """
    first = np.flatnonzero(np.diff(blocks, prepend=-1))
    sizes = np.diff(first, append=blocks.size)
    if isinstance(matrix, np.ndarray):
        return np.add.reduceat(matrix, first, axis=1) / np.sqrt(sizes)
    places = np.repeat(np.arange(sizes.size), sizes)
    entries = (1.0 / np.sqrt(sizes[places]), places, np.arange(blocks.size + 1))
    return matrix @ scipy.sparse.csr_array(entries, shape=(blocks.size, sizes.size))
