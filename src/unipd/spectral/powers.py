"""Powers of two that bring numbers near one: multiplying by them rounds nothing, so what was scaled is the same."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.errors import OracleError

LARGEST_EXPONENT = 1000
"""Exponents stay within this, so that the power and its inverse are ordinary doubles."""


@cache
def farthest(dtype: np.dtype[Any]) -> float:
    """Return up to which size (and from whose inverse) operators of a dtype are run as they are.

    >>> farthest(np.dtype(np.float64)), farthest(np.dtype(np.complex64))
    (1e+60, 1000000000000000.0)
    """
    return 1e60 if np.finfo(dtype).bits == 64 else 1e15


def exponent_of(size: float) -> int:
    """Return an e with size about 2^e (0 for zero); for numbers near the ends of the range it stays short of them.

    >>> exponent_of(5.0), exponent_of(1e-320), exponent_of(0.0)
    (3, -1000, 0)
    """
    return max(-LARGEST_EXPONENT, min(LARGEST_EXPONENT, math.frexp(size)[1]))


def times_power(value: float, exponent: int) -> float:
    """Return value 2^e; raises where that is beyond the range of doubles.

    >>> times_power(0.75, 2)
    3.0
    """
    return finite_bound(value * 2.0**exponent)


def finite_bound(value: float) -> float:
    """Return a bound, which must not be beyond the range of doubles."""
    if value == math.inf:
        raise OracleError("the spectral norm of the operator is beyond the range of double precision")
    return value


def largest_part(array: Array) -> float:
    """Return the largest modulus of a real or imaginary part, without a copy; raises where that is not finite.

    >>> largest_part(np.array([3.0 - 4.0j, 1.0]))
    4.0
    """
    size = size_of(array)
    if not math.isfinite(size):
        raise OracleError("a product with the operator has entries that are NaN or infinite")
    return size


def size_of(array: Array) -> float:
    """Return the same, inf or NaN where there is one."""
    parts = (np.real(array), np.imag(array)) if array.dtype.kind == "c" else (array,)
    ends = [abs(float(end)) for part in parts if part.size for end in (part.min(), part.max())]
    return math.nan if any(map(math.isnan, ends)) else max(ends, default=0.0)


def frobenius(array: Array) -> float:
    """Return the Frobenius norm of an array, whose squares may be out of range.

    >>> round(frobenius(np.array([[3e200, 4e200j]])) / 1e200, 12)
    5.0
    """
    exponent = exponent_of(largest_part(array))
    return times_power(float(np.linalg.norm(array * 2.0**-exponent)), exponent)
