"""Compiled pieces of a Golub-Kahan sweep: what comes between two products, with Gram-Schmidt on one side.

A sweep does many steps in one call, so that small matrices cost their products and little else. Vectors are rows here:
``basis[j]`` is contiguous.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from unipd._typing import Array, FloatArray

_REORDERED: Any = {"reassoc", "contract", "nsz"}
_SAFE = 0.1
"""Left vectors need their last neighbour alone while what remains of a product is this share of the largest."""
_SLACK = 16.0
"""Cosines up to so many units of rounding are let be, instead of a second pass over the vectors."""


@njit(cache=True, nogil=True, forceinline=True, fastmath=_REORDERED)
def length(vector: Array) -> float:
    """Return the Euclidean norm, summed in double precision."""
    total = 0.0
    for i in range(vector.size):
        total += np.float64(vector[i]) * np.float64(vector[i])
    return math.sqrt(total)


@njit(cache=True, nogil=True, forceinline=True, fastmath=_REORDERED)
def subtract(vector: Array, factor: float, other: Array) -> None:
    """Subtract a multiple of another vector in place."""
    share = vector.dtype.type(factor)
    for i in range(vector.size):
        vector[i] -= share * other[i]


@njit(cache=True, nogil=True, forceinline=True, fastmath=_REORDERED)
def divide(vector: Array, divisor: float) -> None:
    """Divide a vector in place."""
    share = vector.dtype.type(divisor)
    for i in range(vector.size):
        vector[i] /= share


@njit(cache=True, nogil=True, forceinline=True, fastmath=_REORDERED)
def remove(vector: Array, basis: Array, size: int) -> float:
    """Subtract in place the part in the span of ``basis[:size]`` until it is gone; return the length of the rest.

    Four vectors of the basis at a time, so that the vector is read and written a quarter as often; four that are
    orthogonal to it but for a little more than rounding are read only.
    """
    rest = length(vector)
    for _ in range(3):
        before, little = rest, _SLACK * np.finfo(basis.dtype).eps * rest
        fours = size - size % 4
        for j in range(0, fours, 4):
            _remove_four(vector, basis[j], basis[j + 1], basis[j + 2], basis[j + 3], little)
        for j in range(fours, size):
            inside = vector.dtype.type(0)
            for i in range(vector.size):
                inside += basis[j, i] * vector[i]
            subtract(vector, inside, basis[j])
        rest = length(vector)
        if rest > 0.5 * before:
            break
    return rest


@njit(cache=True, nogil=True, forceinline=True, fastmath=_REORDERED)
def _remove_four(vector: Array, a: Array, b: Array, c: Array, d: Array, little: float) -> None:
    zero = vector.dtype.type(0)
    in_a, in_b, in_c, in_d = zero, zero, zero, zero
    for i in range(vector.size):
        x = vector[i]
        in_a += a[i] * x
        in_b += b[i] * x
        in_c += c[i] * x
        in_d += d[i] * x
    if max(abs(in_a), abs(in_b), abs(in_c), abs(in_d)) <= little:
        return
    for i in range(vector.size):
        vector[i] -= (in_a * a[i] + in_b * b[i]) + (in_c * c[i] + in_d * d[i])


@njit(cache=True, nogil=True, forceinline=True)
def begin(start: Array, random: FloatArray, mix: float, out: Array) -> bool:
    """Write the first right vector, as :func:`unipd.spectral.start.starting_block` makes it, at length one.

    Returns whether the starting vector is finite.
    """
    size = length(start)
    if not size < math.inf:
        return False
    product = 0.0
    for i in range(out.size):
        product += random[i] * start[i]
    share = -mix if product < 0.0 else mix
    for i in range(out.size):
        out[i] = start[i] / size + share * random[i] if size > 0.0 else random[i]
    divide(out, length(out))
    return True


@njit(cache=True, nogil=True, forceinline=True)
def settle_left(left: Array, k: int, projected: FloatArray, scale: float) -> tuple[float, float]:
    """Make of the product M v in ``left[k]`` the next left vector; return alpha = B[k, k] and the largest length seen.

    Left vectors are orthogonalised against the last one alone, which keeps them orthogonal to all while no alpha is
    small. An alpha of 0 tells that the vector vanishes or is not finite.
    """
    scale = max(scale, length(left[k]))
    if k > 0:
        subtract(left[k], projected[k - 1, k], left[k - 1])
    alpha = length(left[k])
    if alpha < _SAFE * scale:
        alpha = remove(left[k], left, k)
    if not 8.0 * np.finfo(left.dtype).eps * scale < alpha < math.inf:
        return 0.0, scale
    divide(left[k], alpha)
    return alpha, scale


@njit(cache=True, nogil=True, forceinline=True)
def settle_right(right: Array, k: int, alpha: float, scale: float) -> tuple[float, float]:
    """Make of the product M^* u in ``right[k + 1]`` the next right vector, orthogonal to all before it.

    Returns beta = B[k, k + 1] (0 as in :func:`settle_left`) and the largest length seen.
    """
    scale = max(scale, length(right[k + 1]))
    subtract(right[k + 1], alpha, right[k])
    beta = remove(right[k + 1], right, k + 1)
    if not 8.0 * np.finfo(right.dtype).eps * scale < beta < math.inf:
        return 0.0, scale
    divide(right[k + 1], beta)
    return beta, scale
