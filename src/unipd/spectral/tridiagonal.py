"""Compiled eigenvalues of small symmetric tridiagonal matrices, one after the other."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from unipd._typing import FloatArray

_EPS = float(np.finfo(np.float64).eps)


@njit(cache=True, nogil=True, forceinline=True)
def settle(diagonal: FloatArray, links: FloatArray, row: FloatArray, known: int) -> bool:
    """Find one more eigenvalue of a symmetric tridiagonal matrix: the first ``known`` places have some, largest first.

    QL iteration with implicit shifts, in place: it turns a row e into e times the eigenvectors. ``links[i]`` couples i
    and i + 1 (the last is free). Returns whether it ended.
    """
    size = diagonal.size
    for _ in range(31):
        high = known
        while high < size - 1:
            if abs(links[high]) <= _EPS * (abs(diagonal[high]) + abs(diagonal[high + 1])):
                break
            high += 1
        if high == known:
            _sort_in(diagonal, row, known)
            return True
        chase(diagonal, links, row, known, high, _shift(diagonal, links, known))
    return False


@njit(cache=True, nogil=True, forceinline=True)
def none_above(diagonal: FloatArray, links: FloatArray, known: int, bound: float) -> bool:
    """Whether all eigenvalues from place ``known`` on, which need not be found yet, are at most the bound."""
    taken = 0.0
    for i in range(known, diagonal.size):
        pivot = bound - diagonal[i] - taken
        if pivot <= 0.0:
            return False
        taken = links[i] * links[i] / pivot
    return True


@njit(cache=True, nogil=True, forceinline=True)
def _sort_in(diagonal: FloatArray, row: FloatArray, place: int) -> None:
    """Move the entry at a place before the smaller ones."""
    value, entry = diagonal[place], row[place]
    while place > 0 and diagonal[place - 1] < value:
        diagonal[place], row[place] = diagonal[place - 1], row[place - 1]
        place -= 1
    diagonal[place], row[place] = value, entry


@njit(cache=True, nogil=True, forceinline=True)
def _shift(diagonal: FloatArray, links: FloatArray, low: int) -> float:
    """Return the eigenvalue of the first two places that is nearer to the first."""
    slope = (diagonal[low + 1] - diagonal[low]) / (2.0 * links[low])
    return diagonal[low] - links[low] / (slope + math.copysign(math.sqrt(slope * slope + 1.0), slope))


@njit(cache=True, nogil=True, forceinline=True)
def chase(diagonal: FloatArray, links: FloatArray, row: FloatArray, low: int, high: int, shift: float) -> None:
    """Do one implicit QL step on the block from ``low`` to ``high``: its eigenvalue near the shift comes first."""
    bulge = diagonal[high] - shift
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


@njit(cache=True, nogil=True, forceinline=True)
def bands_of(projected: FloatArray, size: int) -> FloatArray:
    """Return the diagonal of an upper bidiagonal matrix B and what is above it, ``size`` entries each, as two rows."""
    bands = np.empty((2, size))
    for i in range(size):
        bands[0, i], bands[1, i] = projected[i, i], projected[i, i + 1]
    return bands


@njit(cache=True, nogil=True, forceinline=True)
def gram(bands: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """Return the diagonal of B B^T and what is beside it, for the first columns of a B given by its bands."""
    squares, links = np.empty(size), np.zeros(size)
    for i in range(size):
        squares[i] = bands[0, i] * bands[0, i]
        if i < size - 1:
            squares[i] += bands[1, i] * bands[1, i]
            links[i] = bands[1, i] * bands[0, i + 1]
    return squares, links
