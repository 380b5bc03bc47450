"""Inner products, norms, products and dense systems by BLAS on one thread; entrywise operations on moduli.

BLAS threads spin for a while after a product and take the cores from the compiled kernels that come next: operands are
blocked below its threading threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
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


def dot(first: Array, second: Array) -> Any:
    """Return <first, second> of arrays of one shape (the first is conjugated), its pieces added in double precision.

    >>> dot(np.array([1j, 2.0]), np.array([1j, 1.0]))
    (3+0j)
    """
    if first.size <= ENTRIES:
        return np.vdot(first, second).item()
    if first.flags.f_contiguous and second.flags.f_contiguous:
        first, second = first.T, second.T  # whose entries are flat without a copy
    one = first.reshape(-1)
    other = second.reshape(one.shape)
    if _are_complex(one, other):
        pieces = [slice(low, low + ENTRIES) for low in range(0, one.size, ENTRIES)]
        return sum([np.vdot(one[piece], other[piece]).item() for piece in pieces])
    whole = one.size - one.size % ENTRIES
    with np.errstate(over="ignore", invalid="ignore"):  # as in np.vdot
        sums = np.matmul(one[:whole].reshape(-1, 1, ENTRIES), other[:whole].reshape(-1, ENTRIES, 1))
        return sums.sum(dtype=np.float64).item() + np.vdot(one[whole:], other[whole:]).item()


_DOUBLE = np.dtype(np.float64)


def inner(left: Array, right: Array) -> float:
    """Return the real inner product Re <left, right>, summed in double precision."""
    if left.dtype is _DOUBLE is right.dtype:
        return float(np.vdot(left, right) if left.size <= ENTRIES else dot(left, right))
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


def hermitian_part(matrix: Array) -> Array:
    """Return (M + M^*) / 2.

    >>> hermitian_part(np.array([[0.0, 2.0], [0.0, 1.0]]))
    array([[0., 1.],
           [1., 1.]])
    """
    return 0.5 * (matrix + matrix.conj().T)


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


def distinct(values: Array) -> Array:
    """Return the distinct entries, sorted: ``np.unique``, which hashes integers, at a twentieth of its cost or less.

    >>> distinct(np.array([3, 1, 3]))
    array([1, 3])
    """
    if values.dtype.kind not in "iu" or not values.size:
        return np.unique(values)
    low, high = int(values.min()), int(values.max())
    if low >= 0 and high <= 2 * values.size:
        is_there = np.zeros(high + 1, bool)
        is_there[values] = True
        return np.flatnonzero(is_there).astype(values.dtype, copy=False)
    ordered = np.sort(values, axis=None)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])]


def submatrix(matrix: Array, rows: Array, columns: Array) -> Array:
    """Return a matrix at these places, one axis after the other: up to ten times as fast as with ``np.ix_``.

    >>> submatrix(np.arange(9).reshape(3, 3), np.array([0, 2]), np.array([1]))
    array([[1],
           [7]])
    """
    return matrix.take(rows, axis=0).take(columns, axis=1)


RIDGE = 1e-13
"""Added to the diagonal of a matrix that may be singular, relative to its size: far below rounding of the data."""


def draw_normal(generator: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Array:
    """Return standard normal numbers of a real or complex dtype.

    >>> draw_normal(np.random.default_rng(0), (2, 3), np.complex64).dtype
    dtype('complex64')
    """
    numbers: Array = generator.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        numbers = numbers + 1j * generator.standard_normal(shape)
    return numbers.astype(dtype)


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


MEMBERSHIP_ROUNDING = 64.0
"""Points of a set are computed to some tens of eps: a membership test allows this many, whatever its tolerance."""


@cache
def real_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the real dtype of the same precision.

    >>> real_dtype(np.complex64)
    dtype('float32')
    """
    return np.dtype(np.finfo(dtype).dtype)


EPS = float(np.finfo(np.float64).eps)
"""The spacing of doubles at 1."""
TINY = 1e-300
"""Divisor in place of zero, far below the units of any data; its inverse is still in range."""


def precision(vector: Any) -> float:
    """Return the spacing of numbers at 1 (eps) in the dtype of an array or an operator.

    >>> precision(np.ones(3, np.complex64)) == 2.0**-23
    True
    """
    return float(np.finfo(vector.dtype).eps)


def rounding_of(x: Any) -> float:
    """Return 64 eps of a point's dtype, below which membership cannot be decided; 0 for integers and lists.

    >>> rounding_of(np.zeros(2, np.float32)) == 64 * 2.0**-23
    True
    """
    kind = getattr(x, "dtype", None)
    return MEMBERSHIP_ROUNDING * float(np.finfo(kind).eps) if kind is not None and kind.kind in "fc" else 0.0


def clip_modulus(vector: Array, bound: float) -> Array:
    """Return v with every |v_i| cut down to ``bound`` and its phase kept.

    >>> clip_modulus(np.array([3.0, -0.5]), 1.0)
    array([ 1. , -0.5])
    >>> clip_modulus(np.array([3.0 + 4.0j]), 1.0)
    array([0.6+0.8j])
    """
    if vector.dtype.kind != "c":
        return np.clip(vector, -float(bound), float(bound))
    modulus = np.abs(vector)
    above = modulus > bound
    return np.where(above, vector * (float(bound) / np.where(above, modulus, 1)), vector)


def shrink(vector: Array, threshold: float) -> Array:
    """Return the soft threshold of v: every |v_i| lowered by ``threshold``, to zero at least.

    >>> shrink(np.array([3.0, -0.5]), 1.0)
    array([2., 0.])
    """
    if vector.dtype.kind != "c":
        return vector - clip_modulus(vector, threshold)
    modulus = np.abs(vector)
    kept = np.maximum(modulus - float(threshold), 0)
    return vector * (kept / np.where(modulus > 0, modulus, 1))


def phase(y: Array) -> Array:
    """Return y / |y| entry by entry (the sign of a real number), 0 where y is 0.

    >>> phase(np.array([3.0, 0.0, -2.0]))
    array([ 1.,  0., -1.])
    >>> phase(np.array([3.0 + 4.0j]))
    array([0.6+0.8j])
    """
    if y.dtype.kind != "c":
        return np.sign(y)
    # Dividing by the larger part first keeps the modulus exact for subnormal numbers.
    largest = np.maximum(np.abs(np.real(y)), np.abs(np.imag(y)))
    largest[largest == 0] = 1
    out = divide_by_real(y, largest)
    modulus = np.abs(out)
    modulus[modulus == 0] = 1
    return divide_by_real(out, modulus)


def divide_by_real(y: Array, scale: Array | float) -> Array:
    """Return y / scale for a real scale; complex division by a subnormal number would overflow."""
    if y.dtype.kind != "c":
        return y / scale
    return np.real(y) / scale + 1j * (np.imag(y) / scale)


def scale_rows(factors: Array, directions: Array) -> Array:
    """Return diag(factors) C in the dtype of the columns C.

    >>> scale_rows(np.array([True, False]), np.eye(2))
    array([[1., 0.],
           [0., 0.]])
    """
    return (factors.reshape(-1, 1) * directions).astype(directions.dtype, copy=False)


def total(entries: Array) -> float:
    """Return the sum of real entries, added up in double precision.

    >>> total(np.array([1.0, 2.0], np.float32))
    3.0
    """
    return float(np.sum(entries, dtype=np.float64))


def project_moduli_l1(moduli: Array, radius: float) -> Array:
    """Return the moduli nearest to the given ones whose sum is at most ``radius``: max(m_i - theta, 0).

    Far from the ball m_i and theta agree in every digit, so what is kept is computed from the differences
    d_i = max m - m_i instead: max(height - d_i, 0), see :func:`l1_threshold`.

    >>> project_moduli_l1(np.array([1e20, 1.0]), 2.0)
    array([2., 0.])
    """
    if total(moduli) <= radius:
        return moduli
    below = (moduli.max() - moduli).astype(np.float64)
    return np.maximum(_l1_height(below, radius), below) - below


def l1_threshold(moduli: Array, radius: float) -> float:
    """Return the theta >= 0 for which sum_i max(m_i - theta, 0) = radius; 0 when sum m_i <= radius.

    With the differences d_i = max m - m_i in increasing order, max m - theta is the least over k of
    (radius + d_1 + ... + d_k) / k: one sort.

    >>> l1_threshold(np.array([3.0, 1.0]), 2.0)
    1.0
    """
    if total(moduli) <= radius:
        return 0.0
    top = float(moduli.max())
    return max(top - _l1_height((top - moduli).astype(np.float64), radius), 0.0)


def _l1_height(below: Array, radius: float) -> float:
    """Return the height for which sum_i max(height - d_i, 0) = radius."""
    rising = np.cumsum(np.sort(below, axis=None))
    return float(np.min((radius + rising) / np.arange(1, rising.size + 1)))
