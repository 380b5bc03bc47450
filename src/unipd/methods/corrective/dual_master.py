"""The master problem over many blocks, solved in the dual by semismooth Newton steps.

With B the images of all atoms, c their costs and w their weights,

    min over w  c'w + ||w - w_0||^2 / (2 tau) + max over lam in dom h of { <lam, B w - b> - (M/2) ||lam - lam_c||^2 },

where w_0 are the weights before: a proximal step in both variables, so that the dual of the master is smooth,

    S(lam) = (M/2) ||lam - lam_c||^2 + <lam, b> - min over w of { (c + B'lam)'w + ||w - w_0||^2 / (2 tau) },

with gradient M (lam - lam_c) + b - B w(lam), w(lam) = P(w_0 - tau (c + B'lam)) and P the projection onto the simplices.
A generalised Hessian is M I + tau B Q B', where Q centres the positive weights within their block and drops the
others: semismooth Newton steps, projected onto the signs of lam, take a few systems of the size of lam. K = {0} and the
orthants fit (h is 0 or the indicator of an orthant), and least squares (M = 1/scale, lam_c = 0).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy

from unipd._typing import Array, FloatArray, IntArray
from unipd._util.arrays import TINY, factor_definite
from unipd.methods.base import relative_eps
from unipd.methods.corrective.model import DECREASE_ROUNDING, Bundle, as_complex, as_real
from unipd.methods.descent import ARMIJO, backtrack
from unipd.problem import Problem

NEWTON_STEPS = 20
"""Newton steps after which a master is left as it is: tau was too large, and shrinks for the next."""
_NEARLY = 30.0
"""Where rounding ends the steps, a residual of this many tolerances counts as solved."""
_RESIDUAL_SHARE = 0.2
"""For constraints, an error of this share of M ||lam - lam_c|| is small enough."""
_PRIMAL_SHARE = 0.01
"""Share of the requested accuracy allowed to the error in A x - b."""
_FEW_STEPS, _MANY_STEPS = 4, 12
"""Newton steps up to which tau grows, and beyond which it shrinks."""
_FIRST_PROX_STEP, _LAST_PROX_STEP = 1.0, 1e12
"""tau in units of the inverse price differences, at first and at most."""


class DualMasterPoint(NamedTuple):
    """A point of the dual of the master."""

    dual: FloatArray
    """lam."""
    value: float
    """S(lam)."""
    weights: FloatArray
    """w(lam)."""
    gradient: FloatArray
    """The gradient of S."""
    residual: float
    """Norm of the projected gradient, in the units of A x - b."""


@dataclass(frozen=True)
class DualMaster:
    """The master around a dual centre and the last weights; real numbers in double precision."""

    columns: Any
    """B, dense or sparse."""
    costs: FloatArray
    """c."""
    blocks: IntArray
    """The block of every atom, ascending."""
    starts: IntArray
    """Where the blocks begin."""
    target: FloatArray
    """b; 0 where it is subtracted from the columns of the first block."""
    centre: FloatArray
    """lam_c."""
    smoothness: float
    """M > 0."""
    sign: float
    """1 for lam >= 0, -1 for lam <= 0, 0 for a free lam."""
    weights: FloatArray
    """w_0."""
    prox_step: float
    """tau > 0."""
    extent: float = 0.0
    """Size of the terms that cancel in S."""

    def at(self, dual: FloatArray) -> DualMasterPoint:
        """Return the point lam."""
        prices = self.costs + self.columns.T @ dual
        weights = project_simplices(self.weights - self.prox_step * prices, self.blocks, self.starts)
        step, moved = weights - self.weights, dual - self.centre
        value = 0.5 * self.smoothness * float(moved @ moved) + float(dual @ self.target)
        value -= float(prices @ weights) + float(step @ step) / (2.0 * self.prox_step)
        gradient = self.smoothness * moved + self.target - self.columns @ weights
        shift = dual - self.project(dual - gradient / self.smoothness)
        return DualMasterPoint(dual, value, weights, gradient, self.smoothness * float(np.linalg.norm(shift)))

    def hessian(self, weights: FloatArray) -> FloatArray:
        """Return M I + tau B Q B' as a dense matrix."""
        size = self.target.size
        positive = weights > 0
        several = np.add.reduceat(positive, self.starts[:-1], dtype=np.intp) > 1
        places = np.flatnonzero(positive & several[self.blocks])
        if places.size == 0:
            return self.smoothness * np.eye(size)
        part = self.columns[:, places]
        means = block_averages(part, self.blocks[places])
        product: Any = self.prox_step * (part @ part.T - means @ means.T)
        matrix = product if isinstance(product, np.ndarray) else product.toarray()
        matrix.flat[:: size + 1] += self.smoothness
        return matrix

    def project(self, dual: FloatArray) -> FloatArray:
        """Return the nearest lam in the domain of h."""
        if self.sign == 0.0:
            return dual
        return np.maximum(dual, 0.0) if self.sign > 0 else np.minimum(dual, 0.0)

    def newton_direction(self, point: DualMasterPoint) -> FloatArray:
        """Return the Newton direction; entries of lam at zero that the gradient holds there stay."""
        dual, gradient = point.dual, point.gradient
        free = (self.sign * dual > 0) | (self.sign * gradient < 0) if self.sign else np.ones(dual.size, bool)
        hessian = self.hessian(point.weights)
        direction = np.zeros(dual.size)
        if free.any():
            system = hessian if free.all() else hessian[np.ix_(free, free)]
            direction[free] = -factor_definite(system)(gradient[free])
        return direction


class Solution(NamedTuple):
    """Weights and multiplier of a master, and the Newton steps they took."""

    weights: FloatArray
    dual: FloatArray
    steps: int
    converged: bool
    """Whether the tolerance was met; if not, tau was too large for the steps allowed."""


def minimize_dual(master: DualMaster, tolerance: float, share: float = _RESIDUAL_SHARE) -> Solution:
    """Minimise S until its projected gradient is at most ``tolerance``, or ``share`` of M ||lam - lam_c||.

    An error of this size in the gradient is one in A x - b; the next master starts from the weights reached. Where the
    predicted decrease is below the rounding of S, the projected gradient decides on a step instead.
    """
    point = master.at(master.centre)
    for steps in range(NEWTON_STEPS):
        moved = master.smoothness * float(np.linalg.norm(point.dual - master.centre))
        if point.residual <= tolerance or (steps > 0 and point.residual <= share * moved):
            return Solution(point.weights, point.dual, steps, True)
        new, at_rounding = _newton_step(master, point)
        if new.residual >= point.residual if at_rounding else new.value >= point.value:
            converged = at_rounding and point.residual <= _NEARLY * tolerance
            return Solution(point.weights, point.dual, steps, converged)
        point = new
    return Solution(point.weights, point.dual, NEWTON_STEPS, False)


def _newton_step(master: DualMaster, point: DualMasterPoint) -> tuple[DualMasterPoint, bool]:
    """Return the point after a Newton step, and whether the predicted decrease is below rounding."""
    dual, value, gradient = point.dual, point.value, point.gradient
    direction = master.newton_direction(point)
    at_rounding = abs(float(gradient @ direction)) <= DECREASE_ROUNDING * max(abs(value), master.extent)

    def accept(_: float, new: DualMasterPoint) -> bool:
        return at_rounding or new.value <= value + ARMIJO * float(gradient @ (new.dual - dual))

    new, _ = backtrack(lambda length: master.at(master.project(dual + length * direction)), accept)
    return new, at_rounding


def solve_dual_master(
    problem: Problem, bundle: Bundle, centre: Array, smoothness: float, eps: float
) -> tuple[Bundle, Array]:
    """Return the bundle at the weights of the dual master, with the tau of the next one, and the multiplier."""
    is_loss = problem.loss is not None
    curvature, prices = problem.conjugate_curvature, bundle.prices(centre)
    centre = as_real(np.zeros_like(centre) if is_loss else centre)
    master = DualMaster(
        columns=bundle.columns.matrix,
        costs=bundle.costs,
        blocks=bundle.blocks,
        starts=bundle.starts,
        target=np.zeros(centre.size) if bundle.is_shifted else as_real(problem.b),
        centre=centre,
        smoothness=curvature if is_loss and curvature is not None else smoothness,
        sign=problem.coupling.dual_sign or 0.0,
        weights=bundle.weights,
        prox_step=bundle.prox_step or _first_prox_step(prices, bundle.starts, bundle.blocks),
        extent=float(np.linalg.norm(centre)) * problem.norm_b + float(np.abs(bundle.costs).max()),
    )
    accuracy = relative_eps(problem, eps, bundle.objective())
    tolerance = _PRIMAL_SHARE * accuracy * (problem.norm_b or problem.least_scale)
    solution = minimize_dual(master, tolerance, 0.0 if is_loss else _RESIDUAL_SHARE)
    largest = _LAST_PROX_STEP / max(float(np.abs(prices).max()), TINY)
    has_choice = bundle.blocks.size > bundle.count
    prox_step = min(_prox_step_factor(solution) * master.prox_step, largest) if has_choice else 0.0
    moved = replace(bundle, weights=solution.weights, prox_step=prox_step, is_solved=solution.converged)
    return moved, as_complex(solution.dual, problem).astype(problem.dtype, copy=False)


def _prox_step_factor(solution: Solution) -> float:
    """Return the factor for tau after a master: a larger tau takes fewer masters, a smaller one makes them easier."""
    if not solution.converged:
        return 0.1
    return 2.0 if solution.steps <= _FEW_STEPS else 0.5 if solution.steps > _MANY_STEPS else 1.0


def _first_prox_step(prices: FloatArray, starts: IntArray, blocks: IntArray) -> float:
    """Return a tau for which typical differences of price within a block move weights by several units."""
    excess = prices - np.minimum.reduceat(prices, starts[:-1])[blocks]
    positive = excess[excess > 0]
    return _FIRST_PROX_STEP / float(positive.mean()) if positive.size else 1.0


def project_simplices(values: FloatArray, blocks: IntArray, starts: IntArray) -> FloatArray:
    """Return the nearest vector whose entries are nonnegative and sum to one in every block.

    In a block with sorted entries v_1 >= v_2 >= ..., the solution is max(v - theta, 0) with
    theta = (v_1 + ... + v_k - 1) / k for the last k with k v_k > v_1 + ... + v_k - 1. All blocks are done at once.

    Parameters
    ----------
    values
        The vector.
    blocks
        The block of every entry, in ascending order; no block is empty.
    starts
        Where the blocks begin, and the end of the last one.

    Examples
    --------
    >>> project_simplices(np.array([0.5, 1.5, 3.0]), np.array([0, 0, 1]), np.array([0, 2, 3]))
    array([0., 1., 1.])
    """
    first = starts[:-1]
    shifted = np.maximum(values - np.maximum.reduceat(values, first)[blocks], -1.0)  # what is lower becomes 0 anyway
    ordered = shifted[np.lexsort((-shifted, blocks))]
    sums = np.cumsum(ordered)
    sums -= (sums[first] - ordered[first])[blocks]
    places = np.arange(1, values.size + 1) - first[blocks]
    kept = np.add.reduceat(ordered * places > sums - 1.0, first, dtype=np.intp)
    theta = (sums[first + kept - 1] - 1.0) / kept
    return np.maximum(shifted - theta[blocks], 0.0)


def project_simplex(values: FloatArray, total: float) -> FloatArray:
    """Return the nearest vector with nonnegative entries of this sum.

    Parameters
    ----------
    values
        The vector.
    total
        The sum, positive.

    See Also
    --------
    unipd.methods.Corrective

    Examples
    --------
    >>> project_simplex(np.array([-1.0, 1.5, 2.0]), 1.0)
    array([0.  , 0.25, 0.75])
    """
    blocks, starts = np.zeros(values.size, np.intp), np.array([0, values.size])
    return total * project_simplices(values / total, blocks, starts)


def block_averages(matrix: Any, blocks: IntArray) -> Any:
    """Return the sum of the columns of every block over the square root of their number: M E with E E^T the averaging.

    Parameters
    ----------
    matrix
        M, dense or sparse.
    blocks
        The block of every column: nonnegative numbers that do not decrease.

    Examples
    --------
    >>> block_averages(np.eye(3), np.array([2, 2, 5])).round(3)
    array([[0.707, 0.   ],
           [0.707, 0.   ],
           [0.   , 1.   ]])
    """
    first = np.flatnonzero(np.diff(blocks, prepend=-1))
    sizes = np.diff(first, append=blocks.size)
    if isinstance(matrix, np.ndarray):
        return np.add.reduceat(matrix, first, axis=1) / np.sqrt(sizes)
    places = np.repeat(np.arange(sizes.size), sizes)
    entries = (1.0 / np.sqrt(sizes[places]), places, np.arange(blocks.size + 1))
    return matrix @ scipy.sparse.csr_array(entries, shape=(blocks.size, sizes.size))
