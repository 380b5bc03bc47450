"""Base classes: linear maps A, and the matrix operators that their adjoints return without forming a matrix.

Row norms are as the map knows them, measured from its adjoints, or estimated.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array, FloatArray, Shape
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.atoms import apply, apply_adjoint
from unipd.errors import InvalidInput
from unipd.protocols import Adapted, LinearMap, MapDefaults
from unipd.spectral.operators import LazyMatrix, as_operator, is_hermitian

FEW_ROWS = 64
"""Rows up to which a map without a matrix is queried row by row."""
SMALL_ORDER = 400
"""Order up to which the Frobenius norm of an operator is computed from its products with all unit vectors."""
_PROBES = 8
"""Random vectors in the estimate of a Frobenius norm."""


class Map(ReprMixin, MapDefaults, ABC):
    """Base of the linear maps A; a subclass gives :meth:`image` and :meth:`adjoint`.

    The adjoint is with respect to real inner products: Re <A x, lam> = Re <x, A^* lam>.

    Parameters
    ----------
    domain
        Shape of x, or a tuple of shapes for several blocks.
    codomain
        Shape of images.
    dtype
        Data type of images, such as ``numpy.float32``.

    See Also
    --------
    OperatorMap, as_map, unipd.protocols.LinearMap

    Examples
    --------
    Differences of neighbours, and their adjoint:

    >>> class Differences(Map):
    ...     def image(self, atom): return np.diff(np.asarray(atom))
    ...     def adjoint(self, dual): return -np.diff(dual, prepend=0.0, append=0.0)
    >>> differences = Differences((4,), (3,), float)
    >>> differences.image(np.array([1.0, 4.0, 9.0, 16.0]))
    array([3., 5., 7.])
    >>> differences.adjoint(np.array([1.0, 2.0, 4.0]))
    array([-1., -1., -2.,  4.])
    """

    def __init__(self, domain: Any, codomain: Shape, dtype: Any) -> None:
        self._domain = domain
        self._codomain = codomain
        self._dtype = np.dtype(dtype)

    @property
    def domain(self) -> Any:
        """Shape of x."""
        return self._domain

    @property
    def codomain(self) -> Shape:
        """Shape of A x."""
        return self._codomain

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of A x, hence of the dual vector."""
        return self._dtype

    @abstractmethod
    def image(self, atom: Any) -> Array:
        """Return A x."""

    @abstractmethod
    def adjoint(self, dual: Array) -> Any:
        """Return A^* lam."""

    def _check_atom(self, atom: Any) -> None:
        """Raise unless a point has the shape of x."""
        if tuple(atom.shape) != self._domain:
            raise InvalidInput("atom", f"shape {self._domain}", f"shape {tuple(atom.shape)}")

    def _check_dual(self, dual: Any) -> Array:
        """Return a dual vector as an array, or raise unless it has the shape of A x."""
        vector = np.asarray(dual)
        if vector.shape != self._codomain:
            raise InvalidInput("dual", f"shape {self._codomain}", f"shape {vector.shape}")
        return vector


def matrix_domain(domain: Any, columns: int) -> Shape:
    """Return the shape of x, in C order, for a matrix with this number of columns.

    >>> matrix_domain((2, 3), 6)
    (2, 3)
    """
    if domain is None:
        return (columns,)
    if not isinstance(domain, (tuple, list)):
        raise InvalidInput("domain", "the shape of x", repr(domain))
    if not all(isinstance(size, (int, np.integer)) for size in domain):
        raise InvalidInput("A", f"a list of {len(domain)} maps, one per block of x", "a single matrix or operator")
    if math.prod(domain) != columns:
        raise InvalidInput("A", f"{math.prod(domain)} columns, one per entry of x", f"{columns} columns")
    return tuple(int(size) for size in domain)


def shape_error(name: str, value: Any, shape: Shape, error: Exception) -> InvalidInput:
    """Return the error for a failed product with a vector: its shape is wrong, or else the error itself.

    >>> shape_error("dual", np.ones(2), (3,), ValueError("mismatch"))
    InvalidInput('dual: expected shape (3,), got shape (2,)')
    """
    found = tuple(value.shape) if hasattr(value, "shape") else np.shape(value)
    return InvalidInput(name, f"shape {shape}", str(error) if found == shape else f"shape {found}")


class AdaptedMap(Adapted):
    """A user-supplied map that does not derive from :class:`Map`, with defaults for the optional members."""

    defaults = MapDefaults


def require_map(name: str, value: Any) -> Any:
    """Return a linear map with all its optional members (:class:`~unipd.protocols.MapDefaults`), or raise.

    >>> from unipd.maps import Identity
    >>> require_map("outer", Identity((2,))).codomain
    (2,)
    """
    validate.has_parts(name, value, "a linear map", ("image", "adjoint", "domain", "codomain", "dtype"))
    return value if isinstance(value, (MapDefaults, AdaptedMap)) else AdaptedMap(value)


class OperatorSum(LazyMatrix):
    """The sum of matrices, each an array, a sparse matrix or an operator.

    Parameters
    ----------
    parts
        Matrices of one shape.

    See Also
    --------
    Stacked, OperatorMap

    Examples
    --------
    >>> OperatorSum([np.eye(2), np.ones((2, 2))]).matvec(np.array([1.0, 2.0]))
    array([4., 5.])
    """

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = tuple(parts)
        super().__init__(tuple(self.parts[0].shape), np.result_type(*(part.dtype for part in self.parts)))

    @property
    def hermitian(self) -> bool:
        """Whether all parts are Hermitian operators."""
        return all(map(is_hermitian, self.parts))

    def matmat(self, x: Array) -> Array:
        """Return the sum of the parts' products."""
        return sum((apply(part, x) for part in self.parts[1:]), apply(self.parts[0], x))

    def rmatmat(self, x: Array) -> Array:
        """Return the sum of the parts' adjoint products."""
        return sum((apply_adjoint(part, x) for part in self.parts[1:]), apply_adjoint(self.parts[0], x))

    def frobenius(self) -> float:
        """Return the sum of the parts' bounds."""
        return sum(frobenius_bound(part) for part in self.parts)


def frobenius_bound(operator: Any) -> float:
    """Return an upper bound on a matrix's Frobenius norm, inf for an operator that knows none.

    Parameters
    ----------
    operator
        A matrix or an operator.

    See Also
    --------
    row_norms

    Examples
    --------
    >>> frobenius_bound(np.array([[3.0, 4.0]]))
    5.0
    """
    if isinstance(operator, np.ndarray):
        return float(np.linalg.norm(operator))
    return float(as_operator(operator).frobenius())


def row_norms(linear_map: MapDefaults) -> FloatArray | None:
    """Return ||A^* e_i|| for every row i, flat, or None where that would be costly.

    Of a map that does not know them (``row_norms``) and has few rows, the adjoints of the unit vectors are measured.

    Parameters
    ----------
    linear_map
        The map A.

    See Also
    --------
    row_norms_of, unipd.Rescaling

    Examples
    --------
    >>> from unipd.maps import DenseMatrix
    >>> row_norms(DenseMatrix(np.array([[3.0, 4.0], [0.0, 2.0]])))
    array([5., 2.])
    """
    known, count = linear_map.row_norms(), math.prod(linear_map.codomain)
    if known is not None or count > FEW_ROWS:
        return known
    return row_norms_of(linear_map, range(count), np.random.default_rng(0))


def row_norms_of(linear_map: LinearMap, rows: Iterable[int], generator: np.random.Generator) -> FloatArray:
    """Return ||A^* e_i|| for some rows i of any map; exact for arrays and small operators, else an estimate.

    Parameters
    ----------
    linear_map
        The map A.
    rows
        Flat numbers of the rows.
    generator
        Source of random numbers for estimates.

    See Also
    --------
    row_norms, unipd.doctor.check_scaling

    Examples
    --------
    >>> from unipd.maps import DenseMatrix
    >>> row_norms_of(DenseMatrix(np.array([[3.0, 4.0], [0.0, 2.0]])), [1], np.random.default_rng(0))
    array([2.])
    """
    norms: list[float] = []
    for row in rows:
        unit = np.zeros(linear_map.codomain, linear_map.dtype)
        unit.reshape(-1)[row] = 1.0
        norms.append(adjoint_norm(linear_map.adjoint(unit), generator))
    return np.array(norms)


def adjoint_norm(direction: Any, generator: np.random.Generator) -> float:
    """Return the Euclidean (Frobenius) norm of an adjoint, array, tuple of blocks or operator, however small it is.

    That of a large operator is estimated from products with random vectors, accurately enough to choose units.
    """
    if isinstance(direction, tuple):
        return math.hypot(*(adjoint_norm(part, generator) for part in direction))
    if isinstance(direction, np.ndarray):
        return _scaled_norm(direction)
    if scipy.sparse.issparse(direction):
        return _scaled_norm(direction.tocsr().data)
    columns = int(direction.shape[1])
    if columns <= SMALL_ORDER:
        return _scaled_norm(apply(direction, np.eye(columns)))
    return _scaled_norm(apply(direction, generator.standard_normal((columns, _PROBES)))) / math.sqrt(_PROBES)


def _scaled_norm(array: Array) -> float:
    """Return the Euclidean norm by BLAS, whose squares neither overflow nor vanish."""
    return float(scipy.linalg.norm(array.reshape(-1), check_finite=False))
