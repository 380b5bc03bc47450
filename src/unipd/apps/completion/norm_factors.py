"""The squared nuclear norm by factors: formulation (b) of the paper, without a radius.

||Z||_* is the least (||U||^2 + ||V||^2) / 2 over Z = U V^T, so w ||Z||_*^2 is a smooth function of the factors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.apps.completion.curvature import SideCurvature, Step
from unipd.apps.completion.design import FLOOR
from unipd.atoms import LowRank, apply, apply_adjoint
from unipd.methods.factors import SpectralFactors, random_block
from unipd.protocols import norm
from unipd.sharp import NuclearNormSquared

NEW_SHARE = 3e-3
"""Share of ||R||^2 that random columns get together."""
WEAK_SHARE = 1e-6
"""Columns with a smaller share of ||R||^2 are not in use."""


class BalancedNuclearNormSquared(NuclearNormSquared):
    """f(Z) = w ||Z||_*^2, of which a point given by factors shows the upper bound w ((||U||^2 + ||V||^2) / 2)^2.

    The bound is attained by balanced factors, as minimisers are; it is smooth in the factors.

    >>> one = np.ones((2, 1))
    >>> round(BalancedNuclearNormSquared((2, 2)).objective(LowRank(one, one, np.ones(1))), 9)
    4.0
    """

    def objective(self, x: Any) -> float:
        """Return w ((||U||^2 + ||V||^2) / 2)^2 of factors, w ||Z||_*^2 of other points."""
        if not isinstance(x, LowRank):
            return super().objective(x)
        lengths = (np.abs(x.left) ** 2).sum(axis=0) + (np.abs(x.right) ** 2).sum(axis=0)
        return self.scale * (0.5 * float(lengths @ np.abs(x.weights))) ** 2


@dataclass(frozen=True, eq=False, kw_only=True)
class NormFactors(SpectralFactors):
    """Factors R = (U, V) of Z = U V^T on the whole space; the objective w (||R||^2 / 2)^2 bounds their length."""

    left: SideCurvature
    right: SideCurvature
    weight: float
    """w."""
    penalty: float
    """The penalty that stands for the curvature of the loss."""
    length: float
    """Length of the first factor."""

    def start(self, atom: LowRank, columns: int, seed: int) -> Array:
        """Return the atom's direction and random columns beside it."""
        factor = np.concatenate([atom.left, atom.right], axis=0)
        factor = factor * (self.length / max(norm(factor), 1e-300))
        return np.concatenate([factor, random_block(factor, max(columns - factor.shape[1], 1), seed)], axis=1)

    def point(self, factor: Array) -> LowRank:
        """Return Z = U V^T."""
        return LowRank(factor[: self.left_rows], factor[self.left_rows :], np.ones(factor.shape[1]))

    def gradient(self, operator: Any, factor: Array) -> Array:
        """Return the gradient of w (||R||^2 / 2)^2 + <S, U V^T>."""
        out = self.weight * norm(factor) ** 2 * factor
        out[: self.left_rows] += apply(operator, factor[self.left_rows :])
        out[self.left_rows :] += apply_adjoint(operator, factor[: self.left_rows])
        return out

    def preconditioner(self, factor: Array) -> Step:
        """Return the inverse of the penalty's curvature plus a share of that of the objective."""
        floor = FLOOR * self.weight * norm(factor) ** 2 or 1.0
        rows, below = factor[: self.left_rows], factor[self.left_rows :]
        solve_left = self.left.inverse(self.penalty * self.right.mean(below), floor)
        solve_right = self.right.inverse(self.penalty * self.left.mean(rows), floor)

        def solve(block: Array) -> Array:
            return np.concatenate([solve_left(block[: self.left_rows]), solve_right(block[self.left_rows :])], axis=0)

        return solve

    def joined(self, factor: Array, atom: LowRank, gamma: float) -> Array:
        """Return a factor of (1 - gamma) Z + gamma atom."""
        roots = np.sqrt(gamma * atom.weights)
        new = np.concatenate([atom.left * roots, atom.right * roots], axis=0)
        return np.concatenate([math.sqrt(1.0 - gamma) * factor, new], axis=1)

    def widened(self, factor: Array, columns: int, seed: int) -> Array:
        """Return the factor with small random columns up to so many, min(p, l) at most.

        Columns that carry next to nothing give way to the random ones.
        """
        weights, rotation = np.linalg.eigh(factor.T @ factor)
        kept = factor @ rotation[:, weights > WEAK_SHARE * weights.sum()]
        missing = min(columns, self.left_rows, self.right_rows) - kept.shape[1]
        if missing <= 0:
            return factor
        return np.concatenate([kept, math.sqrt(NEW_SHARE) * random_block(kept, missing, seed)], axis=1)
