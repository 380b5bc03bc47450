"""The ball of the nuclear norm with weighted rows and columns (weighted trace norm)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from unipd._typing import Array
from unipd._util import validate
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.protocols import SharpAnswer
from unipd.sharp.spectral.nuclear import NuclearBall
from unipd.spectral.certify.rigorous import knows_entries
from unipd.spectral.operators import LazyMatrix, Products


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
        rows = (self._row_roots**power)[:, np.newaxis].astype(np.finfo(x.dtype).dtype)
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
        precision = np.finfo(self.dtype).dtype
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
