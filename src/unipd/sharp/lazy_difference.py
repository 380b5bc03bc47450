"""Differences and inner products of matrices that are known through their products only."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from unipd import atoms
from unipd._typing import Array
from unipd.spectral.bounds import norm_bound
from unipd.spectral.products import is_explicit, working_dtype


class LazyDifference:
    """The operator left - right, never formed; either may be an array, a sparse matrix or an operator.

    Examples
    --------
    >>> LazyDifference(np.eye(2), np.ones((2, 2))).matvec(np.array([1.0, 2.0]))
    array([-2., -1.])
    """

    def __init__(self, left: Any, right: Any) -> None:
        self.left = left
        self.right = right
        self.shape: tuple[int, int] = tuple(left.shape)
        self.dtype = _joint_dtype(left.dtype, right.dtype)

    @property
    def hermitian(self) -> bool:
        """Whether the difference is Hermitian for certain; a cost on the right is so over Hermitian points."""
        return not is_explicit(self.left) and bool(getattr(self.left, "hermitian", True))

    def matmat(self, block: Array) -> Array:
        """Return (left - right) @ block."""
        return atoms.apply(self.left, block) - atoms.apply(self.right, block)

    def rmatmat(self, block: Array) -> Array:
        """Return (left - right)^* @ block."""
        return _backwards(self.left, block) - _backwards(self.right, block)

    def matvec(self, x: Array) -> Array:
        """Return (left - right) @ x."""
        return self.matmat(x.reshape(-1, 1))[:, 0]

    def rmatvec(self, x: Array) -> Array:
        """Return (left - right)^* @ x."""
        return self.rmatmat(x.reshape(-1, 1))[:, 0]

    def __matmul__(self, block: Array) -> Array:
        return self.matvec(block) if block.ndim == 1 else self.matmat(block)


def _backwards(operator: Any, block: Array) -> Array:
    """Return ``operator^* @ block``; an operator that only goes forwards is taken for Hermitian."""
    one_way = hasattr(operator, "matvec") and not (hasattr(operator, "rmatvec") or hasattr(operator, "rmatmat"))
    return (atoms.apply if one_way else atoms.apply_adjoint)(operator, block)


class BoundedDifference(LazyDifference):
    """A lazy difference of two matrices whose norms are bounded, so that its own is too.

    Examples
    --------
    >>> BoundedDifference(np.eye(2), np.eye(2)).norm_bound() >= 2.0
    True
    """

    def norm_bound(self) -> float:
        """Return an upper bound of the spectral norm: the sum of the bounds of the two."""
        return (norm_bound(self.left) or 0.0) + (norm_bound(self.right) or 0.0)


def difference(left: Any, right: Any) -> Any:
    """Return left - right: an array for arrays, sparse for sparse matrices, else an operator that is never formed.

    >>> difference(np.ones((1, 2)), np.eye(2)[:1])
    array([[0., 1.]])
    """
    if isinstance(left, np.ndarray) and (isinstance(right, np.ndarray) or scipy.sparse.issparse(right)):
        dense: Any = right if isinstance(right, np.ndarray) else right.toarray()
        return left - dense.astype(_joint_dtype(left.dtype, dense.dtype), copy=False)
    if scipy.sparse.issparse(left) and scipy.sparse.issparse(right):
        return left - right.astype(_joint_dtype(left.dtype, right.dtype))
    bounded = all(is_explicit(part) or hasattr(part, "norm_bound") for part in (left, right))
    return BoundedDifference(left, right) if bounded else LazyDifference(left, right)


def pairing(cost: Any, x: Any) -> float:
    """Return Re <cost, x> for a cost that is an array, a CSR sparse array or an operator, and any atom x.

    >>> pairing(np.array([1.0, 2.0]), atoms.one_hot((2,), 1, 3.0))
    6.0
    """
    if isinstance(cost, np.ndarray) or isinstance(x, atoms.LowRank):
        return atoms.inner(cost, x if hasattr(x, "dense") else np.asarray(x))
    point = np.asarray(atoms.dense(x) if hasattr(x, "dense") else x)
    if scipy.sparse.issparse(cost):
        entries: Any = cost.tocoo()
        return float(np.vdot(entries.data, point[entries.row, entries.col]).real)
    return float(np.trace(atoms.apply_adjoint(cost, point)).real)


def _joint_dtype(left: Any, right: Any) -> np.dtype[Any]:
    """Return the precision of the left with complex numbers when either has them; integers count as doubles."""
    precision = working_dtype(left)
    return np.result_type(precision, np.complex64) if np.dtype(right).kind == "c" else precision
