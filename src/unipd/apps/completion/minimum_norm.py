"""Formulation (b) of the paper (section 5.2): the least nuclear norm that fits the ratings, by a factored method.

No set bounds the rank, so the factors widen with every atom.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd._util import validate
from unipd._util.arrays import norm
from unipd.apps.completion.problem import FLOOR, CompletionProblem, ball_formulation
from unipd.apps.completion.side_information import SideCurvature, Step
from unipd.apps.completion.solver import FIRST_RANK, INNER_STEPS, apply_trivial_bound
from unipd.couplings import Equality, L2Ball
from unipd.methods.factored.factored import Factored
from unipd.methods.factored.least_norm import first_scales
from unipd.problem import Problem
from unipd.run import History, Result
from unipd.run.history import COLUMNS
from unipd.sharp.spectral.factors import NuclearNormFactors
from unipd.sharp.spectral.nuclear import BalancedNuclearNormSquared
from unipd.spectral import PRECISION, Engine, fixed_tolerance_engine


@dataclass(frozen=True, eq=False, kw_only=True)
class NormFactors(NuclearNormFactors):
    """The factors of Z for sampled entries of X = L_u Z L_v^T, preconditioned by the curvature of the penalty."""

    left: SideCurvature
    right: SideCurvature
    scale: float
    """The loss's factor c, which the curvatures contain."""

    def preconditioner(self, factor: Array) -> Step:
        """Return the inverse of the penalty's curvature plus a share of that of the objective."""
        floor, share = FLOOR * self.weight * norm(factor) ** 2 or 1.0, (self.penalty or 0.0) / self.scale
        rows, below = factor[: self.left_rows], factor[self.left_rows :]
        solve_left = self.left.inverse(share * self.right.mean(below), floor)
        solve_right = self.right.inverse(share * self.left.mean(rows), floor)

        def solve(block: Array) -> Array:
            return np.concatenate([solve_left(block[: self.left_rows]), solve_right(block[self.left_rows :])], axis=0)

        return solve


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

    ``precision`` is as in :func:`ball_problem`.

    Parameters
    ----------
    users
        Row of each rating, from 0.
    items
        Column of each rating, from 0.
    values
        The ratings.
    shape
        Number of rows and columns.
    noise
        The bound on ||A(X) - b||.
    precision
        Relative residual of the oracle's singular vectors; None for what each method requests.

    Raises
    ------
    InvalidInput
        ``noise``: expected a number of at least zero.

    See Also
    --------
    ball_problem

    Examples
    --------
    >>> norm_problem(np.array([0, 1]), np.array([0, 1]), np.array([3.0, 4.0]), (2, 2))
    Problem(BalancedNuclearNormSquared, Sampling, n=2, Equality)
    """
    level = validate.nonnegative("noise", noise)
    return minimum_norm_problem(
        ball_formulation(users, items, values, shape), values, level, fixed_tolerance_engine(precision)
    )


def minimum_norm_problem(
    completion: CompletionProblem, target: FloatArray, noise: float, engine: Engine | None = None
) -> Problem:
    """Return min (1/n) ||Z||_*^2 subject to ||A(Z) - target|| <= noise for the matrix Z of a model.

    ``engine`` is as in :meth:`CompletionProblem.problem`.
    """
    coupling = L2Ball(noise) if noise > 0.0 else Equality()
    sharp = BalancedNuclearNormSquared(completion.inner_shape, 1.0 / target.size, engine=engine)
    return Problem(sharp, completion.sampled, target, coupling)


def factored_norm_method(completion: CompletionProblem, problem: Problem, rank: int = FIRST_RANK) -> Factored:
    """Return the factored method for formulation (b), preconditioned for the ratings of ``completion``.

    ``rank`` is the initial number of columns; it grows while the oracle finds descent directions.
    """
    sharp: Any = problem.sharp
    left, right = completion.curvatures
    penalty, length = first_scales(problem, sharp.scale)
    factors = NormFactors(
        *completion.inner_shape,
        1.0,
        False,
        left=left,
        right=right,
        weight=sharp.scale,
        scale=completion.settings.scale,
        penalty=penalty,
        length=length,
    )
    return Factored(rank=min(rank, *completion.inner_shape), inner_steps=INNER_STEPS, factors=factors)


def solve_minimum_norm(
    completion: CompletionProblem, target: FloatArray, residual: float, run: Callable[[Problem], Result]
) -> Result:
    """Return the least nuclear norm with this root mean squared residual; ``run`` solves the problem.

    The problem is scaled to the spread of the target, so that tolerances do not depend on the unit of ratings.
    """
    unit, noise = power_of_two_scale(target, residual), residual * math.sqrt(target.size)
    result = run(minimum_norm_problem(completion, target / unit, noise / unit))
    return rescale_result(result, unit, minimum_norm_problem(completion, target, noise))


def power_of_two_scale(target: FloatArray, residual: float = 0.0) -> float:
    """Return the largest power of two below the root mean square of the target minus the residual; 1 for zeros.

    With the target over this unit, ||b|| and (without side information) the least ||X||_*^2 / n are at least 1. Gap
    and infeasibility are then relative, so a run that is accurate in this unit is accurate in that of the ratings.

    >>> power_of_two_scale(np.array([1.2, -0.9])), power_of_two_scale(np.array([300.0]), 40.0)
    (1.0, 256.0)
    """
    size = norm(target) / math.sqrt(target.size)
    size = size - residual if size > residual else size
    return 2.0 ** math.floor(math.log2(size)) if size > 0.0 else 1.0


def rescale_result(result: Result, unit: float, problem: Problem) -> Result:
    """Return the result for ``problem`` from that for its right-hand side over the unit.

    Points, images, multipliers and distances grow with the unit, objective and bound with its square; gap and
    infeasibility have no unit.
    """
    bounded, matrix = apply_trivial_bound(result), result.x
    objective, dual_bound = unit**2 * bounded.objective, unit**2 * bounded.dual_bound
    return replace(
        bounded,
        x=replace(matrix, weights=unit * matrix.weights),
        image=unit * bounded.image,
        dual=unit * bounded.dual,
        objective=objective,
        dual_bound=dual_bound,
        history=_rescale_history(bounded.history, unit),
        problem=problem,
    )


def _rescale_history(history: History, unit: float) -> History:
    rows: Any = history.table.copy()
    for column, factor in (("objective", unit**2), ("dual_bound", unit**2), ("violation", unit)):
        rows[:, COLUMNS.index(column)] *= factor
    return History(np.asarray(rows))
