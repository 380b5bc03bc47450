"""Descent: the directions of L-BFGS, on the dual as on factors, and steps along a segment.

Steps are exact for convex functions, or found by Armijo backtracking; :func:`step_along` gives a loss after one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np

from unipd._typing import Array
from unipd._util.arrays import ENTRIES, inner, norm
from unipd.errors import InvalidInput
from unipd.problem import Problem
from unipd.protocols import Loss

TRIALS = 12
"""Trial points of a quasi-Newton step after which it fails."""
_LEAST_CURVATURE = 1e-12
"""Pairs whose <step, change> is at most this multiple of ||step|| ||change|| are left out: where it is not positive, or
is no more than rounding, the inverse Hessian would not remain positive definite."""
_BISECTIONS = 60
_SHORTEST = 1e-6
"""Length below which a backtracking search ends."""
ARMIJO = 1e-4
"""A backtracking step is accepted when the decrease is at least this share of what the slope promises."""
_DOUBLES = (np.dtype(np.float64), np.dtype(np.complex128))

T = TypeVar("T")
LossGradient: TypeAlias = tuple[Array, tuple[float, float] | None]
"""lam = grad phi(A x - b), and <lam, b> and ||lam||^2 if already computed."""
Direction: TypeAlias = tuple[Array, float]
"""A direction d in the image, and ||d||^2."""


def _identity(vector: Array) -> Array:
    return vector


@dataclass(frozen=True)
class LBFGSMemory:
    """The last pairs (step, change of gradient) of a minimisation, and the directions that they give; immutable.

    >>> LBFGSMemory().direction(np.array([2.0, 0.0]))
    array([-2., -0.])
    """

    pairs: tuple[tuple[Array, Array], ...] = ()
    limit: int = 8

    def add_pair(self, step: Array, change: Array) -> LBFGSMemory:
        """Return the memory with one more pair, unless its curvature is not positive."""
        if inner(step, change) <= _LEAST_CURVATURE * norm(step) * norm(change):
            return self
        return LBFGSMemory((*self.pairs, (step, change))[-self.limit :], self.limit)

    def empty(self) -> LBFGSMemory:
        """Return a memory of the same limit without pairs."""
        return LBFGSMemory(limit=self.limit)

    def direction(self, gradient: Array, precondition: Callable[[Array], Array] = _identity) -> Array:
        """Return -H g with H the inverse Hessian of the pairs (two-loop recursion).

        The recursion starts from a multiple of the preconditioner, a symmetric positive definite map.
        """
        direction = -gradient
        shares: list[float] = []
        curvatures = [inner(step, change) for step, change in self.pairs]
        for (step, change), curvature in zip(reversed(self.pairs), reversed(curvatures), strict=True):
            share = inner(step, direction) / curvature
            direction = _axpy(direction, -share, change)
            shares.append(share)
        direction = precondition(direction)
        if self.pairs:
            change = self.pairs[-1][1]
            size = inner(change, precondition(change))
            direction = direction * (curvatures[-1] / size) if size > 0.0 else direction
        for (step, change), curvature, share in zip(self.pairs, curvatures, reversed(shares), strict=True):
            back = inner(change, direction) / curvature
            direction = _axpy(direction, share - back, step)
        return direction


def _axpy(direction: Array, share: float, other: Array) -> Array:
    """Return direction + share * other; in place for contiguous doubles, which saves a pass.

    In parts that BLAS adds on one thread: the threads of SciPy and those of NumPy, which multiply, slow each other.
    """
    if direction.dtype not in _DOUBLES or other.dtype != direction.dtype:
        return direction + share * other
    if not (direction.flags.c_contiguous and other.flags.c_contiguous):
        return direction + share * other
    add, whole, terms = _blas_axpy(), direction.reshape(-1).view(np.float64), other.reshape(-1).view(np.float64)
    for first in range(0, whole.size, ENTRIES):
        add(terms[first : first + ENTRIES], whole[first : first + ENTRIES], a=share)
    return direction


@functools.cache
def _blas_axpy() -> Any:
    from scipy.linalg import get_blas_funcs  # loaded when a method first runs

    return get_blas_funcs("axpy", dtype=np.float64)


def exact_step(
    problem: Problem, image: Array, direction: Direction, decrease: float, cost_change: float, upper: float = 1.0
) -> float:
    """Return the best gamma in [0, upper] from A x along d = A (x' - x).

    A loss problem minimises the primal objective, a constrained one the distance dist(A x - b, K); both are convex in
    gamma.

    Parameters
    ----------
    direction
        d and ||d||^2.
    decrease
        Initial rate of decrease of the objective, -<grad phi, d> - cost_change; used for quadratic losses only.
    cost_change
        f(x') - f(x).
    """
    step, squared = direction
    loss = problem.loss
    if loss is not None and loss.quadratic_weights is not None:
        curvature = problem.conjugate_curvature
        return parabola_step(decrease, 2.0 * loss.value(step) if curvature is None else squared / curvature, upper)
    residual = image - problem.b
    if problem.coupling.is_equality:
        return parabola_step(-inner(residual, step), squared, upper)

    def slope(gamma: float) -> float:
        moved = residual + gamma * step
        if loss is not None:
            return inner(loss.gradient(moved), step) + cost_change
        return inner(moved - problem.coupling.prox(moved, 1.0), step)

    return minimize_convex(slope, upper)


def parabola_step(decrease: float, curvature: float, upper: float = 1.0) -> float:
    """Return the minimiser over [0, upper] of -decrease gamma + curvature gamma^2 / 2.

    >>> parabola_step(1.0, 2.0), parabola_step(3.0, 2.0), parabola_step(-1.0, 2.0)
    (0.5, 1.0, 0.0)
    """
    return 0.0 if decrease <= 0.0 else upper if upper * curvature <= decrease else decrease / curvature


def minimize_convex(slope: Callable[[float], float], upper: float) -> float:
    """Return the minimiser over [0, upper] of a convex function, by bisection on its slope.

    >>> round(minimize_convex(lambda t: 2.0 * t - 0.5, 1.0), 12)
    0.25
    """
    if slope(0.0) >= 0.0:
        return 0.0
    if slope(upper) <= 0.0:
        return upper
    low, high = 0.0, upper
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return 0.5 * (low + high)


def backtrack(trial: Callable[[float], T], accept: Callable[[float, T], bool]) -> tuple[T, bool]:
    """Return the first trial point that is accepted, over lengths 1, 1/2, 1/4, ..., and True.

    The search ends with the last trial point and False below the shortest length.

    >>> backtrack(lambda length: length, lambda length, point: point**2 <= 0.1)
    (0.25, True)
    """
    length = 1.0
    while True:
        point = trial(length)
        if accept(length, point):
            return point, True
        if length < _SHORTEST:
            return point, False
        length *= 0.5


def interpolate(predicted: float, change: float) -> float:
    """Return the factor in [0.1, 0.5] that minimises the parabola with this predicted and actual change of value.

    >>> interpolate(-1.0, 1.0)
    0.25
    """
    excess = change - predicted
    return min(0.5, max(0.1, -0.5 * predicted / excess)) if excess > 0.0 else 0.5


def loss_gradient(problem: Problem, image: Array) -> LossGradient:
    """Return lam = grad phi(A x - b).

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [1.0, 2.0], unipd.couplings.LeastSquares())
    >>> loss_gradient(problem, np.zeros(2))[0]
    array([-1., -2.])
    """
    residual: Array = image - problem.b
    return residual if problem.conjugate_curvature == 1.0 else _loss(problem).gradient(residual), None


def step_along(problem: Problem, image: Array, gamma: float, direction: Array) -> tuple[Array, LossGradient, float]:
    """Return A x = image + gamma * direction, lam there with its sums, and phi(A x - b).

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [1.0, 2.0], unipd.couplings.LeastSquares())
    >>> step_along(problem, np.zeros(2), 0.5, np.array([2.0, 0.0]))
    (array([1., 0.]), (array([ 0., -2.]), (-4.0, 4.0)), 2.0)
    """
    moved = image + gamma * direction
    residual, curvature = moved - problem.b, problem.conjugate_curvature
    if curvature is None:
        loss = _loss(problem)
        return moved, (loss.gradient(residual), None), loss.value(residual)
    lam = residual if curvature == 1.0 else (1.0 / curvature) * residual
    norm_sq = inner(lam, lam)
    return moved, (lam, (inner(lam, problem.b), norm_sq)), 0.5 * curvature * norm_sq


def direction_between(tail: Array, head: Array) -> Direction:
    """Return d = head - tail, and ||d||^2.

    >>> import numpy as np
    >>> direction_between(np.zeros(2), np.array([3.0, 4.0]))
    (array([3., 4.]), 25.0)
    """
    direction = head - tail
    return direction, inner(direction, direction)


def _loss(problem: Problem) -> Loss:
    if problem.loss is None:
        raise InvalidInput("coupling", "a loss", type(problem.coupling).__name__)
    return problem.loss
