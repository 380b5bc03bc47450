"""Matrices known by their products: counted products, Gram matrices, Hermitian parts, differences.

A Gram matrix squares the operator, and certified bounds square it again: both are scaled by a power of two, which
rounds nothing, where squares would leave the range of numbers.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from unipd import atoms
from unipd._typing import Array, FloatArray, Shape
from unipd._util import validate
from unipd._util.arrays import precision, real_dtype
from unipd._util.context import notify
from unipd.atoms import apply, apply_adjoint
from unipd.errors import InvalidInput, OracleError
from unipd.protocols import Adapted

RIGOROUS = "rigorous"
"""Holds always, up to the rounding allowance that is part of it."""
PROBABILISTIC = "probabilistic"
"""Holds except with a stated small probability over the random starting vector."""
RESIDUAL = "residual"
"""Ritz value plus residual norm: bounds an eigenvalue, and the top one unless the run has missed it."""
STATED = "stated"
"""As stated by a user-supplied oracle, map or coupling: holds if these are right, which their answers do not prove."""
CONDITIONAL = "conditional"
"""Holds for points up to a size only, a guess or what a user has given, which the constraints do not imply."""
BOUND_KINDS = (RIGOROUS, PROBABILISTIC, CONDITIONAL, STATED, RESIDUAL)
"""Kinds of certified error, strongest first; any other counts as weaker."""
CLAIMED = (RIGOROUS, CONDITIONAL, STATED)
"""Kinds that claim to hold always, for points of the size of a condition: a point that contradicts such a bound shows
that a part of the problem is wrong."""


def weakest_bound(kinds: Iterable[str]) -> str:
    """Return the weakest of several kinds of certified error.

    Parameters
    ----------
    kinds
        Kinds of bounds, such as "rigorous".

    See Also
    --------
    Certified

    Examples
    --------
    >>> weakest_bound(["rigorous", "residual"])
    'residual'
    """
    return max(sorted(kinds), key=lambda kind: BOUND_KINDS.index(kind) if kind in BOUND_KINDS else len(BOUND_KINDS))


@dataclass(frozen=True)
class Triples:
    """The largest singular values of an operator, or eigenvalues of a Hermitian one, largest first."""

    values: FloatArray
    """Values found: lower bounds on the true ones, up to rounding."""
    left: Array
    """Unit left singular vectors as columns; for eigenvalues the same array as ``right``."""
    right: Array
    """Unit right singular vectors (eigenvectors) as columns."""
    residuals: FloatArray
    """Residual norms: the larger of ||M v - value u|| and ||M^* u - value v||."""
    matvecs: int
    """Products with M and M^* spent."""
    bound_kind: str
    """Kind of the bound ``upper``: "rigorous" from LAPACK, "residual" from a Krylov run."""
    converged: bool
    """Whether the requested accuracy was reached."""

    @property
    def value(self) -> float:
        """The largest value found."""
        return float(self.values[0])

    @property
    def residual(self) -> float:
        """Its residual norm."""
        return float(self.residuals[0])

    @property
    def upper(self) -> float:
        """Upper bound on the largest value."""
        return self.value + self.residual

    def swap_sides(self) -> Triples:
        """Return the triples of the adjoint."""
        rest = (self.residuals, self.matvecs, self.bound_kind, self.converged)
        return Triples(self.values, self.right, self.left, *rest)


LARGEST_EXPONENT = 1000
"""Exponents stay within this, so that the power and its inverse are ordinary doubles."""


def exponent_of(size: float) -> int:
    """Return an e with size about 2^e (0 for zero); for numbers near the ends of the range it stays short of them.

    >>> exponent_of(5.0), exponent_of(1e-320), exponent_of(0.0)
    (3, -1000, 0)
    """
    return max(-LARGEST_EXPONENT, min(LARGEST_EXPONENT, math.frexp(size)[1]))


def times_power(value: float, exponent: int) -> float:
    """Return value 2^e; raises where that is beyond the range of doubles.

    >>> times_power(0.75, 2)
    3.0
    """
    return finite_bound(value * 2.0**exponent)


def finite_bound(value: float) -> float:
    """Return a bound, which must not be beyond the range of doubles."""
    if value == math.inf:
        raise OracleError("the spectral norm of the operator is beyond the range of double precision")
    return value


def largest_part(array: Array) -> float:
    """Return the largest modulus of a real or imaginary part, without a copy; raises where that is not finite.

    >>> largest_part(np.array([3.0 - 4.0j, 1.0]))
    4.0
    """
    parts = (np.real(array), np.imag(array)) if array.dtype.kind == "c" else (array,)
    ends = [abs(float(end)) for part in parts if part.size for end in (part.min(), part.max())]
    if not all(map(math.isfinite, ends)):
        raise OracleError("a product with the operator has entries that are NaN or infinite")
    return max(ends, default=0.0)


def frobenius(array: Array) -> float:
    """Return the Frobenius norm of an array, whose squares may be out of range.

    >>> round(frobenius(np.array([[3e200, 4e200j]])) / 1e200, 12)
    5.0
    """
    exponent = exponent_of(largest_part(array))
    return times_power(float(np.linalg.norm(array * 2.0**-exponent)), exponent)


class OperatorDefaults:
    """What an operator may offer beyond its products, with the default of one that does not.

    An operator has ``shape``, ``dtype``, ``matvec`` and ``rmatvec``, as those of SciPy and PyLops have. Optional
    besides the members here are ``matmat`` and ``rmatmat`` (products with several columns at once) and ``tocsr`` (the
    entries, for smaller certificates).
    """

    hermitian: Any = True
    """Whether a square M is Hermitian; False when only its Hermitian part counts."""
    has_compiled_run: bool = False
    """Whether ``compiled_bidiagonalization`` does a Golub-Kahan run in compiled code."""

    def norm_bound(self) -> float | None:
        """Return an upper bound of the spectral norm without any product, None when none is known."""
        return None

    def frobenius(self) -> float:
        """Return an upper bound of the Frobenius norm, inf when none is known."""
        return math.inf

    def diagonal(self) -> Array | None:
        """Return the diagonal, the preconditioner of Newton steps; None when it is not known."""
        return None


class AdaptedOperator(Adapted):
    """An operator that derives from no class of this library, with the defaults of what it lacks."""

    defaults = OperatorDefaults


def as_operator(operator: Any) -> Any:
    """Return an operator with its optional members (:class:`OperatorDefaults`).

    >>> as_operator(scipy.sparse.linalg.aslinearoperator(np.eye(2))).frobenius()
    inf
    """
    return operator if isinstance(operator, (OperatorDefaults, AdaptedOperator)) else AdaptedOperator(operator)


def is_hermitian(operator: Any) -> bool:
    """Whether an operator counts as Hermitian; arrays and sparse matrices do not, since that takes a look at them."""
    return not is_explicit(operator) and bool(as_operator(operator).hermitian)


class LazyMatrix(OperatorDefaults, ABC):
    """A matrix M through M X and M^* X, with SciPy's operator methods; vectors are blocks of one column."""

    hermitian: Any = False
    """Whether M = M^* for certain."""

    def __init__(self, shape: Any, dtype: Any) -> None:
        self.shape: tuple[int, int] = tuple(shape)
        self.dtype: np.dtype[Any] = np.dtype(dtype)

    @abstractmethod
    def matmat(self, block: Array, /) -> Array:
        """Return M X."""

    @abstractmethod
    def rmatmat(self, block: Array, /) -> Array:
        """Return M^* X."""

    def matvec(self, x: Array) -> Array:
        """Return M x."""
        return self.matmat(np.reshape(x, (-1, 1)))[:, 0]

    def rmatvec(self, x: Array) -> Array:
        """Return M^* x."""
        return self.rmatmat(np.reshape(x, (-1, 1)))[:, 0]

    def toarray(self) -> Array:
        """Return M as an array: for small sizes and for tests."""
        return self.matmat(np.eye(self.shape[1], dtype=self.dtype))


class HermitianMatrix(LazyMatrix):
    """A matrix M = M^* through M X."""

    hermitian = True

    def rmatmat(self, block: Array, /) -> Array:
        """Return M^* X, which is M X."""
        return self.matmat(block)


_ACCEPTED = "a matrix, a SciPy sparse matrix, or an operator with shape, dtype and matvec"


class Products:
    """A matrix M seen through its products M x and M^* y, each counted once per column.

    Accepts NumPy arrays, SciPy sparse matrices and anything with ``shape``, ``dtype``, ``matvec`` and (unless
    Hermitian) ``rmatvec``; ``matmat`` and ``rmatmat`` are used on blocks where they exist. Results have the
    working dtype: single or double precision, real or complex, as the operator.

    Parameters
    ----------
    operator
        The matrix.
    hermitian
        Whether M = M^*; then only ``matvec`` (or ``matmat``) is used.

    Examples
    --------
    >>> products = Products(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> products.forward(np.eye(2)), products.adjoint(np.eye(2)[:, :1]), products.count
    (array([[1., 2.], [3., 4.]]), array([[1.], [2.]]), 3)
    """

    def __init__(self, operator: Any, *, hermitian: bool = False) -> None:
        self.operator = _validate_operator(operator)
        self.is_adjoint = False
        self.shape = _matrix_shape(self.operator)
        self.dtype = validate.floating_dtype("operator", getattr(self.operator, "dtype", None))
        self.hermitian = hermitian
        self.count = 0
        if hermitian and self.shape[0] != self.shape[1]:
            raise InvalidInput("operator", "a square matrix", f"shape {self.shape}")

    @property
    def explicit(self) -> bool:
        """Whether the entries are known (an array or a sparse matrix), so that making it dense costs no product."""
        return is_explicit(self.operator)

    def transposed(self) -> Products:
        """Return M^*, with a count of its own."""
        other = copy.copy(self)
        other.is_adjoint, other.shape, other.count = not self.is_adjoint, self.shape[::-1], 0
        return other

    def forward(self, block: Array) -> Array:
        """Return M X for a block X of columns."""
        return self._multiply(block, self.is_adjoint)

    def adjoint(self, block: Array) -> Array:
        """Return M^* Y for a block Y of columns."""
        return self._multiply(block, not self.is_adjoint)

    def dense(self) -> Array:
        """Return M as an array; an operator is multiplied by the identity of its smaller side."""
        if self.explicit:
            known = self.operator.toarray() if scipy.sparse.issparse(self.operator) else self.operator
            array = known.astype(self.dtype, copy=False)
            return array.conj().T if self.is_adjoint else array
        rows, columns = self.shape
        if columns <= rows:
            return self.forward(np.eye(columns, dtype=self.dtype))
        return self.adjoint(np.eye(rows, dtype=self.dtype)).conj().T

    def _multiply(self, block: Array, adjoint: bool) -> Array:
        """Return the product with the operator or its adjoint."""
        adjoint = adjoint and not self.hermitian
        self.count += block.shape[1]
        if not self.explicit:
            result = _by_columns(self.operator, *(("rmatmat", "rmatvec") if adjoint else ("matmat", "matvec")), block)
        elif adjoint and self.dtype.kind == "c":
            result = (self.operator.T @ block.conj()).conj()
        else:
            result = (self.operator.T if adjoint else self.operator) @ block
        array, rows = np.asarray(result), self.operator.shape[1 if adjoint else 0]
        if array.shape != (rows, block.shape[1]):
            raise OracleError(f"a product has shape {array.shape}, not {(rows, block.shape[1])}")
        if array.dtype.kind == "c" and self.dtype.kind != "c":
            raise OracleError(f"an operator of dtype {self.dtype} returned complex numbers")
        notify("eigenvector" if self.hermitian else "singular vectors", block.shape[1])
        return array.astype(self.dtype, copy=False)


def is_small(shape: tuple[int, ...], limit: int) -> bool:
    """Whether a matrix counts as small: its shorter side within the limit and the longer one not extreme."""
    return min(shape) <= limit and max(shape) <= 16 * limit


def rounding_allowance(matrix: Array, norm: float) -> float:
    """Return n eps ||M||, which covers the backward error of LAPACK's eigenvalues and singular values."""
    return max(matrix.shape) * precision(matrix) * norm


def is_explicit(operator: Any) -> bool:
    """Whether an operator is an array or a sparse matrix."""
    return isinstance(operator, np.ndarray) or bool(scipy.sparse.issparse(operator))


def _validate_operator(operator: Any) -> Any:
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


_SQUARABLE, _SQUARABLE_SINGLE = 1e60, 1e15
"""Sizes up to which (and from whose inverse) fourth powers of a double, and squares of a single, stay in range."""


class Gram:
    """M^* M or M M^*, whichever is smaller; each product costs two of M's.

    Where squares would leave the range it is that of 2^-e M, with e from the first product that is not zero.

    >>> Gram(np.array([[1.0, 2.0]])).forward(np.ones((1, 1)))
    array([[5.]])
    """

    def __init__(self, operator: Any) -> None:
        self.source = Products(operator)
        self.shape = (min(self.source.shape),) * 2
        self.dtype = self.source.dtype
        self._exponent: int | None = None

    @property
    def count(self) -> int:
        """Products of M and M^* spent."""
        return self.source.count

    def forward(self, block: Array) -> Array:
        """Return the Gram matrix times X."""
        rows, columns = self.source.shape
        forward, adjoint = self.source.forward, self.source.adjoint
        if columns > rows:
            forward, adjoint = adjoint, forward
        inner = forward(block)
        if self._exponent is None:
            self._exponent = self._choose_exponent(inner)
        if self._exponent:
            unit = real_dtype(self.dtype).type(2.0**-self._exponent)
            inner = inner * unit * unit
        return adjoint(inner)

    def root(self, value: float) -> float:
        """Return the singular value of M whose square, scaled, is an eigenvalue (0 for what rounding made negative)."""
        return math.sqrt(max(value, 0.0)) * 2.0 ** (self._exponent or 0)

    def _choose_exponent(self, image: Array) -> int | None:
        """Return e for a first product, None where that is zero."""
        size, limit = largest_part(image), _SQUARABLE if np.finfo(self.dtype).bits == 64 else _SQUARABLE_SINGLE
        if size == 0.0:
            return None
        return 0 if 1.0 / limit < size < limit else exponent_of(size)


def norm_bound(operator: Any) -> float | None:
    """Return an upper bound on the largest singular value without any product, or None when none is known.

    Matrices: the smaller of the Frobenius norm and sqrt(||M||_1 ||M||_inf). Operators: their own ``norm_bound()``.

    Parameters
    ----------
    operator
        An array, a sparse matrix, or an operator.

    Raises
    ------
    OracleError
        If the operator's own bound is negative or not finite.

    See Also
    --------
    certified_upper

    Examples
    --------
    >>> norm_bound(np.array([[1.0, 1.0], [1.0, 1.0]])).__round__(6)
    2.0
    """
    if isinstance(operator, np.ndarray) or scipy.sparse.issparse(operator):
        return _matrix_norm_bound(operator)
    bound = as_operator(operator).norm_bound()
    if bound is not None and not (math.isfinite(bound) and bound >= 0.0):
        raise OracleError(f"norm_bound() of {type(operator).__name__} returned {bound}")
    return None if bound is None else float(bound)


def _matrix_norm_bound(matrix: Any) -> float:
    if 0 in matrix.shape:
        return 0.0
    moduli: Any = abs(matrix).astype(np.float64)
    exponent = exponent_of(float(moduli.max()))
    moduli = moduli * 2.0**-exponent
    squares = moduli.multiply(moduli) if scipy.sparse.issparse(moduli) else moduli * moduli
    norm = math.sqrt(float(squares.sum()))
    mixed = math.sqrt(float(moduli.sum(axis=0).max()) * float(moduli.sum(axis=1).max()))
    eps = float(np.finfo(validate.floating_dtype("operator", matrix.dtype)).eps)
    return times_power(min(norm, mixed) * (1.0 + (4.0 + sum(matrix.shape)) * eps), exponent)


class HermitianPart(HermitianMatrix):
    """(M + M^*) / 2 of a square operator, never formed: <M, X> is the same for every Hermitian X.

    Examples
    --------
    >>> HermitianPart(np.array([[0.0, 2.0], [0.0, 0.0]])).matvec(np.array([1.0, 0.0]))
    array([0., 1.])
    """

    def __init__(self, operator: Any) -> None:
        super().__init__(operator.shape, operator.dtype)
        self.operator = operator

    def matmat(self, block: Array) -> Array:
        """Return (M X + M^* X) / 2."""
        return 0.5 * hermitian_twice(self.operator, block)

    def frobenius(self) -> float:
        """Return an upper bound on the Frobenius norm, that of M (inf when none is known)."""
        return float(as_operator(self.operator).frobenius())


def hermitian_twice(operator: Any, block: Array) -> Array:
    """Return (M + M^*) X: twice M X when M is known to be Hermitian.

    >>> hermitian_twice(np.array([[0.0, 2.0], [0.0, 0.0]]), np.eye(2))
    array([[0., 2.],
           [2., 0.]])
    """
    product = apply(operator, block)
    if is_hermitian(operator):
        return 2.0 * product
    return product + apply_adjoint(operator, block)


class LazyDifference(LazyMatrix):
    """The operator left - right, never formed; either may be an array, a sparse matrix or an operator.

    Examples
    --------
    >>> gap = LazyDifference(np.eye(2), np.ones((2, 2)))
    >>> gap.matvec(np.array([1.0, 2.0])), gap.norm_bound() >= 3.0
    (array([-2., -1.]), True)
    """

    def __init__(self, left: Any, right: Any) -> None:
        super().__init__(left.shape, _joint_dtype(left.dtype, right.dtype))
        self.left = left
        self.right = right

    @property
    def hermitian(self) -> bool:
        """Whether the difference is Hermitian for certain; a cost on the right is so over Hermitian points."""
        return is_hermitian(self.left)

    def matmat(self, block: Array) -> Array:
        """Return (left - right) @ block."""
        return apply(self.left, block) - apply(self.right, block)

    def rmatmat(self, block: Array) -> Array:
        """Return (left - right)^* @ block."""
        return _backwards(self.left, block) - _backwards(self.right, block)

    def __matmul__(self, block: Array) -> Array:
        return self.matvec(block) if block.ndim == 1 else self.matmat(block)

    def norm_bound(self) -> float | None:
        """Return the sum of the bounds of the two, None unless both have one."""
        left, right = norm_bound(self.left), norm_bound(self.right)
        return None if left is None or right is None else left + right


def _backwards(operator: Any, block: Array) -> Array:
    """Return ``operator^* @ block``; an operator that only goes forwards is taken for Hermitian."""
    one_way = hasattr(operator, "matvec") and not (hasattr(operator, "rmatvec") or hasattr(operator, "rmatmat"))
    return (apply if one_way else apply_adjoint)(operator, block)


def difference(left: Any, right: Any) -> Any:
    """Return left - right: an array for arrays, sparse for sparse matrices, else an operator that is never formed.

    >>> difference(np.ones((1, 2)), np.eye(2)[:1])
    array([[0., 1.]])
    """
    if isinstance(left, np.ndarray) and (isinstance(right, np.ndarray) or scipy.sparse.issparse(right)):
        dense: Any = right if isinstance(right, np.ndarray) else right.toarray()
        return left - dense.astype(_joint_dtype(left.dtype, dense.dtype), copy=False)
    if scipy.sparse.issparse(left) and scipy.sparse.issparse(right):
        return left - right.astype(_joint_dtype(left.dtype, right.dtype))
    return LazyDifference(left, right)


def pairing(cost: Any, x: Any) -> float:
    """Return Re <cost, x> for a cost that is an array, a CSR sparse array or an operator, and any atom x.

    >>> pairing(np.array([1.0, 2.0]), atoms.one_hot((2,), 1, 3.0))
    6.0
    """
    if isinstance(cost, np.ndarray) or isinstance(x, atoms.LowRank):
        return atoms.inner_product(cost, x if isinstance(x, (atoms.SparsePoint, atoms.LowRank)) else np.asarray(x))
    point = atoms.as_array(x)
    if scipy.sparse.issparse(cost):
        entries: Any = cost.tocoo()
        return float(np.vdot(entries.data, point[entries.row, entries.col]).real)
    return float(np.trace(apply_adjoint(cost, point)).real)


def _joint_dtype(left: Any, right: Any) -> np.dtype[Any]:
    """Return the precision of the left with complex numbers when either has them; integers count as doubles."""
    kind = validate.floating_dtype("operator", left)
    return np.result_type(kind, np.complex64) if np.dtype(right).kind == "c" else kind
