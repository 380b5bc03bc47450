"""Programs with a known trace bound: the factored method, interior points where it stalls, refinement on demand.

Results are those of the program, not of the template: original units, multipliers with a psd slack, DIMACS errors.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unipd._typing import Array
from unipd.apps.sdp.data import SdpData, TraceBound
from unipd.apps.sdp.formulation import Analysis
from unipd.apps.sdp.interior_point import InteriorPoint
from unipd.atoms import LowRank
from unipd.memory import peak_memory
from unipd.problem import Problem, ratio
from unipd.run import IterationInfo, MaxIterations, Result, StoppingRule, solve
from unipd.run.result import ProblemFacts, problem_facts
from unipd.run.stopping import RemainingBudget
from unipd.status import Status

if TYPE_CHECKING:
    from unipd.apps.sdp.program import SDP

ITERATIONS = 5000
"""Iterations of the factored method without another limit: programs that need more are ill-conditioned."""
REFINEMENTS = 2
"""Further runs, each with a tenth of the accuracy, while the scaled constraints hold and those of the data do not."""
LEAST_FALLBACK, MOST_FALLBACK = 60, 400
"""Iterations of the factored method before interior points take over: at least and at most."""
WORK_PER_ITERATION = 1e6
"""Operations of an interior-point step that are worth one iteration of the factored method."""
LARGEST_STEP_WORK = 2e9
"""Operations up to which an interior-point step is affordable (about a second)."""
LARGEST_STEP_DATA = 2e7
"""Entries m n^2 that an interior-point step may hold (160 MB)."""
RANK_SHARE = 1e-6
"""Eigenvalues of X below this share of the largest do not count for the rank."""
FACE_LOSS = 0.05
"""Share of the accuracy by which a finite multiplier of a face may lower the bound."""


@dataclass(frozen=True)
class FallbackRule(StoppingRule):
    """Stops the factored method when interior points, one step of which costs ``work`` operations, may be faster.

    >>> FallbackRule(2e8).iterations
    200
    """

    work: float

    @property
    def iterations(self) -> int:
        """Iterations after which the run stops."""
        return int(min(max(self.work / WORK_PER_ITERATION, LEAST_FALLBACK), MOST_FALLBACK))

    def __call__(self, info: IterationInfo) -> Status | None:
        """Return the status of a stall after these iterations."""
        return Status.STALLED if info.iteration >= self.iterations else None


def interior_point_work(analysis: Analysis) -> float | None:
    """Return the operations of an interior-point step, m n^3 + m^2 n with a slack per inequality; None if too many.

    >>> from unipd.apps.sdp import SDP, analyse
    >>> interior_point_work(analyse(SDP.from_matrices(np.eye(2), [np.eye(2)], [1.0]).data))
    66.0
    """
    data = analysis.reduced
    two_sided = ~data.equal & np.isfinite(data.lower) & np.isfinite(data.upper)
    slacks = float(np.count_nonzero(~data.equal) + np.count_nonzero(two_sided) + 1)
    rows, order = data.size + slacks, data.order - (analysis.face is not None) + slacks
    work = rows * order**3 + rows**2 * order
    return work if work <= LARGEST_STEP_WORK and rows * order**2 <= LARGEST_STEP_DATA else None


@dataclass(frozen=True, eq=False)
class BoundedSolver:
    """Solves one program with any trace bound; everything else that a run needs is given once.

    Stopping rules apply to all parts of a run together, and the result counts the work of all parts; its history is
    that of the part that it comes from.
    """

    program: SDP
    analysis: Analysis
    accuracy: float
    method: Any = "auto"
    """A method or its name; "auto" is the factored method, then interior points for small programs it stalls on."""
    rank: int | None = None
    seed: int = 0
    stop: StoppingRule | None = None
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    """Further options of :func:`unipd.solve`, without those of a checkpoint: one serves all runs."""

    def solve(self, trace: TraceBound) -> Result:
        """Solve with this trace bound."""
        problem = self.analysis.problem(trace, self.program.maximise, self.program.constant)
        if self.method not in ("auto", "factored"):
            return self._refine(problem, trace, self.method, self.stop, self.options)
        factored = self.analysis.method(self.rank, self.seed, trace, self.accuracy)
        stop = self.stop or MaxIterations(ITERATIONS)
        work = interior_point_work(self.analysis) if self.method == "auto" else None
        if work is None:
            return self._refine(problem, trace, factored, stop, self.options)
        first = self._refine(problem, trace, factored, stop | FallbackRule(work), self.options)
        if first.status is not Status.STALLED:
            return first
        options = {name: self.options[name] for name in ("callback", "verbose") if name in self.options}
        remaining = RemainingBudget(stop, first.seconds, first.iterations, first.counts)
        return _combine(first, self._refine(problem, trace, InteriorPoint(), remaining, options))

    def _refine(
        self,
        problem: Problem,
        trace: TraceBound,
        method: Any,
        stop: StoppingRule | None,
        options: dict[str, Any],
        attempt: int = 0,
    ) -> Result:
        """Solve; again, more accurately, while the template is solved and the program in its own units is not."""
        result = solve(problem, method, accuracy=self.accuracy * 0.1**attempt, stop=stop, **options)
        final = self._postsolve(problem, trace, result)
        if result.status is not Status.SOLVED or final.status is Status.SOLVED or attempt == REFINEMENTS:
            return final
        return self._refine(problem, trace, method, stop, options, attempt + 1)

    def _postsolve(self, problem: Problem, trace: TraceBound, result: Result) -> Result:
        """Return the result of the program, with everything recomputed in the units of the data.

        The history has the sign and the constant of the program; infeasibility and gap in it are the template's. A
        template solved to its accuracy is reported as stalled if the program is not.
        """
        program, face, lifting = self.program, self.analysis.face, self.analysis.lifting
        data, sign = program.data, -1.0 if program.maximise else 1.0
        x = result.x if result.x is None or face is None else face.reflection.lift(result.x)
        dual, bound, bottom = self._full_dual(problem, trace, result)
        if lifting is not None:
            x, dual, trace = None if x is None else lifting.point(x), lifting.dual(data, dual), lifting.trace(data.size)
        both = np.full(data.size + 1, math.nan) if x is None else data.cost_and_constraints.image(x)
        objective, image = float(both[0]), both[1:]
        violation = data.violation(image)
        errors = dimacs_errors(data, violation, dual, x, bottom, objective)
        final = replace(
            result,
            x=x,
            image=image,
            dual=dual,
            objective=sign * objective + program.constant,
            dual_bound=sign * bound + program.constant,
            gap=problem.relative_gap(objective, bound),
            infeasibility=ratio(data.relative_norm(violation), data.feasibility_scale or problem.feasibility_scale),
            extras=_extras(x, errors, trace),
            history=result.history.convert_values(problem.sharp.display_value),
            accuracy=self.accuracy,
            note=result.message + trace.statement,
            facts=replace(problem_facts(result), maximise=program.maximise),
            state=None,
        )
        if final.status is not Status.SOLVED or final.relative_error <= self.accuracy:
            return final
        return replace(final, status=Status.STALLED, note=Status.STALLED.message + trace.statement)

    def _full_dual(self, problem: Problem, trace: TraceBound, result: Result) -> tuple[Array, float, float]:
        """Return the multipliers of all constraints, their bound, and a lower bound of S's smallest eigenvalue.

        Where multipliers y with A^*(y) >= I prove the trace bound, -lambda y is added for the smallest eigenvalue
        lambda: the slack becomes psd and the bound stays. With a level, S - lambda (A^*(y) + level C) is psd too, and
        the bound is that of the multipliers divided by the factor of C, for X of any trace.
        """
        data, reduced, face = self.analysis.data, self.analysis.reduced, self.analysis.face
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
            dual, bottom = (dual - bottom * trace.multipliers) / (1.0 - bottom * trace.level), 0.0
        if trace.level > 0.0:
            bound = -data.support_of_bounds(dual)
        return dual, bound, bottom


def _combine(first: Result, second: Result) -> Result:
    """Return the second result, or the first if it is more accurate and the second proves nothing, with all work."""
    work = {
        "iterations": first.iterations + second.iterations,
        "counts": first.counts + second.counts,
        "seconds": first.seconds + second.seconds,
    }
    if first.relative_error < second.relative_error and second.status not in (Status.SOLVED, Status.INFEASIBLE):
        second = replace(first, status=second.status, note=second.note)
    return replace(second, **work)


def infeasible_result(
    program: SDP, message: str, accuracy: float, started: float, dual: Array, x: LowRank | None = None
) -> Result:
    """Return the result of a program without feasible X or, given ``x``, with an unbounded objective.

    ``dual`` proves the first; ``x`` is a direction of unbounded improvement, which makes the dual infeasible.
    """
    data, sign = program.data, -1.0 if program.maximise else 1.0
    if program.sdpa and x is None:
        message += " In SDPA's terms the dual problem, max <F0, Y>, is infeasible."
    elif program.sdpa:
        message += " In SDPA's terms the primal problem, min c'x, is infeasible and its dual, max <F0, Y>, unbounded."
    return Result(
        status=Status.INFEASIBLE,
        note=message,
        x=x,
        image=np.full(data.size, math.nan) if x is None else data.cost_and_constraints.image(x)[1:],
        dual=dual,
        dual_bound=sign * (math.inf if x is None else -math.inf),
        bound_kind="rigorous",
        accuracy=accuracy,
        method="alternative",
        seconds=time.perf_counter() - started,
        peak_memory_bytes=peak_memory(),
        facts=ProblemFacts(problem=repr(program), maximise=program.maximise),
        extras=_extras(x, (math.nan,) * 6, None),
    )


def _extras(x: Any, errors: tuple[float, ...], trace: TraceBound | None) -> dict[str, Any]:
    """Return the extras of a result, as :class:`unipd.Result` lists them."""
    return {
        "rank": _numerical_rank(x),
        "dimacs_errors": errors,
        "trace_bound": None if trace is None else trace.value,
        "trace_bound_reason": None if trace is None else trace.reason,
    }


def dimacs_errors(
    data: SdpData, violation: Array, dual: Array, x: Any, bottom: float, objective: float
) -> tuple[float, ...]:
    """Return the six DIMACS error measures of X = R R^T and a dual vector with its exact slack matrix S.

    (1) ||A(X) - b|| / (1 + max |b|); (2) how negative X is; (3) the distance of S from C - A^*(y); (4) how negative S
    is, over 1 + max |C|; (5) the gap and (6) <X, S>, both over 1 + |primal| + |dual|. X is psd and S is computed from
    y, so (2) and (3) are zero by construction. ``bottom`` is a lower bound of the smallest eigenvalue of S.
    """
    largest = float(np.abs(data.cost.value).max(initial=0.0))
    product, value = math.nan if x is None else float(x.inner(data.slack(dual))), -data.support_of_bounds(dual)
    size = 1.0 + abs(objective) + abs(value)
    first = float(np.linalg.norm(violation)) / (1.0 + float(np.abs(data.b).max()))
    fourth = max(0.0, -bottom) / (1.0 + largest)
    return (first, 0.0, 0.0, fourth, (objective - value) / size, product / size)


def _numerical_rank(x: Any) -> int:
    """Return the number of eigenvalues of X above a share of the largest, from the Gram matrix of R."""
    if x is None:
        return 0
    factor = x.left * np.sqrt(x.weights)
    values = np.linalg.eigvalsh(factor.T @ factor)
    return int(np.count_nonzero(values > RANK_SHARE * values[-1])) if values[-1] > 0.0 else 0
