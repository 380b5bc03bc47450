"""Relaxations of binary variables: X_00 = t and X_ii = k_i X_0i, seen as rows of one length.

Such programs (theta numbers with a border, quadratic assignment, stable sets) lift variables x_i in {0, k_i}. With
X = T Y T^T, where T takes e_i to itself for the border i = 0 and row i of T is k_i (e_0 + e_i) / 2 else,
X_ii - k_i X_0i = k_i^2 (Y_ii - Y_00) / 4: the variables become y_i = +-1, the diagonal of Y is t everywhere, and the
factored method keeps it by construction. The constraints for Y are those for X without their multiples of Y_00 = t.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd.apps.sdp.data import SdpData
from unipd.apps.sdp.finish import errors_of
from unipd.apps.sdp.result import SdpResult
from unipd.apps.sdp.trace import TraceBound
from unipd.atoms import LowRank
from unipd.maps.sdp import Entries
from unipd.status import Status


@dataclass(frozen=True, eq=False)
class Binary:
    """A border, and for every other row the constraint that binds its diagonal entry to its border entry."""

    border: int
    corner: int
    """The constraint a X_00 = b."""
    value: float
    """t = b / a."""
    weight: float
    """a."""
    relations: IntArray
    """For each row the constraint a_i (X_ii - k_i X_0i) = 0, for the border that of its corner."""
    weights: Array
    """a_i of each row."""
    halves: Array
    """k_i / 2 of each row, 1 for the border."""

    def expanded(self, entries: Entries) -> Entries:
        """Return the entries of T^T A T."""
        row, col = np.asarray(entries.row, np.int64), np.asarray(entries.col, np.int64)
        border, twice = np.full(row.size, self.border), row != col
        value = entries.value * self.halves[row] * self.halves[col]
        left, right = row != self.border, col != self.border
        parts = [
            (row, col, value, left | right),
            (border, col, value, left & right & twice),
            (row, border, value, left & right),
            (border, border, np.where(twice, 2.0, 1.0) * value, left | right | ~twice),
        ]
        joined = [np.concatenate([part[k][part[3]] for part in parts]) for k in range(3)]
        constraint = np.concatenate([entries.constraint[part[3]] for part in parts])
        return _summed(constraint, *joined, order=self.halves.size)

    def corners(self, entries: Entries, count: int) -> Array:
        """Return the entry at the corner of each matrix."""
        here = (entries.row == self.border) & (entries.col == self.border)
        return np.bincount(entries.constraint[here], entries.value[here], minlength=count)

    def data(self, data: SdpData) -> SdpData:
        """Return the program for Y."""
        bound = np.isin(data.constraints.constraint, self.relations)
        old = data.constraints
        places = (old.block[~bound], old.row[~bound], old.col[~bound])
        rest = self.expanded(Entries(old.constraint[~bound], *places, old.value[~bound]))
        removed = self.corners(rest, data.size)
        kept = (rest.row != self.border) | (rest.col != self.border)
        rows = np.arange(data.order)
        diagonal = np.where(rows == self.border, self.weight, self.weights * self.halves**2)
        constraint = np.concatenate([rest.constraint[kept], self.relations])
        row, col = (np.concatenate([part[kept], rows]) for part in (rest.row, rest.col))
        value = np.concatenate([rest.value[kept], diagonal])
        entries = Entries(constraint, np.zeros_like(constraint), row, col, value)
        shift = -self.value * removed
        shift[self.relations] = self.value * diagonal
        shift[self.corner] = 0.0
        lower, upper = data.lower + shift, data.upper + shift
        return replace(data, cost=self.expanded(data.cost), constraints=entries, lower=lower, upper=upper)

    def point(self, y: LowRank) -> LowRank:
        """Return X = T Y T^T."""
        left = self.halves[:, None] * (y.left + y.left[self.border])
        left[self.border] = y.left[self.border]
        return LowRank(left, left, y.weights)

    def dual(self, data: SdpData, dual: Array) -> Array:
        """Return the multipliers for X: what the constraints for Y leave out joins that of the corner."""
        removed = self.corners(self.expanded(data.constraints), data.size)
        removed[self.relations] = -self.weights * self.halves**2
        removed[self.corner] = 0.0
        out = dual.copy()
        out[self.corner] -= float(removed @ dual) / self.weight
        return out

    def trace(self, size: int) -> TraceBound:
        """Return the bound of the trace of X: k_i^2 t + X_ii - 2 k_i X_0i >= 0 for every row."""
        y = np.zeros(size)
        y[self.relations] = 2.0 / self.weights
        squares = 1.0 + 4.0 * float((self.halves**2).sum() - 1.0)
        y[self.corner] = squares / self.weight
        return TraceBound(squares * self.value, False, "diagonal entries are bound to those of a border", y)


def brought_back(program: Any, binary: Binary, found: SdpResult, accuracy: float) -> SdpResult:
    """Return the result for X of a result for Y, everything measured anew."""
    data: SdpData = program.data
    sign, dual = -1.0 if program.maximise else 1.0, binary.dual(data, found.dual)
    slack = data.extended.adjoint(np.concatenate([np.ones(1), dual]))
    if found.x is None:
        return replace(found, dual=dual, slack=slack, trace_bound=binary.trace(data.size), accuracy=accuracy)
    x = binary.point(found.x)
    both = data.extended.image(x)
    objective, image = float(both[0]), both[1:]
    violation = data.violation(image)
    infeasibility = float(np.linalg.norm(violation)) / (1.0 + float(np.linalg.norm(data.b)))
    bound = sign * (found.dual_bound - program.constant)
    gap = (objective - bound) / max(1.0, abs(objective))
    status = found.status
    if status is Status.SOLVED and not (infeasibility <= accuracy and abs(gap) <= accuracy):
        status = Status.STALLED
    return replace(
        found,
        status=status,
        message=status.message,
        objective=sign * objective + program.constant,
        gap=gap,
        infeasibility=infeasibility,
        x=x,
        dual=dual,
        slack=slack,
        dimacs_errors=errors_of(data, violation, dual, slack, x, 0.0, objective),
        trace_bound=binary.trace(data.size),
        accuracy=accuracy,
        image=image,
    )


def _summed(constraint: Array, row: Array, col: Array, value: Array, *, order: int) -> Entries:
    """Return entries with those of one place added up."""
    low, high = np.minimum(row, col), np.maximum(row, col)
    keys, inverse = np.unique((constraint.astype(np.int64) * order + low) * order + high, return_inverse=True)
    total = np.bincount(inverse, value)
    keys, total = keys[total != 0.0], total[total != 0.0]
    constraint, place = np.divmod(keys, order * order)
    return Entries(constraint, np.zeros_like(constraint), *np.divmod(place, order), total)
