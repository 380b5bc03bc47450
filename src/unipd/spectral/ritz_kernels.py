"""Compiled end of a Golub-Kahan sweep: whether it may stop, and its top Ritz triple.

The rule is that of :class:`~unipd.spectral.stopping.Stop`, on an upper bidiagonal matrix. Vectors are rows, as in
:mod:`unipd.spectral.sweep_kernels`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from unipd._typing import Array, FloatArray
from unipd.spectral.sweep_kernels import divide, length
from unipd.spectral.tridiagonal import diagonalise

_REORDERED: Any = {"reassoc", "contract", "nsz"}
_EPS = float(np.finfo(np.float64).eps)
_LAST_TOP = 6
"""Where the goals keep the square of the last top value."""
_ROOT = 1e-13
"""Share of the square of the top value to which that is found in the quick test."""
_CLEAR = 1e-10
"""Share by which the square of the top value must have grown to tell its residual norm well."""


@njit(cache=True, nogil=True)
def may_stop(projected: FloatArray, size: int, goals: FloatArray) -> bool:
    """Whether the Ritz triple of an upper bidiagonal B (its entry beyond the last column too) seems good enough.

    ``goals`` are the numbers of a stopping rule (``Stop.goals``), the rule that of ``Stop`` for one triple. The last of
    them is the square of the top value when this was asked before, with fewer columns: it is kept here.
    """
    if goals[_LAST_TOP] > 0.0 and _far_off(projected, size, goals):
        return False
    absolute, relative, allowed, lookout, weight, precision, _ = goals
    squares, links = _gram(projected, size)
    last = np.zeros((1, size))
    last[0, size - 1] = 1.0
    if not diagonalise(squares, links, last):
        return False
    order = np.argsort(-squares)
    values = np.sqrt(np.maximum(squares[order], 0.0))
    residuals = np.abs(projected[size - 1, size] * last[0][order])
    top, rounding = values[0], precision * values[0]
    goals[_LAST_TOP] = top * top
    if residuals[0] > max(rounding, absolute, relative * top):
        return False
    if residuals[0] > rounding and _value_error(values, residuals) > max(allowed, rounding):
        return False
    if lookout < 0.0:
        return True
    horizon = top + max(lookout * top, allowed if allowed < math.inf else 0.0)
    height = 0.0
    for i in range(size):
        height += math.log(horizon * horizon - values[i] * values[i])
        height -= math.log(abs(projected[i, i] * projected[i, i + 1]))
    return 2.0 * height >= -math.log(weight)


@njit(cache=True, nogil=True)
def top_triple(
    bases: tuple[Array, Array], projected: FloatArray, size: int, goals: FloatArray
) -> tuple[float, float, Array, Array]:
    """Return the top Ritz value of an upper bidiagonal B, its residual norm, and its left and right vectors.

    To be asked when :func:`may_stop` has said yes. A value of 0 tells that there is none to be had here.
    """
    top = goals[_LAST_TOP]
    outer = _top_vector(projected, size, top)
    inner = np.empty(size)
    for i in range(size):
        inner[i] = projected[i, i] * outer[i] + (projected[i - 1, i] * outer[i - 1] if i > 0 else 0.0)
    u, v = _combined(bases[0], outer), _combined(bases[1], inner)
    sizes = length(u), length(v)
    if min(sizes) == 0.0:
        return 0.0, 0.0, u, v
    divide(u, sizes[0])
    divide(v, sizes[1])
    return math.sqrt(top), abs(projected[size - 1, size] * outer[size - 1]), u, v


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def _combined(basis: Array, coefficients: FloatArray) -> Array:
    """Return the combination of the first rows of a basis, four of them in one pass."""
    out = np.zeros(basis.shape[1], basis.dtype)
    factors = np.zeros((coefficients.size + 3) // 4 * 4, basis.dtype)
    factors[: coefficients.size] = coefficients
    last = coefficients.size - 1
    for j in range(0, coefficients.size, 4):
        a, b, c, d = basis[j], basis[min(j + 1, last)], basis[min(j + 2, last)], basis[min(j + 3, last)]
        in_a, in_b, in_c, in_d = factors[j], factors[j + 1], factors[j + 2], factors[j + 3]
        for i in range(out.size):
            out[i] += (in_a * a[i] + in_b * b[i]) + (in_c * c[i] + in_d * d[i])
    return out


@njit(cache=True, nogil=True)
def _top_vector(projected: FloatArray, size: int, top: float) -> FloatArray:
    """Return the unit eigenvector of B B^T for its largest eigenvalue, by inverse iteration just above that.

    B has positive entries, so has the eigenvector: a start of ones has a share in it. The pivots are positive.
    """
    diagonal, links = _gram(projected, size)
    shift, tiny = top * (1.0 + 4.0 * _EPS), _EPS * top + 1e-300
    pivots, vector = np.empty(size), np.full(size, 1.0)
    for i in range(size):
        known = links[i - 1] * links[i - 1] / pivots[i - 1] if i > 0 else 0.0
        pivots[i] = max(shift - diagonal[i] - known, tiny)
    for _ in range(3):
        for i in range(1, size):
            vector[i] += links[i - 1] / pivots[i - 1] * vector[i - 1]
        for i in range(size - 1, -1, -1):
            later = links[i] * vector[i + 1] if i < size - 1 else 0.0
            vector[i] = (vector[i] + later) / pivots[i]
        divide(vector, vector.max())
        divide(vector, length(vector))
    return vector


@njit(cache=True, nogil=True)
def _far_off(projected: FloatArray, size: int, goals: FloatArray) -> bool:
    """Whether the top value alone, which costs little, shows that the run may not stop yet.

    The largest root of det(x - B^T B) is found by Newton's method from above, starting from the top of the 2 x 2 matrix
    that bounds what one more column can do. With the pivots d_i of x - B^T B and their derivatives, the top vector ends
    in 1 / sqrt(d_k'), if the top value still grows by more than what the root is off. Only what is clear is told here.
    """
    absolute, relative, allowed, lookout, weight, precision, before = goals
    below, added = _column(projected, size - 1)
    x = 0.5 * (before + added) + math.sqrt(0.25 * (before - added) * (before - added) + below)
    total = slope = 0.0
    for _ in range(20):
        total, slope, pivot = 0.0, 0.0, math.inf
        for i in range(size):
            square, diagonal = _column(projected, i)
            slope = 1.0 + square / (pivot * pivot) * slope
            pivot = x - diagonal - square / pivot
            if pivot <= 0.0 and i < size - 1:
                return False
            total += slope / pivot if pivot > 0.0 else math.inf
        if _ROOT * x * total >= 1.0:
            break
        x -= 1.0 / total
    if _ROOT * x * total < 1.0 or x - before < _CLEAR * x:
        return False
    goals[_LAST_TOP] = x
    top, last = math.sqrt(x), projected[size - 1, size - 1] * projected[size - 1, size]
    residual, rounding = math.sqrt(last * last / (x * slope)), precision * top
    if residual > 2.0 * max(rounding, absolute, relative * top):
        return True
    if min(residual, residual * residual / top) > 4.0 * max(allowed, rounding):
        return True
    if lookout < 0.0:
        return False
    horizon = top + max(lookout * top, allowed if allowed < math.inf else 0.0)
    height, pivot = 1.0, math.inf
    for i in range(size):
        square, diagonal = _column(projected, i)
        pivot = horizon * horizon - diagonal - square / pivot
        height *= pivot / abs(projected[i, i] * projected[i, i + 1])
    return 2.0 * math.log(max(height, 1e-300)) < -math.log(weight) - 1e-3


@njit(cache=True, nogil=True)
def _column(projected: FloatArray, i: int) -> tuple[float, float]:
    """Return the square of the entry of B^T B above its diagonal in column i, and the diagonal one."""
    diagonal = projected[i, i] * projected[i, i]
    if i == 0:
        return 0.0, diagonal
    above = projected[i - 1, i] * projected[i - 1, i]
    return projected[i - 1, i - 1] * projected[i - 1, i - 1] * above, diagonal + above


@njit(cache=True, nogil=True)
def _gram(projected: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """Return the diagonal of B B^T and what is beside it."""
    squares, links = np.empty(size), np.zeros(size)
    for i in range(size):
        squares[i] = projected[i, i] * projected[i, i]
        if i < size - 1:
            squares[i] += projected[i, i + 1] * projected[i, i + 1]
            links[i] = projected[i, i + 1] * projected[i + 1, i + 1]
    return squares, links


@njit(cache=True, nogil=True)
def _value_error(values: FloatArray, residuals: FloatArray) -> float:
    """Do as :func:`unipd.spectral.stopping.value_error` for the first value."""
    least, squares = residuals[0], 0.0
    for i in range(values.size - 1):
        squares += residuals[i] * residuals[i]
        gap = values[i] - values[i + 1] - residuals[i + 1]
        if gap > math.sqrt(squares):
            least = min(least, squares / gap)
    return least
