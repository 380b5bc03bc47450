"""The corrective method: re-optimise over the atoms collected so far, call the oracle at the multiplier."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd._util.arrays import inner, norm
from unipd.dual import DualPoint, double_direction, evaluate, oracle_errors
from unipd.errors import OracleError
from unipd.methods.base import (
    ORACLE_SHARE,
    Certificate,
    Counts,
    State,
    WarmPoint,
    empty_certificate,
    measure_point,
    relative_eps,
    require_domain,
    target_eps,
)
from unipd.methods.corrective.dual_master import solve_dual_master
from unipd.methods.corrective.linear_master import EARLY, LinearModel
from unipd.methods.corrective.master import Splitting, solve_master
from unipd.methods.corrective.model import FEW_ATOMS, Bundle, KnownAtom, has_blocks, known_atoms
from unipd.methods.universal.common import initial_smoothness, least_smoothness
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.spectral import RIGOROUS

MASTER_SHARE = 1e-3
"""Newton steps of the master end when one predicts a decrease of at most this fraction of the accuracy."""
DESCENT_SHARE = 0.1
"""A step is serious when G decreases by this share of what the model predicts."""
TRUSTED_SHARE, TRUSTED_SHARE_CURVED, TRUSTED_SHARE_DENSE = 1e-2, 1e-5, 1.0
"""A warm start takes M of the earlier run, but no less than this share of the first one: a smaller one lets lam jump
from vertex to vertex, and M would only fall from run to run. The second holds for curved f whose masters are quadratic
programs (signed multipliers), the third where f is curved and atoms are dense (the norm of the largest entry)."""
MOST_PRICED = 30
"""Vertices that one oracle call may add where pricing is cheap."""
IDLE_SHARE = 3
"""Atoms kept for every one in use, or for every row of A."""
MEMORY_BUDGET = 1 << 30
"""Bytes for images and Gram matrices of more than the usual number of atoms."""
_ROUNDING_BY_PRECISION = {True: 1e-3, False: 1e-9}
"""Relative rounding errors to allow for: in single precision, and in double."""


class MemoryBound(UserWarning):
    """The corrective method has as many atoms in use as it may keep.

    See Also
    --------
    unipd.Corrective

    Examples
    --------
    Make it an error where a slow run is worthless:

    >>> import warnings
    >>> warnings.simplefilter("error", MemoryBound)
    """


@dataclass(frozen=True)
class CorrectiveState(State):
    """State of the corrective method."""

    bundle: Bundle
    """The atoms, of x or of every block of x; its weights give the primal point."""
    centre: Array
    """The dual vector of the last serious step."""
    centre_value: float
    """G at the centre."""
    null_steps: int
    """Null steps since the last serious one."""
    eps: float
    """Requested absolute accuracy."""
    first_smoothness: float
    """The first M, for the record; 0 without a proximal term."""
    linear: LinearModel | None = None
    """The model of a linear program with many rows; None where masters have a proximal term."""
    splitting: Splitting | None = None
    """The pair (r, lam) where the prox of the coupling has no derivative; None where masters need none."""
    memory: int = FEW_ATOMS
    """Atoms that may be kept, of every block where they have models of their own."""
    is_merging: bool = False
    """Whether more atoms than that were in use at some iteration, and light ones have been merged."""

    @property
    def idle_atoms(self) -> tuple[Any, ...]:
        """The cheapest atoms without weight, as many as are in use; none where blocks have atoms of their own."""
        bundle = self.bundle
        is_idle = bundle.weights <= 0.0
        order = np.argsort(np.where(is_idle, bundle.prices(self.dual), math.inf), kind="stable")
        count = 0 if bundle.by_block else min(int(is_idle.sum()), int((~is_idle).sum()))
        return tuple(bundle.atoms[place] for place in order[:count])

    @property
    def resolved_options(self) -> dict[str, Any]:
        """The absolute accuracy, the first M and the number of atoms."""
        return {"eps": self.eps, "smoothness": self.first_smoothness, "memory": self.memory}

    @property
    def absolute_accuracy(self) -> float:
        """The absolute accuracy requested."""
        return self.eps


@dataclass(frozen=True)
class Corrective:
    """Fully corrective primal-dual method: a proximal bundle method on G, seen from the primal side.

    Every iteration solves the master problem, min over x in the hull of the atoms and r in K of
    f(x) + <lam_c, A x - r - b> + (1/2M)||A x - r - b||^2, takes lam = lam_c + (A x - r - b)/M, and calls the oracle
    there once. The centre moves (a serious step) when G decreases by a tenth of what the model predicts; otherwise
    the new atom improves the model (a null step). Smooth losses need no proximal term: that is fully corrective
    Frank-Wolfe. Linear programs with many rows have a linear program as their master.

    The bound is valid after every iteration, since it rests on the oracle alone. The point converges to a solution, at
    the rate O(1/k) under a smooth loss, where the master is solved: under a smooth loss, K = {0}, orthants, and every
    coupling whose prox has a known derivative, provided that a dual solution exists. Over polytopes the method is
    finite in practice. Where the prox has no known derivative, as that of most user-supplied sets, a master is three
    Douglas-Rachford steps with a projection each; these converge over any fixed set of atoms, but for steps and new
    atoms that take turns no convergence is claimed.

    Parameters
    ----------
    memory
        Largest number of atoms; idle ones are dropped and light ones merged into one, which preserves convergence. By
        default 500, or three times as many as are in use if that is more, within three times the rows of A and 1 GB.
    smoothness
        Initial M of the dual proximal term; default: the universal line search's estimate.
    eps
        Absolute accuracy for inexact oracles; default: the relative accuracy times the size of the objective.

    Raises
    ------
    InvalidInput
        ``memory``: expected an integer of at least 2; ``smoothness``: expected a number above zero.

    See Also
    --------
    Factored, CoordinateDescent, polish

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    >>> unipd.solve(problem, unipd.Corrective(), accuracy=1e-8).status.value
    'solved'
    """

    name = "corrective"

    memory: int | None = None
    smoothness: float | None = None
    eps: float | None = None

    def __post_init__(self) -> None:
        if self.memory is not None:
            validate.integer("memory", self.memory, minimum=2)
        if self.smoothness is not None:
            validate.positive("smoothness", self.smoothness)

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> CorrectiveState:
        """Call the oracle at lam_0 and estimate M; the tracker is always the bundle's."""
        require_domain(problem, dual)
        point = evaluate(problem, dual, tolerance=ORACLE_SHARE * accuracy * problem.typical_objective)
        eps = target_eps(problem, self.eps, accuracy, point.objective)
        counts = Counts(1, 0, point.matvecs)
        smoothness = 0.0 if problem.has_smooth_loss else self.smoothness
        if smoothness is None:
            estimate = initial_smoothness(problem, point, eps, ORACLE_SHARE * eps)
            smoothness = estimate.smoothness
            counts += estimate.work
        bundle = Bundle.of(problem, point)
        has_splitting = Splitting.applies(problem, bundle, smoothness)
        return CorrectiveState(
            dual=dual,
            primal=bundle.tracker(),
            image=point.image,
            mean_objective=bundle.objective(),
            certificate=empty_certificate(dual).update_bound(problem, point),
            counts=counts,
            smoothness=smoothness,
            bundle=bundle,
            centre=dual,
            centre_value=_dual_objective(problem, point),
            null_steps=0,
            eps=eps,
            first_smoothness=smoothness,
            linear=LinearModel.of(problem, point),
            splitting=Splitting.of(problem, bundle, dual, smoothness) if has_splitting else None,
            memory=atoms_per_block(problem, bundle, self.memory or atoms_to_keep(bundle, 1)),
        )

    def start_at(self, problem: Problem, tracker: Tracker, warm: WarmPoint, accuracy: float) -> CorrectiveState:
        """Start from the dual vector with the atoms of another run, which the first master weighs."""
        by_block = _bundle_by_block(problem, warm.state)
        if has_blocks(problem) and by_block is None:
            warm = replace(warm, state=None)  # a small M beside few atoms would let lam jump
        earlier = warm.state if isinstance(warm.state, CorrectiveState) and not problem.has_smooth_loss else None
        known, share = self.smoothness, trusted_share(problem)
        if earlier is not None and known is None:
            known = max(earlier.smoothness, share * earlier.first_smoothness) or None
        first = replace(self, smoothness=known).start(problem, tracker, warm.dual, accuracy)
        if type(warm.state) is State and known is None and warm.state.smoothness > 0.0:  # of a saved result
            trusted = max(warm.state.smoothness, share * first.smoothness)
            first = replace(first, smoothness=min(trusted, first.smoothness))
        if first.smoothness > 0.0 and np.any(warm.dual):
            zero = evaluate(problem, np.zeros_like(warm.dual), tolerance=ORACLE_SHARE * first.eps)
            if _dual_objective(problem, zero) < first.centre_value:  # the other problem has little to do with this one
                return self.start(problem, tracker, zero.dual, accuracy)
            first = replace(first, counts=first.counts.plus(1, 0, zero.matvecs))
        if earlier is not None:
            first = replace(first, first_smoothness=earlier.first_smoothness)
        if first.linear is not None and isinstance(warm.state, CorrectiveState) and warm.state.linear is not None:
            first = replace(first, linear=first.linear.after(warm.state.linear))
        elif first.linear is not None and warm.atoms:
            first = replace(first, linear=replace(first.linear, first_iteration=EARLY))
        if first.bundle.by_block and by_block is not None:
            bundle = first.bundle.at_point_of(problem, by_block)
            images = math.ceil((len(bundle.atoms) - first.bundle.count) / bundle.count)
            return replace(first, bundle=bundle, counts=first.counts.plus(matvecs=images))
        if first.bundle.by_block or not warm.atoms:
            return first
        idle = warm.idle_atoms if problem.map.has_cheap_images else ()
        memory = self.memory or atoms_to_keep(first.bundle, len(warm.atoms) + len(idle))
        weights = np.append(warm.weights, np.zeros(len(idle)))
        order = np.argsort(-weights, kind="stable")[: memory - 1]
        atoms = [(*warm.atoms, *idle)[place] for place in order]
        points = known_atoms(problem, atoms)
        bundle = first.bundle.with_weights(np.zeros(1)).with_atoms(problem, *points, weights=weights[order].tolist())
        bundle = bundle if bundle.conic else bundle.with_weights(bundle.weights / bundle.weights.sum())
        return replace(
            first,
            bundle=bundle,
            counts=first.counts.plus(matvecs=len(points)),
            eps=min(first.eps, target_eps(problem, self.eps, accuracy, bundle.objective())),  # f near the solution
            linear=first.linear and first.linear.with_atoms(problem, *points),
            splitting=first.splitting and Splitting.of(problem, bundle, warm.dual, first.smoothness),
        )

    def step(self, problem: Problem, state: CorrectiveState) -> CorrectiveState:
        """Solve the master, price atoms at its multiplier, move the centre or stay, and update the bundle."""
        # 1: the master over the atoms collected so far gives the primal point and lam
        bundle, dual, linear, splitting = solve_masters(problem, state)
        image, cost, tracker = bundle.image(problem), bundle.objective(), bundle.tracker()

        # 2: the oracle prices atoms at lam, and gives G(lam) and hence a bound
        tolerance = ORACLE_SHARE * state.eps
        most = problem.b.size if linear is not None and linear.penalty and not linear.is_exact else MOST_PRICED
        point, others = price_atoms(problem, bundle, dual, tolerance, most)
        model, value = bundle.lower_model(problem, dual), _dual_objective(problem, point)
        require_maximum(problem, model, point, tolerance, bundle.extent)
        measures = measure_point(problem, tracker, image, cost)
        certificate = state.certificate.update_point_and_bound(problem, measures, point)
        counts = state.counts.plus(oracle_calls=1, matvecs=point.matvecs + len(others))
        is_claimed = certificate.relative_error(problem) <= relative_eps(problem, state.eps, cost)
        if is_claimed and problem.is_single:
            certificate, work = recertify(problem, certificate, tolerance)
            counts += work

        # 3: a serious step moves the centre, a null step does not; then M for the next master
        predicted = state.centre_value - model - problem.coupling.conjugate(dual)
        actual = state.centre_value - value
        is_rounded = predicted <= 0.0 and actual >= -_SMALL_SHARE * state.eps  # G at the centre was rounded down
        is_serious = is_rounded or actual >= DESCENT_SHARE * predicted
        null_steps = 0 if is_serious else state.null_steps + 1
        factor = prox_factor(
            problem, bundle, certificate, predicted=predicted, actual=actual, null_steps=null_steps, eps=state.eps
        )
        smoothness = state.smoothness * (factor if splitting is None else splitting.factor)
        least = min(state.smoothness, least_smoothness(problem, norm(image - problem.b)))
        memory = self.memory or atoms_to_keep(bundle, int(np.count_nonzero(bundle.weights)))
        memory = atoms_per_block(problem, bundle, memory)
        is_merging = state.is_merging or warn_if_binding(bundle, memory)

        if linear is not None:
            is_infeasible = measures.infeasibility > _SMALL_SHARE * relative_eps(problem, state.eps, cost)
            linear = linear.advance(problem, is_infeasible, point, *others)

        return CorrectiveState(
            iteration=state.iteration + 1,
            dual=dual,
            primal=tracker,
            image=image,
            mean_objective=cost,
            certificate=certificate,
            counts=counts,
            smoothness=max(smoothness, least),
            dual_step=norm(dual - state.dual),
            # 4: prune the bundle, and add the new atoms
            bundle=add_atoms(problem, bundle, dual, (point, *others), memory),
            centre=dual if is_serious else state.centre,
            centre_value=value if is_serious else state.centre_value,
            null_steps=null_steps,
            eps=state.eps,
            first_smoothness=state.first_smoothness,
            linear=linear,
            splitting=splitting,
            memory=memory,
            is_merging=is_merging,
        )


def trusted_share(problem: Problem) -> float:
    """Return the share of the first M below which a warm start does not take that of another run.

    >>> import unipd
    >>> oracles = unipd.sharp.Simplex(2), unipd.sharp.L1NormSquared(2), unipd.sharp.LInfNormSquared(2)
    >>> [trusted_share(unipd.Problem(oracle, np.eye(2), np.ones(2), "=")) for oracle in oracles]
    [0.01, 1e-05, 1.0]
    """
    if problem.sharp.linear:
        return TRUSTED_SHARE
    if problem.sharp.atom_entries is None:
        return TRUSTED_SHARE_DENSE
    return TRUSTED_SHARE if problem.coupling.dual_signs is None else TRUSTED_SHARE_CURVED


def solve_masters(
    problem: Problem, state: CorrectiveState
) -> tuple[Bundle, Array, LinearModel | None, Splitting | None]:
    """Solve the master; return the bundle at its solution, the multiplier, and the linear model or pair they are from.

    The master is exact for linear programs with many rows, once some atoms are known; a few steps where the coupling
    has a prox without derivatives; exact around the centre where the bundle keeps its Gram matrix; and elsewhere solved
    in the dual with a proximal term in the weights.
    """
    bundle, centre, linear = state.bundle, state.centre, state.linear
    if state.splitting is not None:
        bundle, splitting = state.splitting.advance(problem, bundle, state.smoothness)
        return bundle, splitting.dual.astype(problem.dtype), linear, splitting
    if linear is not None and not linear.is_exact and state.iteration >= linear.first_iteration:
        if linear.penalty == 0.0:
            linear = linear.with_penalty(problem, state.dual, bundle.objective())
        solution = linear.solve(problem)
        if solution is not None:
            return Bundle.of(problem, solution[0], by_block=bundle.by_block), solution[1], linear, None
        linear = None
    if bundle.gram is None:
        return *solve_dual_master(problem, bundle, centre, state.smoothness, state.eps), linear, None
    is_warm, tolerance = state.iteration == 0, MASTER_SHARE * state.eps
    return *solve_master(problem, bundle, centre, state.smoothness, tolerance, is_warm=is_warm), linear, None


def price_atoms(
    problem: Problem, bundle: Bundle, dual: Array, tolerance: float, most: int
) -> tuple[DualPoint, list[KnownAtom]]:
    """Call the oracle at lam; return its answer, and up to ``most`` vertices above the model where they cost little."""
    start: Any = None if bundle.by_block else bundle.atoms[-1]
    if bundle.by_block or not problem.map.has_cheap_images:
        return evaluate(problem, dual, tolerance=tolerance, start=start), []
    with oracle_errors:
        direction = problem.map.adjoint(-dual)
    point = evaluate(problem, dual, direction=direction, tolerance=tolerance, start=start)
    model = bundle.lower_model(problem, dual)
    return point, price_vertices(problem, dual, direction, most, above=model)[1:]


def price_vertices(
    problem: Problem, dual: Array, direction: Array, count: int, above: float = -math.inf
) -> list[KnownAtom]:
    """Return the ``count`` best vertices for the direction -A^* lam, best first, each with its image and f.

    Only vertices whose cut at lam is higher than ``above`` are returned; none when the oracle cannot price them.

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), np.zeros(3), "=")
    >>> lam = np.array([2.0, 1.0, 3.0])
    >>> [float(known.image @ -lam) for known in price_vertices(problem, lam, -lam, 3, above=-2.5)]
    [-1.0, -2.0]
    """
    vertices = problem.sharp.best_vertices(direction, count, above - inner(dual, problem.b)) or []
    return known_atoms(problem, vertices)


def recertify(problem: Problem, certificate: Certificate, tolerance: float) -> tuple[Certificate, Counts]:
    """Return the certificate with its bound in double precision where the map offers it, and the work: M follows it."""
    direction = double_direction(problem, certificate.dual)
    if direction is None:
        return certificate, Counts()
    point = evaluate(problem, certificate.dual, direction=direction, tolerance=tolerance)
    return replace(certificate, dual_bound=-math.inf).update_bound(problem, point), Counts(1, 0, point.matvecs)


def add_atoms(
    problem: Problem, bundle: Bundle, dual: Array, points: tuple[DualPoint | KnownAtom, ...], memory: int
) -> Bundle:
    """Prune the bundle to make room for new atoms, then add them, the best one first."""
    if bundle.by_block:  # one point has an atom per block
        return bundle.prune(memory - 1, dual).with_atoms(problem, points[0])
    points = points[: max(1, memory // 4)]
    return bundle.prune(memory - len(points), dual).with_atoms(problem, *points)


def atoms_to_keep(bundle: Bundle, in_use: int) -> int:
    """Return the number of atoms to keep: 500, or more where a solution has more, as far as memory allows.

    A vertex of {A x = b} may need as many atoms as A has rows. With k atoms and n rows, images and Gram matrices take
    8 k (n + 3 k) bytes.
    """
    if bundle.by_block:
        return FEW_ATOMS
    rows = bundle.columns.rows
    affordable = (math.sqrt(rows**2 + 12.0 * MEMORY_BUDGET / 8.0) - rows) / 6.0
    return max(FEW_ATOMS, int(min(IDLE_SHARE * in_use, IDLE_SHARE * rows, affordable)))


def atoms_per_block(problem: Problem, bundle: Bundle, memory: int) -> int:
    """Return the atoms that a model may keep; blocks under a loss other than least squares share them."""
    is_shared = bundle.by_block and problem.coupling.dual_sign is None
    return max(2, memory // bundle.count) if is_shared else memory


def warn_if_binding(bundle: Bundle, memory: int) -> bool:
    """Warn, and return True, when a model has as many atoms in use as may be kept: the next one makes it merge some."""
    in_use = int(np.bincount(bundle.blocks, bundle.weights > 0.0).max())
    if in_use < memory:
        return False
    where = " in a block" if bundle.by_block else ""
    warnings.warn(
        f"corrective: memory= allows {memory} atoms{where}, and all are in use: light ones are merged, which slows "
        "convergence down; allow more with Corrective(memory=...) or --memory",
        MemoryBound,
        stacklevel=2,
    )
    return True


def _bundle_by_block(problem: Problem, state: Any) -> Bundle | None:
    """Return the bundle by block of another run's state, if its atoms are known to lie in the sets of this problem."""
    oracles = problem.sharp.block_oracles
    bundle = state.bundle if isinstance(state, CorrectiveState) and state.bundle.by_block else None
    if bundle is None or bundle.count != len(oracles) or not all(oracle.has_membership_test for oracle in oracles):
        return None
    pairs = [(oracles[block], atom) for block, atom in zip(bundle.blocks, bundle.atoms, strict=True)]
    is_inside = all(np.shape(atom) == oracle.shape and oracle.contains(atom) for oracle, atom in pairs)
    return bundle if is_inside else None


def _dual_objective(problem: Problem, point: DualPoint) -> float:
    """Return G = g + h at a dual point, whether or not a loss is split."""
    return point.value if problem.split else point.value + problem.coupling.conjugate(point.dual)


# The prox parameter M: how far lam may move from its centre

_SMALL_SHARE = 0.1
"""Share of the requested accuracy below which a change of G is small, and A x - b of several blocks near enough."""
_FEASIBLE_SHARE = 0.5
"""Share of the requested accuracy that is near enough for A x - b."""
_EXACT_SHARE = 0.9
"""Where G decreases by this share of the prediction, the model holds all along the step."""
_PATIENCE = 40
"""Null steps after which M is doubled."""
_ROUNDING = 1e-14
"""Share of the scale of gaps below which a predicted decrease is rounding: some 45 units in double precision."""


def prox_factor(
    problem: Problem,
    bundle: Bundle,
    certificate: Certificate,
    *,
    predicted: float,
    actual: float,
    null_steps: int,
    eps: float,
) -> float:
    """Return the factor of M after a step, by the predicted and the actual decrease of G.

    With one model of the whole x, M decreases by what a parabola through G and its slope along the step suggests, a
    factor of 2 to 10, when at least half of the prediction came true, and is doubled after every forty null steps; a
    loss with kinks is treated alike. Under constraints, models of several blocks improve much with every call: M is
    halved after each prediction that came true, and doubled when G increased by as much. In both cases M stays when
    A x - b is well within the requested accuracy, since a smaller one would only let lam diverge; unless the gap is
    open and the model held all along the step, as where no multiplier is large enough (no Slater point). Where the
    prediction is far below the requested accuracy, M is halved.
    """
    scale = problem.scale(certificate.objective)
    small = _SMALL_SHARE * eps
    share = _SMALL_SHARE if bundle.by_block else _FEASIBLE_SHARE
    is_infeasible = certificate.infeasibility > share * relative_eps(problem, eps, certificate.objective)
    if bundle.by_block and problem.loss is None:
        if actual >= 0.5 * predicted - small and is_infeasible and bundle.is_solved:
            return 0.5
        return 2.0 if actual < -max(predicted, small) else 1.0
    is_short = is_infeasible or (abs(certificate.absolute_gap) > eps and actual >= _EXACT_SHARE * predicted)
    if abs(predicted) <= small and actual >= -small:
        return 0.5 if is_short and predicted > _ROUNDING * scale else 1.0
    if predicted > 0.0 and actual >= 0.5 * predicted:
        parabola = max(_least_factor(problem), 2.0 * (1.0 - actual / predicted))
        return min(0.5, parabola) if is_short else 1.0
    is_stuck = null_steps > 0 and null_steps % _PATIENCE == 0
    return 2.0 if is_stuck and actual < DESCENT_SHARE * predicted else 1.0


def _least_factor(problem: Problem) -> float:
    """Return the least factor of M: not far below 1 where G may be unbounded below, or lam would soon overflow."""
    return 0.5 if math.isinf(problem.sharp.maximum()) and problem.sharp.degree != 2.0 else 0.1


def require_maximum(
    problem: Problem, model: float, point: DualPoint, tolerance: float, extent: Callable[[], float] = lambda: 0.0
) -> None:
    """Raise when the oracle's certified maximum lies below what a point of X attains.

    Every x in X gives <lam, b - A x> - f(x) <= g(lam), and ``model`` is the largest such value over the atoms. If the
    oracle's g(lam) is smaller by more than its certified error, rounding and ``tolerance`` explain, the oracle does not
    maximise, and every bound that rests on it may be wrong. Only errors claimed to be rigorous are checked. ``extent``
    bounds ||A x - b|| + |f(x)| over the atoms, the terms that cancel in the model; it is evaluated in case of doubt.

    >>> import unipd
    >>> from unipd.dual import evaluate
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.0, 0.0], "=")
    >>> point = evaluate(problem, np.array([-1.0, 1.0]))
    >>> require_maximum(problem, 1.0, point, 1e-9)
    """
    if point.bound_kind != RIGOROUS:
        return
    linear = inner(point.dual, problem.b)
    claimed, attained = point.conjugate, model - linear
    size = norm(point.dual) * (norm(point.image) + problem.norm_b) + abs(point.objective) + abs(attained)
    rounding = _ROUNDING_BY_PRECISION[problem.is_single]
    excess = attained - claimed - tolerance - rounding * size
    if excess > 0.0 and excess > rounding * (1.0 + norm(point.dual)) * extent():
        raise OracleError(
            f"the sharp oracle's maximum {claimed:.8g} lies below {attained:.8g}, which a point of X that it returned "
            "earlier attains: it does not maximise, or the adjoint of the map is wrong; "
            "run unipd.doctor.check (unipd doctor FILE.py:NAME) to locate the error"
        )
