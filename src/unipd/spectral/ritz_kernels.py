"""Compiled end of a Golub-Kahan sweep: whether it may stop, and its top Ritz triple.

The rule is that of :class:`~unipd.spectral.stopping.Stop`, on an upper bidiagonal matrix. Vectors are rows, as in
:mod:`unipd.spectral.sweep_kernels`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from unipd._typing import Array, FloatArray
from unipd.spectral.sweep_kernels import divide, length, subtract


@njit(cache=True, nogil=True)
def may_stop(projected: FloatArray, size: int, goals: FloatArray) -> bool:
    """Whether the Ritz triple of an upper bidiagonal B (its entry beyond the last column too) seems good enough.

    ``goals`` are the numbers of a stopping rule (:mod:`unipd.spectral.bidiagonal`); the rule is that of ``Stop`` for
    one triple.
    """
    absolute, relative, allowed, lookout, weight, precision = goals
    squares, links = _gram(projected, size)
    last = np.zeros((1, size))
    last[0, size - 1] = 1.0
    if not _diagonalise(squares, links, last):
        return False
    order = np.argsort(-squares)
    values = np.sqrt(np.maximum(squares[order], 0.0))
    residuals = np.abs(projected[size - 1, size] * last[0][order])
    top, rounding = values[0], precision * values[0]
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
def top_triple(bases: tuple[Array, Array], projected: FloatArray, size: int) -> tuple[float, float, Array, Array]:
    """Return the top Ritz value of an upper bidiagonal B, its residual norm, and its left and right vectors.

    A value of 0 tells that there is none to be had here.
    """
    left, right = bases
    squares, links = _gram(projected, size)
    vectors = np.eye(size)
    u, v = np.zeros(left.shape[1], left.dtype), np.zeros(right.shape[1], right.dtype)
    if not _diagonalise(squares, links, vectors):
        return 0.0, 0.0, u, v
    outer = vectors[:, np.argmax(squares)]
    value = math.sqrt(max(squares.max(), 0.0))
    for i in range(size):
        inner = projected[i, i] * outer[i] + (projected[i - 1, i] * outer[i - 1] if i > 0 else 0.0)
        subtract(u, -outer[i], left[i])
        subtract(v, -inner, right[i])
    sizes = length(u), length(v)
    if min(sizes) == 0.0:
        return 0.0, 0.0, u, v
    divide(u, sizes[0])
    divide(v, sizes[1])
    return value, abs(projected[size - 1, size] * outer[size - 1]), u, v


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


@njit(cache=True, nogil=True)
def _diagonalise(diagonal: FloatArray, links: FloatArray, rows: FloatArray) -> bool:
    """Turn a symmetric tridiagonal matrix into its eigenvalues in place, and rows E into E times the eigenvectors.

    QL iteration with implicit shifts; returns whether it ended. ``links[i]`` couples i and i + 1 (the last is free).
    """
    size = diagonal.size
    tiny = np.finfo(np.float64).eps
    for low in range(size):
        for sweep in range(31):
            high = low
            while high < size - 1:
                if abs(links[high]) <= tiny * (abs(diagonal[high]) + abs(diagonal[high + 1])):
                    break
                high += 1
            if high == low:
                break
            if sweep == 30:
                return False
            _chase(diagonal, links, rows, low, high)
    return True


@njit(cache=True, nogil=True)
def _chase(diagonal: FloatArray, links: FloatArray, rows: FloatArray, low: int, high: int) -> None:
    """Do one implicit QL step on the block from ``low`` to ``high``."""
    slope = (diagonal[low + 1] - diagonal[low]) / (2.0 * links[low])
    root = math.copysign(math.sqrt(slope * slope + 1.0), slope)
    bulge = diagonal[high] - diagonal[low] + links[low] / (slope + root)
    sine = cosine = 1.0
    carried = 0.0
    for i in range(high - 1, low - 1, -1):
        f, b = sine * links[i], cosine * links[i]
        radius = math.sqrt(f * f + bulge * bulge)
        links[i + 1] = radius
        if radius == 0.0:
            diagonal[i + 1] -= carried
            links[high] = 0.0
            return
        sine, cosine = f / radius, bulge / radius
        bulge = diagonal[i + 1] - carried
        radius = (diagonal[i] - bulge) * sine + 2.0 * cosine * b
        carried = sine * radius
        diagonal[i + 1] = bulge + carried
        bulge = cosine * radius - b
        for row in range(len(rows)):
            old = rows[row, i + 1]
            rows[row, i + 1] = sine * rows[row, i] + cosine * old
            rows[row, i] = cosine * rows[row, i] - sine * old
    diagonal[low] -= carried
    links[low] = bulge
    links[high] = 0.0
