"""Products of long vectors that stay in the calling thread: BLAS gets pieces too small to wake its threads for.

Threads of BLAS that were woken look for more work for a while before they sleep, a tenth of a second, and take the
cores from compiled kernels that come next. A product that is a small part of the work is better done in one thread.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array

ENTRIES = 8000
"""Real numbers of a vector, or of a matrix that meets one: OpenBLAS multiplies so many in one thread."""
PRODUCTS = 200_000
"""Multiplications of two pieces of matrices, of which the same holds."""
_FEW = 12
"""Pieces up to which a loop over them is quicker than to set up one call for all."""


def dot(first: Array, second: Array) -> Any:
    """Return <first, second> of arrays of one shape (the first is conjugated), its pieces added in double precision.

    >>> dot(np.array([1j, 2.0]), np.array([1j, 1.0]))
    (3+0j)
    """
    step = ENTRIES // 2 if _is_complex(first, second) else ENTRIES
    if first.size <= step:
        return np.vdot(first, second).item()
    one, other = first.reshape(-1), second.reshape(-1)
    if step < ENTRIES or one.size <= _FEW * step:
        return sum([np.vdot(one[low : low + step], other[low : low + step]).item() for low in range(0, one.size, step)])
    whole = one.size - one.size % step
    with np.errstate(over="ignore", invalid="ignore"):  # as np.vdot does
        sums = np.matmul(one[:whole].reshape(-1, 1, step), other[:whole].reshape(-1, step, 1))
        return sums.sum(dtype=np.float64).item() + np.vdot(one[whole:], other[whole:]).item()


def product(first: Array, second: Array) -> Array:
    """Return ``first @ second``, in pieces of the rows, of the columns or of what is summed over: of the longest.

    >>> product(np.ones((2, 9000)), np.ones((9000, 1)))
    array([[9000.],
           [9000.]])
    """
    inner, rows, columns = first.shape[-1], math.prod(first.shape[:-1]), math.prod(second.shape[1:])
    most = ENTRIES if min(rows, columns) == 1 else PRODUCTS
    most = most // 4 if _is_complex(first, second) else most
    if rows * inner * columns <= most:
        return np.dot(first, second)  # the operator @ does without BLAS for one column
    if columns > max(rows, inner):
        return product(second.T, first.T).T
    out = np.zeros(first.shape[:-1] + second.shape[1:], np.result_type(first, second))
    if rows > inner:
        step = max(1, most // (inner * columns))
        for low in range(0, rows, step):
            np.dot(first[low : low + step], second, out=out[low : low + step])
        return out
    step = max(1, most // (rows * columns))
    for low in range(0, inner, step):
        out += np.dot(first[..., low : low + step], second[low : low + step])
    return out


def _is_complex(first: Array, second: Array) -> bool:
    return "c" in (first.dtype.kind, second.dtype.kind)
