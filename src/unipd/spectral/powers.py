"""Powers of two that bring numbers near one: multiplying by them rounds nothing, so what was scaled is the same."""

from __future__ import annotations

import math

import numpy as np

from unipd._typing import Array
from unipd.errors import OracleError

_FARTHEST = 1000
"""Exponents stay within this, so that the power and its inverse are ordinary doubles."""


def exponent_of(size: float) -> int:
    """Return an e with size about 2^e (0 for zero); for numbers near the ends of the range it stays short of them.

    >>> exponent_of(5.0), exponent_of(1e-320), exponent_of(0.0)
    (3, -1000, 0)
    """
    return max(-_FARTHEST, min(_FARTHEST, math.frexp(size)[1]))


def times_power(value: float, exponent: int) -> float:
    """Return value 2^e; raises where that is beyond the range of doubles.

    >>> times_power(0.75, 2)
    3.0
    """
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        raise OracleError("the spectral norm of the operator is beyond the range of double precision") from None


def largest_part(array: Array) -> float:
    """Return the largest modulus of a real or imaginary part; raises where that is not finite.

    >>> largest_part(np.array([3.0 - 4.0j, 1.0]))
    4.0
    """
    parts = (np.real(array), np.imag(array)) if array.dtype.kind == "c" else (array,)
    ends = [float(end) for part in parts if part.size for end in (part.min(), part.max())]
    if not all(map(math.isfinite, ends)):
        raise OracleError("a product with the operator has entries that are NaN or infinite")
    return max(map(abs, ends), default=0.0)
