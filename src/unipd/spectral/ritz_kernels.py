"""Compiled end of a Golub-Kahan sweep: whether it may stop.

The rule is that of :class:`~unipd.spectral.stopping.Stop`, on an upper bidiagonal matrix.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from unipd._typing import FloatArray
from unipd.spectral.tridiagonal import chase, gram, none_above, settle

TOP = 6
"""Where the goals keep the square of the last top value."""
_DUE, _ASKED, _MISSED = 7, 8, 9
"""Where they keep the size to ask at next, the last size, and its miss."""
_SMALLEST = 1e-60
"""Entries of B from which fourth powers leave the range of floating point: such runs are left to others."""
_PATIENCE = 8
"""Runs are not left unasked for more than one in so many of their steps."""


@njit(cache=True, nogil=True, forceinline=True)
def forget(goals: FloatArray) -> None:
    """Drop the notes of an earlier run."""
    goals[TOP:] = 0.0


@njit(cache=True, nogil=True, forceinline=True)
def seems_done(bands: FloatArray, size: int, goals: FloatArray) -> bool:
    """Do as :func:`may_stop` when it is time to ask again; say no before.

    An answer takes a fair share of a small product when steps are many. It is asked for again after half of the steps
    that the goals are away at the pace since the one before, or an eighth of those done: a run may end so much late.
    """
    return size >= goals[_DUE] and may_stop(bands, size, goals)


@njit(cache=True, nogil=True, forceinline=True)
def may_stop(bands: FloatArray, size: int, goals: FloatArray) -> bool:
    """Whether the Ritz triple of an upper bidiagonal B seems good enough.

    B is given by its bands (:func:`~unipd.spectral.tridiagonal.bands_of`), the entry beyond its last column among
    them. ``goals`` are the numbers of a stopping rule (``Stop.goals``), the rule that of ``Stop`` for one triple. The
    last of them are notes that are kept here. Ritz values are found from the top, and no more of them than the answer
    needs.
    """
    if not _SMALLEST < bands[0, 0] < 1.0 / _SMALLEST:
        return False
    squares, links = gram(bands, size)
    last = np.zeros(size)
    last[size - 1] = bands[1, size - 1]
    if goals[TOP] > 0.0:
        chase(squares, links, last, 0, size - 1, goals[TOP])
    missed, used, known = 0.0, 0, 0
    while used == 0 or (known < size and not none_above(squares, links, known, squares[used - 1])):
        if not settle(squares, links, last, known):
            return False
        known += 1
        missed, used = _missed(bands, squares[:known], last, goals)
    ahead = size // _PATIENCE
    if goals[_MISSED] > missed:
        ahead = min(ahead, int(0.5 * missed * (size - goals[_ASKED]) / (goals[_MISSED] - missed)))
    goals[TOP], goals[_DUE], goals[_ASKED], goals[_MISSED] = squares[0], size + max(1, ahead), size, missed
    return missed == 0.0


@njit(cache=True, nogil=True, forceinline=True)
def _missed(bands: FloatArray, squares: FloatArray, last: FloatArray, goals: FloatArray) -> tuple[float, int]:
    """Return the logarithm of the factor by which the first of the goals not reached is missed, 0 where all are.

    What is known are the largest eigenvalues of B B^T, if all of them, and the residual norms of their vectors up to
    sign. Also returns how many of them were looked at, 0 where more are needed.
    """
    absolute, relative, allowed, lookout, weight, precision = goals[:TOP]
    top, residual, used = math.sqrt(max(squares[0], 0.0)), abs(last[0]), 1
    rounding = precision * top
    missed = _above(residual, max(rounding, absolute, relative * top))
    if missed == 0.0 and residual > rounding:
        limit = max(allowed, rounding)
        error, used = _value_error(squares, last, limit)
        missed = _above(error, limit)
    if missed > 0.0 or used == 0 or lookout < 0.0:
        return missed, used
    horizon = top + max(lookout * top, allowed if allowed < math.inf else 0.0)
    return max(-math.log(weight) - 2.0 * _height(bands, last.size, horizon), 0.0), used


@njit(cache=True, nogil=True, forceinline=True)
def _above(found: float, limit: float) -> float:
    """Return log(found / limit), or 0 where the limit is kept."""
    if found <= limit:
        return 0.0
    return math.log(found) - math.log(limit) if limit > 0.0 else math.inf


@njit(cache=True, nogil=True, forceinline=True)
def _value_error(squares: FloatArray, last: FloatArray, limit: float) -> tuple[float, int]:
    """Do as :func:`unipd.spectral.stopping.value_error` for the first value, as far as the limit needs it.

    Also returns how many values were looked at; 0 where those known do not tell whether the limit is kept.
    """
    least, total, i = abs(last[0]), 0.0, 0
    value = math.sqrt(max(squares[0], 0.0))
    while least > limit:
        total += last[i] * last[i]
        if total > limit * value or i + 1 == last.size:  # no gap is as wide as it would have to be
            return least, i + 1
        i += 1
        if i == squares.size:
            return least, 0
        upper, value = value, math.sqrt(max(squares[i], 0.0))
        gap = upper - value - abs(last[i])
        if gap > math.sqrt(total):
            least = min(least, total / gap)
    return least, i + 1


@njit(cache=True, nogil=True, forceinline=True)
def _height(bands: FloatArray, size: int, horizon: float) -> float:
    """Return log p_k of the run's orthonormal polynomial at the square of the horizon, by the pivots of x - B B^T."""
    squares, links = gram(bands, size)
    height, known = 0.0, 0.0
    for i in range(size):
        pivot = horizon * horizon - squares[i] - known
        if pivot <= 0.0:
            return -math.inf
        known = links[i] * links[i] / pivot
        height += math.log(pivot / abs(bands[0, i] * bands[1, i]))
    return height
