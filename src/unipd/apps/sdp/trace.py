"""A bound of the trace of every feasible X, from the constraints."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array
from unipd.apps.sdp.data import SdpData
from unipd.methods.row_groups import Groups


@dataclass(frozen=True)
class TraceBound:
    """tr X = value, or tr X <= value, for every feasible X."""

    value: float
    fixed: bool
    """Whether the trace is exactly this."""
    reason: str
    """Where the bound comes from, for people."""
    multipliers: Array | None = field(default=None, repr=False)
    """y with sum_i y_i A_i >= I (= I for a fixed trace): what proves the bound. None: it is not proved."""

    level: float = 0.0
    """With a level > 0, sum_i y_i A_i + level C >= I: the bound holds for optimal X."""

    @property
    def proved(self) -> bool:
        """Whether the constraints imply the bound."""
        return self.multipliers is not None

    @property
    def statement(self) -> str:
        """What a result must say about a bound that the constraints alone do not imply; else empty."""
        if self.level > 0.0:
            return (
                f" The constraints bound no trace: X was sought with trace at most {self.value:.4g} (enlarged while "
                "that was too small), and the dual bound holds for X of any trace."
            )
        return "" if self.proved else f" The dual bound holds for X of trace at most {self.value:.6g}, {self.reason}."


def bound_from_diagonals(data: SdpData, groups: Groups) -> TraceBound | None:
    """Return the trace bound that constraints on the diagonal imply, or None.

    Either disjoint groups of diagonal entries with given sums cover the diagonal, or multipliers y with
    sum_i y_i diag(A_i) >= 1 exist among the diagonal A_i: then tr X <= sum_i y_i b_i. The best are found by linear
    programming and checked afterwards.

    >>> from unipd.apps.sdp.data import Block
    >>> from unipd.methods.row_groups import find_groups
    >>> from unipd.maps.sdp import Entries
    >>> weights = Entries.from_matrices([np.diag([1.0, 2.0])])
    >>> data = SdpData(2, weights, weights, np.full(1, -np.inf), np.full(1, 3.0), (Block(0, 2, False),))
    >>> round(bound_from_diagonals(data, find_groups(data.diagonals, data.b, data.equal)).value, 6)
    3.0
    """
    if groups.covers_all:
        y = np.zeros(data.size)
        y[groups.constraints] = 1.0 / groups.coefficients
        return TraceBound(groups.trace, True, "constraints on the diagonal add up to the trace", y)
    matrix = data.diagonals
    if np.unique(matrix.indices).size < data.order:
        return None
    y = _cheapest_cover(matrix, data)
    return None if y is None else _checked(matrix, data, y)


def _cheapest_cover(matrix: Any, data: SdpData) -> Array | None:
    """Return y = p - q, p and q >= 0, that minimises p^T upper - q^T lower subject to A^T y >= 1."""
    from scipy.optimize import linprog

    used = np.diff(matrix.indptr) > 0
    above, below = np.isfinite(data.upper) & used, np.isfinite(data.lower) & used
    cost = np.concatenate([data.upper[above], -data.lower[below]])
    columns = sp.hstack([-matrix[above].T, matrix[below].T], format="csc")
    found: Any = linprog(cost, A_ub=columns, b_ub=-np.ones(data.order), bounds=(0.0, None), method="highs")
    if found.status != 0:
        return None
    y = np.zeros(data.size)
    y[above] += found.x[: int(above.sum())]
    y[below] -= found.x[int(above.sum()) :]
    return y


def _checked(matrix: Any, data: SdpData, y: Array) -> TraceBound | None:
    """Return the bound that y proves, whatever the linear program said."""
    cover = float((matrix.T @ y).min())
    price = price_of(data, y)
    if not (cover > 0.5 and math.isfinite(price) and price > 0.0):
        return None
    grow = (1.0 + 1e-12 * data.order) / cover
    return TraceBound(price * grow, False, "a combination of the constraints on the diagonal", y * grow)


def price_of(data: SdpData, y: Array) -> float:
    """Return the largest value of sum_i y_i <A_i, X> that the bounds allow.

    >>> from unipd.apps.sdp.data import Block
    >>> from unipd.maps.sdp import Entries
    >>> one = Entries.from_matrices([np.eye(1)])
    >>> price_of(SdpData(1, one, one, np.array([-1.0]), np.array([2.0]), (Block(0, 1, True),)), np.array([-3.0]))
    3.0
    """
    above, below = y > 0.0, y < 0.0
    return float(y[above] @ data.upper[above] + y[below] @ data.lower[below])
