"""The objective of the factored method: a smooth loss, or an augmented Lagrangian, as a function of the factor.

For residual r = A X - b it is f(X) + max over lam of { <lam, r> - h(lam) - ||lam - lam_c||^2 / (2 sigma) }: the
augmented Lagrangian with multipliers lam_c and penalty sigma for every set and every loss, through the prox of h. A
smooth loss needs no multipliers; there lam is its gradient.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.dual import oracle_errors
from unipd.methods.factors import Factors
from unipd.methods.weights import zero_of_slope
from unipd.problem import Problem
from unipd.protocols import inner
from unipd.pulse import beat
from unipd.sharp import Linear
from unipd.sharp.lazy_difference import LazyDifference


@dataclass(frozen=True)
class Evaluation:
    """The objective at a factor, with everything that its computation gave."""

    value: float
    gradient: Array
    """Gradient in R, orthogonal to R."""
    point: Any
    """X."""
    image: Array
    """A X."""
    cost: float
    """f(X)."""
    dual: Array
    """lam: the multipliers that X implies."""
    matvecs: int
    """Products with A and with A^* lam."""


@dataclass(frozen=True)
class Augmented:
    """Loss or augmented Lagrangian over the factors of a spectral set."""

    problem: Problem
    factors: Factors
    centre: Array
    """Multipliers lam_c (not used for a smooth loss)."""
    penalty: float
    """sigma > 0, or 0 for a smooth loss."""

    def at(self, centre: Array, penalty: float) -> Augmented:
        """Return the model with other multipliers and penalty."""
        return replace(self, centre=centre, penalty=penalty)

    def dual(self, residual: Array) -> Array:
        """Return lam for a residual r = A X - b."""
        if self.penalty == 0.0:
            assert self.problem.loss is not None
            return self.problem.loss.gradient(residual)
        return self.problem.coupling.prox_conjugate(self.centre + self.penalty * residual, self.penalty)

    def evaluate(self, factor: Array) -> Evaluation:
        """Return value and gradient at R: one image and one product with A^* lam for every column."""
        problem = self.problem
        point = self.factors.point(factor)
        with oracle_errors:
            cost, image = self._measured(point)
        residual = image - problem.b
        dual = self.dual(residual)
        with oracle_errors:
            gradient = self._gradient(dual, factor)
        columns = 2 * max(1, self.factors.rank(factor))
        beat("quasi-Newton steps", columns)
        value = cost + self._coupled(residual, dual)
        return Evaluation(value, gradient, point, image, cost, dual, columns)

    def _measured(self, point: Any) -> tuple[float, Array]:
        """Return f(X) and A X, together when the oracle knows a map that reads both at once (``joint``)."""
        problem, joint = self.problem, getattr(self.problem.sharp, "joint", None)
        cost, image = joint.cost_and_image(point) if joint is not None else (None, problem.map.image(point))
        image = np.asarray(image).astype(problem.dtype, copy=False)
        return problem.sharp.objective(point) if cost is None else cost, image

    def _gradient(self, dual: Array, factor: Array) -> Array:
        """Return the gradient in R of f(X) + <lam, A X>, from one matrix C + A^* lam where that is at hand."""
        problem, joint = self.problem, getattr(self.problem.sharp, "joint", None)
        if joint is not None:
            return self.factors.gradient(joint.slack(dual), factor)
        gradient = self.factors.gradient(problem.map.adjoint(dual), factor)
        if isinstance(problem.sharp, Linear):
            gradient = gradient + self.factors.gradient(problem.sharp.cost, factor)
        return gradient

    def completed(self, here: Evaluation, factor: Array) -> Array:
        """Return the dual vector at a point with the multipliers of what the factors keep by construction."""
        dual = self.factors.without_kept(here.dual)
        with oracle_errors:
            descent = self.problem.map.adjoint(-dual)
            if isinstance(self.problem.sharp, Linear):
                descent = LazyDifference(descent, self.problem.sharp.cost)
            return self.factors.completed(dual, descent, factor)

    def best_gamma(self, here: Evaluation, image: Array, cost: float) -> float:
        """Return the gamma in [0, 1] that minimises the objective from X towards an atom."""
        residual, direction = here.image - self.problem.b, image - here.image

        def slope(gamma: float) -> float:
            return inner(self.dual(residual + gamma * direction), direction) + cost - here.cost

        return zero_of_slope(slope, 1.0)

    def _coupled(self, residual: Array, dual: Array) -> float:
        if self.penalty == 0.0:
            assert self.problem.loss is not None
            return self.problem.loss.value(residual)
        moved = dual - self.centre
        penalty = inner(moved, moved) / (2.0 * self.penalty)
        return inner(dual, residual) - self.problem.coupling.conjugate(dual) - penalty
