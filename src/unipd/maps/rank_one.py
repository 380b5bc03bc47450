"""Rank-one measurements of a matrix: phase retrieval, random projections, bilinear sensing."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from unipd import atoms
from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd.errors import InvalidInput
from unipd.maps.base import Map, MatrixOperator, real_dtype


class RankOneMeasurements(Map):
    """A(X)_k = Re <l_k r_k^*, X> = Re l_k^* X r_k for the rows l_k, r_k of two arrays; images are real.

    Parameters
    ----------
    left
        Array of shape (n, p) with rows l_k.
    right
        Array of shape (n, l) with rows r_k; None for r_k = l_k, i.e. X -> l_k^* X l_k on square matrices.

    Raises
    ------
    InvalidInput
        If an array is not a nonempty matrix of finite numbers, or the two have not as many rows.

    See Also
    --------
    CodedDiffraction, InnerProducts

    Examples
    --------
    >>> measurements = RankOneMeasurements(np.array([[1.0, 1.0], [1.0, -1.0]]))
    >>> measurements.image(np.diag([3.0, 4.0]))
    array([7., 7.])
    >>> measurements.adjoint(np.array([1.0, 0.0])).toarray()
    array([[1., 1.],
           [1., 1.]])
    """

    def __init__(self, left: Any, right: Any = None) -> None:
        first = _rows("left", left)
        second = first if right is None else _rows("right", right)
        if len(second) != len(first):
            raise InvalidInput("right", f"{len(first)} rows, as many as left", f"{len(second)}")
        dtype = np.result_type(first, second)
        self.left = first.astype(dtype, copy=False)
        self.right = self.left if right is None else second.astype(dtype, copy=False)
        self.lengths = _norms(self.left) * _norms(self.right)
        domain = (self.left.shape[1], self.right.shape[1])
        super().__init__(domain, (len(first),), real_dtype(dtype))

    @property
    def nbytes(self) -> int:
        """Bytes of the vectors."""
        return self.left.nbytes + (0 if self.right is self.left else self.right.nbytes)

    def image(self, atom: Any) -> Array:
        """Return Re l_k^* X r_k; of a low-rank X through its factors."""
        self._check_atom(atom)
        if isinstance(atom, atoms.LowRank):
            first = self.left @ atom.left.conj()
            is_shared = self.right is self.left and atom.hermitian
            second = first if is_shared else self.right @ atom.right.conj()
            values = (first.conj() * second) @ atom.weights
        else:
            products = self.right @ np.asarray(atoms.dense(atom)).T
            values = np.einsum("kp,kp->k", self.left.conj(), products)
        return np.ascontiguousarray(np.real(values), self.dtype)

    def adjoint(self, dual: Array) -> RankOneSum:
        """Return sum_k lam_k l_k r_k^* as an operator."""
        return RankOneSum(self, self._check_dual(dual))

    def row_norms(self) -> FloatArray:
        """Return ||l_k|| ||r_k||, the Frobenius norm of l_k r_k^*."""
        return np.asarray(self.lengths, np.float64)

    def diagonals(self) -> Any:
        """Return the CSR matrix with the diagonal of each l_k r_k^* that is diagonal; rows of others are empty.

        >>> RankOneMeasurements(np.array([[2.0, 0.0], [1.0, 1.0]])).diagonals().toarray()
        array([[4., 0.],
               [0., 0.]])
        """
        single = (np.count_nonzero(self.left, axis=1) == 1) & (np.count_nonzero(self.right, axis=1) == 1)
        rows = np.flatnonzero(single)
        places = np.argmax(self.left[rows] != 0, axis=1)
        entries = np.real(self.left[rows, places] * np.conj(self.right[rows, places]))
        kept = np.flatnonzero(entries)
        return scipy.sparse.csr_array((entries[kept], (rows[kept], places[kept])), shape=self.left.shape)


class RankOneSum(MatrixOperator):
    """The matrix sum_k lam_k l_k r_k^*: a product costs two products with the arrays of the vectors."""

    def __init__(self, measurements: RankOneMeasurements, dual: Array) -> None:
        super().__init__(measurements.domain, np.result_type(measurements.left, dual))
        self.measurements = measurements
        self.dual = dual

    @property
    def hermitian(self) -> bool:
        """Whether left and right vectors are the same."""
        return self.measurements.right is self.measurements.left

    def matmat(self, x: Array) -> Array:
        """Return sum_k lam_k l_k (r_k^* X)."""
        return _weighted_product(self.measurements.left, self.dual, self.measurements.right, x)

    def rmatmat(self, x: Array) -> Array:
        """Return sum_k lam_k r_k (l_k^* X)."""
        return _weighted_product(self.measurements.right, self.dual, self.measurements.left, x)

    def frobenius(self) -> float:
        """Return the upper bound sum_k |lam_k| ||l_k|| ||r_k||."""
        return float(np.abs(self.dual) @ self.measurements.lengths)


def _weighted_product(outer: Array, weights: Array, inner: Array, x: Array) -> Array:
    """Return outer^T diag(weights) conj(inner) x, conjugating blocks and never the big arrays."""
    if inner.dtype.kind == "c":
        return outer.T @ (weights[:, None] * (inner @ x.conj()).conj())
    return outer.T @ (weights[:, None] * (inner @ x))


def _rows(name: str, value: Any) -> Array:
    array = validate.finite_array(name, value, ndim=2)
    if array.size == 0:
        raise InvalidInput(name, "at least one nonempty row", f"shape {array.shape}")
    return array


def _norms(rows: Array) -> Array:
    return np.sqrt(np.einsum("kp,kp->k", rows.conj(), rows).real)
