"""The routes of a program: the factored method, interior points, and one after the other.

Results are those of the program, not of the template: original units, multipliers with a psd slack, DIMACS errors.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unipd._typing import Array
from unipd._util.context import raise_on_signals
from unipd._util.threads import single_thread_blas
from unipd.apps.sdp.cones import (
    ConicProblem,
    Proof,
    Prover,
    UnlimitedProblem,
    choose_size,
    has_dense_blocks,
    make_admissible,
)
from unipd.apps.sdp.data import PSD, SdpData, TraceBound, measure_size, split_blocks
from unipd.apps.sdp.formulation import Analysis, WarmStart, analyse, find_binary_lifting, list_equations
from unipd.apps.sdp.infeasibility import (
    NEGLIGIBLE_VIOLATION,
    Ray,
    describe_direction,
    describe_excluded,
    describe_feasible,
    find_ray,
    find_separation,
    find_unused_ray,
    is_beyond_accuracy,
    pose_rays,
    separated_result,
    unbounded_result,
)
from unipd.apps.sdp.interior_point import InteriorPoint
from unipd.apps.sdp.splitting import Splitting
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.problem import Problem
from unipd.run import IterationInfo, MaxIterations, Result, StoppingRule, downgrade, recheck, solve
from unipd.run.result import ProblemFacts, add_work, problem_facts
from unipd.run.stopping import remaining_budget
from unipd.scales import ratio
from unipd.spectral import norm_bound
from unipd.status import Status

if TYPE_CHECKING:
    from unipd.apps.sdp.program import SDP

ITERATIONS = 5000
"""Iterations of the factored method without another limit: programs that need more are ill-conditioned."""
REFINEMENTS = 2
"""Further runs, each with a tenth of the accuracy, while the scaled constraints hold and those of the data do not."""
INTERIOR_STEPS = 20
"""Steps of interior points that a program usually takes."""
QUICK_SECONDS, MOST_SECONDS = 1.0, 300.0
"""Estimated seconds of interior points up to which they come first (where no trace is fixed or the rank is high: MaxCut
and theta of sparse graphs have low rank), and up to which they are affordable at all."""
MOST_BYTES = 4e9
"""Memory of their dense matrices up to which they are affordable."""
SINGLE_THREAD_ORDER = 3000
"""Order, and number of constraints, up to which they use one BLAS thread: a second one gains 6 % at most."""
CONIC_METHODS = (InteriorPoint.name, Splitting.name)
"""Methods for any product of cones."""
HIGH_RANK_SHARE = 0.5
"""Rank of X relative to its order from which interior points or splitting come first, ..."""
LEAST_DENSE_ORDER, MOST_DENSE_ORDER = 16, 2000
"""... for these orders: factors of smaller ones take less time than importing QICS; splitting holds three matrices."""
LEAST_FALLBACK, MOST_FALLBACK = 200, 1000
"""Iterations of the factored method before interior points take over: at least and at most, ..."""
ITERATIONS_PER_SECOND = 40.0
"""... and in between this many per estimated second of theirs."""
ENLARGEMENTS, ENLARGEMENT_FACTOR = 6, 10.0
"""How often, and by what factor, a trace bound that is a mere guess is enlarged while it matters."""
ACTIVE_SHARE = 0.5
"""A guess matters where X has at least this share of it."""
RANK_SHARE = 1e-6
"""Eigenvalues of X below this share of the largest do not count for the rank."""
FACE_LOSS = 0.05
"""Share of the accuracy by which a finite multiplier of a face may lower the bound."""
LARGEST_MULTIPLE = 1e7
"""Multiple of the trace that b requires above which X meets constraints only by cancellation, ..."""
TOO_LARGE = (
    "Stalled: X became so large that it meets the constraints by cancellation only. The program may have no feasible X "
    "(and come arbitrarily near), or no solution (and an infimum that is not attained)."
)
"""... and what is said then."""
RETRY_SECONDS = 5.0
"""Estimated seconds of interior points up to which a run in other units and a search for rays follow a stall."""
RAY_ACCURACY = 1e-9
"""Accuracy of improving rays before they are proved."""
NOMINAL_MULTIPLE = 1e12
"""Multiple of the trace that b requires to which X is limited for form's sake where nothing bounds it."""


Route = Callable[[StoppingRule | None], Result]


@dataclass(frozen=True)
class FallbackRule(StoppingRule):
    """Stops the factored method when interior points, which would take this many seconds, may be faster.

    It also stops where the iterations granted would not reach the accuracy at the rate of those done.

    >>> FallbackRule(5.0).iterations
    200
    """

    seconds: float
    accuracy: float = math.inf

    @property
    def iterations(self) -> int:
        """Iterations after which the run stops."""
        return int(min(max(self.seconds * ITERATIONS_PER_SECOND, LEAST_FALLBACK), MOST_FALLBACK))

    def __call__(self, info: IterationInfo) -> Status | None:
        """Return the status of a stall after these iterations, or earlier."""
        if info.iteration < LEAST_FALLBACK:
            return Status.STALLED if info.iteration >= self.iterations else None
        error = max(abs(info.gap), info.infeasibility)
        is_slow = not error ** (self.iterations / info.iteration) <= self.accuracy
        return Status.STALLED if is_slow or info.iteration >= self.iterations else None


def has_interior_points() -> bool:
    """Whether QICS is installed, which takes the steps."""
    return find_spec("qics") is not None


def estimate_seconds(data: SdpData) -> float:
    """Return the seconds that interior points take, roughly, from a model fitted to SDPLIB; inf beyond the memory.

    A step factorises blocks (sum of n_k^3) and the Schur complement (m^3), which every block with dense constraints
    fills by n_k^3 operations for each of them, and others by m^2 and the products of their entries.
    """
    rows = float(data.size + np.count_nonzero(~data.equal))
    sizes = np.array([block.size for block in data.blocks if block.kind == PSD], np.float64)
    entries = float(data.constraints.value.size)
    if 24.0 * rows**2 + 8.0 * float((sizes**2).sum()) * (12.0 + 0.02 * rows) > MOST_BYTES:
        return math.inf
    owner = data.owners[data.constraints.row]
    pairs, counts = np.unique(owner.astype(np.int64) * data.size + data.constraints.constraint, return_counts=True)
    order = np.array([0 if block.is_vector else block.size for block in data.blocks], np.float64)[pairs // data.size]
    is_dense = 2.0 * counts >= order
    dense = float((order[is_dense] ** 3).sum())
    sparse = float(np.minimum(counts[~is_dense].sum() ** 2, entries**2))
    step = 2e-3 + 2e-9 * float((sizes**3).sum()) + 1e-11 * rows**3 + 4e-9 * (1 + sizes.size) * rows**2
    return INTERIOR_STEPS * (step + 4e-10 * dense + 2e-11 * sparse)


@dataclass(frozen=True, eq=False)
class Solver:
    """Solves one program by the routes that are open to it.

    Stopping rules apply to all parts of a run together, and the result counts the work of all parts; its history is
    that of the part that it comes from.
    """

    program: SDP
    accuracy: float
    method: Any = "auto"
    """"auto", "interior", "splitting", or another method or its name."""
    trace_bound: float | None = None
    rank: int | None = None
    seed: int = 0
    stop: StoppingRule | None = None
    start: WarmStart | None = None
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    """Further options of :func:`unipd.solve`, without those of a checkpoint: one serves all runs."""

    def solve(self) -> Result:
        """Choose the route by its estimated cost, and another one where it fails."""
        data = self.program.data
        if self.method in CONIC_METHODS or not data.is_psd:
            if self.trace_bound is not None:
                expected = f"none: {', '.join(CONIC_METHODS)}, free variables and second-order cones need no bound"
                raise InvalidInput("trace_bound", expected, f"{self.trace_bound:g}")
            if self.method not in ("auto", *CONIC_METHODS):
                expected = f"one of auto, {', '.join(CONIC_METHODS)}: others take no second-order cones"
                raise InvalidInput("method", expected, repr(self.method))
            return (
                self._solve_splitting(self.stop) if self.method == Splitting.name else self._solve_interior(self.stop)
            )
        analysis, trace = self._analyse()
        if self.method != "auto" or self.trace_bound is not None:
            return self._solve_factored(analysis, trace, self.stop)
        seconds = estimate_seconds(data)
        has_high_rank = self.rank is None and self.start is None and _has_high_rank(analysis, trace)
        if seconds > QUICK_SECONDS and has_high_rank:
            return self._hand_over(self._solve_splitting, lambda stop: self._solve_factored(analysis, trace, stop))
        is_low_rank = data.penalises_trace and seconds > QUICK_SECONDS
        if trace is None and seconds <= MOST_SECONDS and not is_low_rank:
            return self._solve_interior(self.stop)
        if seconds > MOST_SECONDS or not has_interior_points():
            return self._solve_factored(analysis, trace, self.stop)
        if seconds <= QUICK_SECONDS and (has_high_rank or trace is None or not trace.fixed):
            return self._hand_over(self._solve_interior, lambda stop: self._solve_factored(analysis, trace, stop))
        rule = FallbackRule(seconds, self.accuracy)
        return self._hand_over(
            lambda stop: self._solve_factored(analysis, trace, rule if stop is None else stop | rule),
            self._solve_interior,
        )

    def _hand_over(self, first: Route, second: Route) -> Result:
        """Return the result of the first route, or of both if it stalls and nothing interrupts the second."""
        result = first(self.stop)
        if result.status is not Status.STALLED:
            return result
        with raise_on_signals():
            try:
                later = second(remaining_budget(self.stop, result))
            except KeyboardInterrupt:
                return downgrade(result, Status.INTERRUPTED)
        return _combine(result, later)

    def _analyse(self) -> tuple[Analysis, TraceBound | None]:
        """Return the structure of the program, with a lifting where that helps, and its trace bound."""
        data, given = self.program.data, self.trace_bound
        lifting = find_binary_lifting(data) if self.method in ("auto", "factored") else None
        if lifting is not None and (given is None or given >= lifting.trace(data.size).value):
            analysis, given = analyse(data, lifting), None
        else:
            analysis = analyse(data)
        return analysis, analysis.trace_bound(given)

    def _solve_factored(self, analysis: Analysis, trace: TraceBound | None, stop: StoppingRule | None) -> Result:
        """Solve by the factored method (or the method given) with this trace bound; with larger and larger guesses."""
        if trace is not None:
            return self._solve_template(analysis, trace, stop)
        value, stop = find_least_trace(analysis.data), stop or MaxIterations(ITERATIONS)
        excluded, total, matters = 0.0, None, False
        for _ in range(ENLARGEMENTS):
            value *= ENLARGEMENT_FACTOR
            guess = TraceBound(value, False, "a guess, enlarged while it mattered")
            result = self._solve_template(analysis, guess, stop)
            excluded = value if result.status is Status.INFEASIBLE else excluded
            total = result if total is None else add_work(total, result)
            matters = result.status is Status.INFEASIBLE or _trace_of(result) > ACTIVE_SHARE * value
            if result.status not in (Status.SOLVED, Status.STALLED, Status.INFEASIBLE) or not matters:
                break
            stop = remaining_budget(stop, result)
        assert total is not None
        if total.status is Status.SOLVED and matters:
            note = f"The trace of X has reached {value:.4g}, the largest that was tried, and still matters."
            return downgrade(total, Status.STALLED, f"{note} The program may be unbounded; else give a trace bound.")
        if total.status is not Status.INFEASIBLE:
            return self._drop_guess(total)
        message = f"{describe_excluded(excluded)} (proved); give a larger trace bound if you know one."
        return downgrade(total, Status.STALLED, message)

    def _drop_guess(self, result: Result) -> Result:
        """Return a solved result with multipliers that prove its bound for X of any trace, if there are some near."""
        data, sign = self.program.data, -1.0 if self.program.maximise else 1.0
        if not (result.status.success and has_dense_blocks(data)):
            return result
        proof = Prover(data, is_rounding_counted=False, size=math.nan).prove(result.dual, 0.0)
        gap = ratio(sign * (result.objective - self.program.constant) - proof.value, problem_facts(result).scale or 1.0)
        proved = replace(
            result,
            dual=proof.dual,
            dual_bound=sign * proof.value + self.program.constant,
            gap=gap,
            bound_kind=proof.kind,
            extras=describe_point(data, measure_point(data, result.x), proof.dual, proof.margin, proof.trace),
            note=Status.SOLVED.message,
        )
        return proved if recheck(proved, Status.STALLED) is proved else result

    def _solve_template(self, analysis: Analysis, trace: TraceBound, stop: StoppingRule | None) -> Result:
        problem = analysis.problem(trace, self.program.maximise, self.program.constant)
        options = self.options if self.start is None else {**self.options, "start": analysis.initial_dual(self.start)}
        if self.method not in ("auto", "factored"):
            return self._refine(analysis, problem, trace, self.method, stop, options)
        factored = analysis.method(self.rank, self.seed, trace, self.accuracy, self.start)
        return self._refine(analysis, problem, trace, factored, stop or MaxIterations(ITERATIONS), options)

    def _solve_splitting(self, stop: StoppingRule | None) -> Result:
        return self._solve_interior(stop, Splitting)

    def _solve_interior(self, stop: StoppingRule | None, kind: type[InteriorPoint] = InteriorPoint) -> Result:
        """Solve by interior points or splitting; decide whether the program has a solution where they find none."""
        with single_thread_blas(max(self.program.data.order, self.program.data.size) <= SINGLE_THREAD_ORDER):
            return self._solve_conic(stop, kind)

    def _solve_conic(self, stop: StoppingRule | None, kind: type[InteriorPoint]) -> Result:
        started, data = time.perf_counter(), self.program.data
        ray = find_unused_ray(data)
        if ray is not None:
            return self._follow_ray(ray, stop, started)
        trace = analyse(data).trace_bound() if data.is_psd else None
        size = NOMINAL_MULTIPLE * data.natural_trace if trace is None else trace.value
        template = UnlimitedProblem if trace is None else ConicProblem
        problem = template(data, size, self.program.maximise, self.program.constant)
        options = {name: self.options[name] for name in ("callback", "verbose", "atol") if name in self.options}
        method, analysis = kind(data, None if trace is None else trace.value), Analysis.of_whole(data)
        result = self._refine(analysis, problem, trace, method, stop, options)
        if result.status not in (Status.STALLED, Status.INFEASIBLE):
            return replace(result, state=None)
        state = result.state
        parts, dual = state.stepper.decode(state.vector)
        proof = find_separation(data, make_admissible(data, dual, is_ray=True) / data.norms, self.accuracy)
        if proof is not None and proof.is_conclusive:
            return _replace_point(result, separated_result(self.program, proof, self.accuracy, started))
        direction = None if math.isfinite(state.kept_bound) else data.point(parts)
        ray = None if direction is None else find_ray(data, direction)
        if ray is None and kind is InteriorPoint and estimate_seconds(data) <= RETRY_SECONDS:
            method = replace(method, is_equilibrated=True)
            again = self._refine(analysis, problem, trace, method, remaining_budget(stop, result), options)
            if again.status is not Status.INFEASIBLE:
                result = _combine(result, again)
            if result.status not in (Status.STALLED, Status.INFEASIBLE):
                return replace(result, state=None)
            if direction is not None:
                ray = self._seek_ray(remaining_budget(stop, result))
            if ray is None and not result.infeasibility <= NEGLIGIBLE_VIOLATION and data.cost.value.any():
                feasible = self._solve_without_cost(remaining_budget(stop, result))
                if feasible.status is Status.INFEASIBLE and is_beyond_accuracy(data, feasible.dual, self.accuracy):
                    return add_work(result, feasible)
        if ray is not None:
            return _replace_point(result, self._follow_ray(ray, stop, started))
        note = result.message if result.status is Status.STALLED else Status.STALLED.message
        if proof is not None and proof.excluded > data.natural_trace:
            note += f" {describe_excluded(proof.excluded)} (proved)."
        if direction is not None:
            note += describe_direction(data, direction)
        return replace(downgrade(result, Status.STALLED, note), state=None)

    def _seek_ray(self, stop: StoppingRule | None) -> Ray | None:
        """Return an improving ray from the program of all such rays, if interior points find one that is proved."""
        data, point = self.program.data, None
        for _ in range(2):  # the second time with blocks on the boundary of their cones as small as possible
            rays = pose_rays(data, point)
            problem = UnlimitedProblem(rays, NOMINAL_MULTIPLE * rays.natural_trace, False, 0.0)
            point = solve(problem, InteriorPoint(rays, None), accuracy=RAY_ACCURACY, stop=stop).x
            ray = find_ray(data, point)
            if ray is not None:
                return ray
        return None

    def _follow_ray(self, ray: Ray, stop: StoppingRule | None, started: float) -> Result:
        """Return the result of a program with an improving ray: unbounded, unless no X is feasible."""
        feasible = self._solve_without_cost(stop)
        if feasible.status is Status.INFEASIBLE:
            return feasible
        note = describe_feasible(self.program.data, feasible.infeasibility)
        return unbounded_result(self.program, ray, note, self.accuracy, started)

    def _solve_without_cost(self, stop: StoppingRule | None) -> Result:
        """Look for a feasible X alone: an improving ray may keep a run from the proof that there is none."""
        program = replace(self.program, data=self.program.data.without_cost())
        return replace(self, program=program, options={})._solve_interior(stop)

    def _refine(
        self,
        analysis: Analysis,
        problem: Problem,
        trace: TraceBound | None,
        method: Any,
        stop: StoppingRule | None,
        options: dict[str, Any],
        attempt: int = 0,
    ) -> Result:
        """Solve; again, more accurately, while the template is solved and the program in its own units is not."""
        result = solve(problem, method, accuracy=self.accuracy * 0.1**attempt, stop=stop, **options)
        final = self._postsolve(analysis, problem, trace, result)
        if not result.status.success or final.status.success or attempt == REFINEMENTS:
            return final
        return self._refine(analysis, problem, trace, method, stop, options, attempt + 1)

    def _postsolve(self, analysis: Analysis, problem: Problem, trace: TraceBound | None, result: Result) -> Result:
        """Return the result of the program, with everything recomputed in the units of the data.

        The history has the sign and the constant of the program; infeasibility and gap in it are the template's. A
        template solved to its accuracy is reported as stalled if the program is not.
        """
        program, face, lifting = self.program, analysis.face, analysis.lifting
        data = program.data
        x = result.x if result.x is None or face is None else face.reflection.lift(result.x)
        if trace is None:
            proof = _prove_by_size(data, result)
            trace, dual, bound, bottom, kind = proof.trace, proof.dual, proof.value, proof.margin, proof.kind
        else:
            dual, bound, bottom = self._full_dual(analysis, problem, trace, result)
            kind = result.bound_kind
        if lifting is not None:
            x, dual, trace = None if x is None else lifting.point(x), lifting.dual(data, dual), lifting.trace(data.size)
        kind, condition = trace.condition(kind)
        point = measure_point(data, x)
        final = replace(
            result,
            **certified_fields(program, point, bound, problem_facts(result)),
            dual=dual,
            bound_kind=kind,
            extras=describe_point(data, point, dual, bottom, trace),
            history=result.history.convert_values(problem.sharp.display_value),
            accuracy=self.accuracy,
            note=result.message + condition,
            state=result.state if result.method in (InteriorPoint.name, Splitting.name) else None,
        )
        if lifting is None and x is not None and measure_size(data, x) > LARGEST_MULTIPLE * data.natural_trace:
            final = downgrade(final, Status.STALLED, TOO_LARGE) if final.status.success else final
        return recheck(final, Status.STALLED, Status.STALLED.message + condition)

    def _full_dual(
        self, analysis: Analysis, problem: Problem, trace: TraceBound, result: Result
    ) -> tuple[Array, float, float]:
        """Return the multipliers of all constraints, their bound, and a lower bound on S's smallest eigenvalue.

        Where multipliers y with A^*(y) >= I prove the trace bound, -lambda y is added for the smallest eigenvalue
        lambda: the slack becomes psd and the bound stays.
        """
        reduced, face = analysis.reduced, analysis.face
        dual, bound = result.dual / reduced.norms, result.dual_bound
        if not math.isfinite(bound):
            return (dual if face is None else np.insert(dual, face.constraint, 0.0)), bound, -math.inf
        # the dual bound is trace * bottom - <lam, b> - h(lam), with bottom <= lambda_min(S)
        coupled = problem.coupling.conjugate(result.dual)
        bottom = (bound + float(result.dual @ problem.b) + coupled) / trace.value
        if face is not None:
            loss = FACE_LOSS * self.accuracy * max(1.0, abs(bound))
            multiplier = face.multiplier(reduced.slack(dual), bottom, loss / trace.value)
            dual = np.insert(dual, face.constraint, multiplier)
            bound, bottom = bound - loss, bottom - loss / trace.value
        if trace.multipliers is not None and (trace.fixed or bottom < 0.0):
            dual, bottom = dual - bottom * trace.multipliers, 0.0
        return dual, bound, bottom


def _has_high_rank(analysis: Analysis, trace: TraceBound | None) -> bool:
    """Whether the trace is fixed, other constraints leave X a rank near its order, and dense matrices are worth it.

    The rank is near sqrt(2 m) in general, and factors with as many columns converge slowly.
    """
    data = analysis.data
    has_structure = analysis.face is not None or analysis.lifting is not None or analysis.has_fixed_diagonal
    if trace is None or not trace.fixed or has_structure or not LEAST_DENSE_ORDER <= data.order <= MOST_DENSE_ORDER:
        return False
    return math.sqrt(2.0 * data.size) >= HIGH_RANK_SHARE * data.order


def find_least_trace(data: SdpData) -> float:
    """Return a lower bound on the trace of an X that meets the equations: trace >= Frobenius norm >= ||b|| / ||A||.

    >>> from unipd.maps.sdp import Entries
    >>> cost, diagonal = Entries([0], [0], [0], [1.0]), Entries([0, 1], [0, 1], [0, 1], [1.0, 1.0])
    >>> b = np.array([3.0, 4.0])
    >>> round(find_least_trace(SdpData(2, cost, diagonal, b, b)), 9)
    5.0
    """
    size = norm_bound(list_equations(data)) or 1.0
    return max(data.natural_trace, data.relative_norm(np.where(data.equal, data.b, 0.0)) / size)


def _prove_by_size(data: SdpData, result: Result) -> Proof:
    """Return what the multipliers of a result prove: for X of any size, or of a multiple of that of its point."""
    prover = Prover(data, is_rounding_counted=False, size=choose_size(data, result.x))
    proof = prover.measure(result.dual / data.norms)
    return proof if proof.margin >= 0.0 else prover.limit(proof)


def _combine(first: Result, second: Result) -> Result:
    """Return the second result, or the first if it is more accurate and the second proves nothing, with all work."""
    if _largest_error(first) < _largest_error(second) and not second.status.is_conclusive:
        return add_work(second, downgrade(first, second.status, second.note))
    return add_work(first, second)


def _largest_error(result: Result) -> float:
    """Return the largest of gap, infeasibility and DIMACS errors, inf where one is unknown."""
    errors = [result.relative_error, *map(abs, result.extras["dimacs_errors"])]
    return math.inf if any(map(math.isnan, errors)) else max(errors)


def _replace_point(run: Result, proof: Result) -> Result:
    """Return the result of a proof that a run has led to, with the method, the work and the history of the run."""
    names = ("method", "settings", "iterations", "counts", "history", "peak_memory_bytes")
    return replace(proof, **{name: getattr(run, name) for name in names})


def _trace_of(result: Result) -> float:
    return 0.0 if result.x is None else float((result.x.left**2).sum(axis=0) @ result.x.weights)


SPECTRUM_ORDER = 300
"""Largest order of which a result keeps the eigenvalues of the slack, for its report: they take some 10 ms."""


class Point(NamedTuple):
    """X, perhaps None, and its figures in the units of the data, NaN without X."""

    x: LowRank | None
    objective: float
    image: Array
    violation: Array
    """Distance of each <A_i, X> from its bounds."""


def measure_point(data: SdpData, x: LowRank | None) -> Point:
    """Return X with its figures."""
    both = np.full(data.size + 1, math.nan) if x is None else data.cost_and_constraints.image(x)
    return Point(x, float(both[0]), both[1:], data.violation(both[1:]))


def certified_fields(program: SDP, point: Point, bound: float, facts: ProblemFacts) -> dict[str, Any]:
    """Return the fields of a result that X and a lower bound on min <C, X> determine, in the units of the data."""
    data, sign = program.data, -1.0 if program.maximise else 1.0
    violation, size = data.relative_norm(point.violation), data.feasibility_scale(point.image)
    scale = data.gap_scale(point.objective)
    return {
        "x": point.x,
        "image": point.image,
        "objective": sign * point.objective + program.constant,
        "dual_bound": sign * bound + program.constant,
        "gap": ratio(point.objective - bound, scale) if math.isfinite(point.objective) else math.nan,
        "infeasibility": violation / size,
        "violation": violation,
        "facts": replace(facts, maximise=program.maximise, scale=scale, feasibility_scale=size),
    }


def describe_point(
    data: SdpData, point: Point, dual: Array, bottom: float, trace: TraceBound, outside: float = 0.0
) -> dict[str, Any]:
    """Return the extras of a result, as :class:`unipd.Result` lists them.

    ``bottom`` is a lower bound on the smallest eigenvalue of the slack, ``outside`` how far X was outside the cones.
    """
    return {
        **_slack_spectrum(data, dual),
        "rank": _numerical_rank(point.x),
        "dimacs_errors": dimacs_errors(data, point, dual, bottom, outside),
        "trace_bound": trace.value if math.isfinite(trace.value) else None,
        "trace_bound_reason": trace.reason,
    }


def _slack_spectrum(data: SdpData, dual: Array) -> dict[str, Array]:
    """Return the eigenvalues of the slack's psd blocks, and its entries elsewhere, where they cost little."""
    if data.order > SPECTRUM_ORDER or not np.isfinite(dual).all():
        return {}
    parts = split_blocks(data.blocks, data.slack(dual))
    known = [part if part.ndim == 1 else np.linalg.eigvalsh(part) for part in parts]
    return {"slack_eigenvalues": np.concatenate(known)}


def dimacs_errors(data: SdpData, point: Point, dual: Array, bottom: float, outside: float) -> tuple[float, ...]:
    """Return the six DIMACS error measures of X = R R^T and a dual vector with its exact slack matrix S.

    (1) ||A(X) - b|| / (1 + max |b|); (2) how negative X was, over the same; (3) the distance of S from C - A^*(y), zero
    by construction; (4) how negative S is, over 1 + max |C|; (5) the gap and (6) <X, S>, both over 1 + |primal| +
    |dual|.
    """
    right, left = (1.0 + float(np.abs(values).max(initial=0.0)) for values in (data.b, data.cost.value))
    product = math.nan if point.x is None else float(point.x.inner(data.slack(dual)))
    value = -data.support_of_bounds(dual)
    size = 1.0 + abs(point.objective) + abs(value)
    first, fourth = float(np.linalg.norm(point.violation)) / right, max(0.0, -bottom) / left
    return (first, outside / right, 0.0, fourth, (point.objective - value) / size, product / size)


def _numerical_rank(x: Any) -> int:
    """Return the number of eigenvalues of X above a share of the largest, from the Gram matrix of R."""
    if x is None:
        return 0
    factor = x.left * np.sqrt(np.maximum(x.weights, 0.0))
    values = np.linalg.eigvalsh(factor.T @ factor)
    return int(np.count_nonzero(values > RANK_SHARE * values[-1])) if values[-1] > 0.0 else 0
