"""The factored form of the completion model, with a preconditioner that knows how often everything was rated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.apps.completion.curvature import SideCurvature, Step
from unipd.atoms import LowRank
from unipd.methods.factors import SpectralFactors
from unipd.methods.product_factors import QuadraticFactors
from unipd.protocols import norm

NEW_SHARE = 3e-3
"""Share of the radius that random columns have together."""
WEAK_SHARE = 1e-6
"""Columns with a smaller share of the radius are not in use."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CompletionFactors(SpectralFactors):
    """Factors R = (U, V, slack) of Z in a nuclear ball, for a squared loss on sampled entries of X = L_u Z L_v^T.

    At the optimum the sphere that R moves on adds the multiplier mu of the radius to the curvature, so the
    preconditioner is the inverse of the loss's curvature plus a share of mu (``floor``), kept tangent to the sphere.
    """

    left: SideCurvature
    right: SideCurvature
    floor: float
    """What stands for the multiplier of the radius."""
    warm: Array | None = None
    """The factor to start from."""

    def start(self, atom: LowRank, columns: int, seed: int) -> Array:
        """Return the factor to start from, or one made from the atom."""
        return super().start(atom, columns, seed) if self.warm is None else self.warm

    def preconditioner(self, factor: Array) -> Step:
        """Return the inverse of the curvature plus the floor, on the tangent space at R."""
        stretch = (self._length() / norm(factor)) ** 2
        left, right = self._parts(self._normalised(factor))
        assert right is not None
        solve_left = self.left.inverse(self.right.mean(right), self.floor)
        solve_right = self.right.inverse(self.left.mean(left), self.floor)
        radial = factor / norm(factor)
        end = self.left_rows + self.right_rows

        def solve(block: Array) -> Array:
            tangent = block - float(np.vdot(radial, block)) * radial
            tangent[: self.left_rows] = solve_left(tangent[: self.left_rows])
            tangent[self.left_rows : end] = solve_right(tangent[self.left_rows : end])
            tangent[end:] /= self.floor
            tangent -= float(np.vdot(radial, tangent)) * radial
            tangent /= stretch
            return tangent

        return solve

    def of_point(self, point: LowRank, columns: int, seed: int = 0) -> Array:
        """Return a factor of Z with small random columns up to the rank asked for; a Z too large is shrunk.

        Columns that carry next to nothing give way to the random ones.
        """
        roots = np.sqrt(point.weights)
        stacked = np.concatenate([point.left * roots, point.right * roots], axis=0)
        weights, rotation = np.linalg.eigh(stacked.T @ stacked)
        stacked = stacked @ rotation[:, weights >= WEAK_SHARE * weights.sum()]
        spare = np.zeros((1, stacked.shape[1]))
        spare[0, -1] = math.sqrt(max(0.0, self._length() ** 2 - norm(stacked) ** 2))
        factor = np.concatenate([stacked, spare], axis=0)
        missing = min(columns, self.left_rows, self.right_rows) - factor.shape[1]
        if missing <= 0:
            return factor
        block = np.random.default_rng(seed).standard_normal((factor.shape[0], missing))
        block *= math.sqrt(NEW_SHARE) * norm(factor) / norm(block)
        return np.concatenate([factor, block], axis=1)


@dataclass(frozen=True, eq=False)
class BiasFactors(QuadraticFactors):
    """A vector of biases with its ridge; the curvature of the loss along it is the count of the ratings."""

    counts: FloatArray
    warm: Array | None = None
    """The biases to start from."""

    def start(self, atom: Any, columns: int, seed: int) -> Array:
        """Return the biases to start from, zero by default."""
        return super().start(atom, columns, seed) if self.warm is None else self.warm

    def preconditioner(self, factor: Array) -> Step:
        """Return the inverse of the diagonal curvature."""
        curvature = self.counts + 2.0 * self.weight
        return lambda block: block / curvature
