"""BLAS products on one thread, with operands blocked below its threading threshold, thread limits, and dense systems.

BLAS threads spin for a while after a product and take the cores from the compiled kernels that come next.
"""

from __future__ import annotations

import contextlib
import functools
import math
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array
from unipd._util.lazy import compile_lazily

ENTRIES = 8000
"""Entries of a vector, or of a real matrix times a vector, up to which OpenBLAS uses one thread."""
PRODUCTS = 200_000
"""Multiplications of two matrices up to which it does; a fourth of that for complex ones."""
_LEAST = 8
"""Least number of rows, columns or terms of a piece: thinner ones cost more than the threads."""
vdot: Callable[[Array, Array], Any] = getattr(np.vdot, "_implementation", np.vdot)
"""NumPy's product itself, without the dispatch to other array libraries where possible."""


def dot(first: Array, second: Array) -> Any:
    """Return <first, second> of arrays of one shape (the first is conjugated), its pieces added in double precision.

    >>> dot(np.array([1j, 2.0]), np.array([1j, 1.0]))
    (3+0j)
    """
    if first.size <= ENTRIES:
        return vdot(first, second).item()
    if first.flags.f_contiguous and second.flags.f_contiguous:
        first, second = first.T, second.T  # whose entries are flat without a copy
    one = first.reshape(-1)
    other = second.reshape(one.shape)
    if _are_complex(one, other):
        pieces = [slice(low, low + ENTRIES) for low in range(0, one.size, ENTRIES)]
        return sum([vdot(one[piece], other[piece]).item() for piece in pieces])
    whole = one.size - one.size % ENTRIES
    with np.errstate(over="ignore", invalid="ignore"):  # as in np.vdot
        sums = np.matmul(one[:whole].reshape(-1, 1, ENTRIES), other[:whole].reshape(-1, ENTRIES, 1))
        return sums.sum(dtype=np.float64).item() + vdot(one[whole:], other[whole:]).item()


_DOUBLE = np.dtype(np.float64)


def inner(left: Array, right: Array) -> float:
    """Return the real inner product Re <left, right>, summed in double precision."""
    if left.dtype is _DOUBLE is right.dtype:
        return float(vdot(left, right) if left.size <= ENTRIES else dot(left, right))
    if left.size <= ENTRIES or left.dtype.char not in "fF":
        return float(dot(_in_double(left), right).real)
    one, other = left.reshape(-1), right.reshape(-1)
    return float(_inner_single(one, other) if one.dtype.char == other.dtype.char == "f" else _inner_parts(one, other))


def _inner_parts(one: Array, other: Array) -> float:
    """Return Re <one, other> of long vectors, converted part by part."""
    parts = (slice(first, first + ENTRIES) for first in range(0, one.size, ENTRIES))
    return float(sum(np.vdot(_in_double(one[part]), _in_double(other[part])).real for part in parts))


@compile_lazily(reorder=True, plain=_inner_parts)
def _inner_single(one: Array, other: Array) -> float:
    """Return <one, other> of long vectors in single precision, in one pass that adds in double precision."""
    total = 0.0
    for k in range(one.size):
        total += np.float64(one[k]) * np.float64(other[k])
    return total


def norm(vector: Array) -> float:
    """Return the Euclidean norm of an array of any shape, summed in double precision."""
    return math.sqrt(inner(vector, vector))


def _in_double(array: Array) -> Array:
    kind = array.dtype.char
    if kind == "f":
        return array.astype(np.float64)
    return array.astype(np.complex128) if kind == "F" else array


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
    rows, terms, columns = math.prod(first.shape[:-1]), first.shape[-1], math.prod(second.shape[1:])
    most = ENTRIES if min(rows, columns) == 1 else PRODUCTS
    if _are_complex(first, second):
        most //= 2 if most == ENTRIES else 4
    work = rows * terms * columns
    longest = max(rows, terms, columns)
    step = most * longest // max(work, 1)
    if work <= most or step < _LEAST or terms != len(second):
        return first @ second
    if columns == longest > rows:
        return product(second.T, first.T).T
    out = np.zeros(first.shape[:-1] + second.shape[1:], np.result_type(first, second))
    if rows == longest:
        for low in range(0, rows, step):
            np.matmul(first[low : low + step], second, out=out[low : low + step])
        return out
    for low in range(0, terms, step):
        out += first[..., low : low + step] @ second[low : low + step]
    return out


def _are_complex(first: Array, second: Array) -> bool:
    return "c" in (first.dtype.kind, second.dtype.kind)


def limit_blas_threads(count: int, user_api: str | None = "blas") -> AbstractContextManager[Any]:
    """Return a context with at most ``count`` BLAS threads (``user_api=None``: OpenMP too), given threadpoolctl.

    >>> with limit_blas_threads(1):
    ...     pass
    """
    try:
        controller = _thread_controller(*(name in sys.modules for name in ("scipy.linalg", "sklearn", "numba")))
    except ImportError:
        return contextlib.nullcontext()
    return controller.limit(limits=count, user_api=user_api)


@functools.cache
def _thread_controller(*loaded: bool) -> Any:
    """Return what limits the threads of all libraries; finding them takes milliseconds, so once per set of packages."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextlib.contextmanager
def limit_threads(count: int) -> Generator[None]:
    """Limit BLAS, OpenMP and, if it is loaded, Numba to ``count`` threads.

    >>> with limit_threads(1):
    ...     pass
    """
    with limit_blas_threads(count, None):
        if "numba" not in sys.modules:
            yield
            return
        import numba
        from numba.core import config

        before, most = numba.get_num_threads(), int(vars(config)["NUMBA_NUM_THREADS"])
        numba.set_num_threads(max(1, min(count, most)))
        try:
            yield
        finally:
            numba.set_num_threads(before)


RIDGE = 1e-13
"""Added to the diagonal of a matrix that may be singular, relative to its size: far below rounding of the data."""


def factor_definite(matrix: Array) -> Callable[[Array], Array]:
    """Return y -> K^{-1} y by Cholesky's method; as :func:`solve_system` where K is not positive definite in rounding.

    >>> factor_definite(np.array([[2.0, 0.0], [0.0, 4.0]]))(np.ones(2))
    array([0.5 , 0.25])
    """
    try:
        factor = scipy.linalg.cho_factor(matrix, check_finite=False)
    except np.linalg.LinAlgError:
        return lambda right: solve_system(matrix, right)
    return lambda right: scipy.linalg.cho_solve(factor, right, check_finite=False)


def solve_system(matrix: Array, right: Array) -> Array:
    """Return the solution; the shortest one of least squares where the matrix is singular.

    >>> solve_system(np.ones((2, 2)), np.ones(2)).round(12)
    array([0.5, 0.5])
    """
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(matrix, right, rcond=None)[0]
