"""Golub-Kahan steps with a sampled matrix, many in one compiled call: for patterns so small that Python would dominate.

The products are the kernels of :mod:`unipd.maps.sampling_kernels`, in one thread.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from unipd._typing import Array, FloatArray, IntArray
from unipd.maps.sampling_kernels import gather, scatter
from unipd.spectral.partial_kernels import missing, partly_left, partly_right
from unipd.spectral.ritz_kernels import forget, may_stop, seems_done
from unipd.spectral.sweep_kernels import begin, settle_left, settle_right
from unipd.spectral.tridiagonal import bands_of
from unipd.spectral.triple_kernels import top_triple


@njit(cache=True, nogil=True, forceinline=True)
def multiply(
    structure: tuple[IntArray, IntArray, IntArray, IntArray],
    values: Array,
    scattered: bool,
    x: Array,
    parts: Array,
    out: Array,
) -> None:
    """Write the product with a vector, along the lines or across them: into ``parts`` that are added in their order."""
    starts, places, line_bounds, scatter_bounds = structure
    counter = np.zeros(1, np.int64)
    if not scattered:
        gather(starts, places, values, x, out, line_bounds, counter)
        return
    scatter(starts, places, values, x, parts, scatter_bounds, counter)
    for i in range(out.size):  # an assignment of arrays takes seconds to compile
        out[i] = parts[0, i]
    for part in range(1, len(parts)):
        for i in range(out.size):
            out[i] += parts[part, i]


@njit(cache=True, nogil=True, forceinline=True)
def sweep(
    structure: tuple[IntArray, IntArray, IntArray, IntArray],
    values: Array,
    scattered_first: bool,
    bases: tuple[Array, Array],
    projected: FloatArray,
    first: int,
    last: int,
    goals: FloatArray,
) -> tuple[int, int]:
    """Do steps first, ..., last - 1 of the bidiagonalisation M V = U B; return (steps done, products made).

    A step takes right[k] to left[k] and right[k + 1] (vectors are rows), filling alpha = B[k, k] and
    beta = B[k, k + 1]. Ends early when the ``goals`` (none: empty) seem reached, which is asked now and then, and
    before a step whose vectors vanish or are not finite: that one is for the caller.
    """
    left, right = bases
    scattered_size = left.shape[1] if scattered_first else right.shape[1]
    parts = np.empty((structure[3].size - 1, scattered_size), values.dtype)
    scale = abs(projected[first - 1, first - 1]) if first > 0 else 0.0
    for k in range(first, last):
        multiply(structure, values, scattered_first, right[k], parts, left[k])
        alpha, scale = settle_left(left, k, projected, scale)
        if alpha == 0.0:
            return k - first, 2 * (k - first) + 1
        multiply(structure, values, not scattered_first, left[k], parts, right[k + 1])
        beta, scale = settle_right(right, k, alpha, scale)
        if beta == 0.0:
            return k - first, 2 * (k - first) + 2
        projected[k, k], projected[k, k + 1] = alpha, beta
        if goals.size > 0 and seems_done(bands_of(projected, k + 1), k + 1, goals):
            return k + 1 - first, 2 * (k + 1 - first)
    return last - first, 2 * (last - first)


@njit(cache=True, nogil=True, forceinline=True)
def partial_sweep(
    structure: tuple[IntArray, IntArray, IntArray, IntArray],
    values: Array,
    scattered_first: bool,
    sign: float,
    bases: tuple[Array, Array],
    small: FloatArray,
    first: int,
    last: int,
    goals: FloatArray,
) -> tuple[int, int, bool]:
    """Do as :func:`sweep` with ``sign`` * M and partial reorthogonalisation, for runs of such steps from their start.

    ``small`` keeps B and how far the last vectors are from orthogonal (:mod:`unipd.spectral.partial_kernels`). Also
    returns whether vectors were made orthogonal again: what was taken from them is not in B.
    """
    left, right = bases
    parts = np.empty((structure[3].size - 1, left.shape[1] if scattered_first else right.shape[1]), values.dtype)
    small[2:, first] = 1.0
    owed, scale, mended = 0, 0.0, False
    for k in range(first):
        scale = max(scale, math.hypot(small[0, k], small[1, k]))
    for k in range(first, last):
        multiply(structure, values, scattered_first, right[k], parts, left[k])
        alpha, scale, owed = partly_left(left, k, small, scale, owed, sign)
        mended = mended or owed > 0
        if alpha == 0.0:
            return k - first, 2 * (k - first) + 1, mended
        multiply(structure, values, not scattered_first, left[k], parts, right[k + 1])
        beta, scale, owed = partly_right(right, k, small, scale, owed, sign)
        mended = mended or owed > 0
        if beta == 0.0:
            return k - first, 2 * (k - first) + 2, mended
        if seems_done(small, k + 1, goals):
            return k + 1 - first, 2 * (k + 1 - first), mended
    return last - first, 2 * (last - first), mended


@njit(cache=True, nogil=True, forceinline=True)
def brief_run(
    structure: tuple[IntArray, IntArray, IntArray, IntArray],
    values: Array,
    scattered_first: bool,
    sign: float,
    start: tuple[Array, FloatArray, float],
    bases: tuple[Array, Array],
    small: FloatArray,
    first: int,
    last: int,
    goals: FloatArray,
    ends: tuple[Array, Array],
) -> tuple[int, int, float, float]:
    """Do a whole run with ``sign`` * M up to its goals; return steps done, products made, top Ritz value and residual.

    Its vectors are written to ``ends`` (left, right). A value of 0 tells that the goals were not reached. A run begins
    with ``start`` (:func:`unipd.spectral.sweep_kernels.begin`); one that has done steps asks first whether it may stop
    already. Products of -1 tell that the starting vector is not finite.
    """
    if first == 0:
        forget(goals)
        if not begin(start[0], start[1], start[2], bases[1][0]):
            return 0, -1, 0.0, 0.0
    done, made, mended = 0, 0, first > 0
    reached = first > 0 and may_stop(small, first, goals)
    if not reached:
        done, made, again = partial_sweep(structure, values, scattered_first, sign, bases, small, first, last, goals)
        mended = mended or again
        whole = done > 0 and made == 2 * done
        reached = whole and (done < last - first or may_stop(small, last, goals))
    if not reached:
        return done, made, 0.0, 0.0
    value, residual = top_triple(bases, small, first + done, goals, ends)
    return done, made, value, residual + (missing(values.dtype) * value if mended else 0.0)
