"""Counted products with a matrix given as an array, a sparse matrix, or by matvec and rmatvec alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import scipy

from unipd import validate
from unipd._typing import Array, Shape
from unipd.errors import InvalidInput, OracleError
from unipd.pulse import beat
from unipd.spectral.sweep import sweep


class Multiplier(Protocol):
    """What the Krylov methods ask of a matrix: products with blocks of columns, counted."""

    @property
    def shape(self) -> Shape:
        """Rows and columns."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the products."""
        ...

    @property
    def count(self) -> int:
        """Products spent so far, one a column."""
        ...

    def forward(self, block: Array) -> Array:
        """Return M X."""
        ...

    def adjoint(self, block: Array) -> Array:
        """Return M^* Y."""
        ...

    def sweep(self, *steps: Any, adjoint: bool = False) -> tuple[int, bool]:
        """Do Golub-Kahan steps in one go where the operator can; return (steps done, whether it got stuck)."""
        ...


_LARGE = 1000
"""Rows or columns from which compiled steps are worth their import."""
_ACCEPTED = "a matrix, a SciPy sparse matrix, or an operator with shape, dtype and matvec"


class Products:
    """A matrix M seen through its products M x and M^* y, each counted once a column.

    Accepts NumPy arrays, SciPy sparse matrices and anything with ``shape``, ``dtype``, ``matvec`` and (unless
    Hermitian) ``rmatvec``; ``matmat`` and ``rmatmat`` are used on blocks where they exist. Results have the
    working dtype: single or double precision, real or complex, as the operator.

    Parameters
    ----------
    operator
        The matrix M.
    hermitian
        Whether M = M^*; then only ``matvec`` (or ``matmat``) is asked.

    Examples
    --------
    >>> products = Products(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> products.forward(np.eye(2)), products.adjoint(np.eye(2)[:, :1]), products.count
    (array([[1., 2.], [3., 4.]]), array([[1.], [2.]]), 3)
    """

    def __init__(self, operator: Any, *, hermitian: bool = False) -> None:
        self.operator = _checked(operator)
        self.shape = _matrix_shape(self.operator)
        self.dtype = working_dtype(getattr(self.operator, "dtype", None))
        self.hermitian = hermitian
        self.count = 0
        if hermitian and self.shape[0] != self.shape[1]:
            raise InvalidInput("operator", "a square matrix", f"shape {self.shape}")

    @property
    def explicit(self) -> bool:
        """Whether the entries are at hand (an array or a sparse matrix), so that making it dense costs no product."""
        return is_explicit(self.operator)

    def forward(self, block: Array) -> Array:
        """Return M X for a block X of columns."""
        self.count += block.shape[1]
        if self.explicit:
            return self._typed(self.operator @ block, self.shape[0], block)
        return self._typed(_by_columns(self.operator, "matmat", "matvec", block), self.shape[0], block)

    def adjoint(self, block: Array) -> Array:
        """Return M^* Y for a block Y of columns."""
        if self.hermitian:
            return self.forward(block)
        self.count += block.shape[1]
        if not self.explicit:
            return self._typed(_by_columns(self.operator, "rmatmat", "rmatvec", block), self.shape[1], block)
        if self.dtype.kind == "c":
            return self._typed((self.operator.T @ block.conj()).conj(), self.shape[1], block)
        return self._typed(self.operator.T @ block, self.shape[1], block)

    def sweep(self, *steps: Any, adjoint: bool = False) -> tuple[int, bool]:
        """Do Golub-Kahan steps with M (or M^*), as :func:`unipd.spectral.sweep.sweep` from ``bases`` on.

        They are the operator's own ``golub_kahan`` where it says that it ``sweeps``. Returns how many were done (none
        where M is small or complex) and whether the next one is beyond a sweep.
        """
        if getattr(self.operator, "sweeps", False):
            done, made = self.operator.golub_kahan(*steps, adjoint=adjoint)
            self.count += made
            beat("singular vectors", made)
            return done, made > 2 * done
        if self.dtype.kind == "c" or max(self.shape) < _LARGE:
            return 0, False
        there, back = (self.adjoint, self.forward) if adjoint else (self.forward, self.adjoint)
        done, made = sweep(lambda x: there(x[:, np.newaxis])[:, 0], lambda y: back(y[:, np.newaxis])[:, 0], *steps)
        return done, made > 2 * done

    def dense(self) -> Array:
        """Return M as an array; an operator is multiplied by the identity of its smaller side."""
        if scipy.sparse.issparse(self.operator):
            return np.asarray(self.operator.toarray()).astype(self.dtype, copy=False)
        if self.explicit:
            return self.operator
        rows, columns = self.shape
        if columns <= rows:
            return self.forward(np.eye(columns, dtype=self.dtype))
        return self.adjoint(np.eye(rows, dtype=self.dtype)).conj().T

    def _typed(self, result: Any, rows: int, block: Array) -> Array:
        array = np.asarray(result)
        if array.shape != (rows, block.shape[1]):
            raise OracleError(f"a product has shape {array.shape}, not {(rows, block.shape[1])}")
        if array.dtype.kind == "c" and self.dtype.kind != "c":
            raise OracleError(f"an operator of dtype {self.dtype} returned complex numbers")
        beat("eigenvector" if self.hermitian else "singular vectors", block.shape[1])
        return array.astype(self.dtype, copy=False)


def is_explicit(operator: Any) -> bool:
    """Whether an operator is an array or a sparse matrix."""
    return isinstance(operator, np.ndarray) or bool(scipy.sparse.issparse(operator))


def working_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the dtype in which products are taken: single or double precision, real or complex.

    >>> working_dtype(np.int64), working_dtype(np.complex64)
    (dtype('float64'), dtype('complex64'))
    """
    kind = np.dtype(np.float64 if dtype is None else dtype)
    if kind in (np.float32, np.float64, np.complex64, np.complex128):
        return kind
    if kind.kind not in "biufc":
        raise InvalidInput("operator", "real or complex numbers", f"dtype {kind}")
    return np.dtype(np.complex128 if kind.kind == "c" else np.float64)


def _checked(operator: Any) -> Any:
    if scipy.sparse.issparse(operator):
        data = validate.finite_array("operator", operator.tocoo().data)
        return operator if data.dtype == operator.dtype else operator.astype(data.dtype)
    if hasattr(operator, "matvec"):
        return operator
    if isinstance(operator, (np.ndarray, list, tuple)):
        return validate.finite_array("operator", operator, ndim=2)
    raise InvalidInput("operator", _ACCEPTED, type(operator).__name__)


def _matrix_shape(operator: Any) -> Shape:
    shape = tuple(int(size) for size in operator.shape)
    if len(shape) != 2 or min(shape) < 1:
        raise InvalidInput("operator", "a matrix with at least one entry", f"shape {shape}")
    return shape


def _by_columns(operator: Any, of_block: str, of_vector: str, block: Array) -> Array:
    """Multiply a block: at once where the operator can (and there is more than one column), else by columns."""
    together: Callable[[Array], Any] | None = getattr(operator, of_block, None)
    alone: Callable[[Array], Any] | None = getattr(operator, of_vector, None)
    if together is not None and (alone is None or block.shape[1] > 1):
        return np.asarray(together(block))
    if alone is None:
        raise InvalidInput("operator", f"a method {of_vector}", type(operator).__name__)
    if block.shape[1] == 1:
        return np.asarray(alone(block[:, 0])).reshape(-1, 1)
    return np.stack([np.asarray(alone(column)).reshape(-1) for column in block.T], axis=1)
