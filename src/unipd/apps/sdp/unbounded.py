"""Programs whose diagonal constraints bound no trace: prove a bound, or that there is none, or infeasibility."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.apps.sdp.data import SdpData
from unipd.apps.sdp.enlarging import MODEST, SOUGHT, enlarged, sought
from unipd.apps.sdp.formulate import Analysis
from unipd.apps.sdp.impossible import without_bound
from unipd.apps.sdp.recession import (
    Alternative,
    infeasibility_alternative,
    level_alternative,
    trace_alternative,
)
from unipd.apps.sdp.result import SdpResult
from unipd.apps.sdp.trace import TraceBound, price_of
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.run import MaxIterations, Moment, StoppingRule
from unipd.status import Status

FALLS = 1e-4
"""A direction of trace 1 counts as one in which the objective falls when <C, D> < -1e-4 ||C||."""
TRIAL = 500
"""Iterations after which an attempt at a program whose trace is hardly bounded must be near the constraints."""
NEAR = 1e-3
"""Relative infeasibility that counts as near: what is farther off by then crawls for ever."""

_NEITHER = "neither a positive definite combination of them nor a direction in which X grows for ever was found"
_LEVEL = "there are directions in which X may grow for ever and the objective does not change"


class Crawls(StoppingRule):
    """Ends an attempt that is far from the constraints after many iterations.

    >>> Crawls().deadline()
    inf
    """

    def __call__(self, moment: Moment) -> Status | None:
        """Return the status of a limit when the time has come."""
        crawls = moment.iteration >= TRIAL and moment.infeasibility > NEAR
        return Status.ITERATION_LIMIT if crawls else None


def solve_without_trace(program: Any, analysis: Analysis, accuracy: float, method: Any, **options: Any) -> SdpResult:
    """Solve a program after a search for a bound of its optimal solutions' trace, or say why that cannot be.

    A bound from multipliers y and level >= 0 with sum_i y_i A_i + level C >= I holds for optimal X:
    tr X <= b^T y + level <C, X>. The dual vector returned has a psd slack matrix, so the dual bound holds for every
    feasible X, whatever trace the run worked with.
    """
    from unipd.apps.sdp.solving import ITERATIONS, run

    begun = time.perf_counter()
    impossible = infeasibility_alternative(analysis.data)
    if impossible is not None and impossible.multipliers is not None:
        return _infeasible(program, impossible, accuracy, begun)
    proved = _proved(analysis.data)
    if proved is not None:
        return run(program, analysis, proved, accuracy, method, **options)
    level = level_alternative(analysis.data)
    if level is not None and level.multipliers is None and _falls(analysis.data, level):
        return _unbounded(program, level, accuracy, begun)
    if level is None or level.multipliers is None:
        sizes = SOUGHT if level is None else MODEST
        found = sought(program, analysis, accuracy, method, sizes=sizes, **options)
        if found is not None:
            return found
        raise _refused(_NEITHER if level is None else _LEVEL)
    trace = _first_trace(analysis.data, level.multipliers, impossible)
    if level.hardly(analysis.data.order):
        options["stop"] = (options.get("stop") or MaxIterations(ITERATIONS)) | Crawls()
        tried = run(program, analysis, trace, accuracy, method, **options)
        if tried.status in (Status.SOLVED, Status.INTERRUPTED):
            return tried
        raise _refused(
            "some psd matrix of trace 1 changes them and the objective, all of unit norm, by only "
            f"{level.residual:.0e}, and a run without a bound came to nothing"
        )
    return enlarged(program, analysis, trace, accuracy, method, **options)


def _proved(data: SdpData) -> TraceBound | None:
    """Return the bound that a definite combination of the constraints proves for every feasible X, or None."""
    found = trace_alternative(data)
    if found is None or found.multipliers is None or found.hardly(data.order):
        return None
    value = price_of(data, found.multipliers)
    if not 0.0 < value < np.inf:
        return None
    return TraceBound(value, False, "a positive definite combination of the constraints", found.multipliers)


def _first_trace(data: SdpData, multipliers: Array, feasible: Alternative | None) -> TraceBound:
    """Return the bound at the objective of a nearly feasible point, with room to spare."""
    y, level = multipliers[:-1], float(multipliers[-1])
    share = 0.0 if feasible is None else float(np.sum(feasible.direction.left[-1] ** 2 * feasible.direction.weights))
    objective = _cost(data, feasible.direction) / share if feasible is not None and share > 1e-6 else 0.0
    size = price_of(data, y) + level * objective
    return TraceBound(1.5 * max(size, 1e-3), False, "the constraints and the objective together", y, level)


def _cost(data: SdpData, direction: LowRank) -> float:
    rows = direction.left[: data.order]
    return float(data.extended.image(LowRank(rows, rows, direction.weights))[0])


def _falls(data: SdpData, found: Alternative) -> bool:
    """Whether the objective falls along a direction, and is not level."""
    return _cost(data, found.direction) < -FALLS * float(np.linalg.norm(data.cost.value))


def _unbounded(program: Any, found: Alternative, accuracy: float, begun: float) -> SdpResult:
    """Report a direction in which the objective falls for ever."""
    data: SdpData = program.data
    message = (
        "The objective is unbounded and the dual problem is infeasible: along the psd direction X returned the "
        f"constraints do not change (up to {found.residual:.0e}) and the objective improves for ever."
    )
    if program.sdpa:
        message += " In SDPA's terms the primal problem, min c'x, is infeasible and its dual, max <F0, Y>, unbounded."
    rows = found.direction.left[: data.order]
    x = LowRank(rows, rows, found.direction.weights)
    return without_bound(program, message, accuracy, begun, x, np.zeros(data.size))


def _infeasible(program: Any, found: Alternative, accuracy: float, begun: float) -> SdpResult:
    message = (
        "No X is feasible: the dual vector returned makes sum y_i A_i positive definite (proved by a Cholesky "
        "factorisation) and b^T y negative."
    )
    if program.sdpa:
        message += " In SDPA's terms the dual problem, max <F0, Y>, is infeasible."
    assert found.multipliers is not None
    return without_bound(program, message, accuracy, begun, None, found.multipliers)


def _refused(reason: str) -> InvalidInput:
    expected = (
        f"a number that the trace of X does not exceed: the constraints give none ({reason}), and without one there is "
        "no certificate. Give a bound if you know one for a solution, or take an interior-point solver"
    )
    return InvalidInput("trace_bound", expected)
