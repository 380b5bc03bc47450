"""Products of long vectors that stay in the calling thread: BLAS gets pieces too small to wake its threads for.

Threads of BLAS that were woken look for more work for a while before they sleep, a tenth of a second, and take the
cores from compiled kernels that come next. A product that is a small part of the work is better done in one thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from unipd._typing import Array

ENTRIES = 8000
"""Numbers of a vector, or of a real matrix that meets one: OpenBLAS multiplies so many in one thread."""
PRODUCTS = 200_000
"""Multiplications of two matrices of which the same holds; a fourth of that if they are complex."""
_FEW = 12
"""Pieces up to which a loop over them is quicker than to set up one call for all."""
_LEAST = 8
"""Rows, columns or terms of a piece at least: thinner ones take longer than the threads that they leave asleep."""
vdot: Callable[[Array, Array], Any] = getattr(np.vdot, "_implementation", np.vdot)
"""NumPy's product itself, without the detour for arrays of other libraries where that can be left out."""


def dot(first: Array, second: Array) -> Any:
    """Return <first, second> of arrays of one shape (the first is conjugated), its pieces added in double precision.

    >>> dot(np.array([1j, 2.0]), np.array([1j, 1.0]))
    (3+0j)
    """
    if first.size <= ENTRIES:
        return vdot(first, second).item()
    one = first.reshape(-1)
    other = second.reshape(one.shape)
    if one.size <= _FEW * ENTRIES or _are_complex(one, other):
        pieces = [slice(low, low + ENTRIES) for low in range(0, one.size, ENTRIES)]
        return sum([vdot(one[piece], other[piece]).item() for piece in pieces])
    whole = one.size - one.size % ENTRIES
    with np.errstate(over="ignore", invalid="ignore"):  # as np.vdot does
        sums = np.matmul(one[:whole].reshape(-1, 1, ENTRIES), other[:whole].reshape(-1, ENTRIES, 1))
        return sums.sum(dtype=np.float64).item() + vdot(one[whole:], other[whole:]).item()


def product(first: Array, second: Array) -> Array:
    """Return ``first @ second`` of two matrices, or of a matrix and a vector on either side.

    The pieces are rows, columns or parts of what is summed over, whichever is longest. Where they would be too thin
    BLAS gets the whole: its threads are worth it.

    >>> product(np.ones((2, 9000)), np.ones((9000, 1)))
    array([[9000.],
           [9000.]])
    """
    if second.ndim == 2 and second.shape[1] == 1:  # for one column the operator @ does without BLAS
        return product(first, second[:, 0])[..., np.newaxis]
    rows, inner, columns = math.prod(first.shape[:-1]), first.shape[-1], math.prod(second.shape[1:])
    most = ENTRIES if min(rows, columns) == 1 else PRODUCTS
    if _are_complex(first, second):
        most //= 2 if most == ENTRIES else 4
    work = rows * inner * columns
    longest = max(rows, inner, columns)
    step = most * longest // max(work, 1)
    if work <= most or step < _LEAST or inner != len(second):
        return first @ second
    if columns == longest > rows:
        return product(second.T, first.T).T
    out = np.zeros(first.shape[:-1] + second.shape[1:], np.result_type(first, second))
    if rows == longest:
        for low in range(0, rows, step):
            np.matmul(first[low : low + step], second, out=out[low : low + step])
        return out
    for low in range(0, inner, step):
        out += first[..., low : low + step] @ second[low : low + step]
    return out


def _are_complex(first: Array, second: Array) -> bool:
    return "c" in (first.dtype.kind, second.dtype.kind)
