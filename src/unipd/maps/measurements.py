"""Measurements Re <M_k, X> of a matrix: by vectors (M_k = u_k v_k^*), by matrices, and by masked Fourier transforms.

Phase retrieval, random projections and bilinear sensing are measurements by vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from unipd import atoms
from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.arrays import hermitian_part, real_dtype
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.maps.base import Map
from unipd.maps.sampling import SampledMatrix, Sampling
from unipd.spectral.operators import HermitianMatrix, LazyMatrix


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


class RankOneSum(LazyMatrix):
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


class InnerProducts(Map):
    """A(X)_k = Re <M_k, X> for matrices M_1, ..., M_n of one shape; images are real.

    The adjoint sum_k lam_k M_k of a dense stack is an array. A list of sparse matrices is stored as one sparse matrix
    over the union of their patterns: X is sampled there and the adjoint is a :class:`~unipd.maps.SampledMatrix`.

    Parameters
    ----------
    matrices
        An array of shape (n, p, l), or a list of SciPy sparse matrices.

    Raises
    ------
    InvalidInput
        ``matrices``: expected an array of finite numbers.

    See Also
    --------
    RankOneMeasurements, SdpMap

    Examples
    --------
    >>> trace = InnerProducts(np.eye(2)[None])
    >>> trace.image(np.diag([3.0, 4.0])), trace.adjoint(np.array([2.0]))
    (array([7.]), array([[2., 0.], [0., 2.]]))
    """

    def __init__(self, matrices: Any) -> None:
        self._stack: Array | None = None
        listed: Sequence[Any] = matrices if isinstance(matrices, (list, tuple)) else ()
        if any(scipy.sparse.issparse(part) for part in listed):
            self._sampling, self._entries = _compress(listed)
            domain, count, dtype = self._sampling.domain, self._entries.shape[0], self._entries.dtype
        else:
            self._stack = validate.finite_array("matrices", matrices, ndim=3)
            if self._stack.size == 0:
                raise InvalidInput("matrices", "at least one nonempty matrix", f"shape {self._stack.shape}")
            count, domain, dtype = len(self._stack), self._stack.shape[1:], self._stack.dtype
        super().__init__(domain, (count,), real_dtype(dtype))

    @property
    def nbytes(self) -> int:
        """Bytes of the matrices."""
        if self._stack is not None:
            return self._stack.nbytes
        entries = self._entries
        return self._sampling.nbytes + entries.data.nbytes + entries.indices.nbytes + entries.indptr.nbytes

    def image(self, atom: Any) -> Array:
        """Return Re <M_k, X>; of a low-rank X through its factors."""
        self._check_atom(atom)
        if self._stack is None:
            values = self._entries @ self._sampling.image(atom).conj()
        elif isinstance(atom, atoms.LowRank):
            values = _by_factors(self._stack, atom)
        else:
            values = self._stack.reshape(len(self._stack), -1) @ np.asarray(atoms.dense(atom)).conj().reshape(-1)
        return np.real(values).astype(self.dtype, copy=False)

    def adjoint(self, dual: Array) -> Array | SampledMatrix:
        """Return sum_k lam_k M_k: an array for a dense stack, a sparse operator for sparse matrices."""
        vector = self._check_dual(dual)
        if self._stack is not None:
            return (vector @ self._stack.reshape(len(vector), -1)).reshape(self.domain)
        return self._sampling.adjoint(self._entries.T @ vector)


def _by_factors(stack: Array, atom: atoms.LowRank) -> Array:
    """Return the conjugates of <M_k, X> = sum_i w_i conj(u_i^* M_k v_i), a column of the factors at a time."""
    total = np.zeros(len(stack), np.result_type(stack, atom.left))
    for left, right, weight in zip(atom.left.T, atom.right.T, atom.weights, strict=True):
        total += weight * ((stack @ right) @ left.conj())
    return total


def _compress(matrices: Sequence[Any]) -> tuple[Sampling, Any]:
    """Return the sampling of the union of the patterns and the (n, places) matrix of the entries."""
    parts = [_coordinates(index, part) for index, part in enumerate(matrices)]
    shape = parts[0].shape
    for index, part in enumerate(parts):
        if part.shape != shape:
            raise InvalidInput(f"matrices[{index}]", f"shape {shape}", f"shape {part.shape}")
    flat = np.concatenate([np.asarray(part.row, np.int64) * shape[1] + part.col for part in parts])
    if flat.size == 0:
        raise InvalidInput("matrices", "at least one nonzero", "none")
    places, columns = np.unique(flat, return_inverse=True)
    values = np.concatenate([part.data for part in parts])
    ends = np.cumsum([0, *(part.nnz for part in parts)])
    entries: Any = scipy.sparse.csr_array((values, columns.reshape(-1), ends), shape=(len(parts), places.size))
    return Sampling(*np.divmod(places, shape[1]), shape, values.dtype), entries


def _coordinates(index: int, matrix: Any) -> Any:
    name = f"matrices[{index}]"
    coordinates: Any = scipy.sparse.coo_array(
        matrix if scipy.sparse.issparse(matrix) else validate.finite_array(name, matrix, ndim=2)
    )
    if coordinates.ndim != 2 or min(coordinates.shape) < 1:
        raise InvalidInput(name, "a nonempty matrix", f"shape {coordinates.shape}")
    coordinates = coordinates.astype(validate.floating_dtype(name, coordinates.dtype), copy=False)
    if not np.isfinite(coordinates.data).all():
        raise InvalidInput(name, "finite numbers", "NaN or inf among the stored entries")
    return coordinates


class CodedDiffraction(Map):
    """A(X) = (|F D_l x|^2) for X = x x^*: unitary Fourier transforms F behind the masks D_l = diag(codes[l]).

    Parameters
    ----------
    codes
        Complex masks of shape (L, n).

    Raises
    ------
    InvalidInput
        ``codes``: expected an array of finite numbers.

    See Also
    --------
    RankOneMeasurements, unipd.apps.phase_retrieval.retrieve

    Examples
    --------
    >>> patterns = CodedDiffraction(np.ones((1, 4)))
    >>> patterns.image(LowRank(np.eye(4)[:, :1], np.eye(4)[:, :1], np.ones(1)))
    array([0.25, 0.25, 0.25, 0.25])
    """

    def __init__(self, codes: Any) -> None:
        masks = validate.finite_array("codes", codes, ndim=2)
        self.codes: Array = masks.astype(np.complex128)
        count, size = masks.shape
        super().__init__((size, size), (count * size,), np.float64)

    @classmethod
    def random(cls, size: int, masks: int, seed: int = 0) -> CodedDiffraction:
        """Return masks of random phases 1, -1, i, -i.

        Parameters
        ----------
        size
            The length of the signal.
        masks
            Their number.
        seed
            Of the random phases.

        Examples
        --------
        >>> CodedDiffraction.random(8, 4).codomain
        (32,)
        """
        shape = validate.integer("masks", masks, minimum=1), validate.integer("size", size, minimum=1)
        return cls(1j ** np.random.default_rng(seed).integers(0, 4, shape))

    def image(self, atom: Any) -> Array:
        """Return sum_k w_k |F D_l u_k|^2 for each mask."""
        factors = atom if isinstance(atom, LowRank) else _factors(np.asarray(atom))
        waves = np.fft.fft(self.codes[:, :, None] * factors.left, axis=1, norm="ortho")
        other = waves if factors.hermitian else np.fft.fft(self.codes[:, :, None] * factors.right, axis=1, norm="ortho")
        return np.einsum("lnk,lnk,k->ln", waves, other.conj(), factors.weights).real.reshape(-1)

    def adjoint(self, dual: Array) -> _Diffracted:
        """Return sum_l D_l^* F^* diag(lam_l) F D_l as an operator."""
        return _Diffracted(self.codes, np.asarray(dual).reshape(self.codes.shape))


class _Diffracted(HermitianMatrix):
    """The adjoint of coded diffraction: two FFTs per mask and column."""

    def __init__(self, codes: Array, weights: Array) -> None:
        super().__init__((codes.shape[1], codes.shape[1]), np.complex128)
        self._codes, self._weights = codes, weights

    def matmat(self, block: Array) -> Array:
        waves = np.fft.fft(self._codes[:, :, None] * block, axis=1, norm="ortho")
        back = np.fft.ifft(self._weights[:, :, None] * waves, axis=1, norm="ortho")
        return np.sum(self._codes.conj()[:, :, None] * back, axis=0)


def _factors(matrix: Array) -> LowRank:
    """Return a Hermitian matrix as factors."""
    values, vectors = np.linalg.eigh(hermitian_part(matrix))
    return LowRank(vectors, vectors, values)
