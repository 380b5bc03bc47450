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

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd._util.blas import RIDGE, factor_definite, inner, solve_system
from unipd.errors import OracleError
from unipd.methods.corrective.model import Bundle, as_real
from unipd.methods.step_size import ARMIJO, backtrack
from unipd.problem import Problem

_NEWTON_STEPS = 50
_ROUNDING = 1e-13
_LAST_SHARE = 0.05
"""A Newton step that predicts less than this share of the decrease so far is the last one."""
_TOLERANCE = 1e-14
"""A reduced cost counts as negative beyond this share of its terms, a few times what they round to."""
_ENTERING_SHARE = 10
"""One in this many of the free entries may enter at once."""


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


# The quadratic program of a Newton step


def minimize_quadratic(
    hessian: FloatArray, linear: FloatArray, start: FloatArray, *, sums: FloatArray | None
) -> FloatArray:
    """Return argmin of 1/2 w'Hw + q'w over w >= 0 and, where there are ``sums``, S w = 1.

    The rows of S are the indicators of disjoint groups that make up all of w: one row is the simplex, several are a
    product of simplices. The start is feasible.

    A primal active-set method: solve on the free entries, step as far as the signs allow, drop the entry that
    blocks, and let in those with the most negative reduced costs. Where the solution cut off at zero is better than the
    point at which the first entry blocks, it is taken instead, and many entries leave at once. H may be singular: a
    ridge far below rounding of the data turns flat directions into long steps, which the blocking entry ends.

    >>> minimize_quadratic(np.eye(2), np.array([0.0, -0.5]), np.array([1.0, 0.0]), sums=np.ones((1, 2)))
    array([0.25, 0.75])
    """
    size = linear.size
    scale = max(float(np.abs(np.diag(hessian)).max(initial=0.0)), 1e-200)
    if sums is not None:  # weights have no unit: a zero Hessian is compared with the linear term
        scale = max(scale, float(np.abs(linear).max()))
    matrix = hessian + (RIDGE * scale) * np.eye(size)
    weights, free = start.copy(), start > 0
    entering = np.zeros(0, np.intp)
    most = size  # entries that may enter at once
    for _ in range(20 * size + 50):
        target, multiplier = _free_minimiser(matrix, linear, np.flatnonzero(free), sums)
        if not np.isfinite(target).all():
            raise OracleError("images of atoms whose squares are not finite: divide A and b by a common factor")
        if target.size == 0 or target.min() >= 0.0:
            weights = np.zeros(size)
            weights[free] = target
            reduced = matrix @ weights + linear + (0.0 if sums is None else multiplier @ sums)
            reduced[free] = 0.0
            length = float(weights.max()) if sums is None else 1.0  # without sums, weights have a unit
            threshold = _TOLERANCE * (float(np.abs(linear).max()) + scale * length)
            entering = _most_negative(reduced, -threshold, min(most, max(1, int(free.sum()) // _ENTERING_SHARE)))
            if entering.size == 0:
                break
            free[entering] = True
            continue
        places = np.flatnonzero(free)
        blocked = places[(target < 0.0) & (weights[places] == 0.0)]
        if blocked.size:  # entries that have just come in, and would become negative
            free[blocked] = False
            if entering.size and not free[entering].any():
                if most == 1:
                    break
                most = 1
            continue
        weights = _shorten_step(matrix, linear, weights, places, target, sums)
        free = weights > 0
    return weights if sums is None else weights / ((sums @ weights) @ sums)


def _most_negative(values: FloatArray, least: float, count: int) -> IntArray:
    """Return the places of the most negative entries below ``least``, at most ``count``."""
    places = np.flatnonzero(values < least)
    return places if places.size <= count else places[np.argpartition(values[places], count - 1)[:count]]


def _shorten_step(
    matrix: FloatArray, linear: FloatArray, weights: FloatArray, places: IntArray, target: Array, sums: Array | None
) -> FloatArray:
    """Return the better of two points on the way to a target with negative entries.

    One is where the first entry becomes zero; the other is the target with zeros in place of negative entries.
    """
    negative = target < 0.0
    ratios = weights[places[negative]] / (weights[places[negative]] - target[negative])
    first = int(np.argmin(ratios))
    nearest, cut = weights.copy(), np.zeros_like(weights)
    nearest[places] += ratios[first] * (target - weights[places])
    nearest[places[negative][first]] = 0.0
    np.maximum(nearest, 0.0, out=nearest)
    cut[places] = np.maximum(target, 0.0)
    if sums is not None:
        totals = sums @ cut
        if totals.min() <= 0.0:
            return nearest
        cut /= totals @ sums
    values = [float((0.5 * (matrix @ point) + linear) @ point) for point in (nearest, cut)]
    return cut if values[1] < values[0] else nearest


def _free_minimiser(
    matrix: FloatArray, linear: FloatArray, places: IntArray, sums: FloatArray | None
) -> tuple[Array, Array]:
    """Return the minimiser over the free entries, signs ignored, and the multipliers of the sums."""
    block = matrix[np.ix_(places, places)]
    if sums is None:
        return (factor_definite(block)(-linear[places]) if places.size else linear[places]), np.zeros(0)
    size, count = places.size, sums.shape[0]
    balance = float(np.abs(np.diag(block)).max(initial=1e-300))
    system = np.zeros((size + count, size + count))
    system[:size, :size] = block
    system[size:, :size] = balance * sums[:, places]
    system[:size, size:] = system[size:, :size].T
    right = np.append(-linear[places], np.full(count, balance))
    solution = solve_system(system, right)
    return solution[:size], balance * solution[size:]
