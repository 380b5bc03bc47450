"""Passes of the methods that descend on a loss phi(A x - b) itself: its gradient, and a way to go in the image."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from unipd._typing import Array
from unipd.dual import passes
from unipd.dual.passes import compiled, is_plain
from unipd.errors import InvalidInput
from unipd.problem import Problem
from unipd.protocols import Loss, inner

Slope: TypeAlias = tuple[Array, tuple[float, float] | None]
"""lam = grad phi(A x - b), and <lam, b> and ||lam||^2 where they are at hand."""
Way: TypeAlias = tuple[Array, float]
"""A way d in the image, and ||d||^2."""


def loss_slope(problem: Problem, image: Array) -> Slope:
    """Return lam = grad phi(A x - b), and the sums <lam, b> and ||lam||^2 where they cost nothing.

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [1.0, 2.0], unipd.couplings.LeastSquares())
    >>> loss_slope(problem, np.zeros(2))[0]
    array([-1., -2.])
    """
    loss, inverse = _loss(problem), problem.inverse
    if image.size >= passes.COMPILED and inverse is not None and is_plain(image, problem.b):
        lam = np.empty(image.shape, image.dtype)
        return lam, compiled().loss_slope(image, problem.b, image.dtype.type(1.0 / inverse), lam)
    residual: Array = image - problem.b
    return residual if inverse == 1.0 else loss.gradient(residual), None


def moved_along(problem: Problem, image: Array, gamma: float, way: Array) -> tuple[Array, Slope, float]:
    """Return A x = image + gamma way, lam there with its sums, and phi(A x - b); the way is used up.

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [1.0, 2.0], unipd.couplings.LeastSquares())
    >>> moved_along(problem, np.zeros(2), 0.5, np.array([2.0, 0.0]))
    (array([1., 0.]), (array([ 0., -2.]), (-4.0, 4.0)), 2.0)
    """
    inverse, b = problem.inverse, problem.b
    if inverse is None:
        moved, loss = image + gamma * way, _loss(problem)
        residual = moved - b
        return moved, (loss.gradient(residual), None), loss.value(residual)
    if image.size >= passes.COMPILED and is_plain(image, way):
        kind, moved, lam = image.dtype.type, np.empty(image.shape, image.dtype), np.empty(image.shape, image.dtype)
        squared, linear, energy = compiled().moved_along(image, way, kind(gamma), b, kind(1.0 / inverse), moved, lam)
        return moved, (lam, (linear, energy)), 0.5 * squared / inverse
    way *= -gamma
    moved = image - way
    lam = residual = moved - b
    squared = energy = inner(residual, residual)
    if inverse != 1.0:
        lam = (1.0 / inverse) * residual
        energy = inner(lam, lam)
    return moved, (lam, (inner(lam, b), energy)), 0.5 * squared / inverse


def way_between(tail: Array, head: Array) -> Way:
    """Return the way d = head - tail in the image, and ||d||^2.

    >>> import numpy as np
    >>> way_between(np.zeros(2), np.array([3.0, 4.0]))
    (array([3., 4.]), 25.0)
    """
    if head.size >= passes.COMPILED and is_plain(tail, head):
        way = np.empty(tail.shape, tail.dtype)
        return way, compiled().way_between(tail, head, way)
    way = head - tail
    return way, inner(way, way)


def residual_slope(problem: Problem, image: Array, head: Array) -> tuple[float, float]:
    """Return <A x - b, d> and ||d||^2 for the way d from the image A x to another one.

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [1.0, 2.0], "=")
    >>> residual_slope(problem, np.zeros(2), np.array([3.0, 4.0]))
    (-11.0, 25.0)
    """
    if image.size >= passes.COMPILED and is_plain(image, head):
        return compiled().residual_slope(image, problem.b, head)
    way: Array = head - image
    return inner(image - problem.b, way), inner(way, way)


def _loss(problem: Problem) -> Loss:
    if problem.loss is None:
        raise InvalidInput("coupling", "a loss", type(problem.coupling).__name__)
    return problem.loss
