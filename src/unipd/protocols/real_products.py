"""Real inner products, summed in double precision."""

from __future__ import annotations

import math

import numpy as np

from unipd import serial
from unipd._typing import Array

_DOUBLE = np.dtype(np.float64)
_PART = serial.ENTRIES
"""Entries of single precision that are turned to double precision at a time: in cache, and BLAS wakes no threads."""


def inner(left: Array, right: Array) -> float:
    """Return the real inner product Re <left, right>, summed in double precision."""
    if left.dtype is _DOUBLE is right.dtype:
        return float(serial.vdot(left, right) if left.size <= serial.ENTRIES else serial.dot(left, right))
    if left.size <= _PART or left.dtype.char not in "fF":
        return float(serial.dot(_in_double(left), right).real)
    one, other = left.reshape(-1), right.reshape(-1)
    parts = (slice(first, first + _PART) for first in range(0, one.size, _PART))
    return float(sum(np.vdot(_in_double(one[part]), _in_double(other[part])).real for part in parts))


def norm(vector: Array) -> float:
    """Return the Euclidean norm of an array of any shape, summed in double precision."""
    return math.sqrt(inner(vector, vector))


def _in_double(array: Array) -> Array:
    kind = array.dtype.char
    if kind == "f":
        return array.astype(np.float64)
    return array.astype(np.complex128) if kind == "F" else array
