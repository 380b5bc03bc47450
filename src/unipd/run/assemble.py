"""From a run's last state to its result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unipd.memory import peak_memory
from unipd.methods import Method, State
from unipd.problem import Problem
from unipd.run.history import History
from unipd.run.moment import Moment
from unipd.run.result import Result
from unipd.run.stopping import Accuracy
from unipd.run.verify import claims, lies_in_set, tracker_error, verified
from unipd.status import Status


def assembled(
    problem: Problem,
    method: Method,
    state: State,
    status: Status,
    history: History,
    accuracy: float,
    seconds: float,
    *,
    otherwise: Status = Status.STALLED,
) -> Result:
    """Assemble the result; what is reported of x is computed from x itself, not from running averages.

    A run that is solved is called ``otherwise`` where rounding, or the tracker, has come between both: x falls short.
    """
    x = state.primal.point()
    image, certificate = state.image, state.certificate
    if x is not None:
        image, certificate = verified(problem, x, certificate)
    final = Moment(problem, replace(state, certificate=certificate), seconds, history)
    error = tracker_error(state.primal)
    if status is Status.SOLVED and not (Accuracy(accuracy)(final) and lies_in_set(problem, x, error, accuracy)):
        status = otherwise
    return Result(
        status=status,
        x=x,
        image=image,
        **claims(problem, certificate),
        tracker_error=error,
        accuracy=accuracy,
        method=method.name,
        settings=method_settings(method),
        iterations=state.iteration,
        counts=state.counts,
        seconds=seconds,
        peak_memory_bytes=peak_memory(),
        history=history,
        problem=problem,
        state=state,
    )


def method_settings(method: Method) -> dict[str, Any]:
    """Return a method's options that are plain values, for the record."""
    options = getattr(method, "options", None) or getattr(method, "__dict__", {})
    return {name: value for name, value in options.items() if isinstance(value, (str, int, float, type(None)))}
