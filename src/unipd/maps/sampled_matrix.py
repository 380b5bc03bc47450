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
    vectors are found without forming it.

    >>> from unipd.maps import Sampling
    >>> matrix = Sampling([0, 1], [1, 0], (2, 2)).adjoint(np.array([3.0, 4.0]))
    >>> matrix.matvec(np.array([1.0, 2.0])), matrix.frobenius()
    (array([6., 4.]), 5.0)
    """

    hermitian = False
    """Entries are sampled on one side of the diagonal as on the other: nothing is known."""

    def __init__(self, pattern: Pattern, values: Array) -> None:
        self.pattern = pattern
        self.values = values
        self.shape: tuple[int, int] = pattern.shape
        self.dtype: np.dtype[Any] = values.dtype
        self.sweeps: bool = pattern.sweeps and values.dtype.kind == "f"
        """Whether it does :meth:`golub_kahan` steps by itself: real and small."""

    @property
    def nbytes(self) -> int:
        """Bytes of the values (the pattern is shared)."""
        return self.values.nbytes

    def matvec(self, x: Array) -> Array:
        """Return M x."""
        return self.pattern.product(self.values, _sized(x, self.shape[1]).reshape(-1))

    def rmatvec(self, x: Array) -> Array:
        """Return M^* x."""
        return self._adjoint_product(_sized(x, self.shape[0]).reshape(-1))

    def matmat(self, x: Array) -> Array:
        """Return M X for the columns of X."""
        return self.pattern.product(self.values, _sized(x, self.shape[1]))

    def rmatmat(self, x: Array) -> Array:
        """Return M^* X for the columns of X."""
        return self._adjoint_product(_sized(x, self.shape[0]))

    def golub_kahan(self, *steps: Any, adjoint: bool) -> tuple[int, int]:
        """Do several steps of the bidiagonalisation of M (or M^*) in one call; return (steps done, products made).

        The arguments are those of :func:`unipd.maps.sampling_sweep.sweep` from ``bases`` on.
        """
        return self.pattern.sweep(self.values, *steps, adjoint=adjoint)

    def brief_run(self, *run: Any, adjoint: bool, sign: float = 1.0) -> tuple[int, int, float, float]:
        """Do a whole run of steps with M in one call: :func:`unipd.maps.sampling_sweep.brief_run` from ``start`` on."""
        pattern = self.pattern
        return sampling_sweeps().brief_run(pattern.structure, self.values, pattern.transposed != adjoint, sign, *run)

    def frobenius(self) -> float:
        """Return the Frobenius norm, an upper bound of the spectral norm."""
        return float(np.sqrt(self.pattern.squared_norm(self.values)))

    def opposite(self) -> OppositeMatrix:
        """Return -M without a copy of the values."""
        return OppositeMatrix(self)

    def tocsr(self) -> Any:
        """Return the matrix as a SciPy CSR array; values at one place are added."""
        pattern = self.pattern
        # SciPy adds duplicates in place: it must not get the values themselves.
        arrays = (self.values.copy(), pattern.places.astype(np.int64), pattern.starts.astype(np.int64))
        matrix: Any = (scipy.sparse.csc_array if pattern.transposed else scipy.sparse.csr_array)(
            arrays, shape=self.shape
        )
        matrix.sum_duplicates()
        return matrix.tocsr()

    def toarray(self) -> Array:
        """Return the matrix as an array: for small sizes and for tests."""
        return self.tocsr().toarray()

    def _adjoint_product(self, x: Array) -> Array:
        if self.dtype.kind != "c":
            return self.pattern.transposed_product(self.values, x)
        return self.pattern.transposed_product(self.values, x.conj()).conj()


def _sized(x: Array, size: int) -> Array:
    array = np.asarray(x)
    if array.ndim == 0 or array.shape[0] != size:
        raise InvalidInput("x", f"{size} rows", f"shape {array.shape}")
    return array


class OppositeMatrix:
    """-M of a :class:`SampledMatrix`: its products have the other sign, its values are not copied."""

    hermitian = False
    """As that of a sampled matrix."""

    def __init__(self, matrix: SampledMatrix) -> None:
        self._matrix = matrix
        self.shape, self.dtype, self.sweeps = matrix.shape, matrix.dtype, matrix.sweeps

    @property
    def nbytes(self) -> int:
        """Bytes of the values, which are those of M."""
        return self._matrix.nbytes

    @property
    def values(self) -> Array:
        """The values of -M, as a copy."""
        return -self._matrix.values

    def matvec(self, x: Array) -> Array:
        """Return -M x."""
        return _negated(self._matrix.matvec(x))

    def rmatvec(self, x: Array) -> Array:
        """Return -M^* x."""
        return _negated(self._matrix.rmatvec(x))

    def matmat(self, x: Array) -> Array:
        """Return -M X for the columns of X."""
        return _negated(self._matrix.matmat(x))

    def rmatmat(self, x: Array) -> Array:
        """Return -M^* X for the columns of X."""
        return _negated(self._matrix.rmatmat(x))

    def golub_kahan(self, *steps: Any, adjoint: bool) -> tuple[int, int]:
        """Do steps with -M as M does; matrices that do are so small that their values may be copied."""
        return self._matrix.pattern.sweep(-self._matrix.values, *steps, adjoint=adjoint)

    def brief_run(self, *run: Any, adjoint: bool) -> tuple[int, int, float, float]:
        """Do a whole run with -M."""
        return self._matrix.brief_run(*run, adjoint=adjoint, sign=-1.0)

    def frobenius(self) -> float:
        """Return the Frobenius norm."""
        return self._matrix.frobenius()

    def opposite(self) -> SampledMatrix:
        """Return M itself."""
        return self._matrix

    def tocsr(self) -> Any:
        """Return -M as a SciPy CSR array."""
        return -self._matrix.tocsr()

    def toarray(self) -> Array:
        """Return -M as an array."""
        return -self._matrix.toarray()


def _negated(fresh: Array) -> Array:
    return np.negative(fresh, out=fresh)
