"""Inner products with given matrices: A(X)_k = Re <M_k, X>."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from unipd import atoms
from unipd._typing import Array
from unipd._util import validate
from unipd.errors import InvalidInput
from unipd.maps.base import Map, floating_dtype, real_dtype
from unipd.maps.sampling import SampledMatrix, Sampling


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
    owners = np.repeat(np.arange(len(parts)), [part.nnz for part in parts])
    entries: Any = scipy.sparse.csr_array((values, (owners, columns.reshape(-1))), shape=(len(parts), places.size))
    return Sampling(*np.divmod(places, shape[1]), shape, values.dtype), entries


def _coordinates(index: int, matrix: Any) -> Any:
    name = f"matrices[{index}]"
    coordinates: Any = scipy.sparse.coo_array(
        matrix if scipy.sparse.issparse(matrix) else validate.finite_array(name, matrix, ndim=2)
    )
    if coordinates.ndim != 2 or min(coordinates.shape) < 1:
        raise InvalidInput(name, "a nonempty matrix", f"shape {coordinates.shape}")
    coordinates = coordinates.astype(floating_dtype(coordinates.dtype), copy=False)
    if not np.isfinite(coordinates.data).all():
        raise InvalidInput(name, "finite numbers", "NaN or inf among the stored entries")
    return coordinates
