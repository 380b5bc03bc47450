"""How much of a new atom enters the average: the theorem's weights or the greedy choice."""

from __future__ import annotations

from collections.abc import Callable

from unipd import validate
from unipd._typing import Array
from unipd.couplings import Equality, LeastSquares, WeightedLeastSquares
from unipd.dual import Way
from unipd.problem import Problem
from unipd.protocols import inner

WEIGHTS = ("theory", "greedy")
_BISECTIONS = 60
QUADRATIC = (LeastSquares, WeightedLeastSquares, Equality)
"""Couplings whose slope along a segment is affine: quadratic losses, and the distance to K = {0}."""


def check_weights(weights: str) -> str:
    """Return the name of a weighting rule or raise."""
    return validate.choice("weights", weights, WEIGHTS)


def greedy_gamma(
    problem: Problem,
    image: Array,
    atom_image: Array,
    objective: float,
    atom_objective: float,
    upper: float = 1.0,
) -> float:
    """Return the gamma in [0, upper] that is best for xbar + gamma (x - xbar) ("line search in the weighting step").

    A loss problem minimises the primal objective, a constrained one the feasibility gap dist(A x - b, K).
    Both are convex in gamma, and parabolas for quadratic losses and for K = {0}.
    """
    residual, way = image - problem.b, atom_image - image
    slope = inner(residual if problem.loss is None else problem.loss.gradient(residual), way)
    return best_step(problem, image, (way, slope, inner(way, way)), atom_objective - objective, upper)


def best_step(problem: Problem, image: Array, way: Way, rise: float, upper: float = 1.0) -> float:
    """Return the best gamma in [0, upper] from A x along a way in the image that adds ``rise`` to f.

    With the way d = A (x' - x) come <grad phi, d>, or <A x - b, d> for a constraint, and ||d||^2.
    """
    direction, slope, squared = way
    loss = problem.loss
    if isinstance(problem.coupling, QUADRATIC):
        fall, bend = (-slope, squared) if loss is None else (-slope - rise, _bend(problem, direction, squared))
        if fall <= 0.0:
            return 0.0
        return upper if upper * bend <= fall else fall / bend
    residual = image - problem.b
    if loss is not None:

        def rising(gamma: float) -> float:
            return inner(loss.gradient(residual + gamma * direction), direction) + rise
    else:
        coupling = problem.coupling

        def rising(gamma: float) -> float:
            moved = residual + gamma * direction
            return inner(moved - coupling.prox(moved, 1.0), direction)

    return zero_of_slope(rising, upper)


def _bend(problem: Problem, direction: Array, squared: float) -> float:
    """Return the second derivative of a quadratic loss along a direction, whose squared length is known."""
    assert problem.loss is not None
    return 2.0 * problem.loss.value(direction) if problem.inverse is None else squared / problem.inverse


def zero_of_slope(slope: Callable[[float], float], upper: float) -> float:
    """Return the minimiser over [0, upper] of a convex function from its nondecreasing slope."""
    at_zero = slope(0.0)
    if at_zero >= 0.0:
        return 0.0
    at_upper = slope(upper)
    if at_upper <= 0.0:
        return upper
    low, high = 0.0, upper
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return 0.5 * (low + high)
