"""How much of a new atom enters the average: the theorem's weights or the greedy choice."""

from __future__ import annotations

from collections.abc import Callable

from unipd import validate
from unipd._typing import Array
from unipd.couplings import Equality, LeastSquares, WeightedLeastSquares
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
    return best_step(problem, image - problem.b, atom_image - image, atom_objective - objective, upper)


def best_step(
    problem: Problem,
    residual: Array,
    direction: Array,
    rise: float,
    upper: float = 1.0,
    gradient: Array | None = None,
) -> float:
    """Return the best gamma in [0, upper] from a residual A x - b along a direction that adds ``rise`` to f.

    ``gradient`` is that of the loss at the residual, where it is at hand.
    """
    if isinstance(problem.coupling, QUADRATIC):
        loss = problem.loss
        if loss is None:  # K = {0}: ||r + gamma d||^2 / 2
            fall, bend = -inner(residual, direction), inner(direction, direction)
        else:  # these losses are quadratic forms
            fall = -inner(loss.gradient(residual) if gradient is None else gradient, direction) - rise
            bend = 2.0 * loss.value(direction)
        if fall <= 0.0:
            return 0.0
        return upper if upper * bend <= fall else fall / bend
    if problem.loss is not None:
        loss = problem.loss

        def slope(gamma: float) -> float:
            return inner(loss.gradient(residual + gamma * direction), direction) + rise
    else:
        coupling = problem.coupling

        def slope(gamma: float) -> float:
            moved = residual + gamma * direction
            return inner(moved - coupling.prox(moved, 1.0), direction)

    return zero_of_slope(slope, upper)


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
