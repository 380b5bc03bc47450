"""Compiled sums over a part of long vectors, in double precision whatever the vectors' own (see ``streamed``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from unipd._typing import Array

_REORDERED: Any = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def value_sums(dual: Array, b: Array, image: Array) -> tuple[float, float, float, float]:
    """Return <lam, b - A x>, <lam, A x>, ||A x||^2 and ||lam||^2."""
    linear = along = squared = energy = 0.0
    for k in range(dual.size):
        here, there = np.float64(dual[k]), np.float64(image[k])
        linear += here * np.float64(b[k] - image[k])
        along += here * there
        squared += there * there
        energy += here * here
    return linear, along, squared, energy


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def step_sums(
    dual: Array, b: Array, image: Array, inverse: Any, step: Any, out: Array
) -> tuple[float, float, float, float]:
    """Write lam - step * g for g = b - A x + inverse * lam.

    Return <g, d> and ||d||^2 of the way d as rounded, <lam, b - A x> and ||lam||^2.
    """
    slope = length = linear = energy = 0.0
    for k in range(dual.size):
        rest = b[k] - image[k]
        gradient = rest + inverse * dual[k]
        out[k] = dual[k] - step * gradient
        here, way = np.float64(dual[k]), np.float64(out[k] - dual[k])
        slope += np.float64(gradient) * way
        length += way * way
        linear += here * np.float64(rest)
        energy += here * here
    return slope, length, linear, energy


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def mixed_sums(mean: Array, image: Array, gamma: Any, rest: Any, b: Array, out: Array) -> float:
    """Write rest * A xbar + gamma * A x; return its squared distance to b."""
    squared = 0.0
    for k in range(mean.size):
        out[k] = rest * mean[k] + gamma * image[k]
        residual = np.float64(out[k] - b[k])
        squared += residual * residual
    return squared
