"""A sparse matrix of values on a fixed pattern, through its products."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from unipd._typing import Array
from unipd.errors import InvalidInput
from unipd.maps.pattern import Pattern, sampling_sweeps


class SampledMatrix:
    """The sparse matrix A^* lam of a :class:`~unipd.maps.Sampling`: fresh values on its shared pattern.

    It has SciPy's operator methods (``matvec``, ``rmatvec``, ``matmat``, ``rmatmat``), so that top singular
    vectors are found without forming it. With ``opposite`` it is -A^* lam: its products have the other sign, and the
    numbers given are not copied.

    >>> from unipd.maps import Sampling
    >>> matrix = Sampling([0, 1], [1, 0], (2, 2)).adjoint(np.array([3.0, 4.0]))
    >>> matrix.matvec(np.array([1.0, 2.0])), matrix.frobenius()
    (array([6., 4.]), 5.0)
    >>> matrix.negative().matvec(np.array([1.0, 2.0]))
    array([-6., -4.])
    """

    hermitian = False
    """Entries are sampled on one side of the diagonal as on the other: nothing is known."""

    def __init__(self, pattern: Pattern, numbers: Array, *, opposite: bool = False) -> None:
        self.pattern = pattern
        self._numbers, self._opposite = numbers, opposite
        self.shape: tuple[int, int] = pattern.shape
        self.dtype: np.dtype[Any] = numbers.dtype
        self.sweeps: bool = pattern.sweeps and numbers.dtype.kind == "f"
        """Whether it does :meth:`golub_kahan` steps by itself: real and small."""

    @property
    def values(self) -> Array:
        """Values on the pattern; those of an opposite are a copy."""
        return -self._numbers if self._opposite else self._numbers

    @property
    def nbytes(self) -> int:
        """Bytes of the values (the pattern is shared)."""
        return self._numbers.nbytes

    def matvec(self, x: Array) -> Array:
        """Return M x."""
        return self._product(_sized(x, self.shape[1]).reshape(-1))

    def rmatvec(self, x: Array) -> Array:
        """Return M^* x."""
        return self._adjoint_product(_sized(x, self.shape[0]).reshape(-1))

    def matmat(self, x: Array) -> Array:
        """Return M X for the columns of X."""
        return self._product(_sized(x, self.shape[1]))

    def rmatmat(self, x: Array) -> Array:
        """Return M^* X for the columns of X."""
        return self._adjoint_product(_sized(x, self.shape[0]))

    def golub_kahan(self, *steps: Any, adjoint: bool) -> tuple[int, int]:
        """Do several steps of the bidiagonalisation of M (or M^*) in one call; return (steps done, products made).

        The arguments are those of :func:`unipd.maps.sampling_sweep.sweep` from ``bases`` on.
        """
        return self.pattern.sweep(self.values, *steps, adjoint=adjoint)

    def brief_run(self, *run: Any, adjoint: bool) -> tuple[int, int, float, float]:
        """Do a whole run of steps with M in one call: :func:`unipd.maps.sampling_sweep.brief_run` from ``start`` on."""
        pattern, sign = self.pattern, -1.0 if self._opposite else 1.0
        return sampling_sweeps().brief_run(pattern.structure, self._numbers, pattern.transposed != adjoint, sign, *run)

    def frobenius(self) -> float:
        """Return the Frobenius norm, an upper bound of the spectral norm."""
        return float(np.sqrt(self.pattern.squared_norm(self._numbers)))

    def negative(self) -> SampledMatrix:
        """Return -M without a copy of the numbers."""
        return SampledMatrix(self.pattern, self._numbers, opposite=not self._opposite)

    def tocsr(self) -> Any:
        """Return the matrix as a SciPy CSR array; values at one place are added."""
        pattern = self.pattern
        # SciPy adds duplicates in place: it must not get the numbers themselves.
        arrays = (np.array(self.values), pattern.places.astype(np.int64), pattern.starts.astype(np.int64))
        matrix: Any = (scipy.sparse.csc_array if pattern.transposed else scipy.sparse.csr_array)(
            arrays, shape=self.shape
        )
        matrix.sum_duplicates()
        return matrix.tocsr()

    def toarray(self) -> Array:
        """Return the matrix as an array: for small sizes and for tests."""
        return self.tocsr().toarray()

    def _product(self, x: Array) -> Array:
        return self._signed(self.pattern.product(self._numbers, x))

    def _adjoint_product(self, x: Array) -> Array:
        if self.dtype.kind != "c":
            return self._signed(self.pattern.transposed_product(self._numbers, x))
        return self._signed(self.pattern.transposed_product(self._numbers, x.conj()).conj())

    def _signed(self, fresh: Array) -> Array:
        return np.negative(fresh, out=fresh) if self._opposite else fresh


def _sized(x: Array, size: int) -> Array:
    array = np.asarray(x)
    if array.ndim == 0 or array.shape[0] != size:
        raise InvalidInput("x", f"{size} rows", f"shape {array.shape}")
    return array
