"""The factored method for spectral sets: descend on the factors, then let the oracle certify or escape."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd._util.arrays import TINY, inner
from unipd.atoms import LowRank
from unipd.dual import DualPoint, double_direction, evaluate, oracle_errors
from unipd.methods.base import (
    FAR_FROM_FEASIBLE,
    ORACLE_SHARE,
    Counts,
    State,
    WarmPoint,
    empty_certificate,
    require_applicable,
)
from unipd.methods.descent import LBFGSMemory
from unipd.methods.factored.augmented_lagrangian import (
    AnyCertifying,
    AugmentedLagrangian,
    Evaluation,
    FactoredState,
    first_penalty,
    lbfgs_steps,
    objective_scale,
    refresh_certificate,
    requested_gap,
    stationarity,
    update_multipliers,
    with_first_tolerance,
    with_inner_tolerance,
)
from unipd.methods.factored.fixed_diagonal import fixed_diagonal_factors, newton_steps
from unipd.problem import Problem
from unipd.protocols import OracleDefaults, Tracker
from unipd.sharp.spectral.factors import Factors, drop_weak_columns
from unipd.spectral import RESIDUAL, RIGOROUS, Engine, has_compiled_lanczos
from unipd.status import Status

LEAST_DECREASE = 0.3
"""A loss is minimised without the oracle while an iteration decreases it by this share of the gap."""
EXACT = 1e-11
"""Relative infeasibility below which the constraints hold by construction, and only stationarity can improve."""
LARGEST_PENALTY_TERM = 30.0
"""When the penalty term exceeds the objective by this factor, steps do nothing but lower the infeasibility."""
SLOWEST_DECREASE = 0.7
"""Where rounding hides the decrease, steps continue while an iteration lowers the stationarity to this share."""
FEASIBLE_SHARE = 0.1
"""Near the end the oracle waits until the infeasibility is this share of the accuracy, while it falls fast."""
ORACLE_EVERY = 50
"""Iterations after which the oracle is called at a feasible point that is not stationary yet: they cost far more."""
START_TOLERANCE = 1e-2
"""Tolerance of the first oracle call, relative to the size of the objective."""
INFORMATIVE_ERROR = 20.0
"""An answer with an error above this multiple of the accuracy does not show whether a certificate is within reach."""
MISSED_TOLERANCE = 10.0
"""If the error exceeds this multiple of the tolerance, retry without a warm start."""
FEW_ROWS = 1000
"""Rows of the coupling up to which the retry uses the strongest certificate."""
SMALL_FACTOR = 1 << 15
"""Entries of R and of b up to which both are kept in double precision: with the quasi-Newton pairs a few MB."""
LEAST_FIRST_TOLERANCE = 3e-3
"""Relative stationarity for the first oracle call after Newton steps, whatever the accuracy."""
SINGLE_ENTRIES = 1 << 20
"""Entries of a factor with fixed rows from which it may be stored in single precision."""
SINGLE_ACCURACY = 1e-4
"""Smallest relative accuracy for which it is: its rounding limits the stationarity to about 1e-7."""
NEWTON_ARRAYS, LBFGS_ARRAYS = 11, 10
"""Arrays of the factor's shape that a run holds: with Newton steps, and besides quasi-Newton pairs (measured)."""
LARGEST_GAMMA, FIRST_GAMMA, SMALLEST_GAMMA = 0.5, 1e-2, 1e-8
"""Weights of an escape atom: the largest, the first when the line search finds none, and when to give up."""
START_SHARE = 0.1
"""Length of the first factor, as a share of the length suggested by the data."""
PENALTY_SHARE = 0.1
"""The first penalty weighs an infeasibility of this share of ||b|| as much as the objective."""
SPREAD = 10.0
"""Estimated ratio of the objective to its bound from one singular value."""
PATIENCE = 10
"""The oracle is called after this many iterations, and 2, 4, ... times as many, even without convergence."""
SETTLED = 10.0
"""Stationarity of a loss, in units of the accuracy, at which the oracle's tolerance is that of the final bound."""
NARROW_SHARE = 0.9
"""Columns are dropped when no more than this share of them remains."""
GAP_WIDENING = 5.0
"""New columns as a share of the present ones times the relative gap; at most as many as there are."""


@dataclass(frozen=True)
class Factored:
    """Factored (Burer-Monteiro) method: quasi-Newton steps on X = R R^* or U V^*, certified by the oracle.

    A smooth loss is minimised over the factor directly; a constraint enters through its augmented Lagrangian, whose
    multipliers are the dual vector. When the steps stall, the oracle is called at that dual vector: its value gives
    the bound -G, and its atom, mixed in with the best weight, escapes from a local optimum at the current rank. The
    factored problem is not convex, but the certificate does not rely on it.

    Parameters
    ----------
    rank
        Initial number of columns of R; default 1 for losses, about sqrt(2 n) (at most 40) for n constraints.
    inner_steps
        Quasi-Newton steps per iteration.
    memory
        Pairs stored for the quasi-Newton directions.
    seed
        Seed of the random columns after the first.
    factors
        The factored form of the set; default: that of the oracle (``sharp.factors()``).
    initial
        R to start from; default: the oracle's atom and random columns.

    Raises
    ------
    InvalidInput
        ``inner_steps``, ``memory``, ``rank``: expected an integer of at least 1.

    See Also
    --------
    Corrective, CGAL, unipd.sharp.Factors

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

    name = "factored"

    rank: int | None = None
    inner_steps: int = 10
    memory: int = 8
    seed: int = 0
    factors: Factors | None = None
    initial: Array | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.rank is not None:
            validate.integer("rank", self.rank, minimum=1)
        validate.integer("inner_steps", self.inner_steps, minimum=1)
        validate.integer("memory", self.memory, minimum=1)

    def rebuild(self, problem: Problem) -> dict[str, Any]:
        """Return the problem and the factored form of its set, which all states of a run share."""
        has_factors = self.factors is not None or is_factorable(problem.sharp)
        return {"problem": problem, **({"factors": self._choose_factors(problem)} if has_factors else {})}

    def _choose_factors(self, problem: Problem) -> Factors:
        factors = self._find_factors(problem)
        return scale_to_data(problem, factors) if factors.is_unbounded else factors

    def _find_factors(self, problem: Problem) -> Factors:
        fixed = fixed_diagonal_factors(problem) if problem.sharp.linear_cost is not None else None
        known = self.factors or fixed or problem.sharp.factors()
        needs = "a spectral set (possibly with quadratic blocks without costs)"
        require_applicable(problem, self.name, needs, is_met=known is not None)
        assert known is not None
        return known

    def workspace_bytes(self, problem: Problem, accuracy: float) -> int | None:
        """Return the bytes of the arrays of the factor's shape: the factor, directions, quasi-Newton pairs, copies."""
        factors = self._find_factors(problem)
        if factors.rows is None:
            return None
        entries = factors.rows * min(self._columns(problem), factors.rows)
        if factors.fixes_all(problem.b.size):
            single = _suits_single(problem, entries, accuracy)
            return NEWTON_ARRAYS * entries * (4 if single else problem.dtype.itemsize)
        return (2 * self.memory + LBFGS_ARRAYS) * entries * problem.dtype.itemsize

    def _columns(self, problem: Problem) -> int:
        """Return the initial number of columns."""
        if self.rank is not None:
            return self.rank
        return 1 if problem.has_differentiable_loss else min(math.ceil(math.sqrt(2 * problem.b.size)) + 1, 40)

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> FactoredState:
        """Start from the atom at the given dual vector; for a loss by default its gradient at X = 0."""
        smooth = problem.has_differentiable_loss
        if smooth and problem.loss is not None and not np.any(dual):
            dual = problem.loss.gradient(-problem.b)
        factors, size = self._choose_factors(problem), problem.typical_objective
        if self.initial is not None:
            size = max(size, problem.scale(problem.sharp.objective(factors.point(self.initial))))
        point = evaluate(problem, dual, tolerance=START_TOLERANCE * size)
        certificate = empty_certificate(dual).update_bound(problem, point)
        columns = self._columns(problem) if self.initial is None else factors.rank(self.initial)
        factor = factors.start(point.atom, columns, self.seed) if self.initial is None else self.initial
        centre = problem.b if smooth else dual  # a loss has none
        model, factor = _first_model(
            problem, AugmentedLagrangian(problem, factors, centre, 1.0), point, factor, accuracy
        )
        here = model.evaluate(factor)
        if model.is_linear_on_spheres:
            factor = here.point.left  # normalised rows; a second copy would last as long as this state
        state = FactoredState.at(
            model,
            factor,
            here,
            Counts(1, 0, point.matvecs + here.matvecs),
            certificate,
            memory=LBFGSMemory(limit=self.memory),
            accuracy=accuracy,
            inner_tolerance=_first_tolerance(accuracy) if model.is_linear_on_spheres else 0.1,
            warm_start=point.atom,
            first_rank=columns,
        )
        if self.initial is None or smooth:
            return state
        warm = with_first_tolerance(problem, state)
        if warm is not None:
            return warm
        cold = replace(self, initial=None).start(problem, tracker, np.zeros_like(dual), accuracy)
        return replace(cold, counts=state.counts + cold.counts)

    def start_at(self, problem: Problem, tracker: Tracker, warm: WarmPoint, accuracy: float) -> FactoredState | None:
        """Start from the factor of another run, or of its saved matrix; None where none has this form and size."""
        earlier, factors = warm.state, self._find_factors(problem)
        if self.initial is not None:
            return None
        if type(earlier) is State and isinstance(warm.point, LowRank):  # of a saved result
            chosen = self._choose_factors(problem)
            factor = chosen.mix_atom(chosen.start(warm.point, 1, self.seed), warm.point, 1.0)
            factor = factor[:, np.linalg.norm(factor, axis=0) > 0.0]
            return replace(self, initial=factor).start(problem, tracker, warm.dual, accuracy)
        if not isinstance(earlier, FactoredState):
            return None
        known = earlier.model.factors
        if type(factors) is not type(known) or factors.rows is None or factors.rows != known.rows:
            return None
        return replace(self, initial=earlier.factor).start(problem, tracker, warm.dual, accuracy)

    def step(self, problem: Problem, state: FactoredState) -> FactoredState:
        """Do an iteration; where no set bounds the rank, the factors widen with every atom of the oracle."""
        moved = self._descend(problem, state)
        if not state.model.factors.is_unbounded or state.model.is_loss:
            return moved
        if moved.counts.oracle_calls == state.counts.oracle_calls and is_oracle_overdue(state, moved):
            moved = certify_or_escape(problem, moved)
        if moved.factor.shape[1] == state.factor.shape[1]:
            return moved if moved.model is state.model else narrow_state(problem, moved)
        return widen_state(problem, replace(moved, inner_tolerance=state.inner_tolerance), self.seed)

    def _descend(self, problem: Problem, state: FactoredState) -> FactoredState:
        """Descend on the factors; when the steps stall, update the multipliers and call the oracle."""
        # 1: descend; a smooth loss needs nothing else while it decreases well or has reached the accuracy
        if state.model.is_linear_on_spheres:
            return _step_on_spheres(problem, state)
        moved = lbfgs_steps(state, self.inner_steps, enough=0.5 * requested_gap(problem, state))
        moved = refresh_certificate(problem, replace(moved, iteration=state.iteration + 1))
        decrease = state.here.value - moved.here.value
        if state.model.is_loss:
            if _is_refuted(problem, state):
                return certify_or_escape(problem, moved, is_refuted=True)
            gap = moved.certificate.absolute_gap
            is_descending = decrease >= LEAST_DECREASE * gap or gap <= requested_gap(problem, moved)
            return moved if is_descending else certify_or_escape(problem, moved)
        is_stuck = decrease <= state.model.rounding(moved.here.value, moved.factor)
        is_stuck = is_stuck and stationarity(moved) >= SLOWEST_DECREASE * stationarity(state)
        if stationarity(moved) > moved.inner_tolerance * objective_scale(problem, moved.here.cost) and not is_stuck:
            is_due = moved.iteration % ORACLE_EVERY == 0 and moved.certificate.infeasibility <= moved.accuracy
            return certify_or_escape(problem, moved) if is_due else moved
        # 2: stationary: update the multipliers, and keep descending while far from feasible
        moved = update_multipliers(problem, moved)
        infeasibility = moved.certificate.infeasibility
        is_rank_limited = self.rank is not None and self.factors is None and _is_penalty_dominated(problem, moved)
        is_too_early = infeasibility > FAR_FROM_FEASIBLE and not is_rank_limited
        if is_too_early or _is_nearly_feasible(moved, state, infeasibility):
            return moved
        # 3: the oracle certifies, or its atom escapes; with exact constraints, no progress at all is a stall
        return _lower_tolerance(problem, state, certify_or_escape(problem, moved), infeasibility)


def _step_on_spheres(problem: Problem, state: FactoredState) -> FactoredState:
    """Take Newton steps where all constraints hold by construction; call the oracle at their stationary point."""
    scale = objective_scale(problem, state.here.cost)
    moved = newton_steps(state, state.inner_tolerance * scale)
    moved = refresh_certificate(problem, replace(moved, iteration=state.iteration + 1))
    is_stuck = state.here.value - moved.here.value <= state.model.rounding(moved.here.value, moved.factor)
    is_stuck = is_stuck and stationarity(moved) >= SLOWEST_DECREASE * stationarity(state)
    if stationarity(moved) > moved.inner_tolerance * objective_scale(problem, moved.here.cost) and not is_stuck:
        return moved
    answered = _lower_tolerance(problem, state, certify_or_escape(problem, moved), 0.0)
    if answered.failure is None or answered.factor.dtype != np.float32:
        return answered
    factor = answered.factor.astype(np.float64)
    return replace(answered, factor=factor, here=answered.model.evaluate(factor), failure=None)


def _lower_tolerance(
    problem: Problem, state: FactoredState, answered: FactoredState, infeasibility: float
) -> FactoredState:
    """Return the state after the oracle's answer with the tolerance for the next, where constraints hold exactly.

    It is below the stationarity that was reached, which may be far below the last tolerance: else there is no step.
    The run has stalled when neither the factor nor the bound has changed.
    """
    if infeasibility > EXACT:
        return answered
    reached = stationarity(answered) / objective_scale(problem, answered.here.cost)
    lowered = with_inner_tolerance(problem, answered, state.inner_tolerance)
    if lowered.inner_tolerance >= reached:
        lowered = with_inner_tolerance(problem, answered, reached)
    is_idle = answered.factor is state.factor and answered.certificate.dual_bound <= state.certificate.dual_bound
    failure = Status.STALLED if is_idle and answered.counts.oracle_calls > 2 else None
    return replace(lowered, failure=failure)


def _first_tolerance(accuracy: float) -> float:
    """Return the stationarity for the first oracle call after Newton steps: before that, no bound is of use."""
    return min(0.1, max(4.0 * accuracy, LEAST_FIRST_TOLERANCE))


def _suits_single(problem: Problem, entries: int, accuracy: float) -> bool:
    """Whether a factor is large and the accuracy within reach of single precision; the certificate is double."""
    is_plain = has_compiled_lanczos(problem.sharp.linear_cost)
    return is_plain and entries >= SINGLE_ENTRIES and accuracy >= SINGLE_ACCURACY


def is_factorable(sharp: OracleDefaults) -> bool:
    """Whether the oracle has a factored form with columns.

    Parameters
    ----------
    sharp
        The oracle of a problem.

    See Also
    --------
    unipd.methods.Factored

    Examples
    --------
    >>> import unipd
    >>> is_factorable(unipd.sharp.NuclearBall((3, 2))), is_factorable(unipd.sharp.Simplex(3))
    (True, False)
    """
    factors = sharp.factors()
    return factors is not None and factors.is_spectral


def _first_model(
    problem: Problem, model: AugmentedLagrangian, point: DualPoint, factor: Array, accuracy: float
) -> tuple[AugmentedLagrangian, Array]:
    """Return the model with its first penalty, none for a loss, and the factor in the precision of the run."""
    smooth, factors = problem.has_differentiable_loss, model.factors
    if not smooth and _fits_in_double(problem, factor):
        factor = factor.astype(np.result_type(factor, np.float64))
    if model.is_linear_on_spheres:
        return model, factor.astype(np.float32) if _suits_single(problem, factor.size, accuracy) else factor
    known = 0.0 if smooth else factors.penalty
    penalty = first_penalty(problem, point, factors.point(factor)) if known is None else known
    return replace(model, penalty=penalty), factor


def _fits_in_double(problem: Problem, factor: Array) -> bool:
    """Whether R, for data in single precision, is small enough for double precision.

    lam = lam_c + sigma (A X - b) multiplies the rounding of R by sigma: in single precision it is worth 1e-4 and more.
    """
    return problem.is_single and problem.map.has_mixed_products and max(factor.size, problem.b.size) <= SMALL_FACTOR


def _is_penalty_dominated(problem: Problem, state: FactoredState) -> bool:
    """Whether sigma ||A X - b||^2 outweighs f(X): X is a local minimum of the infeasibility at its rank."""
    weight = state.model.penalty * state.certificate.violation**2
    return weight >= LARGEST_PENALTY_TERM * objective_scale(problem, state.here.cost)


def _is_nearly_feasible(state: FactoredState, previous: FactoredState, infeasibility: float) -> bool:
    """Whether X is feasible to the accuracy, and its infeasibility still falls fast.

    The violation shifts the objective by up to ||lam|| ||A X - b||, so the last oracle call waits for a smaller one.
    """
    falls = state.certificate.infeasibility <= 0.5 * previous.least_infeasibility
    return falls and FEASIBLE_SHARE * state.accuracy < infeasibility <= state.accuracy


def _is_refuted(problem: Problem, state: FactoredState) -> bool:
    """Whether a bound by residuals claims the accuracy while the run continues: its certificate has refuted it."""
    certificate = state.certificate
    return certificate.bound_kind == RESIDUAL and certificate.absolute_gap <= requested_gap(problem, state)


def certify_or_escape(problem: Problem, state: FactoredState, *, is_refuted: bool = False) -> FactoredState:
    """Call the oracle at the current dual vector: for the bound, and for a direction that the factor lacks.

    A refuted bound is forgotten, and the oracle called for its strongest certificate.
    """
    dual = state.model.complete_dual(state.here, state.factor).astype(problem.dtype, copy=False)
    eps = requested_gap(problem, state)
    is_settled = state.model.is_linear_on_spheres or (state.model.is_loss and stationarity(state) <= SETTLED * eps)
    loose = 0.0 if is_settled else 0.03 * abs(state.certificate.absolute_gap)
    tolerance = max(ORACLE_SHARE * eps, loose)
    if not math.isfinite(tolerance):
        tolerance = START_TOLERANCE * problem.typical_objective
    if is_refuted:
        forgotten = replace(state.certificate, dual_bound=-math.inf, bound_kind=RIGOROUS)
        point = evaluate(problem, dual, tolerance=ORACLE_SHARE * eps, certified=True)
        state = with_bound(problem, replace(state, certificate=forgotten), point)
    else:
        state, point = certify_at(problem, state, dual, tolerance)
    here = state.here
    predicted = inner(dual, here.image - point.image) + here.cost - point.objective
    if predicted <= max(0.25 * eps, 2.0 * stationarity(state)):
        return state
    atom, gamma = point.atom, state.model.best_gamma(here, point.image, point.objective)
    del here, dual, point  # vectors as long as the data
    return rank_one_escape(problem, state, atom, gamma)


def certify_at(
    problem: Problem, state: AnyCertifying, dual: Array, tolerance: float
) -> tuple[AnyCertifying, DualPoint]:
    """Return the state with the oracle's bound at a dual vector, and the oracle's point.

    When the gap is within reach of the accuracy, the oracle is called once more for its strongest certificate.
    """
    eps, known = requested_gap(problem, state), state.certificate.dual_bound
    direction = double_direction(problem, dual)
    point = evaluate(problem, dual, direction=direction, tolerance=tolerance, start=state.warm_start)
    state = with_bound(problem, state, point)
    if point.error > MISSED_TOLERANCE * tolerance:  # a warm start may be confined to a known cluster of eigenvalues
        strongest = problem.b.size <= FEW_ROWS
        point = evaluate(problem, dual, direction=direction, tolerance=tolerance, certified=strongest)
        state = with_bound(problem, state, point)
    # Within a cluster of top eigenvalues residuals may never become small: an unchanged bound is informative as well.
    informative = point.error <= INFORMATIVE_ERROR * eps or state.certificate.dual_bound <= known
    gap = state.certificate.absolute_gap
    if gap > eps >= gap - point.error and informative:
        certified = evaluate(
            problem, dual, direction=direction, tolerance=ORACLE_SHARE * eps, start=point.atom, certified=True
        )
        state = with_bound(problem, state, certified)
    return state, point


def with_bound(problem: Problem, state: AnyCertifying, point: DualPoint) -> AnyCertifying:
    """Return the state with the bound of an oracle call."""
    certificate = state.certificate.update_bound(problem, point)
    counts = state.counts.plus(1, 0, point.matvecs)
    return replace(state, certificate=certificate, counts=counts, warm_start=point.atom)


def rank_one_escape(problem: Problem, state: FactoredState, atom: Any, gamma: float) -> FactoredState:
    """Mix the oracle's atom into the factor with the weight gamma, the best one on the segment.

    With rows of fixed length the mixture is not a segment: gamma shrinks until the objective falls, and grows while
    it falls further. A smooth loss has no such rows.
    """
    model, matvecs = state.model, 0
    gamma = min(gamma, LARGEST_GAMMA) if gamma > 0.0 else FIRST_GAMMA

    def mix(gamma: float) -> tuple[Array, Evaluation]:
        nonlocal matvecs
        factor = model.factors.mix_atom(state.factor, atom, gamma).astype(state.factor.dtype, copy=False)
        here = model.evaluate(factor)
        matvecs += here.matvecs
        return factor, here

    factor, here = mix(gamma)
    while here.value >= state.here.value and gamma > SMALLEST_GAMMA:
        gamma *= 0.1
        factor, here = mix(gamma)
    while not model.is_loss and 4.0 * gamma <= LARGEST_GAMMA:
        gamma *= 4.0
        larger, there = mix(gamma)
        if there.value >= here.value:
            break
        factor, here = larger, there
    state = replace(state, counts=state.counts.plus(0, 0, matvecs))
    if here.value >= state.here.value:
        return state
    return refresh_certificate(problem, replace(state, factor=factor, here=here, memory=state.memory.empty()))


def first_scales(problem: Problem, weight: float) -> tuple[float, float]:
    """Return the first penalty, and the length of the first factor, for the weight w of the objective.

    The penalty follows from the lower bound <b, b>^2 w / ||A^* b||^2 of the objective, which is attained when one pair
    of singular vectors fits the data.
    """
    with oracle_errors:
        top = Engine().singular_triples(problem.map.adjoint(problem.b), tolerance=1e-2).value
    norm_sq = problem.norm_b**2
    least = weight * norm_sq**2 / max(top**2, TINY)
    penalty = 2.0 * SPREAD * least / (PENALTY_SHARE**2 * norm_sq) if norm_sq > 0.0 else 1.0
    return penalty, START_SHARE * math.sqrt(2.0 * norm_sq / max(top, TINY))


def scale_to_data(problem: Problem, factors: Any) -> Factors:
    """Return factors of the whole space with the first penalty and length, where they have none."""
    if factors.penalty is not None:
        return factors
    penalty, length = first_scales(problem, factors.weight)
    return replace(factors, penalty=penalty, length=length)


def is_oracle_overdue(before: FactoredState, after: FactoredState) -> bool:
    """Whether to call the oracle before feasibility or convergence: with too few columns the steps never get there."""
    far = after.certificate.infeasibility > FAR_FROM_FEASIBLE
    done = after.model is not before.model
    rounds, rest = divmod(after.iteration, PATIENCE)
    return (far and done) or (rest == 0 and rounds & (rounds - 1) == 0)


def widen_state(problem: Problem, state: FactoredState, seed: int) -> FactoredState:
    """Return the state with random columns and an empty quasi-Newton memory.

    They come with an atom: as many as there are while the gap is wide, few when it is nearly closed, and no more than
    the shorter side of the matrix.
    """
    factors: Any = state.model.factors
    certificate, columns = state.certificate, state.factor.shape[1]
    share = min(GAP_WIDENING * abs(certificate.gap(problem)), 1.0)
    return with_factor(
        problem, state, factors.widen_factor(state.factor, round((1.0 + share) * columns), seed + state.iteration)
    )


def narrow_state(problem: Problem, state: FactoredState) -> FactoredState:
    """Return the state without columns of negligible length, where they are many; its memory is empty already."""
    factor = drop_weak_columns(state.factor)
    is_narrower = factor.shape[1] <= NARROW_SHARE * state.factor.shape[1]
    return with_factor(problem, state, factor) if is_narrower else state


def with_factor(problem: Problem, state: FactoredState, factor: Array) -> FactoredState:
    """Return the state at another factor, with an empty quasi-Newton memory."""
    here = state.model.evaluate(factor)
    counts = state.counts.plus(0, 0, here.matvecs)
    memory = state.memory.empty()
    return refresh_certificate(problem, replace(state, factor=factor, here=here, memory=memory, counts=counts))
