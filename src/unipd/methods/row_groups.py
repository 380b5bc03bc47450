"""Diagonal constraints that fix the length of groups of rows: c sum_{i in g} X_ii = b over disjoint groups g."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd.couplings import Equality
from unipd.maps import RankOneMeasurements
from unipd.maps.sdp import SdpMap
from unipd.methods.row_factors import RowFactors
from unipd.problem import Problem
from unipd.sharp import Linear, Spectrahedron


@dataclass(frozen=True, eq=False)
class Groups:
    """Disjoint groups of rows whose squared lengths constraints fix."""

    member: IntArray
    """The group of each row, -1 for none."""
    targets: Array
    """What each group's diagonal entries add up to."""
    constraints: IntArray
    """The constraint of each group."""
    coefficients: Array
    """c of each group's constraint."""

    @property
    def covers_all(self) -> bool:
        """Whether every row is in a group, so that the trace is fixed."""
        return bool((self.member >= 0).all())

    @property
    def trace(self) -> float:
        """Sum of the targets."""
        return float(self.targets.sum())

    def factors(self, scales: Array | None = None) -> RowFactors:
        """Return factors that keep the groups, for constraints divided by ``scales``."""
        divisors = 1.0 if scales is None else scales[self.constraints]
        return RowFactors(self.member, self.targets, self.constraints, self.coefficients / divisors)


def find_groups(diagonals: Any, b: Array, equal: Array) -> Groups:
    """Return a set of disjoint groups, constraints with few rows first.

    Parameters
    ----------
    diagonals
        CSR matrix with the diagonal of each A_i that is diagonal (:meth:`unipd.maps.sdp.SdpMap.diagonals`).
    b
        Right-hand sides.
    equal
        Which constraints are equations.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> groups = find_groups(sp.csr_array(np.diag([1.0, 2.0])), np.ones(2), np.ones(2, bool))
    >>> groups.covers_all, groups.trace
    (True, 1.5)
    """
    member = np.full(diagonals.shape[1], -1, np.int64)
    found: list[tuple[float, int, float]] = []
    for row, places, coefficient in _candidates(diagonals, b, equal):
        if np.all(member[places] < 0):
            member[places] = len(found)
            found.append((b[row] / coefficient, row, coefficient))
    targets, constraints, coefficients = np.array(found).reshape(-1, 3).T
    return Groups(member, targets, constraints.astype(np.int64), coefficients)


def _candidates(diagonals: Any, b: Array, equal: Array) -> list[tuple[int, IntArray, float]]:
    """Return (constraint, rows, c) of the equations c sum X_ii = b with b / c > 0, the smallest groups first."""
    starts, out = diagonals.indptr, list[tuple[int, IntArray, float]]()
    for row in np.flatnonzero(equal & (np.diff(starts) > 0)):
        part = slice(starts[row], starts[row + 1])
        values = diagonals.data[part]
        if values.min() == values.max() and b[row] / values[0] > 0.0:
            out.append((int(row), diagonals.indices[part], float(values[0])))
    return sorted(out, key=lambda candidate: candidate[1].size)


def kept_rows(problem: Problem) -> RowFactors | None:
    """Return factors that keep the diagonal constraints of <C, X> over a spectrahedron, where these cover the diagonal.

    >>> from unipd.maps.sdp import Entries
    >>> diagonal = SdpMap((2, 2), Entries([0, 1], [0, 0], [0, 1], [0, 1], [1.0, 1.0]), 2)
    >>> cost = Linear(np.array([[0.0, 1.0], [1.0, 0.0]]), Spectrahedron(2, 2.0))
    >>> kept_rows(Problem(cost, diagonal, np.ones(2), "=")).targets
    array([1., 1.])
    """
    sharp, rows = problem.sharp, problem.map
    listed = isinstance(rows, (SdpMap, RankOneMeasurements))
    if not (isinstance(sharp, Linear) and listed and isinstance(problem.coupling, Equality)):
        return None
    cost, oracle = sharp.cost, sharp.oracle
    plain = not hasattr(cost, "matvec") and cost.dtype == problem.dtype == np.float64  # operators may be lopsided
    if type(oracle) is not Spectrahedron or not plain:
        return None
    groups = find_groups(rows.diagonals(), problem.b, np.ones(problem.b.size, bool))
    whole = groups.covers_all and groups.targets.size > 1 and math.isclose(groups.trace, oracle.trace, rel_tol=1e-12)
    return groups.factors() if whole else None
