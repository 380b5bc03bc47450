"""The master problem of the corrective method: re-optimise the weights of the atoms.

With B w = A x - b for x = sum_i w_i x_i, the master is

    min over w of  c(w) + max over lam of { <lam, B w> - h(lam) - (M/2) ||lam - lam_c||^2 },

where c(w) bounds f and the dual proximal term keeps lam near its centre (M = 0 for a smooth loss, whose maximiser is
its gradient). The inner maximiser is lam(w) = prox_{h/M}(lam_c + B w / M): every set and every loss, through the one
operator they all have. The objective is smooth and convex in w; Newton steps solve it, each an exact quadratic program,
so that two or three suffice, and one when the coupling is K = {0} or quadratic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from unipd._typing import Array, FloatArray
from unipd._util.blas import inner
from unipd.methods.corrective.model import Bundle, as_real
from unipd.methods.corrective.quadratic_program import minimize_quadratic
from unipd.methods.step_size import ARMIJO, backtrack
from unipd.problem import Problem

_NEWTON_STEPS = 50
_ROUNDING = 1e-13
_LAST_SHARE = 0.05
"""A Newton step that predicts less than this share of the decrease so far is the last one."""


class MasterPoint(NamedTuple):
    """A point of the master problem."""

    value: float
    """The master's objective."""
    weights: FloatArray
    """w."""
    dual: Array
    """lam(w)."""
    residual: Array
    """A x - b."""


@dataclass(frozen=True)
class Master:
    """The master problem over a bundle, around a dual centre."""

    problem: Problem
    bundle: Bundle
    columns: Array
    """B, real or complex like the dual vector."""
    gram: FloatArray
    """Real inner products of the columns."""
    centre: Array
    smoothness: float
    """M > 0 of the dual proximal term; 0 only for a smooth loss."""

    @staticmethod
    def of(problem: Problem, bundle: Bundle, centre: Array, smoothness: float) -> Master:
        """Return the master of a bundle that keeps its Gram matrix."""
        assert bundle.gram is not None
        columns = bundle.columns.dense(problem.dtype.kind == "c")
        return Master(problem, bundle, columns, bundle.gram, centre, smoothness)

    def dual(self, residual: Array) -> Array:
        """Return lam(w), the multiplier at A x - b."""
        if self.smoothness == 0.0:
            assert self.problem.loss is not None
            return self.problem.loss.gradient(residual)
        step = 1.0 / self.smoothness
        return self.problem.coupling.prox_conjugate(self.centre + step * residual, step)

    def at(self, weights: FloatArray) -> MasterPoint:
        """Return the point with weights w."""
        residual = self.bundle.residual_at(self.problem, weights)
        dual, cost = self.dual(residual), self.bundle.cost_at(weights)
        if self.smoothness == 0.0:
            assert self.problem.loss is not None
            return MasterPoint(cost + self.problem.loss.value(residual), weights, dual, residual)
        moved = dual - self.centre
        coupled = inner(dual, residual) - self._support(dual, residual)
        value = cost + coupled - 0.5 * self.smoothness * inner(moved, moved)
        return MasterPoint(value, weights, dual, residual)

    def _support(self, dual: Array, residual: Array) -> float:
        """Return h(lam); for a set <lam, r> with r = M (v - lam) in K, which Moreau's identity gives at no cost."""
        if self.problem.has_penalty:
            return self.problem.coupling.conjugate(dual)
        return inner(dual, self.smoothness * (self.centre - dual) + residual)

    def gradient(self, weights: FloatArray, dual: Array) -> FloatArray:
        """Return the gradient in w: B^* lam and the gradient of c."""
        return self.bundle.columns.matrix.T @ as_real(dual) + self.bundle.cost_gradient(weights)

    def hessian(self, residual: Array) -> FloatArray:
        """Return a generalised Hessian; for K = {0} and least squares a multiple of the Gram matrix, and that of c."""
        curvature = self.problem.conjugate_curvature
        if curvature is not None:
            return self.gram / (self.smoothness + curvature) + self.bundle.cost_hessian()
        if self.smoothness == 0.0:
            assert self.problem.loss is not None
            product = (self.columns.conj().T @ self.problem.loss.gradient_jacobian(residual, self.columns)).real
            return 0.5 * (product + product.T) + self.bundle.cost_hessian()
        step = 1.0 / self.smoothness
        moved = self.centre + step * residual
        curve = step * self.problem.coupling.prox_curvature(moved, step, self.columns, self.gram)
        return curve + self.bundle.cost_hessian()


def solve_master(
    problem: Problem, bundle: Bundle, centre: Array, smoothness: float, tolerance: float = 0.0
) -> tuple[Bundle, Array]:
    """Return the bundle at its optimal weights, and their multiplier.

    Newton steps end at rounding, or when one predicts a decrease of at most ``tolerance``. The last step, too, is
    shortened where a curvature that changes along the way makes it too long.
    """
    master = Master.of(problem, bundle, centre, smoothness)
    point = first = master.at(bundle.weights)
    for _ in range(_NEWTON_STEPS):
        point, is_done = _newton_step(master, point, max(tolerance, _LAST_SHARE * (first.value - point.value)))
        if is_done:
            break
    return bundle.at(point.weights), point.dual.astype(problem.dtype, copy=False)


def _newton_step(master: Master, point: MasterPoint, tolerance: float) -> tuple[MasterPoint, bool]:
    """Return the point after a Newton step, and whether it is the last: it predicts at most ``tolerance``, or fails."""
    value, weights = point.value, point.weights
    gradient, hessian = master.gradient(weights, point.dual), master.hessian(point.residual)
    target = minimize_quadratic(hessian, gradient - hessian @ weights, weights, sums=master.bundle.sums)
    direction = target - weights
    decrease = -float(gradient @ direction)
    rounding = _ROUNDING * max(abs(value), master.problem.scale(value))
    is_last = decrease <= max(tolerance, rounding)

    def trial(length: float) -> MasterPoint:
        return master.at(target if length == 1.0 else weights + length * direction)

    def accept(length: float, new: MasterPoint) -> bool:
        return new.value <= (value + rounding if is_last else value - ARMIJO * length * decrease)

    new, accepted = backtrack(trial, accept)
    return (new, is_last) if accepted or new.value <= value else (point, True)
