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
"""Real numbers of a piece: the usual BLAS multiplies so many in one thread."""


def dot(first: Array, second: Array) -> Any:
    """Return <first, second> of arrays of one shape (the first is conjugated), its pieces added in double precision.

    >>> dot(np.array([1j, 2.0]), np.array([1j, 1.0]))
    (3+0j)
    """
    step = _numbers(first, second)
    if first.size <= step:
        return np.vdot(first, second).item()
    one, other = first.reshape(-1), second.reshape(-1)
    return sum(np.vdot(one[low : low + step], other[low : low + step]).item() for low in range(0, one.size, step))


def product(first: Array, second: Array) -> Array:
    """Return ``first @ second``, in pieces of the rows, of the columns or of what is summed over: of the longest.

    >>> product(np.ones((2, 9000)), np.ones((9000, 1)))
    array([[9000.],
           [9000.]])
    """
    inner, numbers = first.shape[-1], _numbers(first, second)
    rows, columns = math.prod(first.shape[:-1]), math.prod(second.shape[1:])
    if rows * inner * columns <= numbers:
        return np.dot(first, second)  # the operator @ does without BLAS for one column
    if columns > max(rows, inner):
        return product(second.T, first.T).T
    out = np.zeros(first.shape[:-1] + second.shape[1:], np.result_type(first, second))
    if rows > inner:
        step = max(1, numbers // (inner * columns))
        for low in range(0, rows, step):
            np.dot(first[low : low + step], second, out=out[low : low + step])
        return out
    step = max(1, numbers // (rows * columns))
    for low in range(0, inner, step):
        out += np.dot(first[..., low : low + step], second[low : low + step])
    return out


def _numbers(first: Array, second: Array) -> int:
    return ENTRIES // 2 if "c" in (first.dtype.kind, second.dtype.kind) else ENTRIES
