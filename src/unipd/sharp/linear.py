"""A linear objective over any set, or on top of any objective."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd import validate
from unipd._typing import Array
from unipd.errors import InvalidInput
from unipd.protocols import SharpAnswer, SharpOracle
from unipd.sharp.lazy_difference import LazyDifference, pairing


class Linear:
    """f(x) = <c, x> over a set X; [y]^# is the set's own maximiser at y - c.

    When the given oracle has an objective of its own, the linear one is added to it.

    Parameters
    ----------
    cost
        The vector or matrix c: an array of the shape of x, or over spectral sets a SciPy sparse matrix or an
        operator with matvec and rmatvec.
    oracle
        The sharp oracle of X.

    Examples
    --------
    >>> from unipd.sharp import Simplex
    >>> linear = Linear(np.array([3.0, 1.0, 2.0]), Simplex(3))
    >>> answer = linear(np.zeros(3))
    >>> answer.atom.dense(), answer.value, answer.objective
    (array([0., 1., 0.]), -1.0, 1.0)
    """

    def __init__(self, cost: Any, oracle: SharpOracle) -> None:
        self.oracle = oracle
        self.cost = _checked_cost(cost, oracle.shape)
        self._zero = isinstance(self.cost, np.ndarray) and not self.cost.any()

    @property
    def shape(self) -> Any:
        """Shape of x."""
        return self.oracle.shape

    @property
    def exact(self) -> bool:
        """Exact when the set's oracle is."""
        return self.oracle.exact

    @property
    def degree(self) -> float | None:
        """The set's degree when c = 0, else None."""
        return self.oracle.degree if self._zero else None

    @property
    def linear(self) -> bool:
        """Linear over a bare set."""
        return self.oracle.linear

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the set's maximiser at y - c."""
        answer = self.oracle(self._shifted(direction), tolerance=tolerance, start=start)
        return replace(answer, objective=answer.objective + pairing(self.cost, answer.atom))

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the set's maximum at y - c; ``objective`` is NaN when the set gives no maximiser."""
        answer = self.oracle.value(self._shifted(direction), tolerance=tolerance, start=start)
        extra = np.nan if answer.atom is None else pairing(self.cost, answer.atom)
        return replace(answer, objective=answer.objective + extra)

    def objective(self, x: Any) -> float:
        """Return <c, x> (plus the oracle's own objective)."""
        return pairing(self.cost, x) + self.oracle.objective(x)

    def support(self, direction: Any) -> float:
        """Return the support function of the set."""
        return self.oracle.support(direction)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x lies in the set."""
        return self.oracle.contains(x, tolerance)

    def maximum(self) -> float:
        """Return the support function of the set at c (plus the maximum of the oracle's own objective)."""
        return self.oracle.support(self.cost) + self.oracle.maximum()

    def _shifted(self, direction: Any) -> Any:
        """Return y - c: an array for arrays, sparse for sparse matrices, else an operator that is never formed."""
        if _is_operator(direction) or _is_operator(self.cost):
            return LazyDifference(direction, self.cost)
        if sp.issparse(direction):
            return direction - self.cost if sp.issparse(self.cost) else LazyDifference(direction, self.cost)
        y = validate.finite_array("direction", direction, shape=self.oracle.shape)
        cost = self.cost.toarray() if sp.issparse(self.cost) else self.cost
        return y - _matched(cost, y.dtype)


def _matched(cost: Array, dtype: np.dtype[Any]) -> Array:
    """Return c in the precision of the direction, complex when c is."""
    target = np.result_type(dtype, np.complex64) if cost.dtype.kind == "c" else dtype
    return cost.astype(target, copy=False)


def _is_operator(matrix: Any) -> bool:
    return hasattr(matrix, "matvec")


def _checked_cost(cost: Any, shape: Any) -> Any:
    if not _is_operator(cost) and not sp.issparse(cost):
        return validate.finite_array("cost", cost, shape=shape)
    if tuple(cost.shape) != shape:
        raise InvalidInput("cost", f"shape {shape}", f"shape {tuple(cost.shape)}")
    if _is_operator(cost):
        return cost
    rows = sp.csr_array(cost)
    if not np.isfinite(rows.data).all():
        raise InvalidInput("cost", "finite numbers", "NaN or inf among the stored entries")
    return rows
