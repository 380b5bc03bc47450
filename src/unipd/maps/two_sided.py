"""Two-sided maps X = L Z R^*: matrices with known left and right factors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy

from unipd import atoms
from unipd._typing import Array
from unipd._util import validate
from unipd.atoms import apply_adjoint
from unipd.errors import InvalidInput
from unipd.maps.base import Map, MatrixOperator, floating_dtype, frobenius_bound, real_dtype, require_map
from unipd.protocols import LinearMap, MapDefaults
from unipd.spectral.operators import is_hermitian


class TwoSidedMap(Map):
    """A'(Z) = A(L Z R^*) for a map A of matrices; the adjoint is the operator L^* A^*(lam) R.

    Parameters
    ----------
    map
        The map A of matrices of shape (p, l).
    left, right
        L with p rows and R with l rows: an array, a SciPy sparse matrix, an operator with matvec and rmatvec, a vector
        for its diagonal matrix, or None for the identity. The same object on both sides keeps factors Hermitian.

    Raises
    ------
    InvalidInput
        ``map``: expected a map of matrices.

    See Also
    --------
    Composed, OperatorMap

    Examples
    --------
    >>> from unipd.maps import Sampling
    >>> scaled = TwoSidedMap(Sampling([0, 1], [1, 0], (2, 2)), np.array([2.0, 3.0]), None)
    >>> scaled.image(np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([2., 3.])
    """

    def __init__(self, map: LinearMap, left: Any = None, right: Any = None) -> None:
        self.map: MapDefaults = require_map("map", map)
        if len(map.domain) != 2 or not all(isinstance(size, (int, np.integer)) for size in map.domain):
            raise InvalidInput("map", "a map of matrices", f"a map of points of shape {map.domain}")
        self.left = SideFactor("left", left, map.domain[0])
        self.right = self.left if right is left and right is not None else SideFactor("right", right, map.domain[1])
        self.runs_user_code = self.left.runs_user_code or self.right.runs_user_code
        super().__init__((self.left.columns, self.right.columns), map.codomain, map.dtype)

    @property
    def inner_parts(self) -> tuple[Any, ...]:
        """The map A."""
        return (self.map,)

    @property
    def nbytes(self) -> int:
        """Bytes of the map (the factors belong to the caller)."""
        return self.map.nbytes

    def image(self, atom: Any) -> Array:
        """Return A(L Z R^*); factors stay factors."""
        self._check_atom(atom)
        if isinstance(atom, atoms.SparsePoint):
            atom = _as_factors(atom)
        if isinstance(atom, atoms.LowRank):
            left = self.left.times(atom.left)
            shared = atom.hermitian and self.right is self.left
            return self.map.image(atoms.LowRank(left, left if shared else self.right.times(atom.right), atom.weights))
        half = self.left.times(np.asarray(atom))
        return self.map.image(self.right.times(half.conj().T).conj().T)

    def adjoint(self, dual: Array) -> TwoSidedOperator:
        """Return L^* A^*(lam) R as an operator."""
        return TwoSidedOperator(self.map.adjoint(dual), self.left, self.right)


class TwoSidedOperator(MatrixOperator):
    """The matrix L^* M R, multiplied from one side to the other and never formed."""

    def __init__(self, middle: Any, left: SideFactor, right: SideFactor) -> None:
        dtype = np.result_type(middle.dtype, left.dtype, right.dtype)
        super().__init__((left.columns, right.columns), dtype)
        self.middle = middle
        self.left = left
        self.right = right

    @property
    def hermitian(self) -> bool:
        """Whether M is and both sides are the same."""
        return self.left is self.right and is_hermitian(self.middle)

    def matmat(self, x: Array) -> Array:
        """Return L^* (M (R X))."""
        return self.left.adjoint_times(atoms.apply(self.middle, self.right.times(x)))

    def rmatmat(self, x: Array) -> Array:
        """Return R^* (M^* (L X))."""
        return self.right.adjoint_times(apply_adjoint(self.middle, self.left.times(x)))

    def frobenius(self) -> float:
        """Return the upper bound ||L|| ||M||_F ||R|| with bounds of the spectral norms."""
        return self.left.bound * frobenius_bound(self.middle) * self.right.bound


class SideFactor:
    """L or R of a two-sided map: products with a matrix, a diagonal, an operator or the identity.

    >>> SideFactor("left", np.array([1.0, 2.0]), 2).times(np.ones((2, 1)))
    array([[1.],
           [2.]])
    """

    def __init__(self, name: str, value: Any, rows: int) -> None:
        self._value: Any = _check_factor(name, value)
        shape: tuple[int, ...] = (rows,) if self._value is None else tuple(self._value.shape)
        self._diagonal = self._value is not None and len(shape) == 1
        self.runs_user_code = hasattr(value, "matvec") and not type(value).__module__.startswith("unipd.")
        self.columns = int(shape[-1])
        if shape[0] != rows or self.columns < 1:
            raise InvalidInput(name, f"a matrix of {rows} rows", f"shape {shape}")
        self.dtype: np.dtype[Any] = np.dtype(np.float32) if self._value is None else floating_dtype(self._value.dtype)
        self.bound = _spectral_bound(self._value)

    def times(self, block: Array) -> Array:
        """Return L X."""
        if self._value is None:
            return block
        return self._value[:, None] * block if self._diagonal else np.asarray(atoms.apply(self._value, block))

    def adjoint_times(self, block: Array) -> Array:
        """Return L^* X."""
        if self._value is None:
            return block
        return self._value.conj()[:, None] * block if self._diagonal else apply_adjoint(self._value, block)


def _check_factor(name: str, value: Any) -> Any:
    if value is None or hasattr(value, "matvec"):
        return value
    if scipy.sparse.issparse(value):
        data = validate.finite_array(name, value.data)
        return value.astype(data.dtype, copy=False)
    array = validate.finite_array(name, value)
    if array.ndim not in (1, 2):
        raise InvalidInput(name, "a matrix or the vector of a diagonal", f"shape {array.shape}")
    return array


def _spectral_bound(value: Any) -> float:
    """Return an upper bound on the spectral norm, sqrt(||L||_1 ||L||_inf), inf for an operator."""
    if value is None:
        return 1.0
    if hasattr(value, "matvec"):
        return math.inf
    modulus: Any = abs(value)
    if len(value.shape) == 1:
        return float(modulus.max())
    return math.sqrt(float(modulus.sum(axis=0).max()) * float(modulus.sum(axis=1).max()))


def _as_factors(atom: atoms.SparsePoint) -> atoms.LowRank:
    """Return a sparse matrix as factors, one column for each nonzero."""
    rows, cols = (np.asarray(part) for part in np.unravel_index(atom.indices, atom.shape))
    places = np.arange(rows.size)
    left, right = (np.zeros((size, rows.size), atom.dtype) for size in atom.shape)
    left[rows, places] = atom.values
    right[cols, places] = 1
    return atoms.LowRank(left, right, np.ones(rows.size, real_dtype(atom.dtype)))
