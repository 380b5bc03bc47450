"""The master through the prox of h alone: Douglas-Rachford steps, for couplings whose prox has no known derivative.

With B w = A x - b as in the other masters, the problem over the atoms is min over w, r of c(w) + phi(r) subject to
B w = r, where phi is the loss or the indicator of K. A step from z = r + M lam is

    w = argmin c(w) + <lam, B w> + ||B w - r||^2 / (2M)      a quadratic program over the atoms, without the coupling
    z <- z + B w - r
    lam = prox_{h/M}(z / M),   r = z - M lam                 one projection onto K, or one prox

(the alternating direction method of multipliers). Newton steps would need the derivative of the prox, at a projection
for every atom; here an iteration has three. The fixed points of z solve the master, lam is always in the domain of h,
and the oracle prices it as it does that of any other master: steps and new atoms take turns. While no atom enters, the
map of z stays the same, and Anderson's extrapolation speeds it up: it ends the long tail over polyhedra.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util.arrays import TINY, norm
from unipd.methods.corrective.master import minimize_quadratic
from unipd.methods.corrective.model import Bundle, as_complex, as_real
from unipd.problem import Problem

STEPS = 3
"""Steps of an iteration, each with one projection."""
FIRST_HISTORY, LONGEST_HISTORY = 6, 20
"""Steps over the same atoms before one is extrapolated, and those that extrapolation uses."""
_CUTOFF = 1e-8
"""Singular values of the changes below this share of the largest are rounding."""
_LEAST_SHARE = 1e-3
"""Residuals of r are relative to r or B w, or to this share of b where that is more."""
_IMBALANCE = 5.0
"""Ratio of the relative residuals of r and lam beyond which M is halved or doubled."""


@dataclass(frozen=True)
class Splitting:
    """The pair (r, lam) between two iterations, and the steps that led to it."""

    slack: Array
    """r, the nearest point of K to r + M lam, or the prox of phi there."""
    dual: Array
    """lam, in double precision."""
    safe: Array
    """z after the last step without extrapolation."""
    length: float = math.inf
    """||B w - r|| of the last step, above which an extrapolated one is taken back."""
    is_extrapolated: bool = False
    """Whether z differs from ``safe``."""
    history: tuple[tuple[FloatArray, FloatArray], ...] = ()
    """The pairs (z, B w - r) of the last steps over the same atoms, in real form."""
    factor: float = 1.0
    """The factor of M that balances the two residuals."""

    @staticmethod
    def of(problem: Problem, bundle: Bundle, dual: Array, smoothness: float) -> Splitting:
        """Return the pair after a step from lam with the bundle's point."""
        moved = smoothness * dual + bundle.residual_at(problem, bundle.weights)
        slack, dual = _split(problem, moved, smoothness)
        return Splitting(slack, dual, moved)

    @staticmethod
    def applies(problem: Problem, bundle: Bundle, smoothness: float) -> bool:
        """Whether the master has a proximal term and a Gram matrix, and nothing but the prox is known of h."""
        is_known = problem.conjugate_curvature is not None or problem.coupling.has_prox_jacobian
        return smoothness > 0.0 and bundle.gram is not None and not is_known

    def advance(self, problem: Problem, bundle: Bundle, smoothness: float) -> tuple[Bundle, Splitting]:
        """Do the steps of an iteration; return the bundle at the weights of the last one, and the pair after it."""
        here, residual, before = self, bundle.residual_at(problem, bundle.weights), self.slack
        for _ in range(STEPS):
            before = here.slack
            weights = here._minimize(bundle, residual, smoothness)
            moved = bundle.residual_at(problem, weights)
            point, step = here.slack + smoothness * here.dual, moved - here.slack
            if here.is_extrapolated and norm(step) > here.length:
                here = replace(here, is_extrapolated=False, history=())
            else:
                has_entered = bool(((weights > 0.0) & (bundle.weights == 0.0)).any())
                bundle, residual = bundle.with_weights(weights), moved
                history = (*(() if has_entered else here.history), (as_real(point), as_real(step)))
                here = replace(here, safe=point + step, length=norm(step), history=history[-LONGEST_HISTORY:])
                here = replace(here, is_extrapolated=len(here.history) >= FIRST_HISTORY)
            target = as_complex(_extrapolate(here.history), problem) if here.is_extrapolated else here.safe
            slack, dual = _split(problem, target, smoothness)
            here = replace(here, slack=slack, dual=dual)
        return bundle, here._balance(problem, residual, before, smoothness)

    def _minimize(self, bundle: Bundle, residual: Array, smoothness: float) -> FloatArray:
        """Return the weights that minimise c(w) + <lam, B w> + ||B w - r||^2 / (2M); ``residual`` is B w now."""
        assert bundle.gram is not None
        slope = as_real(self.dual + (residual - self.slack) / smoothness)
        gradient = bundle.columns.matrix.T @ slope + bundle.cost_gradient(bundle.weights)
        hessian = bundle.gram / smoothness + bundle.cost_hessian()
        return minimize_quadratic(hessian, gradient - hessian @ bundle.weights, bundle.weights, sums=bundle.sums)

    def _balance(self, problem: Problem, residual: Array, before: Array, smoothness: float) -> Splitting:
        """Return the pair with the factor of M; a changed M changes the map of z and hence ends its history."""
        least = _LEAST_SHARE * (problem.norm_b or problem.least_scale)
        primal = norm(residual - self.slack) / max(norm(residual), norm(self.slack), least)
        dual = norm(self.slack - before) / max(smoothness * norm(self.dual), TINY)
        factor = 0.5 if primal > _IMBALANCE * dual else 2.0 if dual > _IMBALANCE * primal else 1.0
        if self.is_extrapolated or factor == 1.0:
            return replace(self, factor=1.0)
        return replace(self, factor=factor, history=(), length=math.inf, is_extrapolated=False)


def _split(problem: Problem, point: Array, smoothness: float) -> tuple[Array, Array]:
    """Return r and lam with r + M lam = z."""
    dual = problem.coupling.prox_conjugate(point / smoothness, 1.0 / smoothness)
    return point - smoothness * dual, dual


def _extrapolate(history: tuple[tuple[FloatArray, FloatArray], ...]) -> FloatArray:
    """Return Anderson's extrapolation of the fixed point from pairs (z, step): the affine combination of least step.

    >>> _extrapolate(tuple((z, 0.5 * (3.0 - z)) for z in (np.zeros(1), np.full(1, 1.5))))
    array([3.])
    """
    points, steps = (np.array(part).T for part in zip(*history, strict=True))
    changes = np.diff(steps, axis=1)
    shares = np.linalg.lstsq(changes, steps[:, -1], rcond=_CUTOFF)[0]
    return points[:, -1] + steps[:, -1] - (np.diff(points, axis=1) + changes) @ shares
