"""The ball of a sum of nuclear norms over groups of columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array, Shape
from unipd._util import validate
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.protocols import SharpAnswer
from unipd.sharp.spectral.nuclear import NuclearBall
from unipd.spectral import weakest_bound
from unipd.spectral.certify.rigorous import knows_entries
from unipd.spectral.operators import LazyMatrix, Products, is_explicit


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
