"""Compiled passes over long vectors, part by part, with sums in double precision whatever the vectors' own.

Threads take the parts from a shared counter. The image of an atom is made a part at a time, in the processor's cache
(``lines`` are those of :meth:`unipd.maps.Sampling.image_lines`), and every part has its own row of ``sums``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from unipd._typing import Array, FloatArray, IntArray
from unipd.maps.pauli.pointers import pointer, take

_REORDERED: Any = {"reassoc", "contract", "nsz"}
PART = 1 << 14
"""Entries that passes without an image take at a time."""


@njit(cache=True, nogil=True)
def value_parts(lines: Any, counter: IntArray, dual: Array, b: Array, sums: FloatArray) -> None:
    """Sum <lam, b - A x>."""
    starts, bounds = lines[0], lines[4]
    image = _room(starts, bounds, dual)
    part = take(pointer(counter))
    while part < bounds.size - 1:
        low, high = _image(lines, part, image)
        sums[part, 0] = _value(dual[low:high], b[low:high], image)
        part = take(pointer(counter))


@njit(cache=True, nogil=True)
def step_parts(
    lines: Any, counter: IntArray, dual: Array, b: Array, inverse: Any, step: Any, out: Array, sums: FloatArray
) -> None:
    """Write lam' = lam - step * g for g = b - A x + inverse * lam.

    Sum <g, d> and ||d||^2 of the way d = lam' - lam as rounded, <lam, b - A x>, ||lam||^2, <lam', b> and ||lam'||^2.
    """
    starts, bounds = lines[0], lines[4]
    image = _room(starts, bounds, dual)
    part = take(pointer(counter))
    while part < bounds.size - 1:
        low, high = _image(lines, part, image)
        found = _step(dual[low:high], b[low:high], image, inverse, step, out[low:high])
        for column in range(6):
            sums[part, column] = found[column]
        part = take(pointer(counter))


@njit(cache=True, nogil=True)
def gradient_parts(
    lines: Any, counter: IntArray, dual: Array, b: Array, inverse: Any, out: Array, sums: FloatArray
) -> None:
    """Write g = b - A x + inverse * lam.

    Sum ||g||^2, <b + inverse * lam, g>, <lam, b - A x>, ||lam||^2, <lam, b> and ||A x||^2.
    """
    starts, bounds = lines[0], lines[4]
    image = _room(starts, bounds, dual)
    part = take(pointer(counter))
    while part < bounds.size - 1:
        low, high = _image(lines, part, image)
        found = _gradient(dual[low:high], b[low:high], image, inverse, out[low:high])
        for column in range(6):
            sums[part, column] = found[column]
        part = take(pointer(counter))


@njit(cache=True, nogil=True)
def mixed_parts(
    lines: Any, counter: IntArray, mean: Array, gamma: Any, rest: Any, b: Array, out: Array, sums: FloatArray
) -> None:
    """Write rest * A xbar + gamma * A x; sum its squared distance to b."""
    starts, bounds = lines[0], lines[4]
    image = _room(starts, bounds, mean)
    part = take(pointer(counter))
    while part < bounds.size - 1:
        low, high = _image(lines, part, image)
        sums[part, 0] = _mixed(mean[low:high], image, gamma, rest, b[low:high], out[low:high])
        part = take(pointer(counter))


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def extrapolate(counter: IntArray, dual: Array, previous: Array, pull: Any, out: Array) -> None:
    """Write lam + pull (lam - lam')."""
    low = take(pointer(counter)) * PART
    while low < dual.size:
        for k in range(low, min(low + PART, dual.size)):
            out[k] = dual[k] + pull * (dual[k] - previous[k])
        low = take(pointer(counter)) * PART


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def distance_parts(counter: IntArray, first: Array, second: Array, sums: FloatArray) -> None:
    """Sum the squares of the differences."""
    part = take(pointer(counter))
    while part < sums.size:
        total = 0.0
        for k in range(part * PART, min((part + 1) * PART, first.size)):
            difference = np.float64(first[k] - second[k])
            total += difference * difference
        sums[part] = total
        part = take(pointer(counter))


@njit(cache=True, nogil=True)
def _room(starts: IntArray, bounds: IntArray, like: Array) -> Array:
    """Return room for the image of the longest part."""
    longest = np.uint64(0)
    for part in range(bounds.size - 1):
        longest = max(longest, starts[bounds[part + 1]] - starts[bounds[part]])
    return np.empty(longest, like.dtype)


@njit(cache=True, nogil=True)
def _image(lines: Any, part: int, out: Array) -> tuple[int, int]:
    """Write the entries sum_q along_iq across_jq of a part; return where it begins and ends."""
    starts, places, along, across, bounds = lines
    begin = starts[bounds[part]]
    for line in range(bounds[part], bounds[part + 1]):
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
    return begin, starts[bounds[part + 1]]


@njit(cache=True, nogil=True, forceinline=True, fastmath=_REORDERED)
def _value(dual: Array, b: Array, image: Array) -> float:
    linear = 0.0
    for k in range(dual.size):
        linear += np.float64(dual[k]) * np.float64(b[k] - image[k])
    return linear


@njit(cache=True, nogil=True, forceinline=True, fastmath=_REORDERED)
def _step(
    dual: Array, b: Array, image: Array, inverse: Any, step: Any, out: Array
) -> tuple[float, float, float, float, float, float]:
    slope = length = linear = energy = linear_there = energy_there = 0.0
    for k in range(dual.size):
        rest = b[k] - image[k]
        gradient = rest + inverse * dual[k]
        out[k] = dual[k] - step * gradient
        here, there, way = np.float64(dual[k]), np.float64(out[k]), np.float64(out[k] - dual[k])
        slope += np.float64(gradient) * way
        length += way * way
        linear += here * np.float64(rest)
        energy += here * here
        linear_there += there * np.float64(b[k])
        energy_there += there * there
    return slope, length, linear, energy, linear_there, energy_there


@njit(cache=True, nogil=True, forceinline=True, fastmath=_REORDERED)
def _gradient(
    dual: Array, b: Array, image: Array, inverse: Any, out: Array
) -> tuple[float, float, float, float, float, float]:
    squared = slope = linear = energy = linear_b = reach = 0.0
    for k in range(dual.size):
        rest, slack = b[k] - image[k], inverse * dual[k]
        out[k] = rest + slack
        gradient, here, there = np.float64(out[k]), np.float64(dual[k]), np.float64(image[k])
        squared += gradient * gradient
        slope += np.float64(b[k] + slack) * gradient
        linear += here * np.float64(rest)
        energy += here * here
        linear_b += here * np.float64(b[k])
        reach += there * there
    return squared, slope, linear, energy, linear_b, reach


@njit(cache=True, nogil=True, forceinline=True, fastmath=_REORDERED)
def _mixed(mean: Array, image: Array, gamma: Any, rest: Any, b: Array, out: Array) -> float:
    squared = 0.0
    for k in range(mean.size):
        out[k] = rest * mean[k] + gamma * image[k]
        residual = np.float64(out[k] - b[k])
        squared += residual * residual
    return squared
