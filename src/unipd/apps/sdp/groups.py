"""Constraints that fix the length of groups of rows: c sum_{i in g} X_ii = b over disjoint groups g."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unipd._typing import Array, IntArray
from unipd.apps.sdp.data import SdpData
from unipd.methods.row_factors import RowFactors


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

    def factors(self, scales: Array) -> RowFactors:
        """Return factors that keep the groups, for constraints divided by ``scales``."""
        return RowFactors(self.member, self.targets, self.constraints, self.coefficients / scales[self.constraints])


def find_groups(data: SdpData) -> Groups:
    """Return a set of disjoint groups, constraints with few rows first.

    >>> from unipd.apps.sdp.data import Block
    >>> from unipd.maps.sdp import Entries
    >>> diagonal = Entries([0, 1], [0, 0], [0, 1], [0, 1], [1.0, 2.0])
    >>> data = SdpData(2, diagonal, diagonal, np.ones(2), np.ones(2), (Block(0, 2, False),))
    >>> groups = find_groups(data)
    >>> groups.covers_all, groups.trace
    (True, 1.5)
    """
    member = np.full(data.order, -1, np.int64)
    found: list[tuple[float, int, float]] = []
    for row, places, coefficient in _candidates(data):
        if np.all(member[places] < 0):
            member[places] = len(found)
            found.append((data.b[row] / coefficient, row, coefficient))
    targets, constraints, coefficients = (
        (np.array(part) for part in zip(*found, strict=True)) if found else (_NONE,) * 3
    )
    return Groups(member, targets, constraints.astype(np.int64), coefficients)


_NONE = np.zeros(0)


def _candidates(data: SdpData) -> list[tuple[int, IntArray, float]]:
    """Return (constraint, rows, c) of the equations c sum X_ii = b with b / c > 0, the smallest groups first."""
    entries = data.constraints.canonical()
    starts = np.searchsorted(entries.constraint, np.arange(data.size + 1))
    off = np.concatenate([[0], np.cumsum(entries.row != entries.col)])
    out: list[tuple[int, IntArray, float]] = []
    for row in range(data.size):
        first, last = starts[row], starts[row + 1]
        values = entries.value[first:last]
        diagonal = first < last and off[last] == off[first] and values.min() == values.max()
        if diagonal and data.equal[row] and data.b[row] / values[0] > 0.0:
            out.append((row, entries.row[first:last], float(values[0])))
    return sorted(out, key=lambda candidate: candidate[1].size)
