"""Matrices that are never formed: Hermitian parts and differences; inner products with atoms."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from unipd import atoms
from unipd._typing import Array
from unipd.atoms import apply, apply_adjoint
from unipd.spectral.certify.rigorous import norm_bound
from unipd.spectral.operators import LazyMatrix, as_operator, is_hermitian, working_dtype


class HermitianPart(LazyMatrix):
    """(M + M^*) / 2 of a square operator, never formed: <M, X> is the same for every Hermitian X.

    Examples
    --------
    >>> HermitianPart(np.array([[0.0, 2.0], [0.0, 0.0]])).matvec(np.array([1.0, 0.0]))
    array([0., 1.])
    """

    hermitian = True

    def __init__(self, operator: Any) -> None:
        super().__init__(operator.shape, operator.dtype)
        self.operator = operator

    def matmat(self, block: Array) -> Array:
        """Return (M X + M^* X) / 2."""
        return 0.5 * hermitian_twice(self.operator, block)

    def rmatmat(self, block: Array) -> Array:
        """Return the same."""
        return self.matmat(block)

    def frobenius(self) -> float:
        """Return an upper bound on the Frobenius norm, that of M (inf when none is known)."""
        return float(as_operator(self.operator).frobenius())


def hermitian_twice(operator: Any, block: Array) -> Array:
    """Return (M + M^*) X: twice M X when M is known to be Hermitian.

    >>> hermitian_twice(np.array([[0.0, 2.0], [0.0, 0.0]]), np.eye(2))
    array([[0., 2.],
           [2., 0.]])
    """
    product = apply(operator, block)
    if is_hermitian(operator):
        return 2.0 * product
    return product + apply_adjoint(operator, block)


class LazyDifference(LazyMatrix):
    """The operator left - right, never formed; either may be an array, a sparse matrix or an operator.

    Examples
    --------
    >>> gap = LazyDifference(np.eye(2), np.ones((2, 2)))
    >>> gap.matvec(np.array([1.0, 2.0])), gap.norm_bound() >= 3.0
    (array([-2., -1.]), True)
    """

    def __init__(self, left: Any, right: Any) -> None:
        super().__init__(left.shape, _joint_dtype(left.dtype, right.dtype))
        self.left = left
        self.right = right

    @property
    def hermitian(self) -> bool:
        """Whether the difference is Hermitian for certain; a cost on the right is so over Hermitian points."""
        return is_hermitian(self.left)

    def matmat(self, block: Array) -> Array:
        """Return (left - right) @ block."""
        return atoms.apply(self.left, block) - atoms.apply(self.right, block)

    def rmatmat(self, block: Array) -> Array:
        """Return (left - right)^* @ block."""
        return _backwards(self.left, block) - _backwards(self.right, block)

    def __matmul__(self, block: Array) -> Array:
        return self.matvec(block) if block.ndim == 1 else self.matmat(block)

    def norm_bound(self) -> float | None:
        """Return the sum of the bounds of the two, None unless both have one."""
        left, right = norm_bound(self.left), norm_bound(self.right)
        return None if left is None or right is None else left + right


def _backwards(operator: Any, block: Array) -> Array:
    """Return ``operator^* @ block``; an operator that only goes forwards is taken for Hermitian."""
    one_way = hasattr(operator, "matvec") and not (hasattr(operator, "rmatvec") or hasattr(operator, "rmatmat"))
    return (atoms.apply if one_way else atoms.apply_adjoint)(operator, block)


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
    return LazyDifference(left, right)


def pairing(cost: Any, x: Any) -> float:
    """Return Re <cost, x> for a cost that is an array, a CSR sparse array or an operator, and any atom x.

    >>> pairing(np.array([1.0, 2.0]), atoms.one_hot((2,), 1, 3.0))
    6.0
    """
    if isinstance(cost, np.ndarray) or isinstance(x, atoms.LowRank):
        return atoms.inner_product(cost, x if isinstance(x, (atoms.SparsePoint, atoms.LowRank)) else np.asarray(x))
    point = atoms.as_array(x)
    if scipy.sparse.issparse(cost):
        entries: Any = cost.tocoo()
        return float(np.vdot(entries.data, point[entries.row, entries.col]).real)
    return float(np.trace(atoms.apply_adjoint(cost, point)).real)


def _joint_dtype(left: Any, right: Any) -> np.dtype[Any]:
    """Return the precision of the left with complex numbers when either has them; integers count as doubles."""
    precision = working_dtype(left)
    return np.result_type(precision, np.complex64) if np.dtype(right).kind == "c" else precision
