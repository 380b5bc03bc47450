"""Solve a semidefinite program: find a bound of the trace, run a method, measure the answer."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

from unipd import validate
from unipd.apps.sdp.binary import Binary, brought_back
from unipd.apps.sdp.borders import find_binary
from unipd.apps.sdp.finish import finish
from unipd.apps.sdp.formulate import Analysis, Formulation, analyse, formulate
from unipd.apps.sdp.impossible import contradiction
from unipd.apps.sdp.interior import Interior
from unipd.apps.sdp.patience import Patience
from unipd.apps.sdp.result import SdpResult
from unipd.apps.sdp.standard import affordable
from unipd.apps.sdp.trace import TraceBound, bound_from_diagonals
from unipd.errors import InvalidInput
from unipd.run import MaxIterations, solve
from unipd.run.later import Later, sum_of
from unipd.status import Status

RETRIES = 2
"""Runs with a smaller accuracy when the scaled constraints hold and those of the data do not."""

ITERATIONS = 5000
"""Iterations of the factored method when no other limit is given: what takes more has other troubles."""


ROUNDING = 1e-9
"""A bound that a user gives may lie below a trace that the constraints fix by this share of it."""
_SETTINGS = ("trace_bound", "rank", "seed", "stop", "callback", "verbose", "start", "checkpoint", "every", "resume")
"""What :meth:`SDP.solve` knows besides accuracy and method, for people."""


def trace_of(analysis: Analysis, given: float | None = None) -> TraceBound | None:
    """Return the smaller of the trace bound that the constraints imply and the one given; None without either."""
    found = bound_from_diagonals(analysis.data, analysis.groups)
    if given is None:
        return found
    value = validate.positive("trace_bound", given)
    if found is not None and found.fixed and value < (1.0 - ROUNDING) * found.value:
        expected = f"at least {found.value:.6g}, the trace of every feasible X ({found.reason})"
        raise InvalidInput("trace_bound", expected, f"{value:.6g}")
    if found is not None and (found.fixed or found.value <= value):
        return found
    return TraceBound(value, False, "given by the user")


def solve_program(
    program: Any,
    accuracy: float = 1e-6,
    method: Any = "auto",
    *,
    trace_bound: float | None = None,
    rank: int | None = None,
    seed: int = 0,
    **options: Any,
) -> SdpResult:
    """Solve a semidefinite program.

    Parameters
    ----------
    program
        The :class:`~unipd.apps.sdp.SDP`.
    accuracy
        Relative accuracy of gap and feasibility.
    method
        "auto" (the factored method, then interior points for small programs that it stalls on), the name of any
        method of the library, or a method.
    trace_bound
        A bound of the trace of X, for programs whose constraints imply none.
    rank
        Columns of R that the factored method begins with.
    seed
        Seed of its random start.
    options
        ``stop``, ``callback``, ``verbose``, ``start`` and options of a method by name, as in :func:`unipd.solve`.
    """
    if trace_bound is not None:
        validate.positive("trace_bound", trace_bound)
    if method in ("auto", "factored"):
        _check_options(options)
    impossible = contradiction(program, validate.positive("accuracy", accuracy))
    if impossible is not None:
        return impossible
    binary = find_binary(program.data) if method in ("auto", "factored") else None
    if binary is not None and (trace_bound is None or trace_bound >= binary.trace(program.data.size).value):
        return _run_binary(program, binary, accuracy, method, rank=rank, seed=seed, **options)
    analysis = analyse(program.data)
    trace = trace_of(analysis, trace_bound)
    if trace is None:
        from unipd.apps.sdp.unbounded import solve_without_trace

        return solve_without_trace(program, analysis, accuracy, method, rank=rank, seed=seed, **options)
    return run(program, analysis, trace, accuracy, method, rank=rank, seed=seed, **options)


def _check_options(options: dict[str, Any]) -> None:
    """Raise for an option that neither this module nor :func:`unipd.solve` knows."""
    known = inspect.signature(solve).parameters
    for name in options:
        if name not in known and name != "scaling":
            expected = f"one of the options {', '.join(_SETTINGS)}; those of another method go with its name"
            raise InvalidInput(name, expected, "an option that the factored method does not have")


def _run_binary(program: Any, binary: Binary, accuracy: float, method: Any, **options: Any) -> SdpResult:
    """Solve a relaxation of binary variables by rows of one length; again where only these meet the accuracy."""
    asked = validate.positive("accuracy", accuracy)
    other = replace(program, data=binary.data(program.data))
    analysis, target = analyse(other.data), asked
    trace = trace_of(analysis)
    assert trace is not None
    for attempt in range(RETRIES):
        found = run(other, analysis, trace, target, method, **options)
        final = brought_back(program, binary, found, asked)
        if found.status is not Status.SOLVED or final.status is Status.SOLVED:
            return final
        target = asked * 0.1 ** (attempt + 1)
    return brought_back(program, binary, run(other, analysis, trace, target, method, **options), asked)


def run(
    program: Any,
    analysis: Analysis,
    trace: TraceBound,
    accuracy: float,
    method: Any,
    *,
    rank: int | None = None,
    seed: int = 0,
    **options: Any,
) -> SdpResult:
    """Solve with a given trace: small programs that the factored method stalls on by interior points.

    Limits hold for both parts together, and the result counts the work of both; its history is that of one.
    """
    form, chosen = formulate(analysis, trace, program.maximise, program.constant), method
    if method not in ("auto", "factored"):
        return _repeated(program, form, chosen, accuracy, **options)
    chosen, stop = analysis.method(rank, seed, trace), options.pop("stop", None) or MaxIterations(ITERATIONS)
    effort = affordable(form.problem) if method == "auto" else None
    if effort is None:
        return _repeated(program, form, chosen, accuracy, stop=stop, **options)
    first = _repeated(program, form, chosen, accuracy, stop=stop | Patience(effort), **options)
    if first.status is not Status.STALLED:
        return first
    watched = {name: options[name] for name in ("callback", "verbose") if name in options}
    left = Later(stop, first.seconds, first.iterations, first.counts)
    second = _repeated(program, form, Interior(), accuracy, stop=left, **watched)
    work = {
        "iterations": first.iterations + second.iterations,
        "counts": sum_of(first.counts, second.counts),
        "seconds": first.seconds + second.seconds,
    }
    if first.worst < second.worst and second.status not in (Status.SOLVED, Status.INFEASIBLE):
        second = replace(first, status=second.status, message=second.message)
    return replace(second, **work)


def _repeated(program: Any, form: Formulation, method: Any, accuracy: float, **options: Any) -> SdpResult:
    """Solve; again, more accurately, when only the scaled constraints hold well enough."""
    target = asked = validate.positive("accuracy", accuracy)
    for attempt in range(RETRIES):
        result = solve(form.problem, method, accuracy=target, **options)
        final = finish(form, result, asked, program.maximise, program.constant)
        if result.status is not Status.SOLVED or final.status is Status.SOLVED:
            return final
        target = asked * 0.1 ** (attempt + 1)
    result = solve(form.problem, method, accuracy=target, **options)
    return finish(form, result, asked, program.maximise, program.constant)
