"""The factored corrective method for spectral sets: re-optimise over the factors, certify by one eigenvector."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd.dual import evaluate
from unipd.methods.augmented import Augmented
from unipd.methods.base import Counts, empty_certificate, primal_certificate
from unipd.methods.corrective import has_smooth_loss
from unipd.methods.descent import ROUNDING, descended
from unipd.methods.factored_state import FactoredState, reported, stationarity, target
from unipd.methods.factors import Factors
from unipd.methods.judging import START_TOLERANCE, judged
from unipd.methods.lbfgs import Memory
from unipd.methods.multipliers import first_penalty, with_aim, with_new_multipliers
from unipd.methods.product_factors import factors_of
from unipd.methods.row_groups import kept_rows
from unipd.methods.row_newton import newton_applies, newton_steps
from unipd.primal.fixed import Fixed
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.status import Status

PAYS = 0.3
"""Steps go on without the oracle while they gain this share of the gap."""
EXACT = 1e-11
"""Relative infeasibility at which the constraints hold by construction: then only stationarity is left to gain."""
JUDGED_INFEASIBILITY = 1e-2
"""The oracle is not asked while the relative infeasibility is larger, unless a rank asked for allows no less."""
OUTWEIGHS = 30.0
"""At a penalty term of so many times the objective steps do nothing but lower the infeasibility."""
LEAST_FALL = 0.7
"""Steps whose decrease is lost in rounding go on while an iteration lowers the stationarity to this share of it."""
FEASIBLE_SHARE = 0.1
"""Near the end the oracle waits until the infeasibility is this share of the accuracy, as long as it falls fast."""


@dataclass(frozen=True)
class Factored:
    """Factored corrective method: X = R R^* (or U V^*) by quasi-Newton steps, then one oracle call that judges.

    A smooth loss is minimised over the factor directly; a constraint enters through its augmented Lagrangian, whose
    multipliers are the dual vector. When the steps no longer pay, the oracle is called at that dual vector: its
    value gives the bound -G, and its atom, mixed in with the best gamma, is the way out of a point that is only a
    local optimum at the present rank. The factored problem is not convex, but the bound does not depend on it:
    nothing is claimed without the oracle's word.

    Parameters
    ----------
    rank
        Columns of R to begin with; default 1 for losses, about sqrt(2 n) (at most 40) for n constraints.
    inner_steps
        Quasi-Newton steps an iteration.
    memory
        Pairs kept for the quasi-Newton directions.
    seed
        Seed of the random columns beyond the first.
    factors
        The factored form of the set; default: found from the oracle.

    Examples
    --------
    >>> import unipd
    >>> target = np.diag([0.75, 0.25])
    >>> pauli = unipd.maps.DenseMatrix(np.eye(4), domain=(2, 2))
    >>> loss = unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Spectrahedron(2), pauli, target.ravel(), loss)
    >>> unipd.solve(problem, unipd.Factored(), accuracy=1e-8).status.value
    'solved'
    """

    rank: int | None = None
    inner_steps: int = 10
    memory: int = 8
    seed: int = 0
    factors: Factors | None = None

    def __post_init__(self) -> None:
        if self.rank is not None:
            validate.integer("rank", self.rank, minimum=1)
        validate.integer("inner_steps", self.inner_steps, minimum=1)
        validate.integer("memory", self.memory, minimum=1)

    @property
    def name(self) -> str:
        """Name on the command line."""
        return "factored"

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> FactoredState:
        """Start from the atom at the dual vector given, for a loss by default its gradient at X = 0."""
        smooth = has_smooth_loss(problem)
        if smooth and problem.loss is not None and not np.any(dual):
            dual = problem.loss.gradient(-problem.b)
        point = evaluate(problem, dual, tolerance=START_TOLERANCE * problem.scale(0.0))
        certificate = empty_certificate(dual).improved(problem, point)
        factors = self.factors or kept_rows(problem) or factors_of(problem.sharp)
        columns = self.rank or (1 if smooth else min(math.ceil(math.sqrt(2 * problem.b.size)) + 1, 40))
        factor = factors.start(point.atom, columns, self.seed)
        penalty = 0.0 if smooth else first_penalty(problem, point, factors.point(factor))
        model = Augmented(problem, factors, dual, penalty)
        here = model.evaluate(factor)
        return FactoredState(
            iteration=0,
            dual=here.dual,
            primal=Fixed(here.point),
            image=here.image,
            mean_objective=here.cost,
            certificate=primal_certificate(problem, Fixed(here.point), here.image, here.cost, certificate),
            counts=Counts().plus(1, 0, point.matvecs + here.matvecs),
            smoothness=math.nan,
            dual_step=math.nan,
            gradient_change=math.nan,
            failure=None,
            model=model,
            factor=factor,
            here=here,
            memory=Memory(limit=self.memory),
            accuracy=accuracy,
            inner_tolerance=0.1,
            least_infeasibility=math.inf,
            recent_atom=point.atom,
        )

    def step(self, problem: Problem, state: FactoredState) -> FactoredState:
        """Do some quasi-Newton steps; when they no longer pay, move the multipliers and ask the oracle."""
        if newton_applies(state.model):
            moved = newton_steps(state, state.inner_tolerance * problem.scale(state.here.cost))
        else:
            moved = descended(state, self.inner_steps)
        moved = reported(problem, replace(moved, iteration=state.iteration + 1))
        if state.model.penalty == 0.0:
            gap = moved.certificate.gap
            pays = state.here.value - moved.here.value >= PAYS * gap
            return moved if pays or gap <= target(problem, moved) else judged(problem, moved)
        stuck = state.here.value - moved.here.value <= ROUNDING * abs(moved.here.value)
        stuck = stuck and stationarity(moved) >= LEAST_FALL * stationarity(state)
        if stationarity(moved) > moved.inner_tolerance * problem.scale(moved.here.cost) and not stuck:
            return moved
        moved = with_new_multipliers(problem, moved)
        relative = moved.certificate.infeasibility / max(1.0, problem.norm_b)
        chosen = self.rank is not None and self.factors is None
        far = relative > JUDGED_INFEASIBILITY and not (chosen and _at_its_best(problem, moved))
        if far or _nearly_feasible(moved, state, relative):
            return moved
        answered = judged(problem, moved)
        if relative > EXACT:
            return answered
        idle = answered.factor is state.factor and answered.certificate.dual_bound <= state.certificate.dual_bound
        failure = Status.STALLED if idle and answered.counts.oracle_calls > 2 else None
        return replace(with_aim(problem, answered, state.inner_tolerance), failure=failure)


def _at_its_best(problem: Problem, moved: FactoredState) -> bool:
    """Whether a higher penalty sigma brings the point no closer to feasibility at its rank.

    So it is once sigma ||A X - b||^2 outweighs f(X): the point is a local optimum of the infeasibility.
    """
    weight = moved.model.penalty * moved.certificate.infeasibility**2
    return weight >= OUTWEIGHS * problem.scale(moved.here.cost)


def _nearly_feasible(moved: FactoredState, before: FactoredState, relative: float) -> bool:
    """Whether the multipliers still make a point that is feasible to the accuracy asked for much more so.

    The objective errs by ||lam|| ||A X - b|| beside the gap, so the last call of the oracle is worth waiting for.
    """
    falls = moved.certificate.infeasibility <= 0.5 * before.least_infeasibility
    return falls and FEASIBLE_SHARE * moved.accuracy < relative <= moved.accuracy
