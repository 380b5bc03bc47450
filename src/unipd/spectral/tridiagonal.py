"""Compiled eigenvalues of small symmetric tridiagonal matrices."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from unipd._typing import FloatArray

_EPS = float(np.finfo(np.float64).eps)


@njit(cache=True, nogil=True)
def diagonalise(diagonal: FloatArray, links: FloatArray, row: FloatArray) -> bool:
    """Turn a symmetric tridiagonal matrix into its eigenvalues in place, and a row e into e times the eigenvectors.

    QL iteration with implicit shifts; returns whether it ended. ``links[i]`` couples i and i + 1 (the last is free).
    """
    size = diagonal.size
    for low in range(size):
        for sweep in range(31):
            high = low
            while high < size - 1:
                if abs(links[high]) <= _EPS * (abs(diagonal[high]) + abs(diagonal[high + 1])):
                    break
                high += 1
            if high == low:
                break
            if sweep == 30:
                return False
            _chase(diagonal, links, row, low, high)
    return True


@njit(cache=True, nogil=True)
def _chase(diagonal: FloatArray, links: FloatArray, row: FloatArray, low: int, high: int) -> None:
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
        old = row[i + 1]
        row[i + 1] = sine * row[i] + cosine * old
        row[i] = cosine * row[i] - sine * old
    diagonal[low] -= carried
    links[low] = bulge
    links[high] = 0.0
