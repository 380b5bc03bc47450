"""Compiled passes over dual vectors: written and summed at once, sums in double precision whatever the vectors' own.

Vectors are written where the caller says: those that compiled code makes take long to hand over to Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from unipd._typing import Array

_REORDERED: Any = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def joined(
    dual: Array, b: Array, image: Array, inverse: Any, other: Array, gradient: Array
) -> tuple[float, float, float, float, float, float]:
    """Write g = b - A x + inverse * lam; return sums.

    These are <lam, b - A x>, ||lam||^2, ||g||^2, <lam, b>, <g, b> and ||g - other||^2.
    """
    pairing = energy = steepness = linear = tilt = change = 0.0
    for k in range(dual.size):
        rest = b[k] - image[k]
        gradient[k] = rest + inverse * dual[k]
        here, slope = np.float64(dual[k]), np.float64(gradient[k])
        turn = slope - np.float64(other[k])
        pairing += here * np.float64(rest)
        energy += here * here
        steepness += slope * slope
        linear += here * np.float64(b[k])
        tilt += slope * np.float64(b[k])
        change += turn * turn
    return pairing, energy, steepness, linear, tilt, change


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def two_steps(dual: Array, gradient: Array, short: Any, long: Any, near: Array, far: Array) -> None:
    """Write lam - short * gradient and lam - long * gradient."""
    for k in range(dual.size):
        near[k] = dual[k] - short * gradient[k]
        far[k] = dual[k] - long * gradient[k]


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def linear_and_energy(dual: Array, b: Array) -> tuple[float, float]:
    """Return <lam, b> and ||lam||^2."""
    linear = energy = 0.0
    for k in range(dual.size):
        here = np.float64(dual[k])
        linear += here * np.float64(b[k])
        energy += here * here
    return linear, energy


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def between(first: Array, rest: Any, second: Array, gamma: Any, out: Array) -> None:
    """Write rest * first + gamma * second."""
    for k in range(first.size):
        out[k] = rest * first[k] + gamma * second[k]


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def folded_in(average: Array, rest: Any, one: Array, first: Any, other: Array, second: Any, out: Array) -> None:
    """Write rest * average + first * one + second * other."""
    for k in range(average.size):
        out[k] = rest * average[k] + first * one[k] + second * other[k]


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def mixed(image: Array, rest: Any, other: Array, gamma: Any, b: Array, out: Array) -> float:
    """Write rest * image + gamma * other; return its squared distance to b."""
    squared = 0.0
    for k in range(image.size):
        out[k] = rest * image[k] + gamma * other[k]
        residual = np.float64(out[k] - b[k])
        squared += residual * residual
    return squared


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def loss_slope(image: Array, b: Array, scale: Any, lam: Array) -> tuple[float, float]:
    """Write lam = scale * (A x - b); return <lam, b> and ||lam||^2."""
    linear = energy = 0.0
    for k in range(image.size):
        lam[k] = scale * (image[k] - b[k])
        here = np.float64(lam[k])
        linear += here * np.float64(b[k])
        energy += here * here
    return linear, energy


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def moved_along(
    image: Array, way: Array, gamma: Any, b: Array, scale: Any, moved: Array, lam: Array
) -> tuple[float, float, float]:
    """Write A x = image + gamma * way and lam = scale * (A x - b); return ||A x - b||^2, <lam, b> and ||lam||^2."""
    squared = linear = energy = 0.0
    for k in range(image.size):
        moved[k] = image[k] + gamma * way[k]
        rest = moved[k] - b[k]
        lam[k] = scale * rest
        here = np.float64(lam[k])
        squared += np.float64(rest) * np.float64(rest)
        linear += here * np.float64(b[k])
        energy += here * here
    return squared, linear, energy


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def way_between(tail: Array, head: Array, way: Array) -> float:
    """Write d = head - tail; return ||d||^2."""
    squared = 0.0
    for k in range(tail.size):
        way[k] = head[k] - tail[k]
        squared += np.float64(way[k]) ** 2
    return squared


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def residual_slope(image: Array, b: Array, head: Array) -> tuple[float, float]:
    """Return <A x - b, d> and ||d||^2 for d = head - A x."""
    slope = squared = 0.0
    for k in range(image.size):
        way = np.float64(head[k] - image[k])
        slope += np.float64(image[k] - b[k]) * way
        squared += way * way
    return slope, squared


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def squared_distance(first: Array, second: Array) -> float:
    """Return ||first - second||^2."""
    squared = 0.0
    for k in range(first.size):
        way = np.float64(first[k] - second[k])
        squared += way * way
    return squared


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def difference_along(dual: Array, first: Array, second: Array) -> float:
    """Return <lam, first - second>."""
    total = 0.0
    for k in range(dual.size):
        total += np.float64(dual[k]) * np.float64(first[k] - second[k])
    return total
