"""The adjoint of the Pauli map: sum_k lam_k P_k as a Hermitian operator, matrix-free or dense."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd.errors import InvalidInput
from unipd.maps.chunks import available_threads
from unipd.maps.pauli.layout import Layout
from unipd.maps.pauli.memory import gathered, interleaved, length, reused, scratch
from unipd.maps.pauli.threads import share
from unipd.maps.pauli.wide import WIDE, WideStrings

SERIAL = 1 << 20
"""Pairs of groups times entries below which one thread is faster than several."""


class HermitianOperator(ABC):
    """A Hermitian matrix known by its products; SciPy's ``aslinearoperator`` takes it."""

    def __init__(self, size: int, dtype: Any) -> None:
        self.shape = (size, size)
        self.dtype = np.dtype(dtype)

    @abstractmethod
    def matvec(self, x: Array) -> Array:
        """Return M x."""

    @abstractmethod
    def norm_bound(self) -> float:
        """Return an upper bound of the spectral norm, without any product."""

    def rmatvec(self, x: Array) -> Array:
        """Return M^* x, which is M x."""
        return self.matvec(x)

    def matmat(self, x: Array) -> Array:
        """Return M X, column by column."""
        block = np.asarray(x)
        result = np.empty(block.shape, self.dtype, order="F")
        for i in range(block.shape[1]):
            result[:, i] = self.matvec(block[:, i])
        return result

    def __matmul__(self, x: Array) -> Array:
        return self.matvec(x) if np.ndim(x) == 1 else self.matmat(x)

    def toarray(self) -> Array:
        """Return the matrix."""
        return np.ascontiguousarray(self.matmat(np.eye(self.shape[0], dtype=self.dtype)))

    def _checked(self, x: Any) -> Array:
        vector = np.asarray(x)
        if vector.shape not in (self.shape[:1], (self.shape[0], 1)):
            raise InvalidInput("x", f"shape {self.shape[:1]}", f"shape {vector.shape}")
        return vector.reshape(-1)


class DenseOperator(HermitianOperator):
    """A Hermitian matrix in memory; products are BLAS calls."""

    def __init__(self, matrix: Array) -> None:
        super().__init__(matrix.shape[0], matrix.dtype)
        self.matrix = matrix

    def matvec(self, x: Array) -> Array:
        """Return M x."""
        return self.matrix @ self._checked(x).astype(self.dtype, copy=False)

    def norm_bound(self) -> float:
        """Return the Frobenius norm."""
        return length(self.matrix) * _allowance(self.dtype)

    def matmat(self, x: Array) -> Array:
        """Return M X."""
        return self.matrix @ np.asarray(x).astype(self.dtype, copy=False)

    def toarray(self) -> Array:
        """Return the matrix."""
        return self.matrix.copy()


class PauliOperator(HermitianOperator):
    """sum_k lam_k P_k by its products, never formed; it owns its coefficients, so any number can live at once.

    Parameters
    ----------
    layout
        The strings in the kernels' order.
    size
        Number of rows p = 2^q.
    dual
        The coefficients lam, in the user's order.
    threads
        Number of threads; None for Numba's.
    repeats
        How often a string occurs at most.
    wide
        Gives the strings in the order that products with many columns need; None: one column after the other.

    Notes
    -----
    The coefficients are scaled to the largest one before they are rounded to the kernels' precision, and products are
    scaled back: tiny and huge dual vectors lose nothing.
    """

    def __init__(
        self,
        layout: Layout,
        size: int,
        dual: Array,
        threads: int | None = None,
        repeats: int = 1,
        *,
        wide: Callable[[], WideStrings] | None = None,
    ) -> None:
        real = layout.signs.dtype
        super().__init__(size, np.result_type(real, np.complex64))
        self._layout = layout
        self._threads = threads
        self._dual, self._wide = dual, wide
        self._scale = float(np.abs(dual).max())
        frobenius = math.sqrt(size * repeats) * length(dual)
        self._norm_bound = min(float(np.abs(dual).sum()), frobenius) * _allowance(self.dtype)
        phase = np.array([1.0, -1.0, -1.0, 1.0])[layout.power]
        phase *= dual[layout.order]
        if self._scale:
            phase /= self._scale
        self._coefficients = phase.astype(real)

    def norm_bound(self) -> float:
        """Return min(||lam||_1, sqrt(p r) ||lam||_2), r the repeats of a string: Paulis are unitary, and orthogonal."""
        return self._norm_bound

    def matvec(self, x: Array) -> Array:
        """Return (sum_k lam_k P_k) x."""
        from unipd.maps.pauli.adjoint_kernel import adjoint_chunks

        layout, c = self._layout, self._coefficients
        v = interleaved(self._checked(x), c.dtype)
        parts = reused("parts", (layout.chunks.size - 1, v.size), c.dtype)

        def work(counter: IntArray) -> None:
            memory = scratch(layout, self.shape[0])
            adjoint_chunks(layout, counter, c, v, parts, *memory)

        share(kernel_threads(layout, self.shape[0], self._threads), work)
        return gathered(parts.sum(axis=0), self._scale)

    def matmat(self, x: Array) -> Array:
        """Return M X: column by column, or many columns at once where that is faster."""
        columns = np.shape(x)[1]
        if columns < WIDE or self._wide is None or not self._wide().pays(columns):
            return super().matmat(x)
        return self._wide().product(self._dual, np.asarray(x))


def _allowance(dtype: Any) -> float:
    """Return a factor just above one that covers the rounding of coefficients and sums."""
    return 1.0 + 64.0 * float(np.finfo(dtype).eps)


def kernel_threads(layout: Layout, size: int, threads: int | None) -> int:
    """Return the number of threads to use: one when the work is small, else what was asked for."""
    if layout.x.size * size < SERIAL:
        return 1
    return min(available_threads(threads), layout.chunks.size - 1)
