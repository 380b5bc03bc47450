"""How much of a new atom enters the average: the theorem's weights or the greedy choice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unipd import serial, validate
from unipd._typing import Array
from unipd.couplings import LeastSquares, WeightedLeastSquares
from unipd.dual import Slope, Way, moved_along, residual_slope, way_between
from unipd.problem import Problem
from unipd.protocols import inner

_DOUBLE = np.dtype(np.float64)
WEIGHTS = ("theory", "greedy")
_BISECTIONS = 60
QUADRATIC = (LeastSquares, WeightedLeastSquares)
"""Losses that are quadratic forms: their slope along a segment is affine."""


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
    rise, inverse = atom_objective - objective, problem.inverse
    if inverse is not None:  # K = {0} or least squares
        slope, bend = residual_slope(problem, image, atom_image)
        fall, bend = (-slope, bend) if inverse == 0.0 else (-slope / inverse - rise, bend / inverse)
        return 0.0 if fall <= 0.0 else upper if upper * bend <= fall else fall / bend
    residual, way = image - problem.b, atom_image - image
    slope = inner(residual if problem.loss is None else problem.loss.gradient(residual), way)
    return best_step(problem, image, (way, inner(way, way)), -slope - rise, rise, upper)


def exact_step(
    problem: Problem, image: Array, tail: Array, head: Array, fall: float, rise: float, upper: float
) -> tuple[float, Array, Slope, float]:
    """Go from A x as far along head - tail as is best: gamma in [0, upper].

    Return gamma, and what :func:`~unipd.dual.moved_along` says of where that leads. Parameters are those of
    :func:`best_step`.
    """
    inverse, b = problem.inverse, problem.b
    if inverse is None or head.size > serial.ENTRIES or not head.dtype is image.dtype is _DOUBLE:
        found = way_between(tail, head)
        gamma = best_step(problem, image, found, fall, rise, upper)
        return gamma, *moved_along(problem, image, gamma, found[0])
    # the same for least squares in one go: a product with A empties the caches, and every function called costs
    way = head - tail
    bend = float(serial.vdot(way, way)) / inverse
    gamma = 0.0 if fall <= 0.0 else upper if upper * bend <= fall else fall / bend
    way *= gamma
    moved = image + way
    lam = residual = moved - b
    squared = energy = float(serial.vdot(residual, residual))
    if inverse != 1.0:
        lam = (1.0 / inverse) * residual
        energy = float(serial.vdot(lam, lam))
    return gamma, moved, (lam, (float(serial.vdot(lam, b)), energy)), 0.5 * squared / inverse


def best_step(problem: Problem, image: Array, way: Way, fall: float, rise: float, upper: float = 1.0) -> float:
    """Return the best gamma in [0, upper] from A x along a way in the image.

    The way d = A (x' - x), with ||d||^2, adds ``rise`` to f; ``fall`` is how steeply the loss and f fall together at
    first, -<grad phi, d> - rise, or -<A x - b, d> for a constraint. Only quadratic losses ask for it.
    """
    direction, squared = way
    loss = problem.loss
    if isinstance(loss, QUADRATIC):
        bend = 2.0 * loss.value(direction) if problem.inverse is None else squared / problem.inverse
        return 0.0 if fall <= 0.0 else upper if upper * bend <= fall else fall / bend
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
