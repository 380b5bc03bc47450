"""The Pauli measurement map of quantum tomography, A(X)_k = tr(P_k X), and its adjoint sum_k lam_k P_k.

Threads share the chunks of the kernels: these release Python's global lock and take chunk after chunk from a shared
counter, so a thread that is held up leaves its share to the others. Each chunk writes to its own memory, and the chunks
depend on the strings alone: results are the same to the last bit whatever the number of threads.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd._util.arrays import norm
from unipd._util.lazy import can_compile
from unipd._util.threads import available_threads, share
from unipd.errors import InvalidInput
from unipd.maps.base import Map
from unipd.maps.pauli import strings
from unipd.maps.pauli.dense import MULTI_VECTOR_COLUMNS, PauliBlocks
from unipd.maps.pauli.layout import BLOCK_BITS, Layout, arrange, deinterleave, empty_aligned, interleave, make_workspace
from unipd.spectral.operators import HermitianMatrix

SERIAL_WORK = 1 << 20
"""Pairs of groups times entries below which one thread is faster than several."""


class HermitianOperator(HermitianMatrix):
    """A Hermitian matrix known by its products; SciPy's ``aslinearoperator`` takes it.

    Parameters
    ----------
    size, dtype
        Number of rows, and the type of the entries.

    See Also
    --------
    DenseOperator, unipd.spectral.Engine

    Examples
    --------
    >>> class Identity(HermitianOperator):
    ...     def matvec(self, x): return x
    ...     def norm_bound(self): return 1.0
    >>> Identity(2, np.float64).matmat(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self, size: int, dtype: Any) -> None:
        super().__init__((size, size), dtype)

    @abstractmethod
    def matvec(self, x: Array) -> Array:
        """Return M x."""

    @abstractmethod
    def norm_bound(self) -> float:
        """Return an upper bound on the spectral norm, without any product."""

    def rmatvec(self, x: Array) -> Array:
        """Return M^* x, which is M x."""
        return self.matvec(x)

    def matmat(self, x: Array, /) -> Array:
        """Return M X, column by column."""
        return np.array([self.matvec(column) for column in np.asarray(x).T], self.dtype).reshape(np.shape(x)[::-1]).T

    def __matmul__(self, x: Array) -> Array:
        return self.matvec(x) if np.ndim(x) == 1 else self.matmat(x)

    def _check_vector(self, x: Any) -> Array:
        vector = np.asarray(x)
        if vector.shape not in (self.shape[:1], (self.shape[0], 1)):
            raise InvalidInput("x", f"shape {self.shape[:1]}", f"shape {vector.shape}")
        return vector.reshape(-1)


class DenseOperator(HermitianOperator):
    """A Hermitian matrix in memory; products are BLAS calls.

    Parameters
    ----------
    matrix
        A Hermitian array.

    See Also
    --------
    HermitianOperator

    Examples
    --------
    >>> DenseOperator(np.array([[0.0, 2.0], [2.0, 0.0]])).matvec(np.array([1.0, 0.0]))
    array([0., 2.])
    """

    def __init__(self, matrix: Array) -> None:
        super().__init__(matrix.shape[0], matrix.dtype)
        self.matrix = matrix

    def matvec(self, x: Array) -> Array:
        """Return M x."""
        return self.matrix @ self._check_vector(x).astype(self.dtype, copy=False)

    def norm_bound(self) -> float:
        """Return the Frobenius norm."""
        return norm(self.matrix) * _rounding_factor(self.dtype)

    def matmat(self, x: Array) -> Array:
        """Return M X."""
        return self.matrix @ np.asarray(x).astype(self.dtype, copy=False)

    def toarray(self) -> Array:
        """Return the matrix."""
        return self.matrix.copy()


class PauliOperator(HermitianOperator):
    """sum_k lam_k P_k through its products, never formed.

    Parameters
    ----------
    map
        The map, with the strings in the kernels' order.
    dual
        The coefficients lam, in the user's order.

    Notes
    -----
    The coefficients are scaled to the largest one before they are rounded to the kernels' precision, and products are
    scaled back: tiny and huge dual vectors lose nothing.
    """

    def __init__(self, map: PauliMap, dual: Array) -> None:
        super().__init__(map.domain[0], map.operator_dtype)
        self._map, self._dual = map, dual
        self._scale = float(np.abs(dual).max())
        layout = map.layout
        phase = np.array([1.0, -1.0, -1.0, 1.0])[layout.power]
        phase *= dual[layout.order]
        if self._scale:
            phase /= self._scale
        self._coefficients = phase.astype(layout.signs.dtype)

    def norm_bound(self) -> float:
        """Return :func:`pauli_norm_bound`."""
        return pauli_norm_bound(self._dual, self.shape[0], self._map.repeats, self.dtype)

    def matvec(self, x: Array) -> Array:
        """Return (sum_k lam_k P_k) x."""
        if not can_compile():
            return self._map.blocks.product(self._dual, self._check_vector(x)[:, None])[:, 0]
        from unipd.maps.pauli.kernels import adjoint_chunks

        layout, c = self._map.layout, self._coefficients
        v = interleave(self._check_vector(x), c.dtype)
        parts = empty_aligned((layout.chunks.size - 1, v.size), c.dtype)

        def work(counter: IntArray) -> None:
            adjoint_chunks(layout, counter, c, v, parts, *make_workspace(layout, self.shape[0]))

        share(kernel_threads(layout, self.shape[0], self._map.threads), work)
        return deinterleave(parts.sum(axis=0), self._scale)

    def matmat(self, x: Array) -> Array:
        """Return M X: column by column, or many columns at once where that is faster."""
        if self._map.uses_blocks(np.shape(x)[1]):
            return self._map.blocks.product(self._dual, np.asarray(x))
        return super().matmat(x)


def pauli_norm_bound(dual: Array, size: int, repeats: int, dtype: Any) -> float:
    """Return min(||lam||_1, sqrt(p r) ||lam||_2), a bound on ||sum_k lam_k P_k||: Paulis are unitary and orthogonal.

    r is the number of times that a string may occur.

    >>> round(pauli_norm_bound(np.array([3.0, 4.0]), 2, 1, np.complex128), 9)
    7.0
    """
    frobenius = math.sqrt(size * repeats) * norm(dual)
    return min(float(np.abs(dual).sum()), frobenius) * _rounding_factor(dtype)


def _rounding_factor(dtype: Any) -> float:
    """Return a factor just above one that covers the rounding of coefficients and sums."""
    return 1.0 + 64.0 * float(np.finfo(dtype).eps)


def kernel_threads(layout: Layout, size: int, threads: int | None) -> int:
    """Return the number of threads to use: one when the work is small, else the requested number."""
    if layout.x.size * size < SERIAL_WORK:
        return 1
    return min(available_threads(threads), layout.chunks.size - 1)


DENSE_QUBITS = 8
"""Qubits up to which a dense matrix and BLAS are faster than the kernels (measured; see the benchmarks)."""
_MANY_STRINGS = 64
"""Strings per row of the matrix from which on they are so for one qubit more."""


class PauliMap(Map):
    """A(X)_k = tr(P_k X) for Hermitian X of size p = 2^q, with adjoint sum_k lam_k P_k.

    Any strings in any order: repeated, the identity, one or many for the same x mask. With more than eight qubits
    (nine for 32,768 strings or more) nothing of size p x p is formed: the kernels need the strings and a few vectors.
    With fewer the adjoint is a dense matrix, which is faster there. The strings are sorted for the kernels at the
    first product.

    Parameters
    ----------
    qubits
        Number of qubits q.
    x, z
        Bit masks of the strings P = i^|x & z| X^x Z^z, bit b for qubit b; or booleans of shape (n, q), column b for
        qubit b (as in Qiskit's ``PauliList``).
    precision
        "single" or "double": what the kernels compute in. Images and dual vectors are double either way.
    threads
        Number of threads; None for Numba's (``NUMBA_NUM_THREADS``). Results do not depend on it.
    method
        "auto", "dense" or "matrix-free" (which needs 6 qubits or more).

    Raises
    ------
    InvalidInput
        ``qubits``, ``threads``: expected an integer of at least 1.

    See Also
    --------
    ChannelMeasurements, unipd.PauliTomography

    Examples
    --------
    >>> measure = PauliMap.from_labels(["ZI", "IZ", "XX"])
    >>> bell = np.array([[1.0], [0.0], [0.0], [1.0]]) / np.sqrt(2)
    >>> measure.image(atoms.LowRank(bell, bell, np.ones(1))).round(6)
    array([0., 0., 1.])
    """

    def __init__(
        self,
        qubits: int,
        x: Any,
        z: Any,
        precision: str = "single",
        threads: int | None = None,
        *,
        method: str = "auto",
    ) -> None:
        self.qubits, self.x, self.z = strings.check_strings(qubits, x, z)
        self.precision = validate.choice("precision", precision, ("single", "double"))
        self.threads = None if threads is None else validate.integer("threads", threads, minimum=1)
        size = 1 << self.qubits
        super().__init__((size, size), (self.x.size,), np.float64)
        validate.choice("method", method, ("auto", "dense", "matrix-free"))
        if method == "matrix-free" and self.qubits < BLOCK_BITS:
            raise InvalidInput("method", f"'dense' or 'auto' below {BLOCK_BITS} qubits", repr(method))
        most = DENSE_QUBITS + (self.x.size >= _MANY_STRINGS * size)
        self.dense = method == "dense" or (method == "auto" and self.qubits <= most)

    @property
    def operator_dtype(self) -> np.dtype[Any]:
        """Dtype of sum_k lam_k P_k."""
        return np.dtype(np.complex64 if self.precision == "single" else np.complex128)

    @cached_property
    def layout(self) -> Layout:
        """The strings in the order of the kernels."""
        return arrange(self.qubits, self.x, self.z, np.float32 if self.precision == "single" else np.float64)

    @cached_property
    def blocks(self) -> PauliBlocks:
        """The strings in the order for dense matrices, or for products with many columns."""
        return PauliBlocks(self.qubits, self.x, self.z, self.operator_dtype, whole=self.dense)

    def uses_blocks(self, columns: int) -> bool:
        """Whether products with this many columns are computed block by block: all, where nothing can be compiled."""
        return not can_compile() or (columns >= MULTI_VECTOR_COLUMNS and self.blocks.is_faster(columns))

    @cached_property
    def repeats(self) -> int:
        """Number of times that the most frequent string occurs."""
        return strings.most_repeats(self.x, self.z)

    @classmethod
    def from_labels(cls, labels: Iterable[str], precision: str = "single", threads: int | None = None) -> PauliMap:
        """Return the map of labels such as 'XYZ' = kron(X, Y, Z): the rightmost letter is qubit 0.

        Parameters
        ----------
        labels
            Strings of I, X, Y, Z, all of the same length.
        precision, threads
            As in :class:`PauliMap`.

        Examples
        --------
        >>> PauliMap.from_labels(["XY", "ZI"]).labels
        ['XY', 'ZI']
        """
        qubits, x, z = strings.parse(labels)
        return cls(qubits, x, z, precision, threads)

    @property
    def labels(self) -> list[str]:
        """Labels of the strings."""
        return strings.write(self.qubits, self.x, self.z)

    @property
    def nbytes(self) -> int:
        """Bytes of the masks and of the kernels' copy of them."""
        return self.x.nbytes + self.z.nbytes + (self.blocks if self.dense else self.layout).nbytes

    def adjoint(self, dual: Array) -> HermitianOperator:
        """Return sum_k lam_k P_k, an operator with matvec, rmatvec and matmat."""
        vector = validate.real_array("dual", dual, shape=self.codomain)
        if self.dense:
            return DenseOperator(self.blocks.matrix(vector))
        return PauliOperator(self, vector)

    def image(self, atom: Any) -> FloatArray:
        """Return Re tr(P_k X), for X an array or given by factors X = sum_i w_i u_i v_i^*."""
        self._check_atom(atom)
        if isinstance(atom, atoms.LowRank) and not self.dense:
            return self._image_of_factors(atom)
        return self.blocks.image_of_matrix(np.asarray(atoms.dense(atom)))

    def _image_of_factors(self, atom: atoms.LowRank) -> FloatArray:
        """Return sum_i Re w_i v_i^* P_k u_i; the kernels know u = v only."""
        if self.uses_blocks(atom.rank) or not atom.hermitian:
            return self.blocks.image_of_factors(atom.left * atom.weights.astype(atom.left.dtype), atom.right)
        columns = zip(atom.left.T, atom.weights, strict=True)
        return sum((self._quadratic(u, float(np.real(w))) for u, w in columns), np.zeros(self.codomain))

    def _quadratic(self, vector: Array, factor: float) -> FloatArray:
        """Return factor * u^* P_k u for all strings; u is scaled to norm one before it is rounded."""
        from unipd.maps.pauli.kernels import image_chunks

        layout = self.layout
        result = np.zeros(self.codomain)
        length = norm(vector)
        if length == 0.0:
            return result
        u, scale = interleave(vector / length, layout.signs.dtype), factor * length * length
        sums = np.empty(self.codomain)

        def work(counter: IntArray) -> None:
            memory = make_workspace(layout, self.domain[0])
            image_chunks(layout, counter, u, scale, sums, result, memory.permuted_input, memory.table, memory.rows)

        share(kernel_threads(layout, self.domain[0], self.threads), work)
        return result
