"""The master problem of the corrective method: re-optimise the weights of the atoms.

With B w = A x - b for x = sum_i w_i x_i, the master is

    min over w of  c(w) + max over lam of { <lam, B w> - h(lam) - (M/2) ||lam - lam_c||^2 },

where c(w) bounds f and the dual proximal term keeps lam near its centre (M = 0 for a smooth loss, whose maximiser is
its gradient). The inner maximiser is lam(w) = prox_{h/M}(lam_c + B w / M): every set and every loss, through the one
operator they all have. The objective is smooth and convex in w; Newton steps solve it, each an exact quadratic program,
so that two or three suffice, and one when the coupling is K = {0} or quadratic.

Newton steps need the derivative of the prox, at a projection for every atom. Couplings whose prox has no known one take
Douglas-Rachford steps (:class:`Splitting`; the alternating direction method of multipliers) through the prox alone,
three an iteration, on min over w, r of c(w) + phi(r) subject to B w = r, where phi is the loss or the indicator of K. A
step from z = r + M lam is

    w = argmin c(w) + <lam, B w> + ||B w - r||^2 / (2M)      a quadratic program over the atoms, without the coupling
    z <- z + B w - r
    lam = prox_{h/M}(z / M),   r = z - M lam                 one projection onto K, or one prox.

The fixed points of z solve the master, lam is always in the domain of h, and the oracle prices it as it does that of
any other master: steps and new atoms take turns. While no atom enters, the map of z stays the same, and Anderson's
extrapolation speeds it up: it ends the long tail over polyhedra.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd._util.arrays import RIDGE, TINY, factor_definite, hermitian_part, inner, norm, solve_system, submatrix
from unipd.errors import OracleError
from unipd.methods.corrective.model import DECREASE_ROUNDING, Bundle, as_complex, as_real
from unipd.methods.descent import ARMIJO, backtrack
from unipd.problem import Problem

_NEWTON_STEPS = 50
"""Cap on the Newton steps, which convergence ends: a decrease that is predicted to be small, or to be rounding."""
_LAST_SHARE = 0.05
"""A Newton step that predicts less than this share of the decrease so far is the last one."""
_TOLERANCE = 1e-14
"""A reduced cost counts as negative beyond this share of its terms, a few times what they round to."""
_ENTERING_SHARE = 10
"""One in this many of the free entries and idle rows may enter, or leave, at once."""
_SPLITTING_STEPS = 3
"""Douglas-Rachford steps of an iteration, each with one projection."""
_FIRST_HISTORY, _LONGEST_HISTORY = 6, 20
"""Steps over the same atoms before one is extrapolated, and those that extrapolation uses."""
_CUTOFF = 1e-8
"""Singular values of the changes below this share of the largest are rounding."""
_LEAST_SHARE = 1e-3
"""Residuals of r are relative to r or B w, or to this share of b where that is more."""
_IMBALANCE = 5.0
"""Ratio of the relative residuals of r and lam beyond which M is halved or doubled."""


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
            return hermitian_part(product) + self.bundle.cost_hessian()
        step = 1.0 / self.smoothness
        moved = self.centre + step * residual
        curve = step * self.problem.coupling.prox_curvature(moved, step, self.columns, self.gram)
        return curve + self.bundle.cost_hessian()


def solve_master(
    problem: Problem,
    bundle: Bundle,
    centre: Array,
    smoothness: float,
    tolerance: float = 0.0,
    *,
    is_warm: bool = False,
) -> tuple[Bundle, Array]:
    """Return the bundle at its optimal weights, and their multiplier, which ``is_warm`` says has the centre's signs.

    A coupling that is given by the signs of lam needs one quadratic program. Elsewhere Newton steps end at rounding, or
    when one predicts a decrease of at most ``tolerance``. The last step, too, is shortened where a curvature that
    changes along the way makes it too long.
    """
    master = Master.of(problem, bundle, centre, smoothness)
    signs = problem.coupling.dual_signs
    if signs is not None and smoothness > 0.0:
        weights = _minimize_signed(master, np.broadcast_to(signs, problem.dual_shape).reshape(-1), is_warm)
        dual = master.dual(bundle.residual_at(problem, weights))
        return bundle.with_weights(weights), dual.astype(problem.dtype, copy=False)
    point = first = master.at(bundle.weights)
    for _ in range(_NEWTON_STEPS):
        point, is_done = _newton_step(master, point, max(tolerance, _LAST_SHARE * (first.value - point.value)))
        if is_done:
            break
    return bundle.with_weights(point.weights), point.dual.astype(problem.dtype, copy=False)


def _minimize_signed(master: Master, signs: FloatArray, is_warm: bool) -> FloatArray:
    """Return the optimal weights where K = {0} in the rows with sign 0, and an orthant of this sign in the others.

    With r = B w and the multiplier lam_c of a row, the former have <lam_c, r> + ||r||^2 / (2M), the latter
    max(M lam_c + r, 0)^2 / (2M) up to a constant, and with the opposite sign where lam <= 0.
    """
    bundle, step = master.bundle, 1.0 / master.smoothness
    columns, centre, zero = bundle.columns.dense(False), as_real(master.centre), np.zeros_like(bundle.weights)
    constant, gram, limits = as_real(bundle.residual_at(master.problem, zero)), master.gram, None
    price, limited = centre + step * constant, np.flatnonzero(signs)
    if limited.size:
        units, equal = math.sqrt(step) * signs[limited], np.flatnonzero(signs == 0.0)
        rows, offset = units[:, None] * columns[limited], master.smoothness * units * price[limited]
        prices = units * centre[limited]
        is_active = prices > 0.0 if is_warm and prices.any() else rows @ bundle.weights + offset > 0.0
        if bundle.sums is not None:  # rows that no weights make positive would only set the size of rounding errors
            reached = sum((np.where(group > 0, rows, -np.inf).max(axis=1) for group in bundle.sums), offset) > 0.0
            rows, offset, is_active = rows[reached], offset[reached], is_active[reached]
        limits = rows, offset, is_active
        columns, price = columns[equal], price[equal]
        gram = columns.T @ columns
    linear = bundle.cost_gradient(zero) + price @ columns
    return minimize_quadratic(
        step * gram + bundle.cost_hessian(), linear, bundle.weights, sums=bundle.sums, limits=limits
    )


def _newton_step(master: Master, point: MasterPoint, tolerance: float) -> tuple[MasterPoint, bool]:
    """Return the point after a Newton step, and whether it is the last: it predicts at most ``tolerance``, or fails."""
    value, weights = point.value, point.weights
    gradient, hessian = master.gradient(weights, point.dual), master.hessian(point.residual)
    target = minimize_quadratic(hessian, gradient - hessian @ weights, weights, sums=master.bundle.sums)
    direction = target - weights
    decrease = -float(gradient @ direction)
    rounding = DECREASE_ROUNDING * max(abs(value), master.problem.scale(value))
    is_last = decrease <= max(tolerance, rounding)

    def trial(length: float) -> MasterPoint:
        return master.at(target if length == 1.0 else weights + length * direction)

    def accept(length: float, new: MasterPoint) -> bool:
        return new.value <= (value + rounding if is_last else value - ARMIJO * length * decrease)

    new, accepted = backtrack(trial, accept)
    return (new, is_last) if accepted or new.value <= value else (point, True)


# The quadratic program of a Newton step


class _Program(NamedTuple):
    """The function 1/2 w'Hw + q'w + 1/2 ||max(C w + p, 0)||^2, and S; see :func:`minimize_quadratic`."""

    hessian: FloatArray
    linear: FloatArray
    rows: FloatArray
    """C."""
    offset: FloatArray
    """p."""
    sums: FloatArray | None

    def excess(self, weights: FloatArray) -> FloatArray:
        """Return C w + p."""
        return self.rows @ weights + self.offset

    def value(self, weights: FloatArray) -> float:
        """Return the function's value."""
        above = np.maximum(self.excess(weights), 0.0)
        return float((0.5 * (self.hessian @ weights) + self.linear) @ weights + 0.5 * (above @ above))

    def gradient(self, weights: FloatArray) -> FloatArray:
        """Return the gradient."""
        return self.hessian @ weights + self.linear + np.maximum(self.excess(weights), 0.0) @ self.rows

    def minimise_free(self, places: IntArray, active: IntArray) -> tuple[Array, Array]:
        """Return the minimiser over the free entries, and the multipliers of the sums.

        Signs are ignored, and the square of every active row of C w + p counts, of no other one.
        """
        block, right = submatrix(self.hessian, places, places), -self.linear[places]
        if active.size:
            rows = submatrix(self.rows, active, places)
            block, right = block + rows.T @ rows, right - self.offset[active] @ rows
        if self.sums is None:
            return (factor_definite(block)(right) if places.size else right), np.zeros(0)
        size, count = places.size, self.sums.shape[0]
        balance = float(np.abs(np.diag(block)).max(initial=TINY))
        system = np.zeros((size + count, size + count))
        system[:size, :size] = block
        system[size:, :size] = balance * self.sums[:, places]
        system[:size, size:] = system[size:, :size].T
        solution = solve_system(system, np.append(right, np.full(count, balance)))
        return solution[:size], balance * solution[size:]


def minimize_quadratic(
    hessian: FloatArray,
    linear: FloatArray,
    start: FloatArray,
    *,
    sums: FloatArray | None,
    limits: tuple[FloatArray, FloatArray, Array] | None = None,
) -> FloatArray:
    """Return argmin of 1/2 w'Hw + q'w over w >= 0 and, where there are ``sums``, S w = 1.

    With ``limits`` (C, p, a) the function has a third term, 1/2 ||max(C w + p, 0)||^2, and a says which of its rows are
    likely to be positive at the solution. The rows of S are the indicators of
    disjoint groups that make up all of w: one row is the simplex, several are a product of simplices. The start is
    feasible.

    A primal active-set method: solve on the free entries, for the rows of C w + p that count as positive; step as far
    as the signs of w and of the other rows allow, drop the entry that blocks, or count the row, and let in the entries
    with the most negative reduced costs. Where the solution cut off at zero is better than the point at which the step
    is blocked, it is taken instead, and many entries leave at once. H may be singular: a ridge far below rounding of
    the data turns flat directions into long steps, which end where they are blocked.

    >>> minimize_quadratic(np.eye(2), np.array([0.0, -0.5]), np.array([1.0, 0.0]), sums=np.ones((1, 2)))
    array([0.25, 0.75])
    """
    size = linear.size
    rows, offset, active = (np.zeros((0, size)), np.zeros(0), np.zeros(0, bool)) if limits is None else limits
    squares = np.abs(np.diag(hessian)) + np.einsum("ij,ij->j", rows, rows)
    scale = max(float(squares.max(initial=0.0)), 1e-200)
    if sums is not None:  # weights have no unit: a zero Hessian is compared with the linear term
        scale = max(scale, float(np.abs(linear).max()))
    program = _Program(hessian + (RIDGE * scale) * np.eye(size), linear, rows, offset, sums)
    largest = np.abs(rows).max(axis=1, initial=0.0)
    weights, free, active = start.copy(), start > 0, active.copy()
    entering = np.zeros(0, np.intp)
    most = size  # entries that may enter at once
    for _ in range(20 * (size + offset.size) + 50):
        places = np.flatnonzero(free)
        target, multiplier = program.minimise_free(places, np.flatnonzero(active))
        if not np.isfinite(target).all():
            raise OracleError(
                "the squared norm of the image of an atom is not finite: divide A and b by a common factor"
            )
        length = float(np.abs(target).max(initial=0.0)) if sums is None else 1.0  # without sums, weights have a unit
        rounding = _TOLERANCE * (largest * length + np.abs(offset))
        excess = rows[:, places] @ target + offset
        crossing = ~active & (excess > rounding)
        if not crossing.any() and (target.size == 0 or target.min() >= 0.0):
            weights = np.zeros(size)
            weights[free] = target
            count = min(most, max(1, int(free.sum() + (~active).sum()) // _ENTERING_SHARE))
            leaving = _most_negative(np.where(active & (excess < -rounding), excess, 0.0), 0.0, count)
            reduced = program.gradient(weights) + (0.0 if sums is None else multiplier @ sums)
            reduced[free] = 0.0
            threshold = _TOLERANCE * (float(np.abs(linear).max()) + scale * length)
            entering = _most_negative(reduced, -threshold, 0 if leaving.size and most == 1 else count)
            if entering.size == leaving.size == 0:
                break
            active[leaving] = False
            free[entering] = True
            continue
        blocked = places[(target < 0.0) & (weights[places] == 0.0)]
        if blocked.size:  # entries that have just come in, and would become negative
            free[blocked] = False
            if entering.size and not free[entering].any():
                if most == 1:
                    break
                most = 1
            continue
        weights, active = _shorten_step(program, weights, places, target, active, crossing)
        free = weights > 0
    return weights if sums is None else weights / ((sums @ weights) @ sums)


def _most_negative(values: FloatArray, least: float, count: int) -> IntArray:
    """Return the places of the most negative entries below ``least``, at most ``count``."""
    places = np.flatnonzero(values < least)
    return places if places.size <= count else places[np.argpartition(values[places], count)[:count]]


def _shorten_step(
    program: _Program, weights: FloatArray, places: IntArray, target: Array, active: Array, crossing: Array
) -> tuple[FloatArray, Array]:
    """Return the better of two points on the way to a target that is blocked, and the rows that count from there.

    One is where the first entry becomes zero, or the first row positive; the other is the target with zeros in place of
    negative entries.
    """
    step = np.zeros_like(weights)
    step[places] = target - weights[places]
    negative, above = places[target < 0.0], np.flatnonzero(crossing)
    rows = program.rows[above]
    distances = np.maximum(-(rows @ weights) - program.offset[above], 0.0)
    crossings = np.divide(distances, rows @ step, out=np.zeros_like(distances), where=distances > 0.0)
    ratios = np.append(weights[negative] / -step[negative], crossings)
    first = int(np.argmin(ratios))
    nearest, cut = np.maximum(weights + ratios[first] * step, 0.0), np.maximum(weights + step, 0.0)
    if first < negative.size:
        nearest[negative[first]] = 0.0
    totals = np.ones(1) if program.sums is None else program.sums @ cut
    if totals.min() > 0.0:
        cut = cut if program.sums is None else cut / (totals @ program.sums)
        if program.value(cut) < program.value(nearest):
            return cut, active | crossing
    if first >= negative.size:
        active = active.copy()
        active[above[first - negative.size]] = True
    return nearest, active


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
        for _ in range(_SPLITTING_STEPS):
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
                here = replace(here, safe=point + step, length=norm(step), history=history[-_LONGEST_HISTORY:])
                here = replace(here, is_extrapolated=len(here.history) >= _FIRST_HISTORY)
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
