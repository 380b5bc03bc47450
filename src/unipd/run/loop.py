"""The one loop: an iterator over states, and ``solve``, which runs it with rules and observers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd.errors import InvalidInput, OracleError
from unipd.memory import peak_memory
from unipd.methods import Certificate, Method, State, as_method
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.run.certify import FinalCheck
from unipd.run.history import History, relative_gap
from unipd.run.progress import progress_display
from unipd.run.result import Result
from unipd.run.stopping import Accuracy, MaxIterations, Moment, StoppingRule
from unipd.run.trackers import as_tracker
from unipd.status import Status

DEFAULT_ITERATIONS = 10_000
Callback = Callable[[Moment], "bool | None"]


def iterate(
    problem: Problem,
    method: Method | str = "auto",
    *,
    accuracy: float = 1e-3,
    tracker: Tracker | str = "auto",
    start: Result | Array | None = None,
    **options: Any,
) -> Iterator[State]:
    """Yield a method's states, one an iteration, until it cannot go on.

    Parameters are those of :func:`solve`.

    Examples
    --------
    >>> import itertools, numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> states = unipd.iterate(problem, "unipdgrad")
    >>> [state.iteration for state in itertools.islice(states, 3)]
    [1, 2, 3]
    """
    chosen = as_method(method, problem, **options)
    kept, dual = as_tracker(tracker, problem), starting_dual(problem, start)
    return _states(problem, chosen, kept, dual, validate.positive("accuracy", accuracy))


def _states(problem: Problem, method: Method, tracker: Tracker, dual: Array, accuracy: float) -> Iterator[State]:
    state = method.start(problem, tracker, dual, accuracy)
    while state.failure is None:
        state = method.step(problem, state)
        yield state


def solve(
    problem: Problem,
    method: Method | str = "auto",
    *,
    accuracy: float = 1e-3,
    stop: StoppingRule | None = None,
    callback: Callback | None = None,
    verbose: bool = False,
    tracker: Tracker | str = "auto",
    start: Result | Array | None = None,
    **options: Any,
) -> Result:
    """Solve a problem and return the point with its certificate.

    Parameters
    ----------
    problem
        The template: oracle, map, right-hand side, coupling.
    method
        A name ("auto", "unipdgrad", "accunipdgrad", "corrective", "factored", "frank-wolfe", "away-step", "pairwise")
        or a method object; "auto" is the factored method for spectral sets and the corrective one elsewhere.
    accuracy
        Relative: feasibility <= accuracy * max(1, ||b||) and |objective - bound| <= accuracy * scale,
        where the scale is max(1, |objective|), for a loss phi(-b).
    stop
        When to give up, e.g. ``MaxSeconds(60) | MaxOracleCalls(10_000)``; default: 10,000 iterations.
    callback
        Called with a :class:`~unipd.run.stopping.Moment` after every iteration; returning True stops.
    verbose
        Show progress (a bar on a terminal, lines elsewhere).
    tracker
        What is kept of x: "dense", "atoms", "image", for matrices "lowrank" or "sketch", or a tracker; "auto"
        chooses by size. The corrective and factored methods keep their own atoms whatever is asked.
    start
        Warm start: a previous result or a dual vector.
    options
        Options of a method given by name, e.g. ``weights="greedy"``.

    Ctrl-C ends the run and returns the last whole iteration's point with status ``INTERRUPTED``.

    Examples
    --------
    The shortest distance from a point to the probability simplex:

    >>> import numpy as np, unipd
    >>> loss = unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 1.4, -0.3], loss)
    >>> result = unipd.solve(problem, "pairwise", accuracy=1e-6)
    >>> result.status.value, np.round(result.x, 3)
    ('solved', array([0., 1., 0.]))
    """
    begun = time.perf_counter()
    accuracy = validate.positive("accuracy", accuracy)
    if stop is not None and not isinstance(stop, StoppingRule):
        raise InvalidInput("stop", "a stopping rule, e.g. MaxSeconds(60)", type(stop).__name__)
    if callback is not None and not callable(callback):
        raise InvalidInput("callback", "a function of a moment", type(callback).__name__)
    rules = _Rules(Accuracy(accuracy), FinalCheck(accuracy), stop or MaxIterations(DEFAULT_ITERATIONS), callback)
    chosen = as_method(method, problem, **options)
    history = History()
    state: State | None = None
    status = Status.STOPPED
    display = progress_display(problem, chosen.name, accuracy) if verbose else nullcontext(None)
    with display as show:
        try:
            for state in iterate(problem, chosen, accuracy=accuracy, tracker=tracker, start=start):
                seconds = time.perf_counter() - begun
                _check_finite(state)
                history.record(problem, state, seconds)
                moment = Moment(problem, state, seconds, history)
                if show is not None:
                    show(moment)
                verdict = rules.verdict(moment)
                if verdict is not None:
                    status, state = verdict
                    break
        except KeyboardInterrupt:
            if state is None:
                raise
            status = Status.INTERRUPTED
    assert state is not None
    return _result(problem, chosen, state, status, history, accuracy, time.perf_counter() - begun)


def starting_dual(problem: Problem, start: Result | Array | None) -> Array:
    """Return lam_0: zero, the best dual vector of an earlier result, or the one given."""
    if start is None:
        return np.zeros(problem.dual_shape, problem.dtype)
    dual = getattr(start, "dual", start)
    vector = validate.finite_array("start", dual, shape=problem.dual_shape)
    if vector.dtype.kind == "c" and problem.dtype.kind != "c":
        raise InvalidInput("start", "a real dual vector", "a complex one")
    return vector.astype(problem.dtype)


def _check_finite(state: State) -> None:
    if not (validate.all_finite(state.image) and validate.all_finite(state.dual)):
        raise OracleError(f"NaN or infinity in the iterates after iteration {state.iteration}")


@dataclass(frozen=True)
class _Rules:
    """What may end a run, in the order of asking."""

    goal: Accuracy
    check: FinalCheck
    stop: StoppingRule
    callback: Callback | None

    def verdict(self, moment: Moment) -> tuple[Status, State] | None:
        """Return the status to stop with and the state that stands; the callback is called in any case."""
        state = moment.state
        wants_stop = self.callback is not None and self.callback(moment)
        proof = self.check.of_infeasibility(moment)
        if proof is not None:
            return Status.INFEASIBLE, replace(state, certificate=proof)
        if self.goal(moment) is not None:
            sure = self.check(moment)
            if sure is not None:
                return Status.SOLVED, replace(state, certificate=sure)
        status = self.stop(moment) or state.failure or (Status.STOPPED if wants_stop else None)
        if status is Status.SOLVED:
            status = Status.STOPPED  # an accuracy rule of the caller's own: reached, but not the one asked for
        return None if status is None else (status, state)


def _result(
    problem: Problem,
    method: Method,
    state: State,
    status: Status,
    history: History,
    accuracy: float,
    seconds: float,
) -> Result:
    """Assemble the result; what is reported of x is computed from x itself, not from running averages."""
    x = state.primal.point()
    image, certificate = state.image, state.certificate
    if x is not None:
        image, certificate = verified(problem, x, certificate)
    final = Moment(problem, replace(state, certificate=certificate), seconds, history)
    if status is Status.SOLVED and Accuracy(accuracy)(final) is None:
        status = Status.STOPPED
    return Result(
        status=status,
        x=x,
        image=image,
        dual=certificate.dual,
        objective=certificate.objective,
        infeasibility=certificate.infeasibility,
        relative_infeasibility=certificate.infeasibility / max(1.0, problem.norm_b),
        dual_bound=certificate.dual_bound,
        gap=relative_gap(problem, certificate.objective, certificate.dual_bound),
        bound_kind=certificate.kind,
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
    options = vars(method) if hasattr(method, "__dict__") else {}
    return {name: value for name, value in options.items() if isinstance(value, (str, int, float, type(None)))}


def verified(problem: Problem, x: Any, certificate: Certificate) -> tuple[Array, Certificate]:
    """Return A x and the certificate with objective and feasibility computed afresh from x."""
    image = np.asarray(problem.map.image(x)).astype(problem.dtype, copy=False)
    cost = problem.sharp.objective(x)
    residual = image - problem.b
    if problem.loss is not None:
        return image, replace(certificate, objective=cost + problem.loss.value(residual), infeasibility=0.0)
    distance = problem.coupling.distance(residual)
    return image, replace(certificate, objective=cost, infeasibility=distance)
