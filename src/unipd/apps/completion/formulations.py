"""The two formulations of the paper (section 5.2), on ratings as they are."""

from __future__ import annotations

import math

from unipd import validate
from unipd._typing import FloatArray, IntArray
from unipd.apps.completion.curvature import SideCurvature
from unipd.apps.completion.design import Design, Settings
from unipd.apps.completion.norm_factors import BalancedNuclearNormSquared
from unipd.apps.completion.norm_method import NormFactored, norm_method
from unipd.apps.completion.precise import PRECISION, engine_for
from unipd.apps.completion.solving import FIRST_RANK, INNER_STEPS
from unipd.couplings import Equality, L2Ball
from unipd.problem import Problem
from unipd.spectral import Engine


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
    level = validate.nonnegative("noise", noise)
    return least_norm(ball_design(users, items, values, shape), values, level, engine_for(precision))


def least_norm(design: Design, target: FloatArray, noise: float, engine: Engine | None = None) -> Problem:
    """Return min (1/n) ||Z||_*^2 subject to ||A(Z) - target|| <= noise for the matrix Z of a design.

    ``engine`` is that of :meth:`~unipd.apps.completion.design.Design.problem`.
    """
    coupling = L2Ball(noise) if noise > 0.0 else Equality()
    sharp = BalancedNuclearNormSquared(design.inner_shape, 1.0 / target.size, engine=engine)
    return Problem(sharp, design.sampled, target, coupling)


def factored_norm_method(design: Design, problem: Problem, rank: int = FIRST_RANK) -> NormFactored:
    """Return the factored method for formulation (b) on the same ratings as a design.

    ``rank`` is the number of columns to begin with; they multiply while the oracle finds them too few.
    """
    left, right = SideCurvature(design.left, design.user_counts), SideCurvature(design.right, design.item_counts)
    columns = min(rank, *design.inner_shape)
    return norm_method(problem, left, right, rank=columns, inner_steps=INNER_STEPS)


def noise_of(residual: float, count: int) -> float:
    """Return ||r|| for the root mean square of so many residuals.

    >>> noise_of(0.5, 4)
    1.0
    """
    return residual * math.sqrt(count)
