"""Runs with a trace that is enlarged while it is too small, for programs whose constraints bound none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unipd.apps.sdp.formulate import Analysis, formulate
from unipd.apps.sdp.interior import Interior
from unipd.apps.sdp.result import SdpResult
from unipd.apps.sdp.standard import affordable
from unipd.apps.sdp.trace import TraceBound
from unipd.maps.sdp import smallest_eigenpair
from unipd.run import MaxIterations
from unipd.status import Status

ENLARGEMENTS = 5
"""How often a trace that turned out too small is made four times as large."""
LONGER, LEAST = 4, 240
"""How many times more iterations than the last an attempt with a larger trace may take, and what it may in any case."""
REACHED = 0.9
"""Share of the trace allowed from which X is held back by it."""
SOUGHT = (1e2, 1e4, 1e6)
"""Traces, as multiples of the order, tried for small programs about whose trace nothing could be proved."""
MODEST = SOUGHT[:1]
"""Those where X may grow for ever: with larger ones, X nearly meets constraints that no X meets."""


def enlarged(
    program: Any, analysis: Analysis, trace: TraceBound, accuracy: float, method: Any, **options: Any
) -> SdpResult:
    """Solve with a trace that is enlarged while it is too small, by runs that may take a few times as long each.

    A program whose constraints can be met as nearly as one likes by X of ever larger trace, but by no X, has no end of
    such runs: each proves that no X of its trace is feasible, which is what the result then says.
    """
    from unipd.apps.sdp.solving import ITERATIONS, run

    result, without = run(program, analysis, trace, accuracy, method, **options), 0.0
    stop = options.pop("stop", None)
    for _ in range(ENLARGEMENTS):
        if not _too_small(result, trace):
            break
        without = trace.value if result.status is Status.INFEASIBLE else without
        limit = MaxIterations(min(max(LEAST, LONGER * result.iterations), ITERATIONS))
        trace, method = replace(trace, value=4.0 * trace.value), _for_the_next(method, result)
        result = run(program, analysis, trace, accuracy, method, stop=limit | stop if stop else limit, **options)
    without = trace.value if result.status is Status.INFEASIBLE else without
    if not without or result.status is Status.SOLVED:
        return result
    message = (
        f"No X of trace at most {without:.4g} is feasible (proved): the program has no feasible X, or one that is "
        "larger (give a trace bound to look for it)."
    )
    kept = Status.STALLED if result.status is not Status.INTERRUPTED else result.status
    return replace(result, status=kept, message=message)


def sought(
    program: Any,
    analysis: Analysis,
    accuracy: float,
    method: Any,
    *,
    sizes: tuple[float, ...] = SOUGHT,
    **options: Any,
) -> SdpResult | None:
    """Solve a small program with larger and larger traces until the one allowed does not matter; None if it does.

    The traces are ``sizes`` times the order. The dual bound holds for X of the last one, and the result says so.
    """
    from unipd.apps.sdp.solving import run

    trace = TraceBound(float(analysis.data.order), False, "a trace enlarged until X gained nothing by a larger one")
    if method != "auto" or affordable(formulate(analysis, trace).problem) is None:
        return None
    for size in sizes:
        trace = replace(trace, value=size * analysis.data.order)
        result = run(program, analysis, trace, accuracy, method, **options)
        limited = result.status not in (Status.SOLVED, Status.INFEASIBLE, Status.STALLED)
        if limited or (result.status is Status.SOLVED and not _held_back(result, trace)):
            return result
        method = _for_the_next(method, result)
    return None


def _for_the_next(method: Any, result: SdpResult) -> Any:
    """Return the method for a run with another trace: interior points at once where they were needed before."""
    return Interior() if result.method == Interior().name else method


def _too_small(result: SdpResult, trace: TraceBound) -> bool:
    """Whether the trace that a run worked with kept it from better points."""
    if result.status in (Status.SOLVED, Status.INTERRUPTED) or result.x is None:
        return False
    return result.status is Status.INFEASIBLE or _reached(result, trace)


def _held_back(result: SdpResult, trace: TraceBound) -> bool:
    """Whether X has the largest trace a that it may have, and the bound owes a |lambda_min(S)| > accuracy to that.

    Where X may grow for ever without any change of the objective, it has trace a for no reason.
    """
    owed = -trace.value * smallest_eigenpair(result.slack).lower
    return _reached(result, trace) and owed > result.accuracy * max(1.0, abs(result.objective))


def _reached(result: SdpResult, trace: TraceBound) -> bool:
    """Whether X has (nearly) the largest trace that it may have."""
    return float(np.sum(result.x.weights * np.sum(result.x.left**2, axis=0))) > REACHED * trace.value
