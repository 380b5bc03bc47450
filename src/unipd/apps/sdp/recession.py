"""Directions in which a program is unbounded, multipliers that prove there are none, and infeasibility.

Let B_1, ..., B_k be symmetric matrices. Either some psd D of trace 1 has <B_i, D> = 0 for all i, or some combination
of the B_i is positive definite (Gordan). The least-squares problem min ||B(D)||^2 / 2 over such D decides: at its
optimum D with r = B(D), B^*(r) >= |r|^2 I. One more diagonal entry in D makes a row an inequality. Three choices of B:

- rows A_i and C (with <C, D> <= 0): a combination y_1 A_1 + ... + level C >= I, level >= 0, bounds the trace of every
  feasible X, tr X <= b^T y + level <C, X>; a direction D is one in which the objective does not rise;
- rows A_i alone: a combination y_1 A_1 + ... >= I bounds the trace of every feasible X, tr X <= b^T y;
- rows A_i with -b_i for one more entry: a combination A^*(r) > 0 with b^T r < 0 proves that no X is feasible.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.apps.sdp.data import SdpData
from unipd.apps.sdp.oracle import CHOLESKY_ORDER, FixedTrace
from unipd.couplings import LeastSquares
from unipd.maps.sdp import Entries, SdpMap, smallest_eigenpair
from unipd.methods import Factored
from unipd.problem import Problem
from unipd.run import MaxIterations, solve

ACCURACIES = (1e-4, 1e-7, 1e-10, 1e-13)
"""Accuracies of ||B(D)||^2 / 2 (matrices of unit norm) tried in turn."""
HARDLY = 1e-2
"""sqrt(n) ||B(D)|| below which a proved bound is of no use: multipliers of such programs are hardly bounded."""
VANISHES = 1e-6
"""Norm of B(D) below which D counts as a direction."""


@dataclass(frozen=True, eq=False)
class Alternative:
    """One of the two: multipliers of a positive definite combination, or a direction."""

    multipliers: Array | None
    """w with sum_i w_i B_i >= I, proved; None when there is a direction (or neither was found)."""
    direction: Any
    """D of trace 1 as factors."""
    residual: float
    """||B(D)|| for matrices B_i of unit norm."""

    def hardly(self, order: int) -> bool:
        """Whether the combination is definite by so little that D is a direction for all practical purposes.

        The even D = I / n has ||B(D)|| of the order of 1 / sqrt(n).
        """
        return self.residual * math.sqrt(order) <= HARDLY


def alternative(order: int, entries: Entries, rows: int) -> Alternative | None:
    """Decide between a definite combination and a direction; None when neither can be shown.

    >>> found = alternative(2, Entries.from_matrices([np.diag([1.0, 2.0])]), 1)
    >>> bool(found.multipliers[0] >= 1.0)
    True
    >>> alternative(2, Entries.from_matrices([np.diag([1.0, -1.0])]), 1).residual < 1e-6
    True
    """
    plain = SdpMap((order, order), entries, rows)
    norms = plain.frobenius_norms()
    scales = 1.0 / np.where(norms > 0.0, norms, 1.0)
    scaled = plain.scaled(scales)
    problem = Problem(FixedTrace(order), scaled, np.zeros(rows), LeastSquares())
    method = Factored(rank=min(order, 8))
    for accuracy in ACCURACIES:
        found = solve(problem, method, accuracy=accuracy, stop=MaxIterations(300))
        residual = np.asarray(found.image)
        bottom = smallest_eigenpair(scaled.adjoint(residual)).lower
        if bottom > 0.0:
            return Alternative(residual * scales / bottom, found.x, float(np.linalg.norm(residual)))
        if np.linalg.norm(residual) <= VANISHES:
            return Alternative(None, found.x, float(np.linalg.norm(residual)))
    return None


def trace_alternative(data: SdpData) -> Alternative | None:
    """Return y with y_1 A_1 + ... >= I, or a direction in which feasible X may grow for ever.

    Constraints bounded on one side only enter with the sign that their side allows.
    """
    if data.order > CHOLESKY_ORDER:
        return None
    entries, (rows, values) = data.constraints, _one_sided(data)
    places = data.order + np.arange(rows.size)
    parts = [(entries.constraint, entries.row, entries.col, entries.value), (rows, places, places, values)]
    return alternative(data.order + rows.size, _joined(parts), data.size)


def level_alternative(data: SdpData) -> Alternative | None:
    """Return (y, level) with y_1 A_1 + ... + level C >= I as the last multiplier, or a direction that does not rise.

    A direction keeps equations (and constraints bounded on both sides) and moves others to their free side only.
    """
    if data.order > CHOLESKY_ORDER:
        return None
    entries, cost, last = data.constraints, data.cost, data.size
    size = float(np.linalg.norm(cost.value)) or 1.0
    slack = _one_sided(data)
    rows = np.concatenate([slack[0], [last]])
    places = data.order + np.arange(rows.size)
    parts = [
        (entries.constraint, entries.row, entries.col, entries.value),
        (np.full(cost.value.size, last), cost.row, cost.col, cost.value),
        (rows, places, places, np.concatenate([slack[1], [size]])),
    ]
    return alternative(data.order + rows.size, _joined(parts), data.size + 1)


def infeasibility_alternative(data: SdpData) -> Alternative | None:
    """Return multipliers r with A^*(r) >= I and b^T r < 0, which no psd X can meet; else None or a direction.

    Programs with constraints bounded on both sides are not decided here.
    """
    both = np.isfinite(data.lower) & np.isfinite(data.upper) & ~data.equal
    if data.order > CHOLESKY_ORDER or both.any():
        return None
    entries, b, slack = data.constraints, data.b, _one_sided(data)
    sides = data.order + np.arange(slack[0].size)
    rows = np.flatnonzero(b)
    last = np.full(rows.size, data.order + slack[0].size)
    parts = [
        (entries.constraint, entries.row, entries.col, entries.value),
        (slack[0], sides, sides, slack[1]),
        (rows, last, last, -b[rows]),
    ]
    return alternative(data.order + slack[0].size + 1, _joined(parts), data.size)


def _one_sided(data: SdpData) -> tuple[Array, Array]:
    """Return the constraints bounded on one side only, and the entry of their slack: + norm for <=, - norm for >=."""
    below, above = np.isfinite(data.lower), np.isfinite(data.upper)
    rows = np.flatnonzero(below != above)
    return rows, np.where(above[rows], 1.0, -1.0) * data.norms[rows]


def _joined(parts: list[tuple[Array, ...]]) -> Entries:
    constraint, row, col, value = (np.concatenate([part[place] for part in parts]) for place in range(4))
    return Entries(constraint, np.zeros_like(constraint), row, col, value)
