"""The nuclear norm (paper, matrix completion): balls, also weighted and of groups of columns, and its square."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array, Shape
from unipd._util import validate
from unipd._util.arrays import real_dtype
from unipd._util.printing import short_repr
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.protocols import SharpAnswer
from unipd.sharp.norms import NormOnBall
from unipd.sharp.spectral.base import RankOneSharp, SquaredSharp, singular_values
from unipd.sharp.spectral.factors import NuclearNormFactors, SpectralFactors
from unipd.spectral import weakest_bound
from unipd.spectral.certify import knows_entries
from unipd.spectral.operators import LazyMatrix, Products, is_explicit


class NuclearBall(RankOneSharp):
    """The ball {||X||_* <= r}; [Y]^# = r u v^* from the top singular triple, support r sigma_1(Y).

    At Y = 0 the answer is the zero matrix (an atom of weight 0).

    Parameters
    ----------
    shape
        Rows and columns of X.
    radius
        The radius r > 0.
    options
        ``certify``, ``engine`` and ``certification`` of :class:`~unipd.sharp.spectral.base.SpectralSharp`.

    Raises
    ------
    InvalidInput
        ``radius``: expected a number above zero.

    See Also
    --------
    NuclearNormSquared, WeightedNuclearBall, unipd.MatrixCompletion, unipd.couplings.NuclearBall

    Examples
    --------
    >>> import numpy as np
    >>> answer = NuclearBall((2, 3), radius=2.0)(np.array([[3.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    >>> round(answer.value, 9), answer.atom.dense().round(9)
    (6.0, array([[2., 0., 0.], [0., 0., 0.]]))
    """

    def __init__(self, shape: Shape, radius: float = 1.0, **options: Any) -> None:
        super().__init__(shape, **options)
        self.radius = validate.positive("radius", radius)

    def weight(self, top: float) -> float:
        """Return r, or 0 at the zero direction."""
        return self.radius if top > 0.0 else 0.0

    def conjugate(self, top: float) -> float:
        """Return r sigma."""
        return self.radius * max(top, 0.0)

    def top_value_tolerance(self, top: float, tolerance: float) -> float:
        """Return tolerance / r."""
        return tolerance / self.radius

    def norm(self, x: Any) -> float | None:
        """Return ||X||_* of a point (from its factors where it has them), or None when it does not fit."""
        values = singular_values(x, self.shape)
        return None if values is None else float(values.sum())

    def factors(self) -> SpectralFactors | None:
        """Return X = U V^* with ||U||^2 + ||V||^2 <= 2 r; None for subclasses with other norms."""
        known = type(self).norm is NuclearBall.norm
        return SpectralFactors(self.shape[0], self.shape[1], self.radius, ball=True) if known else None

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether ||X||_* <= r."""
        size = self.norm(x)
        return size is not None and size <= self.radius * (1.0 + tolerance)


class NuclearNormOnBall(NormOnBall):
    """f(X) = w ||X||_* over {||X||_* <= r}; [Y]^# = r u v^* if sigma_1 > w, else 0, conjugate r max(0, sigma_1 - w).

    Parameters
    ----------
    shape
        Rows and columns of X.
    radius
        The radius r > 0 of a ball that holds the solution.
    weight
        The weight w > 0.
    options
        ``certify``, ``engine`` and ``certification`` of :class:`~unipd.sharp.spectral.base.SpectralSharp`.

    Raises
    ------
    InvalidInput
        ``radius``, ``weight``: expected a number above zero.

    See Also
    --------
    NuclearBall, NuclearNormSquared, NormOnBall, unipd.methods.NormBarrier

    Examples
    --------
    >>> import numpy as np
    >>> answer = NuclearNormOnBall((2, 2), radius=2.0)(np.diag([3.0, 1.0]))
    >>> round(answer.value, 9), round(answer.objective, 9)
    (4.0, 2.0)
    """

    def __init__(self, shape: Shape, radius: float = 1.0, weight: float = 1.0, **options: Any) -> None:
        super().__init__(NuclearBall(shape, radius, **options), weight)


class NuclearNormSquared(SquaredSharp):
    """f(X) = w ||X||_*^2 on all matrices; [Y]^# = (sigma_1 / 2w) u v^*, conjugate sigma_1^2 / (4w).

    The paper's matrix completion has w = 1/n: X^* = (n sigma_1 / 2) u v^* and conjugate n sigma_1^2 / 4.

    Parameters
    ----------
    shape
        Rows and columns of X.
    weight
        The factor w > 0.
    options
        ``certify``, ``engine`` and ``certification`` of :class:`~unipd.sharp.spectral.base.SpectralSharp`.

    Raises
    ------
    InvalidInput
        ``weight``: expected a number above zero.

    See Also
    --------
    NuclearBall, unipd.methods.NormBarrier

    Examples
    --------
    >>> import numpy as np
    >>> answer = NuclearNormSquared((2, 2), weight=0.5)(np.diag([3.0, 1.0]))
    >>> round(answer.value, 9), round(answer.objective, 9)
    (4.5, 4.5)
    """

    def __init__(self, shape: Shape, weight: float = 1.0, **options: Any) -> None:
        super().__init__(shape, **options)
        self.scale = validate.positive("weight", weight)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape}, weight={short_repr(self.scale)})"

    def objective(self, x: Any) -> float:
        """Return w ||X||_*^2."""
        values = singular_values(x, self.shape)
        if values is None:
            raise InvalidInput("x", f"a finite matrix of shape {self.shape}")
        return self.scale * float(values.sum()) ** 2

    def nuclear_slope(self, size: float) -> float | None:
        """Return 2 w ||X||_*; None for subclasses with other norms."""
        known = type(self).objective in (NuclearNormSquared.objective, BalancedNuclearNormSquared.objective)
        return 2.0 * self.scale * size if known else None

    def factors(self) -> NuclearNormFactors | None:
        """Return X = U V^* with the objective w ((||U||^2 + ||V||^2) / 2)^2; None for subclasses with other norms."""
        known = self.nuclear_slope(1.0) is not None
        return NuclearNormFactors(self.shape[0], self.shape[1], 1.0, False, weight=self.scale) if known else None

    def support(self, direction: Any) -> float:
        """Return the support function of the whole space: 0 at 0 and inf elsewhere."""
        top = self.engine.singular_triples(self._validate_direction(direction), tolerance=1.0).value
        return math.inf if top > 0.0 else 0.0

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x is a finite matrix of the right shape."""
        return singular_values(x, self.shape) is not None


class BalancedNuclearNormSquared(NuclearNormSquared):
    """f(X) = w ||X||_*^2, evaluated at factors by its smooth upper bound w ((||U||^2 + ||V||^2) / 2)^2.

    The bound is attained by balanced factors, which minimisers are.

    >>> one = np.ones((2, 1))
    >>> round(BalancedNuclearNormSquared((2, 2)).objective(LowRank(one, one, np.ones(1))), 9)
    4.0
    """

    def objective(self, x: Any) -> float:
        """Return w ((||U||^2 + ||V||^2) / 2)^2 of factors, w ||X||_*^2 of other points."""
        if not isinstance(x, LowRank):
            return super().objective(x)
        lengths = (np.abs(x.left) ** 2).sum(axis=0) + (np.abs(x.right) ** 2).sum(axis=0)
        return self.scale * (0.5 * float(lengths @ np.abs(x.weights))) ** 2


class WeightedNuclearBall(NuclearBall):
    """{||D_r^{1/2} X D_c^{1/2}||_* <= r} with positive diagonal weights.

    With (u, v) the top singular pair of Z = D_r^{-1/2} Y D_c^{-1/2}, [Y]^# = r (D_r^{-1/2} u) (D_c^{-1/2} v)^* and
    the support is r sigma_1(Z). In completion the weights are the counts of ratings, to some power.

    Parameters
    ----------
    row_weights, column_weights
        The diagonals of D_r and D_c: positive numbers.
    radius
        The radius r > 0.
    options
        ``certify``, ``engine`` and ``certification`` of :class:`~unipd.sharp.spectral.base.SpectralSharp`.

    See Also
    --------
    NuclearBall, GroupNuclearBall

    Examples
    --------
    >>> ball = WeightedNuclearBall([4.0, 1.0], [1.0, 1.0, 1.0], radius=2.0)
    >>> answer = ball(np.array([[3.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    >>> round(answer.value, 9), answer.atom.dense().round(9)
    (3.0, array([[1., 0., 0.], [0., 0., 0.]]))
    """

    def __init__(self, row_weights: Any, column_weights: Any, radius: float = 1.0, **options: Any) -> None:
        rows, columns = _positive("row_weights", row_weights), _positive("column_weights", column_weights)
        super().__init__((rows.size, columns.size), radius, **options)
        self.row_weights, self.column_weights = rows, columns
        self._row_roots, self._column_roots = np.sqrt(rows), np.sqrt(columns)

    def answer(self, direction: Any, tolerance: float, start: Any, certify: str) -> SharpAnswer:
        """Return the atom of the top pair of the scaled direction, scaled back."""
        scaled = scale_rows_and_columns(direction, 1.0 / self._row_roots, 1.0 / self._column_roots)
        unscaled = (
            self._rescale_factors(start, 1.0) if isinstance(start, LowRank) and start.shape == self.shape else None
        )
        found = super().answer(scaled, tolerance, unscaled, certify)
        atom = self._rescale_factors(found.atom, -1.0)
        return SharpAnswer(atom, found.value, found.objective, found.error, found.matvecs, found.bound_kind)

    def norm(self, x: Any) -> float | None:
        """Return ||D_r^{1/2} X D_c^{1/2}||_* of a point, or None when it does not fit."""
        if tuple(getattr(x, "shape", np.shape(x))) != self.shape:
            return None
        if isinstance(x, LowRank):
            return super().norm(self._rescale_factors(x, 1.0))
        matrix = x if scipy.sparse.issparse(x) else np.asarray(x)
        return super().norm(scale_rows_and_columns(matrix, self._row_roots, self._column_roots))

    def _rescale_factors(self, x: LowRank, power: float) -> LowRank:
        """Return D_r^{p/2} X D_c^{p/2} in factors."""
        rows = (self._row_roots**power)[:, np.newaxis].astype(real_dtype(x.dtype))
        columns = (self._column_roots**power)[:, np.newaxis].astype(rows.dtype)
        return LowRank(rows * x.left, columns * x.right, x.weights)


def _positive(name: str, values: Any) -> Array:
    weights = validate.real_array(name, values, ndim=1)
    if weights.size == 0 or weights.min() <= 0.0:
        raise InvalidInput(name, "positive numbers", "none" if weights.size == 0 else "an entry <= 0")
    return weights.astype(np.float64)


class _Scaled(LazyMatrix):
    """diag(rows) M diag(columns) with real diagonals."""

    def __init__(self, operator: Any, rows: Array, columns: Array) -> None:
        self.operator, self._products = operator, Products(operator)
        super().__init__(self._products.shape, self._products.dtype)
        precision = real_dtype(self.dtype)
        self._rows, self._columns = (side.astype(precision)[:, np.newaxis] for side in (rows, columns))

    def matmat(self, block: Array) -> Array:
        """Return the product with a block of columns."""
        return self._rows * self._products.forward(self._columns * block)

    def rmatmat(self, block: Array) -> Array:
        """Return the product of the adjoint with a block of columns."""
        return self._columns * self._products.adjoint(self._rows * block)


class _ScaledEntries(_Scaled):
    """The same for an operator whose entries are known."""

    def tocsr(self) -> Any:
        """Return the scaled matrix as a sparse one."""
        rows, columns = (scipy.sparse.diags_array(side[:, 0]) for side in (self._rows, self._columns))
        return (rows @ self.operator.tocsr() @ columns).tocsr()


def scale_rows_and_columns(operator: Any, rows: Array, columns: Array) -> Any:
    """Return diag(rows) M diag(columns) in the form that M has.

    >>> scale_rows_and_columns(np.ones((1, 2)), np.array([2.0]), np.array([1.0, 3.0]))
    array([[2., 6.]])
    """
    if isinstance(operator, np.ndarray):
        precision = np.result_type(operator.dtype, np.float32)
        return (rows[:, np.newaxis] * operator * columns).astype(precision, copy=False)
    if scipy.sparse.issparse(operator):
        return (scipy.sparse.diags_array(rows) @ operator @ scipy.sparse.diags_array(columns)).astype(operator.dtype)
    kind = _ScaledEntries if knows_entries(operator) else _Scaled
    return kind(operator, rows, columns)


class GroupNuclearBall(NuclearBall):
    """{sum_g ||X_g||_* <= r} with X_g the columns of group g; the groups partition the columns.

    [Y]^# is the atom r u v^* of the group with the largest singular value, support r max_g sigma_1(Y_g).

    Parameters
    ----------
    shape
        Rows and columns of X.
    groups
        Column indices of each group; every column belongs to exactly one.
    radius
        The radius r > 0.
    options
        ``certify``, ``engine`` and ``certification`` of :class:`~unipd.sharp.spectral.base.SpectralSharp`.

    See Also
    --------
    NuclearBall, GroupBall

    Examples
    --------
    >>> ball = GroupNuclearBall((2, 3), [[0, 1], [2]], radius=2.0)
    >>> answer = ball(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 3.0]]))
    >>> round(answer.value, 9), answer.atom.dense().round(9)
    (6.0, array([[0., 0., 0.], [0., 0., 2.]]))
    """

    def __init__(self, shape: Shape, groups: Sequence[Any], radius: float = 1.0, **options: Any) -> None:
        super().__init__(shape, radius, **options)
        self.groups = _validate_groups(groups, self.shape[1])
        self._parts = tuple(NuclearBall((self.shape[0], group.size), radius, **options) for group in self.groups)

    @property
    def exact(self) -> bool:
        """Exact when every group is."""
        return all(part.exact for part in self._parts)

    def answer(self, direction: Any, tolerance: float, start: Any, certify: str) -> SharpAnswer:
        """Return the best group's atom, padded by zeros; the error covers every group."""
        answers = [
            part.answer(columns_of(direction, group), tolerance, _restrict_to_group(start, group, self.shape), certify)
            for part, group in zip(self._parts, self.groups, strict=True)
        ]
        best = int(np.argmax([answer.value for answer in answers]))
        upper = max(answer.value + answer.error for answer in answers)
        weakest = weakest_bound(answer.bound_kind for answer in answers)
        atom = _pad_columns(answers[best].atom, self.groups[best], self.shape[1])
        work = sum(answer.matvecs for answer in answers)
        return SharpAnswer(atom, answers[best].value, 0.0, upper - answers[best].value, work, weakest)

    def norm(self, x: Any) -> float | None:
        """Return sum_g ||X_g||_* of a point, or None when it does not fit."""
        if tuple(getattr(x, "shape", np.shape(x))) != self.shape:
            return None
        sizes = [part.norm(_columns(x, group)) for part, group in zip(self._parts, self.groups, strict=True)]
        return None if None in sizes else sum(size for size in sizes if size is not None)


def _validate_groups(groups: Any, columns: int) -> tuple[Array, ...]:
    """Return the indices of each group; together they must be all columns, each once."""
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise InvalidInput("groups", "a list of column indices for each group", validate.describe_type(groups))
    parts = tuple(_indices(group) for group in groups)
    if min((part.size for part in parts), default=0) == 0:
        raise InvalidInput("groups", "at least one column in each group", "an empty group")
    indices = np.sort(np.concatenate(parts))
    if not np.array_equal(indices, np.arange(columns)):
        raise InvalidInput("groups", f"each of the {columns} columns exactly once", f"{indices.size} indices")
    return parts


def _indices(group: Any) -> Array:
    try:
        part = np.asarray(group).reshape(-1)
    except ValueError:
        part = np.empty(1, object)
    if part.size and part.dtype.kind not in "iu":
        raise InvalidInput("groups", "integer column indices", validate.describe_type(group))
    return part.astype(np.intp)


def _restrict_to_group(start: Any, group: Array, shape: Shape) -> LowRank | None:
    """Return a recent atom's part in a group, or None when it has none there."""
    if not isinstance(start, LowRank) or start.shape != shape or not np.any(start.right[group]):
        return None
    return LowRank(start.left, start.right[group], start.weights)


def _columns(x: Any, group: Array) -> Any:
    if isinstance(x, LowRank):
        return LowRank(x.left, x.right[group], x.weights)
    return columns_of(x if scipy.sparse.issparse(x) else np.asarray(x), group)


def _pad_columns(atom: LowRank, group: Array, columns: int) -> LowRank:
    right = np.zeros((columns, atom.rank), atom.dtype, order="F")
    right[group] = atom.right
    return LowRank(atom.left, right, atom.weights)


class _Columns(LazyMatrix):
    """Some columns of M: vectors are padded by zeros."""

    def __init__(self, operator: Any, columns: Array) -> None:
        self.operator, self._products, self._columns = operator, Products(operator), columns
        super().__init__((self._products.shape[0], columns.size), self._products.dtype)

    def matmat(self, block: Array) -> Array:
        """Return the product with a block of columns."""
        padded = np.zeros((self._products.shape[1], block.shape[1]), self.dtype)
        padded[self._columns] = block
        return self._products.forward(padded)

    def rmatmat(self, block: Array) -> Array:
        """Return the product of the adjoint with a block of columns."""
        return self._products.adjoint(block)[self._columns]


class _ColumnsEntries(_Columns):
    """The same for an operator whose entries are known."""

    def tocsr(self) -> Any:
        """Return the columns as a sparse matrix."""
        return self.operator.tocsr()[:, self._columns]


def columns_of(operator: Any, columns: Array) -> Any:
    """Return some columns of M: a matrix for a matrix, an operator for an operator.

    >>> columns_of(np.array([[1.0, 2.0, 3.0]]), np.array([0, 2]))
    array([[1., 3.]])
    """
    if is_explicit(operator):
        return operator.tocsc()[:, columns] if scipy.sparse.issparse(operator) else operator[:, columns]
    kind = _ColumnsEntries if knows_entries(operator) else _Columns
    return kind(operator, columns)
