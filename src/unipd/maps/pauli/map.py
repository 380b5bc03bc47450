"""The Pauli measurement map of quantum tomography, A(X)_k = tr(P_k X)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from unipd import atoms, validate
from unipd._typing import Array, FloatArray, IntArray
from unipd.errors import InvalidInput
from unipd.maps.base import Map
from unipd.maps.pauli import strings
from unipd.maps.pauli.dense import DensePaulis, image_of_matrix
from unipd.maps.pauli.layout import BLOCK_BITS, Layout, arrange
from unipd.maps.pauli.memory import interleaved, length, scratch
from unipd.maps.pauli.operator import DenseOperator, HermitianOperator, PauliOperator, kernel_threads
from unipd.maps.pauli.threads import share
from unipd.maps.pauli.wide import WIDE, WideStrings

DENSE_QUBITS = 8
"""Up to so many qubits a dense matrix and BLAS are faster than the kernels (measured; see the benchmarks)."""
MANY_STRINGS = 64
"""With so many strings a row of the matrix that still holds for one qubit more."""


class PauliMap(Map):
    """A(X)_k = tr(P_k X) for Hermitian X of size p = 2^q, with adjoint sum_k lam_k P_k.

    The strings may be any, in any order: repeated, the identity, one or many for the same x mask. With more than
    eight qubits (nine for very many strings) nothing of size p x p is formed: the kernels need the strings and a few
    vectors. With fewer the adjoint is a dense matrix, which is faster there. The kernels' tables are made at the first
    product.

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
        self.qubits = validate.integer("qubits", qubits, minimum=1)
        if self.qubits > strings.MOST_QUBITS:
            raise InvalidInput("qubits", f"at most {strings.MOST_QUBITS}", repr(qubits))
        self.x: IntArray = strings.masks("x", self.qubits, x)
        self.z: IntArray = strings.masks("z", self.qubits, z)
        if self.x.shape != self.z.shape:
            raise InvalidInput("z", f"{self.x.size} masks, one for each x", f"{self.z.size}")
        if precision not in ("single", "double"):
            raise InvalidInput("precision", "'single' or 'double'", repr(precision))
        self.precision = precision
        self.threads = None if threads is None else validate.integer("threads", threads, minimum=1)
        size = 1 << self.qubits
        super().__init__((size, size), (self.x.size,), np.float64)
        self.dense = _use_dense(method, self.qubits, self.x.size)

    @cached_property
    def _dense(self) -> DensePaulis | None:
        if not self.dense:
            return None
        kind = np.complex64 if self.precision == "single" else np.complex128
        return DensePaulis(self.qubits, self.x, self.z, kind)

    @cached_property
    def _layout(self) -> Layout | None:
        if self.dense:
            return None
        return arrange(self.qubits, self.x, self.z, np.float32 if self.precision == "single" else np.float64)

    @cached_property
    def wide(self) -> WideStrings:
        """The strings in the order that products with many columns need."""
        kind = np.complex64 if self.precision == "single" else np.complex128
        return WideStrings(self.qubits, self.x, self.z, kind)

    @cached_property
    def repeats(self) -> int:
        """How often the most frequent string occurs."""
        return strings.most_repeats(self.x, self.z)

    @classmethod
    def from_labels(cls, labels: Iterable[str], precision: str = "single", threads: int | None = None) -> PauliMap:
        """Return the map of labels such as 'XYZ' = kron(X, Y, Z): the rightmost letter is qubit 0.

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
        kernel = self._layout.nbytes if self._layout is not None else self._dense.nbytes if self._dense else 0
        return self.x.nbytes + self.z.nbytes + kernel

    def adjoint(self, dual: Array) -> HermitianOperator:
        """Return sum_k lam_k P_k, an operator with matvec, rmatvec and matmat."""
        vector = validate.real_array("dual", dual, shape=self.codomain)
        if self._layout is None:
            assert self._dense is not None
            return DenseOperator(self._dense.matrix(vector))
        return PauliOperator(self._layout, self.domain[0], vector, self.threads, self.repeats, wide=lambda: self.wide)

    def image(self, atom: Any) -> FloatArray:
        """Return Re tr(P_k X), for X an array or given by factors X = sum_i w_i u_i v_i^*."""
        if tuple(atom.shape) != self.domain:
            raise InvalidInput("atom", f"a matrix of shape {self.domain}", f"shape {tuple(atom.shape)}")
        if self._dense is not None:
            return self._dense.image(np.asarray(atoms.dense(atom)))
        if isinstance(atom, atoms.LowRank):
            return self._image_of_factors(atom)
        return image_of_matrix(np.asarray(atoms.dense(atom)), self.x, self.z)

    def _image_of_factors(self, atom: atoms.LowRank) -> FloatArray:
        """Return sum_i Re w_i v_i^* P_k u_i; for u != v by polarisation, Re v^* P u = (|u + v|_P - |u - v|_P) / 4."""
        if atom.rank >= WIDE and self.wide.pays(atom.rank):
            return self.wide.image(atom.left * atom.weights.astype(atom.left.dtype), atom.right)
        result = np.zeros(self.codomain)
        for i, weight in enumerate(atom.weights):
            u, v = atom.left[:, i], atom.right[:, i]
            if atom.hermitian:
                result += self._quadratic(u, float(np.real(weight)))
                continue
            left, right = length(u), length(v)
            if weight != 0 and left and right:
                turned = (weight / abs(weight)) * (u / left)
                factor = float(abs(weight)) * left * right / 4.0
                result += self._quadratic(turned + v / right, factor)
                result -= self._quadratic(turned - v / right, factor)
        return result

    def _quadratic(self, vector: Array, factor: float) -> FloatArray:
        """Return factor * u^* P_k u for all strings; u is scaled to norm one before it is rounded."""
        from unipd.maps.pauli.image_kernel import image_chunks

        layout = self._layout
        assert layout is not None
        result = np.zeros(self.codomain)
        norm = length(vector)
        if norm == 0.0:
            return result
        u = interleaved(vector / norm, layout.signs.dtype)
        sums = np.empty(self.codomain)

        def work(counter: IntArray) -> None:
            memory = scratch(layout, self.domain[0])
            image_chunks(
                layout, counter, u, factor * norm * norm, sums, result, memory.turned, memory.table, memory.rows
            )

        share(kernel_threads(layout, self.domain[0], self.threads), work)
        return result


def _use_dense(method: str, qubits: int, count: int) -> bool:
    """Whether to form matrices: the caller's choice, or what is faster for so many strings."""
    if method not in ("auto", "dense", "matrix-free"):
        raise InvalidInput("method", "'auto', 'dense' or 'matrix-free'", repr(method))
    if method == "matrix-free" and qubits < BLOCK_BITS:
        raise InvalidInput("method", f"'dense' or 'auto' below {BLOCK_BITS} qubits", repr(method))
    most = DENSE_QUBITS + (count >= MANY_STRINGS << qubits)
    return method == "dense" or (method == "auto" and qubits <= most)
