"""The problem over a working set of coordinates: passes of coordinate descent, and Newton steps on the support.

With N(x) = sum_g w_g ||x_g|| it is min phi(A x - b) + f(x) over {N(x) <= budget} and bounds, where f = w N + v N^2 and
phi is smooth with a diagonal Hessian. The budget enters the passes through its augmented Lagrangian, with multiplier mu
and penalty rho; on the support S of x, where s = grad N, the Newton step solves

    [ H_SS + tau N''   s ] [ dx  ]      [ A_S^T phi' + tau s ]
    [ s^T              0 ] [ dmu ]  = - [ N - budget         ]        with tau = w + 2 v N + mu,

and the entries that change sign on the way leave the support.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy

from unipd._typing import Array, FloatArray, IntArray
from unipd._util.arrays import RIDGE, factor_definite, submatrix
from unipd.couplings import ConvexLoss
from unipd.methods.descent import ARMIJO, backtrack
from unipd.problem import Problem
from unipd.sharp.coordinates import Coordinates

ROUNDS = 60
"""Rounds of coordinate passes and Newton steps over one working set."""
IDLE_ROUNDS = 8
"""Rounds without a better point after which the rest is left to rounding."""
PASSES = 10
"""Passes in a round."""
NEWTON_STEPS, NEGLIGIBLE_SHARE = 4, 1e-2
"""Newton steps in a round, in which the support shrinks, and the decrease, as a share of the tolerance, of the last."""
STEP_LENGTHS = 1.0, 0.5, 0.25, 0.125
"""Lengths that a Newton step tries before the one at which the first entry reaches zero."""
LEAST_DAMPING, DAMPING_GROWTH = 1e-6, 10.0
"""The diagonal grows by this share of its largest entry after a Newton step that was too long, and by this factor after
the next one: columns of a support with nearly as many entries as rows are dependent, and steps along them endless."""
LARGEST_SYSTEM, SMALL_SYSTEM = 2500, 300
"""Entries of the support up to which a Newton system is factorised, with and without a known Gram matrix; larger ones
are solved iteratively."""
PRODUCTS = 300
"""Conjugate gradient steps for such a system."""
ROUGH_RESIDUAL, EXACT_RESIDUAL = 1e-2, 1e-9
"""Relative residuals of such systems: where N or phi bends, a Newton step is not exact; elsewhere it is."""
PENALTY_GROWTH, LARGEST_PENALTY = 10.0, 1e4
"""rho grows by this factor when rounds bring no better point, up to this multiple of the typical one."""
LEAST_CURVATURE = 1e-9
"""Floor of the diagonal Hessian relative to the loss's curvature: a loss may be linear in all residuals."""
FLOOR_GROWTH = 1e3
"""The floor grows by this factor with every round that brings no better point; at 1 the model is an upper bound."""


@dataclass(frozen=True)
class Point:
    """A point over the working set, within the budget."""

    x: FloatArray
    residual: Array
    """A x - b."""
    dual: Array
    """lam = phi'(A x - b)."""
    value: float
    """phi(A x - b) + f(x)."""
    total: float
    """N(x)."""


@dataclass(frozen=True)
class Multiplier:
    """The multiplier of the budget, and its penalty."""

    mu: float
    rho: float


def loss_hessian(loss: ConvexLoss, residual: Array, floor: float = 0.0) -> FloatArray:
    """Return the diagonal of the Hessian of a separable loss, at least ``floor`` times the largest that there is."""
    diagonal = np.asarray(loss.gradient_jacobian(residual, np.ones((residual.size, 1))), np.float64)
    return np.maximum(diagonal.reshape(-1), floor * loss.curvature())


@dataclass(frozen=True)
class Restricted:
    """The problem over a working set."""

    problem: Problem
    ball: Coordinates
    """The set, restricted to the working set."""
    columns: Any
    """The columns of A: rows of a C-ordered array, or a CSC matrix."""
    gram: FloatArray | None
    """A^T D A for a quadratic phi, where it pays."""
    hessian: FloatArray | None
    """D, where phi is quadratic."""

    @property
    def loss(self) -> ConvexLoss:
        """phi."""
        assert self.problem.loss is not None
        return self.problem.loss

    @property
    def is_quadratic(self) -> bool:
        """Whether phi has a constant Hessian."""
        return self.hessian is not None

    @property
    def is_sparse(self) -> bool:
        """Whether the columns are compressed."""
        return not isinstance(self.columns, np.ndarray)

    def image(self, x: FloatArray) -> Array:
        """Return A x."""
        used = np.flatnonzero(x)
        if self.is_sparse:
            image = self.columns @ x
        else:
            image = x[used] @ self.columns[used] if 4 * used.size < x.size else x @ self.columns
        return image.reshape(self.problem.dual_shape)

    def pull_back(self, slopes: Array) -> FloatArray:
        """Return A^T u."""
        flat = slopes.reshape(-1)
        return self.columns.T @ flat if self.is_sparse else self.columns @ flat

    def at(self, x: FloatArray) -> Point:
        """Return the point x, scaled into the budget."""
        total, budget = self.ball.total(x), self.ball.budget
        if total > budget or (self.ball.is_tight and 0.0 < total != budget):
            x = np.where(self.entry_weights > 0.0, budget / total * x, x)
            total = budget
        residual = self.image(x) - self.problem.b
        cost = (self.ball.linear + self.ball.quadratic * total) * total
        return Point(x, residual, self.loss.gradient(residual), self.loss.value(residual) + cost, total)

    def hessian_at(self, residual: Array, floor: float = LEAST_CURVATURE) -> FloatArray:
        """Return the diagonal of the Hessian of phi, at least ``floor`` times the largest that there is."""
        return self.hessian if self.hessian is not None else loss_hessian(self.loss, residual, floor)

    @cached_property
    def entry_weights(self) -> FloatArray:
        """w_g for each entry."""
        return self.ball.spread(self.ball.weights)

    def gap(self, point: Point, gradient: FloatArray) -> float:
        """Return <g, x> + f(x) + f^*(-g), the duality gap over the working set."""
        ball, outside = self.ball, self.entry_weights == 0.0
        price = self._best_score(-gradient) - ball.linear if ball.weights.any() else 0.0
        if ball.is_tight:
            length = ball.budget
        elif ball.quadratic > 0.0:
            length = min(max(0.0, price / (2.0 * ball.quadratic)), ball.budget)
        else:
            length = ball.budget if price > 0.0 else 0.0
        conjugate = price * length - ball.quadratic * length**2 if length > 0.0 else 0.0
        cost = (ball.linear + ball.quadratic * point.total) * point.total
        gap = float(gradient @ point.x) + cost + conjugate
        if outside.any():
            slopes = gradient[outside]
            gap -= float(np.minimum(slopes * ball.lower[outside], slopes * ball.upper[outside]).sum())
        return gap

    def _best_score(self, direction: FloatArray) -> float:
        """Return the best score of a group with a weight."""
        ball = self.ball
        lengths = ball.norms(direction) if ball.has_groups else np.where(ball.lower < 0.0, abs(direction), direction)
        inside = ball.weights > 0.0
        return float((lengths[inside] / ball.weights[inside]).max())

    def lipschitz(self, hessian: FloatArray) -> FloatArray:
        """Return the largest eigenvalue of A_g^T D A_g for each group."""
        if self.is_sparse:
            squares = self.columns.multiply(self.columns).T @ hessian
        elif self.gram is not None:
            squares = np.diagonal(self.gram)
        else:
            squares = np.einsum("ij,ij,j->i", self.columns, self.columns, hessian)
        if not self.ball.has_groups:
            return np.ascontiguousarray(squares)
        starts, sizes, out = self.ball.starts[:-1], np.diff(self.ball.starts), np.empty(self.ball.weights.size)
        for size in np.unique(sizes):
            alike = np.flatnonzero(sizes == size)
            blocks = [self.curvature(np.arange(first, first + size), hessian) for first in starts[alike]]
            out[alike] = squares[starts[alike]] if size == 1 else np.linalg.eigvalsh(np.array(blocks))[:, -1]
        return out

    def curvature(self, places: IntArray, hessian: FloatArray) -> FloatArray:
        """Return A_S^T D A_S."""
        if self.gram is not None:
            return submatrix(self.gram, places, places)
        if self.is_sparse:
            part = self.columns[:, places]
            return (part.T @ (scipy.sparse.diags_array(hessian) @ part)).toarray()
        part = self.columns[places]
        return (part * hessian) @ part.T


@dataclass(frozen=True)
class Solution:
    """The solution over a working set."""

    point: Point
    multiplier: Multiplier
    products: int
    """Products with A and its adjoint, counted as passes over the working set."""


def minimize_restricted(
    problem: Restricted, x: FloatArray, multiplier: Multiplier, tolerance: float, *, is_warm: bool = False
) -> Solution:
    """Minimise over the working set, from x, until the gap over it is at most ``tolerance``.

    Where x is the solution of a similar problem (``is_warm``), the first round begins with Newton steps on its support.
    """
    point, products, idle = problem.at(x), 0, 0
    best = point
    lipschitz: FloatArray | None = None
    damping = RIDGE
    for count in range(ROUNDS):
        gradient = problem.pull_back(point.dual)
        products += 2
        if problem.gap(point, gradient) <= tolerance:
            return Solution(point, multiplier, products)
        floor = min(1.0, LEAST_CURVATURE * FLOOR_GROWTH**idle)
        hessian = problem.hessian_at(point.residual, floor)
        if count > 0 or not is_warm:
            if lipschitz is None or not problem.is_quadratic:
                lipschitz = problem.lipschitz(hessian)
            point, multiplier = _descend(problem, point, gradient, hessian, lipschitz, multiplier)
            products += 2 * PASSES
        for _ in range(NEWTON_STEPS):
            new, multiplier, damping, is_settled = _newton_step(problem, point, hessian, multiplier, damping)
            is_settled = is_settled or new is None or point.value - new.value <= NEGLIGIBLE_SHARE * tolerance
            point = point if new is None else new
            if is_settled:
                break
        idle = 0 if point.value < best.value else idle + 1
        best = best if idle else point
        if idle == IDLE_ROUNDS:
            break
        if 2 * idle == IDLE_ROUNDS:  # points worsen as they are scaled into the budget: hold them closer to it
            point, multiplier = best, replace(multiplier, rho=PENALTY_GROWTH * multiplier.rho)
    return Solution(best, multiplier, products)


def _terms(problem: Restricted, multiplier: Multiplier) -> FloatArray:
    """Return (base, mu, rho, budget) of T, see the kernels."""
    ball = problem.ball
    if math.isfinite(ball.budget):
        return np.array([ball.linear, multiplier.mu, multiplier.rho, ball.budget])
    return np.array([ball.linear, 0.0, 2.0 * ball.quadratic, 0.0])


def _total_term(problem: Restricted, terms: FloatArray, total: float) -> float:
    """Return T(N)."""
    base, mu, rho, budget = terms
    excess = mu + rho * (total - budget)
    if not problem.ball.is_tight:
        excess = max(excess, 0.0)
    return base * total + ((excess**2 - mu**2) / (2.0 * rho) if rho > 0.0 else 0.0)


def _descend(
    problem: Restricted,
    point: Point,
    gradient: FloatArray,
    hessian: FloatArray,
    lipschitz: FloatArray,
    multiplier: Multiplier,
) -> tuple[Point, Multiplier]:
    """Return the point after passes of coordinate descent on the quadratic model, and the multiplier after them."""
    from unipd.methods.coordinate import kernels

    ball = problem.ball
    typical = _typical_penalty(problem, lipschitz)
    multiplier = replace(multiplier, rho=min(max(multiplier.rho, typical), LARGEST_PENALTY * typical))
    terms, x = _terms(problem, multiplier), point.x.copy()
    norms = ball.norms(x)
    shared = (x, norms, ball.starts, ball.weights, ball.lower, ball.upper, lipschitz, terms, ball.is_tight)
    order = np.arange(ball.weights.size)

    def run(order: IntArray, epochs: int) -> None:
        if problem.is_sparse:
            c = problem.columns
            kernels.descend_sparse(c.data, c.indices, c.indptr, hessian, slopes, order, *shared, epochs)
        elif problem.gram is not None:
            kernels.descend_dense(problem.gram, problem.gram, slopes, True, order, *shared, epochs)
        else:
            kernels.descend_dense(problem.columns, updates, slopes, False, order, *shared, epochs)

    updates = problem.columns if problem.is_sparse or (hessian == 1.0).all() else problem.columns * hessian
    slopes = gradient.copy() if problem.gram is not None else point.dual.reshape(-1).astype(np.float64)
    run(order, 1)
    run(np.flatnonzero(norms), PASSES - 2)
    run(order, 1)
    total = ball.total(x)
    if not problem.is_quadratic:
        x = _line_search(problem, point, x - point.x, gradient, terms)
        total = ball.total(x)
    if math.isfinite(ball.budget):
        mu = multiplier.mu + multiplier.rho * (total - ball.budget)
        multiplier = replace(multiplier, mu=mu if ball.is_tight else max(0.0, mu))
    return problem.at(x), multiplier


def _typical_penalty(problem: Restricted, lipschitz: FloatArray) -> float:
    """Return rho at which the budget's curvature rho ||s||^2 is that of phi, for a support of half the groups."""
    inside = (problem.ball.weights > 0.0) & (lipschitz > 0.0)
    if not inside.any():
        return 1.0
    return float((lipschitz[inside] / problem.ball.weights[inside] ** 2).mean()) / max(1.0, 0.5 * inside.sum())


def _line_search(
    problem: Restricted, point: Point, direction: FloatArray, gradient: FloatArray, terms: FloatArray
) -> FloatArray:
    """Return x along the direction with sufficient decrease of phi + T(N)."""
    along = problem.image(direction)
    before = _total_term(problem, terms, point.total)
    start = problem.loss.value(point.residual) + before
    whole = _total_term(problem, terms, problem.ball.total(point.x + direction))
    predicted = min(float(gradient @ direction) + whole - before, 0.0)

    def accept(length: float, x: FloatArray) -> bool:
        value = problem.loss.value(point.residual + length * along)
        value += _total_term(problem, terms, problem.ball.total(x))
        return value <= start + ARMIJO * length * predicted

    x, accepted = backtrack(lambda length: point.x + length * direction, accept)
    return x if accepted else point.x


class _NewtonStep(NamedTuple):
    """What a Newton step leads to."""

    point: Point | None
    """The next point; None when the step does not lower the objective."""
    multiplier: Multiplier
    damping: float
    """The damping of the next step."""
    is_settled: bool
    """Whether the support stayed, so that the step is exact for a quadratic phi."""


def _newton_step(
    problem: Restricted, point: Point, hessian: FloatArray, multiplier: Multiplier, damping: float
) -> _NewtonStep:
    """Return the point after a damped Newton step on the support, in which entries that turn round become zero."""
    ball, x = problem.ball, point.x
    if not problem.is_quadratic:
        hessian = problem.hessian_at(point.residual)
    free = (x > ball.lower) & (x < ball.upper) & ((x != 0.0) | (problem.entry_weights == 0.0))
    if ball.has_groups:
        free |= (ball.spread(ball.norms(x)) > 0.0) & (problem.entry_weights > 0.0)
    places = np.flatnonzero(free)
    if places.size == 0:
        return _NewtonStep(None, multiplier, damping, True)
    direction = np.zeros_like(x)
    direction[places], change, rho = _newton_direction(problem, point, places, hessian, multiplier, damping)
    more = max(LEAST_DAMPING, DAMPING_GROWTH * damping)
    for length in (*STEP_LENGTHS, _longest_step(x, direction, problem)):
        target, has_stayed = _without_crossings(problem, x, x + length * direction)
        new = problem.at(target)
        if new.value < point.value and length < 1.0:  # the step's own multiplier is that of another support
            return _NewtonStep(new, replace(multiplier, mu=multiplier.mu + length * change), more, False)
        if new.value < point.value:
            less = damping / DAMPING_GROWTH if damping > LEAST_DAMPING else RIDGE
            is_settled = has_stayed and problem.is_quadratic and damping == RIDGE
            return _NewtonStep(new, Multiplier(multiplier.mu + change, rho), less, is_settled)
    return _NewtonStep(None, multiplier, more, True)


def _newton_direction(
    problem: Restricted, point: Point, places: IntArray, hessian: FloatArray, multiplier: Multiplier, damping: float
) -> tuple[FloatArray, float, float]:
    """Return dx on the support, dmu, and the penalty rho that suits its curvature."""
    ball, mu = problem.ball, multiplier.mu
    slopes, units = problem.pull_back(point.dual)[places], _unit_slopes(problem, point.x)[places]
    tau = ball.linear + 2.0 * ball.quadratic * point.total + mu
    solve = _newton_solver(problem, places, units, point.x, tau, hessian, damping)
    step = -solve(slopes + tau * units)
    is_bound = math.isfinite(ball.budget) and (ball.is_tight or mu > 0.0 or point.total >= ball.budget * (1.0 - 1e-9))
    if not (is_bound and units.any()):
        return step, 0.0, multiplier.rho
    across = solve(units)
    flow = float(units @ across)
    if flow <= 0.0:
        return step, 0.0, multiplier.rho
    change = (float(units @ step) - (ball.budget - point.total)) / flow
    if change + mu < 0.0 and not ball.is_tight:
        change = -mu  # the budget does not bind on this support
    return step - change * across, change, 2.0 / flow


def _unit_slopes(problem: Restricted, x: FloatArray) -> FloatArray:
    """Return the gradient s of N at x: w_g x_g / ||x_g||."""
    norms = problem.ball.spread(problem.ball.norms(x))
    return problem.entry_weights * np.divide(x, norms, out=np.zeros_like(x), where=norms > 0.0)


def _longest_step(x: FloatArray, direction: FloatArray, problem: Restricted) -> float:
    """Return the step at which the first entry reaches zero or a bound; 1 for groups."""
    if problem.ball.has_groups:
        return 0.5
    shrinking = (x * direction < 0.0) & (problem.entry_weights > 0.0)
    lengths = -x[shrinking] / direction[shrinking]
    return min(1.0, float(lengths.min(initial=1.0)))


def _without_crossings(problem: Restricted, old: FloatArray, new: FloatArray) -> tuple[FloatArray, bool]:
    """Return the point with zeros where an entry (or a group) has turned round, within the bounds; whether none has."""
    ball = problem.ball
    along = old * new
    turned = ball.spread(np.add.reduceat(along, ball.starts[:-1]) < 0.0) if ball.has_groups else along < 0.0
    turned &= problem.entry_weights > 0.0
    clipped = np.clip(np.where(turned, 0.0, new), ball.lower, ball.upper)
    return clipped, not turned.any() and bool((clipped == new).all())


def _newton_solver(
    problem: Restricted,
    places: IntArray,
    units: FloatArray,
    x: FloatArray,
    tau: float,
    hessian: FloatArray,
    damping: float,
) -> Callable[[FloatArray], FloatArray]:
    """Return the map y -> K^{-1} y with K = A_S^T D A_S + tau N'' + 2 v s s^T, damped on the diagonal."""
    from scipy.sparse.linalg import LinearOperator, cg

    ball = problem.ball
    block, weights = ball.spread(np.arange(ball.weights.size))[places], problem.entry_weights[places]
    norms = ball.norms(x)[block]
    is_bent = (norms > 0.0) & (np.diff(ball.starts)[block] > 1)
    bend = np.divide(tau * weights, norms, out=np.zeros_like(norms), where=is_bent)
    inward = np.divide(units, weights**2, out=np.zeros_like(units), where=is_bent & (weights > 0.0))
    if places.size <= (SMALL_SYSTEM if problem.gram is None else LARGEST_SYSTEM):
        matrix = problem.curvature(places, hessian)
        if bend.any():
            same = block[:, None] == block[None, :]
            matrix = matrix + np.diag(bend) - same * (bend * inward)[:, None] * units[None, :]
        if ball.quadratic > 0.0:
            matrix = matrix + 2.0 * ball.quadratic * units[:, None] * units[None, :]
        return factor_definite(matrix + damping * float(np.diagonal(matrix).max()) * np.eye(places.size))
    part = problem.columns[:, places] if problem.is_sparse else problem.columns[places].T
    transposed, diagonal, is_curved = part.T, _column_squares(part, hessian), bool(bend.any())
    ridge = damping * float((diagonal + bend).max())
    if is_curved:  # one value in a group: N'' is then inverted exactly
        diagonal = (np.bincount(block, diagonal, ball.weights.size) / np.diff(ball.starts))[block]

    def radial_part(vector: FloatArray) -> FloatArray:
        return np.bincount(block, inward * vector, ball.weights.size)[block] * units

    def product(vector: FloatArray) -> FloatArray:
        image = transposed @ (hessian * (part @ vector)) + ridge * vector
        if is_curved:
            image += bend * (vector - radial_part(vector))
        if ball.quadratic > 0.0:
            image += 2.0 * ball.quadratic * float(units @ vector) * units
        return image

    def precondition(vector: FloatArray) -> FloatArray:
        if is_curved:
            vector = vector + bend / diagonal * radial_part(vector)
        return vector / (diagonal + bend)

    system, nearby = (LinearOperator((places.size,) * 2, call) for call in (product, precondition))
    share = EXACT_RESIDUAL if problem.is_quadratic and not is_curved else ROUGH_RESIDUAL
    return lambda right: cg(system, right, rtol=share, maxiter=PRODUCTS, M=nearby)[0]


def _column_squares(part: Any, hessian: FloatArray) -> FloatArray:
    """Return the diagonal of A_S^T D A_S."""
    if isinstance(part, np.ndarray):
        return np.einsum("ij,ij,i->j", part, part, hessian)
    return part.multiply(part).T @ hessian
