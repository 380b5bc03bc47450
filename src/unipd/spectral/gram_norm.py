"""A rigorous upper bound of the spectral norm of a matrix whose entries are at hand, from its smaller Gram matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array
from unipd.spectral.dense import rounding_allowance
from unipd.spectral.powers import exponent_of, largest_part, times_power

BLOCK_ENTRIES = 1 << 19
"""Entries of the blocks of columns that are made dense, one after the other."""
_DENSE_SPEED = 64
"""A product of dense blocks does so many multiplications in the time that a sparse one takes for one."""


def gram_norm_upper(matrix: Any) -> float:
    """Return an upper bound of the largest singular value of an array or a sparse matrix, which is never copied whole.

    M M^* of the shorter side is summed over blocks of columns, or is a sparse product where that is less work. With
    at most l nonzero terms in a sum, entry (i, j) is off by at most gamma_l |m_i| |m_j| for rows m_i, in whatever
    order they are added, so the whole by at most gamma_l ||M||_F^2 in norm; the eigenvalues add the error of LAPACK.
    Both are counted, in double precision, for M scaled by a power of two so that no square leaves the range. The root
    halves the relative error of the top eigenvalue, the only one that counts. This takes a fraction of the time of a
    singular value decomposition.

    >>> gram_norm_upper(np.diag([3.0, 2.0, 1.0])).__round__(9)
    3.0
    """
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    sparse = scipy.sparse.issparse(wide)
    wide = _compressed(wide) if sparse else wide
    size = largest_part(wide.data) if sparse else max(map(largest_part, _blocks(wide)))
    if size == 0.0:
        return 0.0
    exponent = exponent_of(size)
    gram = _sparse_gram(wide, 2.0**-exponent) if sparse else _gram(_blocks(wide), 2.0**-exponent)
    terms = int(np.bincount(wide.indices).max()) if sparse else wide.shape[1]
    values = scipy.linalg.eigvalsh(gram, check_finite=False)
    eps = float(np.finfo(gram.dtype).eps)
    allowance = 4.0 * (terms + 4) * eps * float(np.trace(gram).real) + rounding_allowance(gram, float(values[-1]))
    root = math.sqrt(max(float(values[-1]), 0.0) + allowance) * (1.0 + 8.0 * eps)
    return times_power(root, exponent)


def _compressed(wide: Any) -> Any:
    """Return the columns that are not empty, in double precision and with one entry a place."""
    columns = scipy.sparse.csc_array(wide, dtype=np.result_type(wide.dtype, np.float64), copy=True)
    columns.sum_duplicates()
    return columns[:, np.diff(columns.indptr) > 0]


def _sparse_gram(columns: Any, scale: float) -> Array:
    scaled = columns * scale
    lengths = np.diff(scaled.indptr).astype(np.float64)
    if _DENSE_SPEED * float(lengths @ lengths) <= math.prod(scaled.shape) * float(scaled.shape[0]):
        return (scaled @ scaled.conj().T).toarray()
    return _gram((block.toarray() for block in _blocks(scaled)), 1.0)


def _blocks(wide: Any) -> Iterator[Any]:
    rows, columns = wide.shape
    width = max(1, BLOCK_ENTRIES // rows)
    return (wide[:, low : low + width] for low in range(0, columns, width))


def _gram(blocks: Iterator[Array], scale: float) -> Array:
    """Return the sum of B B^* over scaled blocks B, in double precision."""
    total: Any = 0.0
    for block in blocks:
        scaled = block.astype(np.result_type(block.dtype, np.float64))
        scaled *= scale
        product = scaled @ scaled.conj().T
        total = product if isinstance(total, float) else np.add(total, product, out=total)
    return total
