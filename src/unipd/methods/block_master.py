"""The master problem over one model a block: weights on a product of simplices, solved in the dual.

With one set of atoms for each block of x, B the images of all atoms, c their costs and w their weights,

    min over w  c'w + ||w - w_0||^2 / (2 tau) + max over lam in dom h of { <lam, B w - b> - (M/2) ||lam - lam_c||^2 },

where w_0 are the weights before: a proximal step in both variables, so that the dual of the master is smooth,

    S(lam) = (M/2) ||lam - lam_c||^2 + <lam, b> - min over w of { (c + B'lam)'w + ||w - w_0||^2 / (2 tau) },

with gradient M (lam - lam_c) + b - B w(lam), w(lam) = P(w_0 - tau (c + B'lam)) and P the projection on the simplices.
A generalised Hessian is M I + tau B Q B', where Q centres the positive weights within their block and drops the others:
semismooth Newton steps, with signs of lam kept by projection, end in a few systems of the size of lam.
K = {0} and the orthants fit (h is 0 or the indicator of an orthant), and least squares (M = 1/scale, lam_c = 0).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array, FloatArray, IntArray
from unipd.methods.simplices import averages, project_on_simplices

NEWTON_STEPS = 20
_DESCENT = 1e-4
_SHORTEST = 1e-6
_RIDGE = 1e-13
_ROUNDING = 1e-13
_NEARLY = 30.0


@dataclass(frozen=True)
class BlockMaster:
    """The master around a dual centre and the last weights; everything is real and in double precision."""

    columns: Any
    """B, dense or sparse."""
    costs: FloatArray
    """c."""
    blocks: IntArray
    """The block of every atom, ascending."""
    starts: IntArray
    """Where the blocks begin."""
    target: FloatArray
    """b."""
    centre: FloatArray
    """lam_c."""
    smoothness: float
    """M > 0."""
    sign: float
    """1 for lam >= 0, -1 for lam <= 0, 0 for a free lam."""
    weights: FloatArray
    """w_0."""
    reach: float
    """tau > 0."""

    def at(self, dual: FloatArray) -> tuple[float, FloatArray]:
        """Return S(lam) and w(lam)."""
        prices = self.costs + self.columns.T @ dual
        weights = project_on_simplices(self.weights - self.reach * prices, self.blocks, self.starts)
        step, moved = weights - self.weights, dual - self.centre
        value = 0.5 * self.smoothness * float(moved @ moved) + float(dual @ self.target)
        return value - float(prices @ weights) - float(step @ step) / (2.0 * self.reach), weights

    def gradient(self, dual: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the gradient of S."""
        return self.smoothness * (dual - self.centre) + self.target - self.columns @ weights

    def residual(self, dual: FloatArray, weights: FloatArray) -> float:
        """Return the norm of the projected gradient, in the units of A x - b."""
        target = self.feasible(dual - self.gradient(dual, weights) / self.smoothness)
        return self.smoothness * float(np.linalg.norm(dual - target))

    @property
    def extent(self) -> float:
        """The size of the terms that cancel in S."""
        return float(np.linalg.norm(self.centre) * np.linalg.norm(self.target) + np.abs(self.costs).max())

    def hessian(self, weights: FloatArray) -> FloatArray:
        """Return M I + tau B Q B' as a dense matrix."""
        size = self.target.size
        positive = weights > 0
        several = np.add.reduceat(positive, self.starts[:-1], dtype=np.intp) > 1
        places = np.flatnonzero(positive & several[self.blocks])
        if places.size == 0:
            return self.smoothness * np.eye(size)
        part = self.columns[:, places]
        means = averages(part, self.blocks[places])
        product: Any = self.reach * (part @ part.T - means @ means.T)
        matrix = product if isinstance(product, np.ndarray) else product.toarray()
        matrix.flat[:: size + 1] += self.smoothness
        return matrix

    def feasible(self, dual: FloatArray) -> FloatArray:
        """Return lam with its signs put right."""
        if self.sign == 0.0:
            return dual
        return np.maximum(dual, 0.0) if self.sign > 0 else np.minimum(dual, 0.0)


@dataclass(frozen=True)
class Solution:
    """Weights and multiplier of a master, and the Newton steps they took."""

    weights: FloatArray
    dual: FloatArray
    steps: int
    converged: bool
    """Whether the tolerance was met; if not, tau was too large for the steps allowed."""


def solve_block_master(master: BlockMaster, tolerance: float, share: float = 0.2) -> Solution:
    """Minimise S until its projected gradient is at most ``tolerance``, or ``share`` of M ||lam - lam_c||.

    An error of this size in the gradient is one in A x - b; the next master starts from the weights reached. Where the
    decrease that a step promises drowns in the rounding of S, steps are judged by the projected gradient instead.
    """
    dual = master.centre
    value, weights = master.at(dual)
    residual = master.residual(dual, weights)
    for steps in range(NEWTON_STEPS):
        moved = master.smoothness * float(np.linalg.norm(dual - master.centre))
        if residual <= tolerance or (steps > 0 and residual <= share * moved):
            return Solution(weights, dual, steps, True)
        gradient = master.gradient(dual, weights)
        direction = _direction(master, dual, gradient, weights)
        drowned = abs(float(gradient @ direction)) <= _ROUNDING * max(abs(value), master.extent)
        length = 1.0
        while True:
            trial = master.feasible(dual + length * direction)
            trial_value, trial_weights = master.at(trial)
            trial_residual = master.residual(trial, trial_weights)
            if drowned or length < _SHORTEST:
                break
            if trial_value <= value + _DESCENT * float(gradient @ (trial - dual)):
                break
            length *= 0.5
        if trial_residual >= residual if drowned else trial_value >= value:
            return Solution(weights, dual, steps, drowned and residual <= _NEARLY * tolerance)
        dual, value, weights, residual = trial, trial_value, trial_weights, trial_residual
    return Solution(weights, dual, NEWTON_STEPS, False)


def _direction(master: BlockMaster, dual: FloatArray, gradient: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the Newton direction; entries of lam at zero that the gradient holds there stay."""
    free = (master.sign * dual > 0) | (master.sign * gradient < 0) if master.sign else np.ones(dual.size, bool)
    hessian = master.hessian(weights)
    direction = np.zeros(dual.size)
    if free.any():
        direction[free] = -_solved(hessian if free.all() else hessian[np.ix_(free, free)], gradient[free])
    return direction


def _solved(matrix: Array, right: Array) -> Array:
    """Solve a positive definite system; a ridge of the size of rounding helps where that has spoilt it."""
    try:
        return scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix, check_finite=False), right, check_finite=False)
    except np.linalg.LinAlgError:
        ridge = _RIDGE * float(np.trace(matrix)) * np.eye(right.size)
        return np.linalg.lstsq(matrix + ridge, right, rcond=None)[0]
