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
from unipd.apps.completion.problem import FLOOR, CompletionProblem, ball_formulation
from unipd.apps.completion.side_information import SideCurvature, Step
from unipd.apps.completion.solver import FIRST_RANK, INNER_STEPS, apply_trivial_bound
from unipd.couplings import Equality, L2Ball
from unipd.methods.base import FAR_FROM_FEASIBLE
from unipd.methods.factored.augmented_lagrangian import FactoredState, refresh_certificate
from unipd.methods.factored.factored import Factored, certify_or_escape
from unipd.methods.factored.lbfgs import Memory
from unipd.problem import Problem
from unipd.protocols import Tracker, norm
from unipd.run import History, Result
from unipd.run.history import COLUMNS
from unipd.sharp.spectral import BalancedNuclearNormSquared
from unipd.sharp.spectral.factors import NuclearNormFactors
from unipd.spectral import PRECISION, Engine, fixed_tolerance_engine
from unipd.status import Status

START_SHARE = 0.1
"""Length of the first factor, as a share of the length suggested by the data."""
FEASIBLE_SHARE = 0.1
"""The first penalty weighs an infeasibility of this share of ||b|| as much as the objective."""
SPREAD = 10.0
"""Estimated ratio of the objective to its bound from one singular value."""
PATIENCE = 10
"""The oracle is called after this many iterations, and 2, 4, ... times as many, even without convergence."""
GAP_WIDENING = 5.0
"""New columns as a share of the present ones times the relative gap; at most as many as there are."""
MORE_COLUMNS = "Without a radius, a larger residual, a lower accuracy or more initial columns (rank) may help."


@dataclass(frozen=True, eq=False, kw_only=True)
class NormFactors(NuclearNormFactors):
    """The factors of Z for sampled entries of X = L_u Z L_v^T, preconditioned by the curvature of the penalty."""

    left: SideCurvature
    right: SideCurvature
    penalty: float
    """The penalty in units of the loss's factor c, which the curvatures contain."""

    def preconditioner(self, factor: Array) -> Step:
        """Return the inverse of the penalty's curvature plus a share of that of the objective."""
        floor = FLOOR * self.weight * norm(factor) ** 2 or 1.0
        rows, below = factor[: self.left_rows], factor[self.left_rows :]
        solve_left = self.left.inverse(self.penalty * self.right.mean(below), floor)
        solve_right = self.right.inverse(self.penalty * self.left.mean(rows), floor)

        def solve(block: Array) -> Array:
            return np.concatenate([solve_left(block[: self.left_rows]), solve_right(block[self.left_rows :])], axis=0)

        return solve


@dataclass(frozen=True)
class NormFactored(Factored):
    """The factored method with a given first penalty and factors that widen with every atom of the oracle.

    An atom is added once the steps have converged for the present columns and the oracle finds a descent direction.
    Random columns come with it: as many as there are while the gap is wide, few when it is nearly closed, and no more
    than the shorter side of the matrix.
    """

    penalty: float = 1.0

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> FactoredState:
        """Return the first state, with the given penalty."""
        state = super().start(problem, tracker, dual, accuracy)
        model = replace(state.model, penalty=self.penalty)
        return replace(state, model=model, here=model.evaluate(state.factor))

    def step(self, problem: Problem, state: FactoredState) -> FactoredState:
        """Do a step of the factored method; widen the factors if it added an atom."""
        moved = super().step(problem, state)
        if moved.counts.oracle_calls == state.counts.oracle_calls and _is_oracle_overdue(state, moved):
            moved = certify_or_escape(problem, moved)
        if moved.factor.shape[1] == state.factor.shape[1]:
            return moved
        return _widen_state(problem, replace(moved, inner_tolerance=state.inner_tolerance), self.seed)


def _is_oracle_overdue(before: FactoredState, after: FactoredState) -> bool:
    """Whether to call the oracle before feasibility or convergence: with too few columns the steps never get there."""
    far = after.certificate.infeasibility > FAR_FROM_FEASIBLE
    done = after.model is not before.model
    rounds, rest = divmod(after.iteration, PATIENCE)
    return (far and done) or (rest == 0 and rounds & (rounds - 1) == 0)


def _widen_state(problem: Problem, state: FactoredState, seed: int) -> FactoredState:
    """Return the state with random columns and an empty quasi-Newton memory."""
    factors = state.model.factors
    assert isinstance(factors, NuclearNormFactors)
    certificate, columns = state.certificate, state.factor.shape[1]
    share = min(GAP_WIDENING * abs(certificate.gap(problem)), 1.0)
    factor = factors.widen_factor(state.factor, round((1.0 + share) * columns), seed + state.iteration)
    here = state.model.evaluate(factor)
    counts = state.counts.plus(0, 0, here.matvecs)
    memory = Memory(limit=state.memory.limit)
    return refresh_certificate(problem, replace(state, factor=factor, here=here, memory=memory, counts=counts))


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


def factored_norm_method(completion: CompletionProblem, problem: Problem, rank: int = FIRST_RANK) -> NormFactored:
    """Return the factored method for formulation (b), preconditioned for the ratings of ``completion``.

    ``rank`` is the initial number of columns; it grows while the oracle finds descent directions. The first penalty
    follows from the lower bound <b, b>^2 w / ||A^* b||^2 of the objective, which is attained when one pair of singular
    vectors fits the data.
    """
    sharp: Any = problem.sharp
    top = sharp.engine.singular_triples(problem.map.adjoint(problem.b), tolerance=1e-2).value
    norm_sq = problem.norm_b**2
    least = sharp.scale * norm_sq**2 / max(top**2, 1e-300)
    penalty = 2.0 * SPREAD * least / (FEASIBLE_SHARE**2 * norm_sq) if norm_sq > 0.0 else 1.0
    left, right = completion.curvatures
    factors = NormFactors(
        *completion.inner_shape,
        1.0,
        False,
        left=left,
        right=right,
        weight=sharp.scale,
        penalty=penalty / completion.settings.scale,
        length=START_SHARE * math.sqrt(2.0 * norm_sq / max(top, 1e-300)),
    )
    columns = min(rank, *completion.inner_shape)
    return NormFactored(rank=columns, inner_steps=INNER_STEPS, factors=factors, penalty=penalty)


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


def add_remedy(result: Result) -> Result:
    """Return the result with advice where the minimum nuclear norm was not found within the iteration limit."""
    is_limited = result.status is Status.ITERATION_LIMIT and result.method == "factored"
    if not is_limited or result.problem.loss is not None:
        return result
    return replace(result, note=f"{Status.ITERATION_LIMIT.message} {MORE_COLUMNS}")
