"""Factors whose rows are kept at given lengths: diagonal constraints that hold by construction.

Constraints sum_{i in g} X_ii = t_g over disjoint groups g (MaxCut's diagonal, a trace) fix the length of the rows of R
in each group. Rescaling the rows keeps them exactly, and their multipliers have a closed form,
lam_g = -<S R, R>_g / t_g for the slack matrix S = C + A^*(lam) of the other constraints.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd.atoms import LowRank, apply
from unipd.errors import InvalidInput
from unipd.methods.factors import random_block
from unipd.methods.lbfgs import Preconditioner


@dataclass(frozen=True)
class RowFactors:
    """Positive semidefinite X = R R^T with the squared lengths of groups of rows given.

    >>> factors = RowFactors(np.array([0, 1]), np.array([1.0, 4.0]), np.array([0, 1]), np.ones(2))
    >>> np.diag(factors.point(np.array([[3.0], [3.0]])).dense())
    array([1., 4.])
    """

    groups: IntArray
    """The group of each row of R."""
    targets: FloatArray
    """The squared length t_g of each group; they add up to the trace."""
    constraints: IntArray
    """For each group, the constraint that it keeps (-1: none, the group is what is left of the trace)."""
    coefficients: FloatArray
    """For each group, the coefficient c of that constraint, c sum_{i in g} X_ii = b."""

    def start(self, atom: LowRank, columns: int, seed: int) -> Array:
        """Return random columns: an atom has rows of length zero, which no rescaling can mend."""
        if atom.left.dtype.kind == "c":
            raise InvalidInput("factors", "real data for factors that keep the lengths of rows", "complex data")
        rows = self.groups.size
        shape = np.zeros((rows, 1), atom.left.dtype)
        shape[0, 0] = 1.0
        return self._normalised(random_block(shape, max(2, min(columns, rows)), seed))

    def point(self, factor: Array) -> LowRank:
        """Return X for a factor whose rows have any length."""
        left = self._normalised(factor)
        return LowRank(left, left, np.ones(factor.shape[1]))

    def gradient(self, operator: Any, factor: Array) -> Array:
        """Return the gradient in R of <S, X(R)>: in each group orthogonal to R."""
        stretch = self._stretches(factor)[self.groups][:, None]
        unit = stretch * factor
        slope = 2.0 * apply(operator, unit)
        return stretch * (slope - self.radial(slope, unit)[self.groups][:, None] * unit)

    def preconditioner(self, factor: Array) -> Preconditioner:
        """Return the identity: rows of equal length are even enough."""
        return lambda block: block

    def joined(self, factor: Array, atom: LowRank, gamma: float) -> Array:
        """Append the atom's columns, scaled to a share gamma; the rows are rescaled after."""
        unit = self._normalised(factor)
        extra = atom.left * np.sqrt(gamma * np.asarray(atom.weights, np.float64)).astype(unit.dtype)
        return self._normalised(np.concatenate([math.sqrt(1.0 - gamma) * unit, extra], axis=1))

    def rank(self, factor: Array) -> int:
        """Return the number of columns."""
        return int(factor.shape[1])

    def completed(self, dual: Array, descent: Any, factor: Array) -> Array:
        """Return the dual vector with the closed-form multipliers of the constraints kept.

        ``descent`` is -S with their entries of the dual vector at zero.
        """
        unit = self._normalised(factor)
        radial = self.radial(apply(descent, unit), unit)
        out = dual.copy()
        kept = self.constraints >= 0
        out[self.constraints[kept]] = radial[kept] / self.coefficients[kept]
        return out

    def without_kept(self, dual: Array) -> Array:
        """Return the dual vector with zeros for the constraints kept."""
        out = dual.copy()
        out[self.constraints[self.constraints >= 0]] = 0.0
        return out

    def keeps_all(self, constraints: int) -> bool:
        """Whether so many constraints are all kept."""
        return int(np.count_nonzero(self.constraints >= 0)) == constraints

    def _stretches(self, factor: Array) -> FloatArray:
        squares = np.bincount(self.groups, np.einsum("ij,ij->i", factor, factor), minlength=self.targets.size)
        return np.sqrt(self.targets / np.maximum(squares, np.finfo(np.float64).tiny))

    def _normalised(self, factor: Array) -> Array:
        return self._stretches(factor)[self.groups][:, None] * factor

    def radial(self, slope: Array, unit: Array) -> FloatArray:
        """Return <V, R>_g / t_g for each group g: the part of V along R."""
        return np.bincount(self.groups, np.einsum("ij,ij->i", slope, unit), minlength=self.targets.size) / self.targets
