"""Compiled top Ritz triple of a Golub-Kahan run; vectors are rows, as in :mod:`unipd.spectral.sweep_kernels`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from unipd._typing import Array, FloatArray
from unipd.spectral.ritz_kernels import TOP
from unipd.spectral.sweep_kernels import divide, length
from unipd.spectral.tridiagonal import gram

_REORDERED: Any = {"reassoc", "contract", "nsz"}
_EPS = float(np.finfo(np.float64).eps)
_MARGIN = 32.0
"""Units of rounding by which the top value may have come out too small: pivots must not be clipped because of it."""


@njit(cache=True, nogil=True, forceinline=True)
def top_triple(
    bases: tuple[Array, Array], bands: FloatArray, size: int, goals: FloatArray, ends: tuple[Array, Array]
) -> tuple[float, float]:
    """Return the top Ritz value of a B given by its bands and its residual norm; write its vectors (left, right).

    To be asked when :func:`~unipd.spectral.ritz_kernels.may_stop` has said yes. A value of 0 tells that there is none
    to be had here.
    """
    top = goals[TOP]
    outer = _top_vector(bands, size, top)
    inner = np.empty(size)
    for i in range(size):
        inner[i] = bands[0, i] * outer[i] + (bands[1, i - 1] * outer[i - 1] if i > 0 else 0.0)
    _combine(bases[0], outer, ends[0])
    _combine(bases[1], inner, ends[1])
    tall, wide, value = length(ends[0]), length(ends[1]), math.sqrt(top)
    if tall == 0.0 or wide == 0.0:
        return 0.0, 0.0
    divide(ends[0], tall)
    divide(ends[1], wide)
    # M v = value (value tall / wide) u: vectors that are not quite orthogonal make the two lengths differ.
    stray = abs(wide / tall - value) * max(1.0, value * tall / wide)
    return value, abs(bands[1, size - 1] * outer[size - 1]) / tall + stray


@njit(cache=True, nogil=True, forceinline=True, fastmath=_REORDERED)
def _combine(basis: Array, coefficients: FloatArray, out: Array) -> None:
    """Write the combination of the first rows of a basis, four of them in one pass."""
    out[:] = 0
    factors = np.zeros((coefficients.size + 3) // 4 * 4, basis.dtype)
    for j in range(coefficients.size):
        factors[j] = coefficients[j]
    last = coefficients.size - 1
    for j in range(0, coefficients.size, 4):
        a, b, c, d = basis[j], basis[min(j + 1, last)], basis[min(j + 2, last)], basis[min(j + 3, last)]
        in_a, in_b, in_c, in_d = factors[j], factors[j + 1], factors[j + 2], factors[j + 3]
        for i in range(out.size):
            out[i] += (in_a * a[i] + in_b * b[i]) + (in_c * c[i] + in_d * d[i])


@njit(cache=True, nogil=True, forceinline=True)
def _top_vector(bands: FloatArray, size: int, top: float) -> FloatArray:
    """Return the unit eigenvector of B B^T for its largest eigenvalue, by inverse iteration just above that.

    B has positive entries, so has the eigenvector: a start of ones has a share in it. The pivots are positive.
    """
    diagonal, links = gram(bands, size)
    shift, tiny = top * (1.0 + _MARGIN * _EPS), _EPS * top + 1e-300
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
