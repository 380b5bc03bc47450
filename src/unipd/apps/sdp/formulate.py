"""From the data of a semidefinite program to the template, and to the method that suits it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.apps.sdp.cost import SdpCost
from unipd.apps.sdp.data import SdpData
from unipd.apps.sdp.face import Face, FacedMap, Reflection, find_face
from unipd.apps.sdp.joint import JointMap
from unipd.apps.sdp.oracle import BoundedTrace, FixedTrace
from unipd.apps.sdp.trace import TraceBound
from unipd.methods import Factored
from unipd.methods.factors import SpectralFactors
from unipd.methods.row_groups import Groups, find_groups
from unipd.problem import Problem
from unipd.team import team

REGULARISATION = 5.0
"""Of the preconditioner: multipliers hide the scales of the columns, so they are hardly evened out."""
LEAST_COLUMNS = 40
"""Columns of R to begin with are no more than this or a quarter of the order: too few cost dearly, one by one."""
MEMORY = 15
"""Pairs of the quasi-Newton directions of an augmented Lagrangian."""


@dataclass(frozen=True, eq=False)
class Analysis:
    """What the structure of the data says, before any trace is known."""

    data: SdpData
    """The program as given."""
    reduced: SdpData
    """The same without a constraint that a face takes care of."""
    face: Face | None
    groups: Groups

    @property
    def rows_kept(self) -> bool:
        """Whether the factors keep all diagonal groups by construction."""
        return self.face is None and self.groups.covers_all and self.groups.targets.size > 1

    def joint(self) -> JointMap | FacedMap:
        """Return the map with its cost, constraints scaled to unit Frobenius norm."""
        scales = np.concatenate([np.ones(1), 1.0 / self.reduced.norms])
        joint = JointMap(team().distribute(self.reduced.extended.scaled(scales)))
        return joint if self.face is None else FacedMap(joint, Reflection(self.face.vector))

    def method(self, rank: int | None, seed: int, trace: TraceBound) -> Factored:
        """Return the factored method in the form that suits the constraints."""
        if not self.rows_kept:
            order = self.data.order - (self.face is not None)
            spectral = SpectralFactors(order, 0, trace.value, not trace.fixed, REGULARISATION)
            most = math.ceil(math.sqrt(2 * self.reduced.size)) + 1
            columns = rank or min(most, max(LEAST_COLUMNS, order // 4))
            return Factored(rank=columns, seed=seed, memory=MEMORY, factors=spectral)
        columns = rank or max(12, math.ceil(2.0 * math.log2(self.data.order)), math.ceil(self.data.order**0.4))
        return Factored(rank=columns, seed=seed, factors=self.groups.factors(self.data.norms))


def analyse(data: SdpData) -> Analysis:
    """Look for a face and for groups of diagonal constraints.

    >>> from unipd.apps.sdp.data import Block
    >>> from unipd.maps.sdp import Entries
    >>> diagonal = Entries([0, 1], [0, 0], [0, 1], [0, 1], [1.0, 1.0])
    >>> cost, ones = Entries.from_matrices([np.eye(2)]), np.ones(2)
    >>> analyse(SdpData(2, cost, diagonal, ones, ones, (Block(0, 2, False),))).rows_kept
    True
    """
    face, groups = find_face(data), find_groups(data.diagonals, data.b, data.equal)
    if face is None:
        return Analysis(data, data, None, groups)
    row = np.zeros(data.size, bool)
    row[face.constraint] = True
    return Analysis(data, data.without(row), face, groups)


@dataclass(frozen=True, eq=False)
class Formulation:
    """The template of a program, and the way back from its solution."""

    analysis: Analysis
    trace: TraceBound
    joint: Any
    problem: Problem

    def point(self, x: Any) -> Any:
        """Return X from the template's point."""
        return self.joint.lifted(x) if self.analysis.face is not None else x

    def unscaled(self, dual: Array) -> Array:
        """Return the multipliers of the reduced constraints in the units of the data."""
        return dual / self.analysis.reduced.norms


def formulate(analysis: Analysis, trace: TraceBound, maximise: bool = False, constant: float = 0.0) -> Formulation:
    """Return min <C, X> over psd X of the given trace subject to the scaled constraints.

    Progress is shown as that of a maximisation, or with a constant, if these are given.
    """
    reduced, joint = analysis.reduced, analysis.joint()
    kind = FixedTrace if trace.fixed else BoundedTrace
    cost = SdpCost(joint, kind(joint.domain[0], trace.value), maximise, constant)
    problem = Problem(cost, joint, reduced.b / reduced.norms, reduced.coupling(reduced.norms))
    return Formulation(analysis, trace, joint, problem)
