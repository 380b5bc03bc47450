"""The one loop: an iterator over states, and ``solve``, which runs it with rules and observers."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd.errors import InvalidInput, OracleError
from unipd.memory import require_room_for_run
from unipd.methods import Method, State, as_method
from unipd.methods.warm import started
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.run.assemble import assembled
from unipd.run.certify import FinalCheck
from unipd.run.checkpoint import Checkpoint, Every, checkpoint_for
from unipd.run.combining import StoppingRule
from unipd.run.course import Course
from unipd.run.floating_range import within_range
from unipd.run.polish import polish as polished_result
from unipd.run.result import Result
from unipd.run.retraction import without_false_bound
from unipd.run.rules import Callback, Rules
from unipd.run.stopping import Accuracy, MaxIterations
from unipd.run.trackers import as_tracker
from unipd.run.watching import shown
from unipd.status import Status
from unipd.team import team

DEFAULT_ITERATIONS = 10_000


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
    accuracy = validate.positive("accuracy", accuracy)
    return _states(problem, chosen, lambda: started(chosen, problem, kept, dual, accuracy, start), accuracy)


def _states(problem: Problem, method: Method, begin: Callable[[], State], accuracy: float) -> Iterator[State]:
    check = FinalCheck(accuracy)
    state = within_range(begin)
    while state.failure is None:
        state = within_range(method.step, problem, state)
        state = without_false_bound(problem, state, check)
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
    polish: bool = False,
    checkpoint: Checkpoint | str | os.PathLike[str] | None = None,
    every: str | float = "60s",
    resume: bool = False,
    **options: Any,
) -> Result:
    """Solve a problem and return the point with its certificate.

    Parameters
    ----------
    problem
        The template: oracle, map, right-hand side, coupling.
    method
        A name ("auto", "unipdgrad", "accunipdgrad", "corrective", "factored", "frank-wolfe", "away-step", "pairwise")
        or a method object; "auto" is the factored method for spectral sets, the accelerated one with restarts for
        constraints or losses with kinks on strictly convex sets, and the corrective one elsewhere.
    accuracy
        Relative: feasibility <= accuracy * max(1, ||b||) and |objective - bound| <= accuracy * scale,
        where the scale is max(1, |objective|), for a loss phi(-b).
    stop
        When to give up, e.g. ``MaxSeconds(60) | MaxOracleCalls(10_000)``; default: 10,000 iterations. In any case a
        run ends as ``STALLED`` when neither gap nor feasibility has improved for 1,000 iterations.
    callback
        Called with a :class:`~unipd.run.moment.Moment` after every iteration; returning True stops.
    verbose
        Show progress (a bar on a terminal, lines elsewhere).
    tracker
        What is kept of x: "dense", "atoms", "image", for matrices "lowrank" or "sketch", or a tracker; "auto"
        chooses by size. The corrective and factored methods keep their own atoms whatever is asked.
    start
        Warm start: a previous result or a dual vector. The Frank-Wolfe methods start from a result's point (its atoms,
        where it has them: away steps need those, and start from x*(lam) without; the first step of the open loop leaves
        any point), the others from its dual vector.
    polish
        Whether to re-optimise over the atoms at the end; see :func:`unipd.polish`. Then "auto" keeps the atoms.
    checkpoint, every
        A file to which the run is saved as it goes, and how often: "60s", "5m", "10it", or a number of seconds.
    resume
        Whether to go on from that file if it is there: the iterates are the same, bit for bit, as without a break.
        Limits may differ from those of the earlier run; everything else must be the same.
    options
        Options of a method given by name, e.g. ``weights="greedy"``.

    Ctrl-C ends the run and returns the best point so far with status ``INTERRUPTED``; during the first iteration,
    when there is no point yet, the ``KeyboardInterrupt`` is passed on. Runs that callbacks or limits of time or calls
    end return the best point too: the one with the smallest sum of relative infeasibility and gap, measured against the
    last bound (dense points above 64 MB are not held a second time; then it is the last one). A limit of k iterations
    gives the k-th iterate. When the oracle fails, the
    :class:`~unipd.errors.OracleError` has the result so far as ``result``.

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
    begun = team().now()
    accuracy = validate.positive("accuracy", accuracy)
    if stop is not None and not isinstance(stop, StoppingRule):
        raise InvalidInput("stop", "a stopping rule, e.g. MaxSeconds(60)", validate.described(stop))
    if callback is not None and (isinstance(callback, type) or not callable(callback)):
        raise InvalidInput("callback", "a function of a moment", validate.described(callback))
    for name, value in {"verbose": verbose, "polish": polish, "resume": resume}.items():
        validate.flag(name, value)
    Every.parse(every)
    _check_checkpoint(checkpoint, resume=resume)
    rules = Rules(Accuracy(accuracy), FinalCheck(accuracy), stop or MaxIterations(DEFAULT_ITERATIONS), callback)
    chosen = as_method(method, problem, **options)
    tracker = "atoms" if polish and isinstance(tracker, str) and tracker == "auto" else tracker
    require_room_for_run(problem, tracker)
    kept, dual = as_tracker(tracker, problem), starting_dual(problem, start)
    display = shown(chosen.name, accuracy, verbose=verbose)
    with checkpoint_for(checkpoint, every, resume) as book, display as show:
        stage = None if book is None else book.begin(problem, chosen, accuracy, tracker, start)
        course = Course(problem, chosen, rules, stage, begun)
        try:
            status = course.run(lambda: started(chosen, problem, kept, dual, accuracy, start), show)
        except KeyboardInterrupt:
            if course.state is None:
                raise
            status = course.interrupted()
        except OracleError as error:
            known = course.state is not None and team().size == 1  # several would have to measure the point together
            with contextlib.suppress(Exception):  # the oracle may fail again when the point is measured
                error.result = _result(course, accuracy, Status.STOPPED, failed=True) if known else None
            raise
    result = _result(course, accuracy, status)
    return polished_result(problem, result) if polish else result


def _check_checkpoint(checkpoint: Any, *, resume: bool) -> None:
    """Raise unless the checkpoint is one or names a file, which resuming needs."""
    if checkpoint is None:
        if resume:
            raise InvalidInput("resume", "a checkpoint to go on from beside it", "checkpoint=None")
    elif not isinstance(checkpoint, Checkpoint):
        validate.path("checkpoint", checkpoint)


def _result(course: Course, accuracy: float, status: Status, *, failed: bool = False) -> Result:
    (state, reached), stage = course.outcome(status, failed=failed), course.stage
    otherwise = Status.STALLED if status is Status.SOLVED else status
    with stage.blamed() if stage is not None and stage.unproven else contextlib.nullcontext():
        return assembled(
            course.problem, course.method, state, reached, course.history, accuracy, course.seconds, otherwise=otherwise
        )


def starting_dual(problem: Problem, start: Result | Array | None) -> Array:
    """Return lam_0: zero, the best dual vector of an earlier result, or the one given."""
    if start is None:
        return np.zeros(problem.dual_shape, problem.dtype)
    dual = getattr(start, "dual", start)
    vector = validate.finite_array("start", dual, shape=problem.dual_shape)
    if vector.dtype.kind == "c" and problem.dtype.kind != "c":
        raise InvalidInput("start", "a real dual vector", "a complex one")
    return vector.astype(problem.dtype)
