"""The master problem of a corrective method: the best point over the atoms kept.

With B w = A x - b for x = sum_i w_i x_i, the master is

    min over w of  c(w) + max over lam of { <lam, B w> - h(lam) - (M/2) ||lam - lam_c||^2 },

where c(w) bounds f and the dual proximal term keeps lam near its centre (M = 0 for a smooth loss, whose maximiser is
its gradient). The inner maximiser is lam(w) = prox_{h/M}(lam_c + B w / M): every set and every loss, through the one
operator they all have. The objective is smooth and convex in w; it is solved by Newton steps whose quadratic programs
are exact, so that two or three suffice, and one when the coupling is K = {0} or quadratic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.couplings import Equality, LeastSquares
from unipd.couplings.loss_jacobian import gradient_jacobian
from unipd.methods.curvature import prox_curvature
from unipd.methods.quadratic import minimise_quadratic
from unipd.problem import Problem
from unipd.protocols import inner

_NEWTON_STEPS = 50
_ROUNDING = 1e-13
MASTER_SHARE = 1e-3
"""Share of the accuracy asked for that a last Newton step of the master may still be worth."""
SHARE = 0.05
"""A Newton step that promises less than this share of what all before it have gained is the last one."""


class Hull(Protocol):
    """What the master knows of the atoms: B, its Gram matrix, c, and which weights sum to one."""

    @property
    def columns(self) -> Array:
        """B, the images of the atoms, as far as weights sum to one less b."""
        ...

    @property
    def gram(self) -> FloatArray:
        """Real inner products of the columns."""
        ...

    @property
    def sums(self) -> FloatArray | None:
        """S with S w = 1, or None where weights are only nonnegative."""
        ...

    def residual_at(self, weights: FloatArray, shape: tuple[int, ...]) -> Array:
        """Return A x - b."""
        ...

    def cost_at(self, weights: FloatArray) -> float:
        """Return c(w)."""
        ...

    def cost_slopes(self, weights: FloatArray) -> FloatArray:
        """Return the gradient of c."""
        ...

    def cost_curve(self) -> FloatArray | float:
        """Return the second derivative of c."""
        ...


@dataclass(frozen=True)
class Master:
    """The master problem over the atoms kept, around a dual centre."""

    problem: Problem
    bundle: Hull
    centre: Array
    smoothness: float
    """M > 0 of the dual proximal term; 0 only for a smooth loss."""

    def dual(self, weights: FloatArray) -> Array:
        """Return lam(w), the multiplier that the weights imply."""
        residual = self._residual(weights)
        if self.smoothness == 0.0:
            assert self.problem.loss is not None
            return self.problem.loss.gradient(residual)
        step = 1.0 / self.smoothness
        return self.problem.coupling.prox_conjugate(self.centre + step * residual, step)

    def value(self, weights: FloatArray, dual: Array) -> float:
        """Return the master's objective at w, whose multiplier is ``dual``."""
        residual = self._residual(weights)
        cost = self.bundle.cost_at(weights)
        if self.smoothness == 0.0:
            assert self.problem.loss is not None
            return cost + self.problem.loss.value(residual)
        moved = dual - self.centre
        coupled = inner(dual, residual) - self._support(dual, residual)
        return cost + coupled - 0.5 * self.smoothness * inner(moved, moved)

    def _support(self, dual: Array, residual: Array) -> float:
        """Return h(lam); for a set <lam, r> with r = M (v - lam) in K, which Moreau's identity gives for nothing."""
        if self.problem.loss is not None:
            return self.problem.coupling.conjugate(dual)
        return inner(dual, self.smoothness * (self.centre - dual) + residual)

    def gradient(self, weights: FloatArray, dual: Array) -> FloatArray:
        """Return the gradient in w: that of c and <lam, A x_i>, or <lam, A x_i - b> as the columns are."""
        slopes = (dual.reshape(-1).conj() @ self.bundle.columns).real.astype(np.float64)
        return slopes + self.bundle.cost_slopes(weights)

    def hessian(self, weights: FloatArray) -> FloatArray:
        """Return a generalised Hessian; for K = {0} and least squares it is the Gram matrix, scaled, and that of c."""
        if self.smoothness > 0.0 and isinstance(self.problem.coupling, Equality):
            curve = self.bundle.gram / self.smoothness
        elif self.smoothness == 0.0 and isinstance(self.problem.coupling, LeastSquares):
            curve = self.problem.coupling.scale * self.bundle.gram
        else:
            curve = self._curve(weights)
        return curve + self.bundle.cost_curve()

    def _curve(self, weights: FloatArray) -> FloatArray:
        """Return the second derivative of the coupling's part in the weights."""
        columns, residual = self.bundle.columns, self._residual(weights)
        if self.smoothness == 0.0:
            assert self.problem.loss is not None
            product = (columns.conj().T @ gradient_jacobian(self.problem.loss, residual, columns)).real
            return 0.5 * (product + product.T)
        step = 1.0 / self.smoothness
        moved = self.centre + step * residual
        return step * prox_curvature(self.problem.coupling, moved, step, columns, self.bundle.gram)

    def _residual(self, weights: FloatArray) -> Array:
        return self.bundle.residual_at(weights, self.problem.dual_shape)


def solve_master(master: Master, start: FloatArray, tolerance: float = 0.0) -> tuple[FloatArray, Array]:
    """Return the optimal weights and their multiplier, to rounding or until a step promises at most ``tolerance``.

    The last step, too, is shortened where a curvature that changes on the way makes it too long.
    """
    weights = start
    dual = master.dual(weights)
    value = first = master.value(weights, dual)
    for _ in range(_NEWTON_STEPS):
        gradient, hessian = master.gradient(weights, dual), master.hessian(weights)
        linear = gradient - hessian @ weights
        target = minimise_quadratic(hessian, linear, weights, sums=master.bundle.sums)
        direction = target - weights
        descent = -float(gradient @ direction)
        rounding = _ROUNDING * max(abs(value), master.problem.scale(value))
        last = descent <= max(tolerance, SHARE * (first - value), rounding)
        length = 1.0
        while True:
            trial = target if length == 1.0 else weights + length * direction
            trial_dual = master.dual(trial)
            trial_value = master.value(trial, trial_dual)
            allowed = value + rounding if last else value - 1e-4 * length * descent
            if trial_value <= allowed or length < 1e-6:
                break
            length *= 0.5
        if trial_value > allowed and trial_value > value:
            break
        weights, dual, value = trial, trial_dual, trial_value
        if last:
            break
    return weights, dual
