"""A solver for CVXPY: ``problem.solve(solver=unipd.cvxpy.Solver(), accuracy=1e-6)``.

This module imports CVXPY, and is itself imported on first use.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._util import validate
from unipd._util.arrays import norm
from unipd.apps.sdp import SDP, ConeProgram, Cones, ConeSolution, SdpData
from unipd.apps.sdp.cone_program import Primal
from unipd.apps.sdp.solver import FallbackRule, estimate_seconds
from unipd.apps.sdp.template import find_template
from unipd.errors import InvalidInput, MissingExtra
from unipd.run import MaxIterations, MaxSeconds, Result, StoppingRule
from unipd.run.result import add_work
from unipd.run.stopping import as_rule, remaining_budget
from unipd.status import Status

try:
    from cvxpy import Maximize, Problem, settings
    from cvxpy.constraints.nonpos import NonNeg
    from cvxpy.constraints.psd import PSD, SvecPSD
    from cvxpy.constraints.second_order import SOC
    from cvxpy.constraints.zero import Zero
    from cvxpy.error import DCPError, SolverError
    from cvxpy.reductions.solution import Solution, failure_solution
    from cvxpy.reductions.solvers import utilities
    from cvxpy.reductions.solvers.conic_solvers.conic_solver import ConicSolver
    from cvxpy.utilities.psd_utils import TriangleKind
except ImportError as error:
    raise MissingExtra("cvxpy", "cvxpy", "a solver for CVXPY 1.9 or later (Python 3.11 or later)") from error

__all__ = ["Solver", "convert_sdp", "read_program"]

ACCURACY = 1e-6
"""Relative accuracy of gap and feasibility without another request."""
INACCURATE = 1e-3
"""A run that stalls with errors up to this has found an inaccurate solution, otherwise none."""
STATUSES = {
    **{Status.SOLVED: settings.OPTIMAL, Status.INFEASIBLE: settings.INFEASIBLE, Status.UNBOUNDED: settings.UNBOUNDED},
    **dict.fromkeys((Status.STOPPED, Status.INTERRUPTED, Status.ITERATION_LIMIT), settings.USER_LIMIT),
    **dict.fromkeys((Status.ORACLE_LIMIT, Status.TIME_LIMIT, Status.MEMORY_LIMIT), settings.USER_LIMIT),
}
"""Statuses in CVXPY's words; others depend on the errors that remain."""
FAR = 1e4
"""Ratio of distances from which on bounds count as far from the other data."""
CONES = {Zero, NonNeg, SOC, PSD, SvecPSD}
LIMITS: dict[str, Any] = {
    "time_limit": (validate.nonnegative, MaxSeconds),
    "max_iters": (partial(validate.integer, minimum=1), MaxIterations),
}
"""Limits by their names in CVXPY: what checks and what obeys them."""


def read_program(data: Any) -> ConeProgram:
    """Return the cone program that CVXPY has made of a model.

    Parameters
    ----------
    data
        What ``problem.get_problem_data(Solver())`` returns first.

    See Also
    --------
    convert_sdp, Solver

    Examples
    --------
    >>> import cvxpy
    >>> X = cvxpy.Variable((2, 2), PSD=True)
    >>> model = cvxpy.Problem(cvxpy.Minimize(X[0, 1]), [cvxpy.diag(X) == 1])
    >>> program = read_program(model.get_problem_data(Solver())[0])
    """
    dims = data[ConicSolver.DIMS]
    cones = Cones(dims.zero, dims.nonneg, tuple(dims.soc), tuple(dims.psd))
    matrix, b = data[settings.A], data[settings.B]
    is_void = b == math.inf
    is_void[: cones.zero] = is_void[cones.zero + cones.nonnegative :] = False
    program = ConeProgram(data[settings.C], matrix, b, cones)
    return drop_rows(program, is_void) if is_void.any() else program


class Solver(ConicSolver):
    """CVXPY's interface to :class:`unipd.SDP`, for models with linear, second-order and psd constraints.

    Options of ``problem.solve``: ``accuracy``, ``time_limit`` (seconds), ``max_iters``, ``verbose``, and those of
    :meth:`unipd.SDP.solve`. ``problem.solver_stats.extra_stats`` is the :class:`unipd.Result` of the program that was
    solved, which may be the dual.

    Parameters
    ----------
    method
        As in :meth:`unipd.SDP.solve`; the word is CVXPY's own in ``problem.solve``.

    See Also
    --------
    convert_sdp, unipd.SDP

    Examples
    --------
    >>> import cvxpy
    >>> X = cvxpy.Variable((2, 2), PSD=True)
    >>> problem = cvxpy.Problem(cvxpy.Minimize(X[0, 1]), [cvxpy.diag(X) == 1])
    >>> round(float(problem.solve(solver=Solver(), accuracy=1e-6)), 5), problem.status
    (-1.0, 'optimal')
    """

    MIP_CAPABLE = False
    SUPPORTED_CONSTRAINTS = [*ConicSolver.SUPPORTED_CONSTRAINTS, SOC, SvecPSD]  # noqa: RUF012 (CVXPY's name and form)
    PSD_TRIANGLE_KIND = TriangleKind.LOWER
    PSD_SQRT2_SCALING = True

    def __init__(self, method: Any = "auto") -> None:
        super().__init__()
        self.method = method

    def name(self) -> str:
        """Return the name of the solver."""
        return "UNIPD"

    def import_solver(self) -> None:
        """Do nothing: there is nothing more to import."""

    def cite(self, data: Any) -> str:
        """Return what to cite."""
        del data
        return "@misc{unipd, title = {unipd: universal primal-dual convex optimisation}}"

    def can_solve(self, problem_form: Any) -> bool:
        """Raise CVXPY's error for solvers, with the names of the cones, where a model needs others."""
        if not problem_form.is_mixed_integer() and not super().can_solve(problem_form):
            names = sorted(cone.__name__ for cone in problem_form.cones() if cone not in CONES)
            raise SolverError(
                f"UNIPD solves models with linear, second-order and PSD constraints, not with {', '.join(names)}: "
                "use a solver with these cones, such as CLARABEL."
            )
        return super().can_solve(problem_form)

    def solve_via_data(
        self, data: Any, warm_start: bool, verbose: bool, solver_opts: Any, solver_cache: Any = None
    ) -> ConeSolution:
        """Solve the cone program that CVXPY has made, from the last solution of the model where that fits.

        Parameters
        ----------
        data
            The cone program, as CVXPY lays it out.
        warm_start
            Whether to start from the last solution in ``solver_cache``.
        verbose
            Whether to print progress.
        solver_opts
            The further arguments of ``problem.solve``.
        solver_cache
            Solutions by solver, which CVXPY keeps between solves.
        """
        options = dict(solver_opts)
        program, cache = read_program(data), {} if solver_cache is None else solver_cache
        is_far, radius = find_far_bounds(program)
        options.pop("use_quad_obj", None)
        if options.get("stop") is not None:
            options["stop"] = as_rule(options["stop"])
        for name, (check, rule) in LIMITS.items():
            if (limit := options.pop(name, None)) is not None:
                options["stop"] = add_rule(options.get("stop"), rule(check(name, limit)))
        last: Result | None = cache.get(self.name()) if warm_start else None
        accuracy, options["verbose"] = options.pop("accuracy", ACCURACY), verbose
        if not is_far.any():
            solution = self._solve(program, accuracy, last, options)
        else:
            solution = self._solve(drop_rows(program, is_far), accuracy, last, options)
            is_outside = solution.x is not None and norm(solution.x) > radius
            if is_outside or solution.status in (Status.UNBOUNDED, Status.STALLED):
                solution = add_work_of(solution, self._solve(program, accuracy, last, leave_rest(options, solution)))
            elif solution.y is not None:
                solution.y[is_far] = 0.0
        if solution.x is not None:
            cache[self.name()] = solution.result
        return solution

    def _solve(
        self, program: ConeProgram, accuracy: float, last: Result | None, options: dict[str, Any]
    ) -> ConeSolution:
        """Solve a program, again and more accurately where the error is not also small relative to 1."""
        first = self._solve_to(program, accuracy, last, options)
        if not is_doubtful(first):
            return first
        needed = accuracy * accuracy / measure_error(first.result)
        return add_work_of(first, self._solve_to(program, needed, last, leave_rest(options, first)))

    def _solve_to(
        self, program: ConeProgram, accuracy: float, last: Result | None, options: dict[str, Any]
    ) -> ConeSolution:
        """Solve a program as the template where it is one, else, or where that stalls, as a semidefinite program."""
        is_plain = self.method == "auto" and options.keys() <= {"stop", "callback", "verbose"}
        template, first = find_template(program) if is_plain else None, None
        if template is not None:
            limited = options
            if is_affordable(program):
                rule = FallbackRule(estimate_seconds(program.form.data))
                limited = {**options, "stop": add_rule(options.get("stop"), rule)}
            is_fitting = last is not None and (last.dual.shape, last.x.shape) == template.shapes
            first = template.solve(accuracy, **limited, **({"start": last} if is_fitting else {}))
            if first.status is not Status.STALLED or not is_affordable(program):
                return first
            options = leave_rest(options, first)
        if last is not None and is_start(program.form.data, last):
            options = {"start": last, **options}
        solution = program.solve(accuracy, method=self.method, **options)
        return solution if first is None else add_work_of(first, solution)

    def invert(self, solution: ConeSolution, inverse_data: Any) -> Any:
        """Return CVXPY's solution: status, value, variables, dual values and statistics.

        Parameters
        ----------
        solution
            What :meth:`solve_via_data` returned.
        inverse_data
            CVXPY's record of how it made the cone program.
        """
        result = solution.result
        attributes = {
            settings.SOLVE_TIME: result.seconds,
            settings.NUM_ITERS: result.iterations,
            settings.EXTRA_STATS: result,
        }
        status = STATUSES.get(solution.status)
        error = math.inf if solution.x is None else measure_error(result)
        inexact = settings.OPTIMAL_INACCURATE if error <= INACCURATE else settings.SOLVER_ERROR
        if status is None or is_doubtful(solution):
            status = settings.OPTIMAL if error <= result.accuracy else inexact
        if status not in settings.SOLUTION_PRESENT or solution.x is None or solution.y is None:
            return failure_solution(status, attributes)
        zero = inverse_data[self.DIMS].zero
        duals = utilities.get_dual_values(
            solution.y[:zero], utilities.extract_dual_value, inverse_data[self.EQ_CONSTR]
        ) | utilities.get_dual_values(solution.y[zero:], utilities.extract_dual_value, inverse_data[self.NEQ_CONSTR])
        variables = {inverse_data[self.VAR_ID]: solution.x}
        return Solution(status, solution.value + inverse_data[settings.OFFSET], variables, duals, attributes)


def find_far_bounds(program: ConeProgram) -> tuple[Array, float]:
    """Return which rows are bounds far beyond all other data, and the norm of x up to which they hold.

    Right-hand sides with them are so large that feasibility relative to those says nothing of the other rows. Distances
    from 0 are compared: far are those after the first that is :data:`FAR` times the one before, 1, or an equation's.

    >>> program = ConeProgram(np.ones(1), np.array([[-1.0], [1.0]]), np.array([-2.0, 1e9]), Cones(0, 2))
    >>> find_far_bounds(program)
    (array([False,  True]), 1000000000.0)
    """
    cones, b = program.cones, program.b
    norms = np.sqrt(np.asarray(program.A.multiply(program.A).sum(axis=1)).ravel())
    inside, place = np.where(np.arange(b.size) < cones.zero, -np.abs(b), b), cones.zero + cones.nonnegative
    inside[place:] = -np.abs(b[place:])
    for size in cones.second_order:
        cone = slice(place, place + size)
        depth = b[place] - np.linalg.norm(b[place + 1 : place + size])
        if depth > 0.0:
            inside[cone], norms[cone] = depth, math.sqrt(2.0) * np.linalg.norm(norms[cone])
        place += size
    distances = np.abs(inside) / np.where(norms > 0.0, norms, 1.0)
    is_bound = inside > 0.0
    base = max(1.0, distances[~is_bound].max(initial=0.0))
    ordered = np.append(base, np.sort(distances[is_bound & (distances > base)]))
    jumps = np.flatnonzero(ordered[1:] > FAR * ordered[:-1])
    radius = float(ordered[jumps[0] + 1]) if jumps.size else math.inf
    return is_bound & (distances >= radius), radius


def drop_rows(program: ConeProgram, is_dropped: Array) -> ConeProgram:
    """Return the program with rows that say nothing, 0 <= 1, in place of these (whole cones)."""
    first = program.cones.zero + program.cones.nonnegative
    is_head = np.arange(program.b.size) < first
    is_head[first + np.cumsum([0, *program.cones.second_order])[:-1]] = True
    b = np.where(is_dropped, is_head, program.b)
    return ConeProgram(program.c, program.A.multiply(~is_dropped[:, None]), b, program.cones)


def measure_error(result: Result) -> float:
    """Return the larger of infeasibility and gap, relative to the value or 1 as in CVXPY's solvers: it may be 0."""
    gap = abs(result.objective - result.dual_bound) / max(1.0, abs(result.objective))
    return max(result.infeasibility, gap)


def is_doubtful(solution: ConeSolution) -> bool:
    """Whether a program is solved only relative to its data, such as bounds or a centre far larger than the value."""
    result = solution.result
    return solution.status is Status.SOLVED and measure_error(result) > max(INACCURATE, result.accuracy)


def leave_rest(options: dict[str, Any], first: ConeSolution) -> dict[str, Any]:
    """Return the options of a further run, whose limits are what a first one has left of them."""
    return {**options, "stop": remaining_budget(options.get("stop"), first.result)}


def add_work_of(first: ConeSolution, second: ConeSolution) -> ConeSolution:
    """Return the second of two solutions, with the work of both."""
    return replace(second, result=add_work(first.result, second.result))


def is_affordable(program: ConeProgram) -> bool:
    """Whether interior points fit into the memory."""
    return math.isfinite(estimate_seconds(program.form.data))


def add_rule(stop: StoppingRule | None, rule: StoppingRule) -> StoppingRule:
    """Return the rule that stops where either does."""
    return rule if stop is None else stop | rule


def is_start(data: SdpData, last: Result) -> bool:
    """Whether a solution has the shape of a program's: CVXPY may have stated a changed model in another form."""
    return last.x is not None and last.x.shape[0] == data.order and last.dual.size == data.size


@dataclass(frozen=True, eq=False, repr=False)
class ModelSDP(SDP):
    """The program of a CVXPY model; a solution is written into the model."""

    model: Any = None
    """The ``cvxpy.Problem``."""
    form: Primal | None = None
    """Its variables in terms of those of the program."""
    reductions: tuple[Any, Any] = (None, None)
    """CVXPY's solving chain and what inverts it."""

    def solve(self, accuracy: float = 1e-6, method: Any = "auto", **options: Any) -> Result:
        """Solve the program as :meth:`SDP.solve` does, and write values, dual values and status into the model.

        The model stays as it is where CVXPY's solver would raise: the run has stalled far from a solution.
        """
        assert self.form is not None
        result = super().solve(accuracy, method, **options)
        solution = self.form.program.read_result(self.form, result)
        with suppress(SolverError):
            self.model.unpack_results(solution, *self.reductions)
        return result


def convert_sdp(problem: Any) -> ModelSDP:
    """Return the program of a CVXPY model.

    Parameters
    ----------
    problem
        The ``cvxpy.Problem``.

    Raises
    ------
    InvalidInput
        If the model is not convex, has other cones or integer variables, or a parameter without a value.

    See Also
    --------
    Solver, unipd.SDP

    Examples
    --------
    >>> import cvxpy
    >>> X = cvxpy.Variable((2, 2), PSD=True)
    >>> model = cvxpy.Problem(cvxpy.Minimize(X[0, 1]), [cvxpy.diag(X) == 1])
    >>> round(convert_sdp(model).solve().objective, 4)
    -1.0
    """
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", "a cvxpy.Problem", type(problem).__name__)
    if not problem.variables():
        raise InvalidInput("problem", "at least one variable", "none")
    for parameter in problem.parameters():
        if parameter.value is None:
            raise InvalidInput("problem", "a value for every parameter", f"{parameter.name()} without one")
    try:
        data, chain, inverse_data = problem.get_problem_data(Solver())
    except (DCPError, SolverError) as error:
        expected = "a convex model in continuous variables with linear, second-order and PSD constraints"
        raise InvalidInput("problem", expected, str(error)) from None
    form = Primal(read_program(data))
    if form.kept.size == 0:
        raise InvalidInput("problem", "at least one linear constraint besides the cones of variables", "none")
    maximise = isinstance(problem.objective, Maximize)
    constant = form.constant + float(inverse_data[-1][settings.OFFSET])
    return ModelSDP(
        form.data,
        maximise,
        -constant if maximise else constant,
        model=problem,
        form=form,
        reductions=(chain, inverse_data),
    )
