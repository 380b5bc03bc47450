"""The squared nuclear norm by factors: formulation (b) of the paper, without a radius.

||Z||_* is the least (||U||^2 + ||V||^2) / 2 over Z = U V^T, so w ||Z||_*^2 is a smooth function of the factors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.apps.completion.curvature import SideCurvature, Step
from unipd.apps.completion.design import FLOOR
from unipd.atoms import LowRank, apply, apply_adjoint
from unipd.methods.factored import Factored, FactoredState
from unipd.methods.factors import SpectralFactors, random_block
from unipd.problem import Problem
from unipd.protocols import Tracker, norm
from unipd.sharp import NuclearNormSquared

START_SHARE = 0.1
"""Length of the first factor, as a share of what the data suggest."""
FEASIBLE_SHARE = 0.1
"""The first penalty weighs an infeasibility of this share of ||b|| as much as the objective."""
SPREAD = 10.0
"""Guess of how far the objective is above the bound from one singular value."""


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
        floor = FLOOR * self.weight * norm(factor) ** 2
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


@dataclass(frozen=True)
class PenalisedFactored(Factored):
    """The factored method with a given first penalty."""

    penalty: float = 1.0

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> FactoredState:
        """Return the first state, with the penalty given."""
        state = super().start(problem, tracker, dual, accuracy)
        model = state.model.at(state.model.centre, self.penalty)
        return replace(state, model=model, here=model.evaluate(state.factor))


def norm_method(
    problem: Problem, left: SideCurvature, right: SideCurvature, *, rank: int, inner_steps: int
) -> PenalisedFactored:
    """Return the method for min w ||Z||_*^2 subject to A Z - b in K, K = {0} or a ball.

    Its first penalty comes from the bound <b, b>^2 w / ||A^* b||^2 of the objective, attained where one singular
    vector pair explains everything.
    """
    sharp = problem.sharp
    assert isinstance(sharp, NuclearNormSquared)
    rows, columns = sharp.shape
    top = sharp.engine.singular_triples(problem.map.adjoint(problem.b), tolerance=1e-2).value
    energy = problem.norm_b**2
    least = sharp.scale * energy**2 / max(top**2, 1e-300)
    penalty = 2.0 * SPREAD * least / (FEASIBLE_SHARE**2 * energy)
    length = START_SHARE * math.sqrt(2.0 * energy / max(top, 1e-300))
    factors = NormFactors(
        rows, columns, 1.0, False, left=left, right=right, weight=sharp.scale, penalty=penalty, length=length
    )
    return PenalisedFactored(rank=rank, inner_steps=inner_steps, factors=factors, penalty=penalty)
