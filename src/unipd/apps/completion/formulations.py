"""The two formulations of the paper (section 5.2), on ratings as they are."""

from __future__ import annotations

import math

from unipd import validate
from unipd._typing import FloatArray, IntArray
from unipd.apps.completion.curvature import SideCurvature
from unipd.apps.completion.design import Design, Settings
from unipd.apps.completion.norm_factors import BalancedNuclearNormSquared, PenalisedFactored, norm_method
from unipd.apps.completion.precise import PRECISION, engine_for
from unipd.apps.completion.side import Side
from unipd.apps.completion.solving import FIRST_RANK
from unipd.couplings import Equality, L2Ball
from unipd.problem import Problem


def ball_design(users: IntArray, items: IntArray, values: FloatArray, shape: tuple[int, int]) -> Design:
    """Return formulation (a), min (1/n) ||A(X) - b||^2 over ||X||_* <= kappa, for every kappa.

    ``ball_design(...).problem(kappa)`` is the problem; :func:`~unipd.apps.completion.solving.solve_design` solves it
    to high accuracy.

    >>> import numpy as np
    >>> ball_design(np.array([0, 1]), np.array([0, 1]), np.array([3.0, 4.0]), (2, 2)).problem(5.0)
    Problem(NuclearBall, Sampling, n=2, LeastSquares, split)
    """
    return Design(users, items, values, shape, Settings(weight_power=0.0, biases=False, scale=2.0 / values.size))


def ball_problem(
    users: IntArray,
    items: IntArray,
    values: FloatArray,
    shape: tuple[int, int],
    radius: float,
    *,
    precision: float | None = PRECISION,
) -> Problem:
    """Return formulation (a): min (1/n) ||A(X) - b||^2 over ||X||_* <= radius.

    With ``precision``, the relative residual of the oracle's singular vectors, the iterates of a method are those of
    an exact oracle. None asks for no more than a method needs: fewer products, and other iterates.
    """
    design = ball_design(users, items, values, shape)
    return design.problem(validate.positive("radius", radius), engine_for(precision))


def norm_problem(
    users: IntArray,
    items: IntArray,
    values: FloatArray,
    shape: tuple[int, int],
    noise: float = 0.0,
    *,
    precision: float | None = PRECISION,
) -> Problem:
    """Return formulation (b): min (1/n) ||X||_*^2 subject to ||A(X) - b|| <= noise (A(X) = b when it is 0).

    ``precision`` is that of :func:`ball_problem`.

    >>> import numpy as np
    >>> norm_problem(np.array([0, 1]), np.array([0, 1]), np.array([3.0, 4.0]), (2, 2))
    Problem(BalancedNuclearNormSquared, Sampling, n=2, Equality)
    """
    design = ball_design(users, items, values, shape)
    level = validate.nonnegative("noise", noise)
    coupling = L2Ball(level) if level > 0.0 else Equality()
    sharp = BalancedNuclearNormSquared(shape, 1.0 / values.size, engine=engine_for(precision))
    return Problem(sharp, design.sampled, values, coupling)


def factored_norm_method(design: Design, problem: Problem, rank: int = FIRST_RANK) -> PenalisedFactored:
    """Return the factored method for formulation (b) on the same ratings as a design."""
    left, right = (SideCurvature(side, counts) for side, counts in _sides(design))
    columns = min(rank, *design.inner_shape)
    return norm_method(problem, left, right, rank=columns, inner_steps=20)


def _sides(design: Design) -> tuple[tuple[Side, FloatArray], tuple[Side, FloatArray]]:
    return (design.left, design.user_counts), (design.right, design.item_counts)


def noise_of(values: FloatArray, residual: float) -> float:
    """Return ||r|| for a root mean squared residual.

    >>> import numpy as np
    >>> noise_of(np.zeros(4), 0.5)
    1.0
    """
    return validate.nonnegative("residual", residual) * math.sqrt(values.size)
