"""The convex hull of given points."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd.errors import InvalidInput
from unipd.sharp.base import SharpSet


class ConvexHull(SharpSet):
    """Convex hull of finitely many points; [y]^# is the point with the largest <y, x>.

    Parameters
    ----------
    points
        The points, one per row: an array of shape (number of points, *shape of x), real or complex. Points that are
        not vertices do no harm.

    Raises
    ------
    InvalidInput
        ``points``: expected an array of finite numbers.

    See Also
    --------
    from_callable, Simplex

    Examples
    --------
    >>> triangle = ConvexHull([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> triangle(np.array([1.0, 1.0])).atom
    array([0., 2.])
    """

    def __init__(self, points: Any) -> None:
        self.points = validate.finite_array("points", points)
        if self.points.ndim < 2 or not self.points.size:
            raise InvalidInput("points", "an array with one point per row", f"shape {self.points.shape}")
        super().__init__(self.points.shape[1:])
        self.real_only = self.points.dtype.kind != "c"
        self._rows = self.points.reshape(self.points.shape[0], -1)

    def maximiser(self, direction: Array) -> Any:
        """Return the best point (the first among equals)."""
        dtype = direction.dtype if self.real_only else np.result_type(direction.dtype, np.complex64)
        return self.points[int(np.argmax(self._scores(direction)))].astype(dtype)

    def peak(self, direction: Array) -> float:
        """Return the largest <y, x> over the points."""
        return float(self._scores(direction).max())

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x is a convex combination of the points: nonnegative least squares for its weights."""
        from scipy.optimize import nnls

        point = self._point(x)
        if point is None:
            return False
        size = float(np.abs(self._rows).max()) or 1.0
        system = _real_columns(self._rows) / size
        target = _real_columns(point.reshape(1, -1)) / size
        if target.shape[0] != system.shape[0]:  # a real point and complex vertices
            target = np.concatenate([target, np.zeros_like(target)])
        ones = np.ones((1, system.shape[1]))
        _, distance = nnls(np.concatenate([system, ones]), np.append(target[:, 0], 1.0))
        return bool(distance <= tolerance)

    def _scores(self, direction: Array) -> Array:
        return (self._rows @ direction.reshape(-1).conj()).real


def _real_columns(rows: Array) -> Array:
    """Return the transpose in double precision, complex numbers as their real above their imaginary parts."""
    if rows.dtype.kind != "c":
        return rows.T.astype(np.float64)
    return np.concatenate([np.real(rows).T, np.imag(rows).T]).astype(np.float64)
