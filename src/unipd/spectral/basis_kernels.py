"""Compiled Gram-Schmidt against long columns: pieces of a vector stay in the processor's cache, no thread is woken.

The threads of BLAS make such products at most twice as fast on a quiet machine and many times slower on a busy one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from unipd._typing import Array

_PIECE = 2048
_REORDERED: Any = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def project(known: Array, rest: Array, inside: Array) -> None:
    """Add Q^* w to ``inside`` (in double precision) for columns Q and a vector w."""
    for low in range(0, rest.size, _PIECE):
        high = min(low + _PIECE, rest.size)
        for column in range(known.shape[1]):
            total = rest.dtype.type(0)
            for row in range(low, high):
                total += np.conj(known[row, column]) * rest[row]
            inside[column] += total


@njit(cache=True, nogil=True, fastmath=_REORDERED)
def subtract(known: Array, rest: Array, inside: Array) -> None:
    """Subtract Q c from a vector in place, for coefficients c of its dtype."""
    for low in range(0, rest.size, _PIECE):
        high = min(low + _PIECE, rest.size)
        for column in range(known.shape[1]):
            factor = inside[column]
            for row in range(low, high):
                rest[row] -= known[row, column] * factor
