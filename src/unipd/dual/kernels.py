"""Compiled passes of :mod:`unipd.dual.space`: written and summed in one loop, sums in double precision.

Output arrays are supplied by the caller: arrays allocated in compiled code are slow to return to Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd._util.compiler import njit
from unipd._util.lazy import REORDER


@njit(cache=True, nogil=True, fastmath=REORDER)
def gradient(dual: Array, b: Array, image: Array, curvature: Any, out: Array) -> tuple[float, float, float, float]:
    """Write grad g = b - A x + curvature * lam; return <lam, b - A x>, <lam, A x>, <lam, b> and ||lam||^2."""
    pairing = along_image = linear = norm_sq = 0.0
    for k in range(dual.size):
        residual = b[k] - image[k]
        out[k] = residual + curvature * dual[k]
        entry = np.float64(dual[k])
        pairing += entry * np.float64(residual)
        along_image += entry * np.float64(image[k])
        linear += entry * np.float64(b[k])
        norm_sq += entry * entry
    return pairing, along_image, linear, norm_sq


@njit(cache=True, nogil=True, fastmath=REORDER)
def step(dual: Array, gradient: Array, length: Any, b: Array, out: Array) -> tuple[float, float, float, float]:
    """Write lam' = lam - length * gradient; return <gradient, d>, ||d||^2, <lam', b>, ||lam'||^2 for d = lam' - lam."""
    slope = squared = linear = norm_sq = 0.0
    for k in range(dual.size):
        out[k] = dual[k] - length * gradient[k]
        entry, difference = np.float64(out[k]), np.float64(out[k] - dual[k])
        slope += np.float64(gradient[k]) * difference
        squared += difference * difference
        linear += entry * np.float64(b[k])
        norm_sq += entry * entry
    return slope, squared, linear, norm_sq


@njit(cache=True, nogil=True, fastmath=REORDER)
def average(image: Array, rest: Any, other: Array, gamma: Any, b: Array, out: Array) -> float:
    """Write rest * image + gamma * other; return its squared distance to b."""
    squared = 0.0
    for k in range(image.size):
        out[k] = rest * image[k] + gamma * other[k]
        residual = np.float64(out[k] - b[k])
        squared += residual * residual
    return squared


@njit(cache=True, nogil=True, fastmath=REORDER)
def lincomb(first: Array, rest: Any, second: Array, gamma: Any, out: Array) -> None:
    """Write rest * first + gamma * second."""
    for k in range(first.size):
        out[k] = rest * first[k] + gamma * second[k]


@njit(cache=True, nogil=True, fastmath=REORDER)
def linear_and_norm_sq(dual: Array, b: Array) -> tuple[float, float]:
    """Return <lam, b> and ||lam||^2."""
    linear = norm_sq = 0.0
    for k in range(dual.size):
        entry = np.float64(dual[k])
        linear += entry * np.float64(b[k])
        norm_sq += entry * entry
    return linear, norm_sq


@njit(cache=True, nogil=True, fastmath=REORDER)
def squared_distance(first: Array, second: Array) -> float:
    """Return ||first - second||^2."""
    squared = 0.0
    for k in range(first.size):
        difference = np.float64(first[k] - second[k])
        squared += difference * difference
    return squared


@njit(cache=True, nogil=True, fastmath=REORDER)
def difference_along(dual: Array, first: Array, second: Array) -> float:
    """Return <lam, first - second>."""
    total = 0.0
    for k in range(dual.size):
        total += np.float64(dual[k]) * np.float64(first[k] - second[k])
    return total


@njit(cache=True, nogil=True)
def image_part(
    starts: IntArray, places: IntArray, along: Array, across: Array, first: Any, last: Any, out: Array
) -> None:
    """Write the entries sum_q along_iq across_jq of the lines from ``first`` up to ``last`` of a sampling pattern.

    The arrays are those of :meth:`unipd.protocols.MapDefaults.image_lines`.
    """
    begin = starts[first]
    for line in range(first, last):
        low, high = starts[line], starts[line + np.uint64(1)]
        if along.shape[1] == 1:
            factor = along[line, 0]
            for k in range(low, high):
                out[k - begin] = factor * across[places[k], 0]
        else:
            for k in range(low, high):
                total = out.dtype.type(0)
                for q in range(along.shape[1]):
                    total += along[line, q] * across[places[k], q]
                out[k - begin] = total
