"""The one loop: :func:`iterate` yields states, :func:`solve` consumes it with stopping rules and observers.

The end of the file has the first state: at a dual vector, or at the point of an earlier result (a warm start).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import replace
from types import TracebackType
from typing import Any

import numpy as np

from unipd import dual as dual_function
from unipd._typing import Array
from unipd._util import validate
from unipd._util.arrays import inner
from unipd._util.context import (
    TimeLimitReached,
    abort_iteration_when,
    change_context,
    current_communicator,
    current_context,
    is_stop_requested,
    may_raise_here,
    request,
)
from unipd.atoms import Blocks, combination, dense, inner_product, scale_atom
from unipd.errors import InvalidInput, OracleError, UnboundedOracle
from unipd.memory import as_tracker, peak_memory, require_room_for_run, tracker_name
from unipd.methods import Method, State, as_method
from unipd.methods.base import ForecastsMemory, WarmPoint, fast_replace, method_options, start_from
from unipd.problem import Problem
from unipd.protocols import SharpOracle, Tracker
from unipd.run.checkpoint.checkpoint import DEFAULT_INTERVAL, Checkpoint, Every, RunRecord, Snapshot, checkpoint_for
from unipd.run.consistency import ADVICE, revise_bound, verify_recorded_bounds
from unipd.run.history import History, Incumbent, IterationInfo
from unipd.run.infeasibility import unbounded_result
from unipd.run.progress import Show, open_observers
from unipd.run.result import Result, certificate_figures
from unipd.run.stopping import StopFunction, StoppingRule, as_rule
from unipd.run.termination import Callback, Conclusion, Termination
from unipd.sharp.linear import Linear
from unipd.spectral import CLAIMED
from unipd.status import Status
from unipd.trackers.atoms import HasAtoms

_UNGUARDED = nullcontext()
HURRIED_STATUSES = (Status.TIME_LIMIT, Status.MEMORY_LIMIT, Status.INTERRUPTED)
"""Statuses of runs that must end at once: the oracle is not called again."""
_FAR = 1e8
"""Multiple of the size of f at which the maximiser of <y, x> - f(x) is that of <y, x>."""
_SAME_SIZE = 1e-9
"""Relative difference in size up to which two sets count as one."""


def iterate(
    problem: Problem,
    method: Method | str = "auto",
    *,
    accuracy: float = 1e-3,
    tracker: Tracker | str = "auto",
    start: Result | Array | State | None = None,
    **options: Any,
) -> Iterator[State]:
    """Yield a method's states, one per iteration, until it fails.

    Parameters are those of :func:`solve`; ``start`` may also be a state of the same method to continue from. Iterates
    are checked to be finite, and bounds that a point disproves are revised.

    Parameters
    ----------
    problem
        The :class:`unipd.Problem`.
    method
        A method or its name; see :func:`unipd.solve`.
    accuracy
        The relative accuracy from which a universal method takes its eps; nothing stops at it.
    tracker
        What is kept of x; see :func:`unipd.solve`.
    start
        A warm start: a result or a dual vector.
    options
        Options of the method.

    Raises
    ------
    InvalidInput
        ``accuracy``: expected a number above zero.

    See Also
    --------
    solve, unipd.methods.State

    Examples
    --------
    >>> import itertools, numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> states = unipd.iterate(problem, "unipdgrad")
    >>> [state.iteration for state in itertools.islice(states, 3)]
    [1, 2, 3]
    """
    chosen = as_method(method, problem, **options)
    accuracy = validate.positive("accuracy", accuracy)
    if isinstance(start, State):
        return _states(problem, chosen, lambda: start, accuracy)
    kept, dual = as_tracker(tracker, problem), starting_dual(problem, start)
    return _states(problem, chosen, lambda: first_state(chosen, problem, kept, dual, accuracy, start), accuracy)


def _states(problem: Problem, method: Method, begin: Callable[[], State], accuracy: float) -> Iterator[State]:
    """Yield the states of the loop."""
    tune_malloc(problem.b.nbytes)
    try:
        state = begin()
        del begin  # which holds a dual vector
        while state.failure is None:
            state = method.step(problem, state)
            check_finite(problem, state)
            if state.certificate.bound_kind not in CLAIMED:
                state = revise_bound(problem, state, accuracy)
            yield state
    except (ZeroDivisionError, OverflowError) as error:
        advice = "divide A and b by a common factor"
        raise OracleError(f"the iterates exceed the floating-point range: {advice}") from error


def solve(
    problem: Problem,
    method: Method | str = "auto",
    *,
    accuracy: float = 1e-3,
    atol: float = 0.0,
    stop: StoppingRule | StopFunction | None = None,
    callback: Callback | None = None,
    verbose: bool = False,
    tracker: Tracker | str = "auto",
    start: Result | Array | None = None,
    polish: bool = False,
    checkpoint: Checkpoint | str | os.PathLike[str] | None = None,
    every: str | float = DEFAULT_INTERVAL,
    resume: bool = False,
    **options: Any,
) -> Result:
    """Solve a problem and return the point with its certificate.

    Parameters
    ----------
    problem
        The template: oracle, map, right-hand side, coupling.
    method
        A name ("auto", "unipdgrad", "accunipdgrad", "quasi-newton", "corrective", "coordinate", "factored", "barrier",
        "frank-wolfe", "away-step", "pairwise", "blended-pairwise", "cgal") or a method object; "auto" is the factored
        method for spectral sets (the barrier method for squared nuclear norms of small matrices), coordinate descent
        for smooth losses over l1 balls and their kin, the quasi-Newton one where f or X is strictly convex (with
        restarts of the accelerated one where the coupling rules that out), and the corrective one elsewhere.
    accuracy
        The relative accuracy: a run is solved when infeasibility and |gap|, as :class:`~unipd.Result` defines them,
        are at most this. The former is the distance of A x from the nearest value that the constraints allow (from b,
        for A x = b), relative to that value; the latter is relative to the objective. Neither depends on units.
    atol
        Absolute tolerance in the units of the data: a violation or an absolute gap of at most this is accepted as
        well. Choose a value too small to matter to you; pass it as ``eps``, too, to a universal method.
    stop
        Limits, e.g. ``MaxSeconds(60) | MaxOracleCalls(10_000)``, or a function of the
        :class:`~unipd.run.history.IterationInfo` that returns True to stop; default: 10,000 iterations. Every run
        ends as ``STALLED`` when neither gap nor infeasibility has improved for 1,000 iterations.
    callback
        Called with a :class:`~unipd.run.history.IterationInfo` after every iteration; returning True stops.
    verbose
        Show progress (a bar on a terminal, lines elsewhere).
    tracker
        What to keep of x: "dense", "atoms", "image", for matrices "lowrank" or "sketch", or a tracker; "auto"
        chooses by size. The corrective and factored methods always keep their own atoms.
    start
        Warm start: a previous result or a dual vector. All methods but Frank-Wolfe and the barrier method start from
        the dual vector. Of a result, Frank-Wolfe takes the point (not with open-loop steps, whose first step leaves
        nothing of it), the away-step methods and the corrective one the atoms, coordinate descent the entries, and
        the factored and the quasi-Newton method what an earlier run of their own has kept.
    polish
        Whether to re-optimise over the atoms at the end; see :func:`unipd.polish`. With it, the tracker "auto" keeps
        atoms.
    checkpoint, every
        A file that the run is saved to, and how often: "60s", "5m", "10it", or a number of seconds.
    resume
        Whether to continue from that file if it exists: the iterates are the same, bit for bit, as without a break.
        Limits may differ from those of the earlier run; everything else must be the same.
    options
        Options of a method given by name, e.g. ``weights="greedy"``.

    Returns
    -------
    Result
        The point, its certificate and the history; ``status`` tells how the run ended.

    Raises
    ------
    InvalidInput
        If an argument is invalid (``accuracy``: expected a number above zero; ``atol``: expected a number of at least
        zero), or the method does not apply to the problem.
    OracleError
        If the oracle or the map fails or returns an invalid answer; the error carries the result so far.
    MemoryForecastError
        If the run would not fit in memory.
    CheckpointMismatch
        If the checkpoint to resume from belongs to another run.
    FileFormatError
        If that file is damaged, or is not a checkpoint.

    See Also
    --------
    iterate, compare, polish, Problem, Result

    Notes
    -----
    Ctrl-C ends the run and returns the incumbent with status ``INTERRUPTED``; during the first iteration, when there is
    no point yet, the ``KeyboardInterrupt`` is raised. Runs ended by a callback or by a limit on time or oracle calls
    return the incumbent too: the point with the smallest sum of relative infeasibility and gap, measured against the
    last bound (dense points above 64 MB are not held a second time; then the last point). A limit of k iterations gives
    the k-th iterate. When the oracle fails, the :class:`~unipd.errors.OracleError` carries the result so far as
    ``result``.

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
    begun, context = current_communicator().read_clocks(), current_context()
    accuracy = validate.positive("accuracy", accuracy)
    rule = None if stop is None else as_rule(stop)
    _check_options(callback, checkpoint, every, {"verbose": verbose, "polish": polish, "resume": resume})
    chosen = as_method(method, problem, **options)
    tracker = "atoms" if polish and isinstance(tracker, str) and tracker == "auto" else tracker
    kept = as_tracker(tracker, problem)
    known = isinstance(chosen, ForecastsMemory)
    require_room_for_run(problem, tracker, chosen.workspace_bytes(problem, accuracy) if known else None)
    starting_dual(problem, start)  # a wrong start is refused before a checkpoint is written
    termination = Termination(problem, accuracy, rule, callback, validate.nonnegative("atol", atol))
    is_observed = verbose or context.watcher is not None or context.progress_writer is not None
    observers = open_observers(chosen.name, accuracy, verbose=verbose) if is_observed else nullcontext()
    opened = nullcontext(context.checkpoint) if checkpoint is None else checkpoint_for(checkpoint, every, resume)
    run = None
    try:
        with opened as shared, observers as show:
            given = start.dual if isinstance(start, Result) else start
            requested: Any = (accuracy, atol) if atol else accuracy
            record = None if shared is None else shared.begin(problem, chosen, requested, tracker, given)
            with Run(problem, chosen, termination, record, show, begun) as run:
                first = start if run.state is None else run.state
                states = iterate(problem, chosen, accuracy=accuracy, tracker=kept, start=first)
                for state in run.follow(states):
                    if run.observe(state):
                        break
    except UnboundedOracle as error:
        if current_communicator().size > 1:
            raise
        reached = math.inf if run is None or run.state is None else run.state.certificate.infeasibility
        result = unbounded_result(problem, error, accuracy, reached)
        seconds, settings = current_communicator().now() - begun[0], _method_settings(chosen, None)
        return replace(result, method=chosen.name, settings=settings, seconds=seconds)
    result = run.result()
    if not polish:
        return result
    from unipd.run.polishing import polish as polish_result  # which itself iterates

    return polish_result(problem, result)


def _check_options(callback: Any, checkpoint: Any, every: Any, flags: dict[str, Any]) -> None:
    """Raise where an option of :func:`solve` is not of its kind."""
    if callback is not None and (isinstance(callback, type) or not callable(callback)):
        raise InvalidInput("callback", "a function of an IterationInfo", validate.describe_type(callback))
    for name, value in flags.items():
        validate.flag(name, value)
    if every is not DEFAULT_INTERVAL:
        Every.parse(every)
    if checkpoint is None and flags["resume"]:
        raise InvalidInput("resume", "checkpoint=, the file to resume from, as well", "checkpoint=None")
    if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
        validate.path("checkpoint", checkpoint)


class Run:
    """Observes the states of one :func:`solve`: history, incumbent, progress, checkpoint, limits and interrupts.

    As a context manager it keeps the time limit inside iterations, and turns its passing, or Ctrl-C, into a status.
    """

    def __init__(
        self,
        problem: Problem,
        method: Method,
        termination: Termination,
        record: RunRecord | None,
        show: Show | None,
        begun: tuple[float, float],
    ) -> None:
        self.problem, self.method, self.termination = problem, method, termination
        self.history, self.incumbent = History(), Incumbent(problem)
        self.state: State | None = None
        """The last complete iteration's."""
        self.status: Status | None = None
        """How the run ended; None while it continues."""
        self._record, self._show = record, show
        self._start_time, self._start_cpu = begun
        """When the run began, in wall time and in CPU time; earlier if it was resumed."""
        self._communicator = current_communicator()
        self._may_raise = may_raise_here(self._communicator)
        self._next_check = 0.0
        self._scope = ExitStack()

    def __enter__(self) -> Run:
        self._restore()
        if dual_function.is_chunked(self.problem):
            self._scope.enter_context(dual_function.workspace_scope())
        if self.problem.has_user_oracle:
            self._scope.enter_context(change_context(seen_atoms=self.termination.seen_atoms))
        limit = self.termination.stop.deadline()
        if limit < math.inf and self._communicator.size == 1:  # ranks would not all stop at the same product
            self._scope.enter_context(
                abort_iteration_when(lambda: self.seconds >= limit, lambda: self.state is not None)
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._scope.close()
        if self.state is not None:
            request.may_raise = False
        if isinstance(error, TimeLimitReached):
            self.status = Status.TIME_LIMIT
        elif isinstance(error, KeyboardInterrupt) and self.state is not None:
            self._interrupt()
        else:
            if isinstance(error, OracleError) and self.state is not None and self._communicator.size == 1:
                with suppress(Exception):  # the oracle may fail again when the point is measured
                    self.status = Status.STOPPED
                    error.result = self.result(failed=True)
            return False
        return True

    def follow(self, states: Iterator[State]) -> Iterator[State]:
        """Yield the states to observe: none of a run that had ended when its checkpoint was written.

        A checkpoint from which an iteration fails is refused: an edited file may show its faults late.
        """
        while self.status is None:
            with self._refuse_checkpoint():
                state = next(states, None)
            if state is None:
                return
            yield state
            request.may_raise = self._may_raise  # the last state is complete, and observed

    def _refuse_checkpoint(self) -> AbstractContextManager[None]:
        """Return a context in which any error is one of the checkpoint, if the run was resumed from one."""
        record = self._record
        return _UNGUARDED if record is None or record.restored_snapshot is None else record.wrap_errors()

    def observe(self, state: State) -> bool:
        """Record a state; return whether the run ends with it."""
        problem, termination = self.problem, self.termination
        request.may_raise = False  # from now on there is something to return
        self.state = state
        seconds, cpu = self._elapsed()
        seen = termination.count_work(state)
        with self._refuse_checkpoint():
            gap = self.history.record(problem, seen, seconds, cpu)
            self.incumbent.observe(seen)
        if self._show is not None:
            self._show(IterationInfo(problem, seen, seconds, self.history, cpu))
        if state.iteration >= self._next_check or not gap > termination.accuracy or state.failure is not None:
            request.may_raise = self._may_raise
            self.status, certificate = termination.decide(IterationInfo(problem, seen, seconds, self.history, cpu))
            request.may_raise = False
            self._next_check = termination.next_check(state.iteration)
            if certificate is not state.certificate:
                self.state = fast_replace(state, certificate=certificate)
        if self._record is not None:
            with self._refuse_checkpoint():
                self._save(self._record, seconds)
        may_stop = self.status is None and (self._communicator.size > 1 or request.pending)
        if may_stop and is_stop_requested(self._communicator):
            self._interrupt()
        return self.status is not None

    def _elapsed(self) -> tuple[float, float]:
        """Return wall time and CPU time of the run so far."""
        wall, cpu = self._communicator.read_clocks()
        return wall - self._start_time, cpu - self._start_cpu

    @property
    def seconds(self) -> float:
        """Wall time of the run so far."""
        return self._communicator.now() - self._start_time

    def _conclude(self, state: State, ended: Status, verify: bool) -> Conclusion:
        """Conclude the run; a signal while the point is measured ends it as interrupted."""
        request.may_raise = verify and self._may_raise
        try:
            return self.termination.conclude(state, ended, verify=verify)
        except KeyboardInterrupt:
            if not verify:
                raise
            return self.termination.conclude(state, Status.INTERRUPTED, verify=False)
        finally:
            request.may_raise = False

    def result(self, *, failed: bool = False) -> Result:
        """Return the result: the last point or the incumbent, measured, with its status; an oracle may have failed."""
        with self._refuse_checkpoint():
            return self._result(failed)

    def _result(self, failed: bool) -> Result:
        assert self.state is not None
        assert self.status is not None
        state = self.termination.count_work(self.state)
        if not self.status.is_conclusive and self.status is not Status.ITERATION_LIMIT:
            # a limit of k iterations gives the k-th iterate, to which the theorems apply
            state = self.incumbent.with_incumbent(state)
        verify = self.status not in HURRIED_STATUSES and not failed
        try:
            end = self._conclude(state, self.status, verify)
        except OracleError as error:  # found by the final check, so that nothing is solved
            self.status = Status.STOPPED if self.status.success else self.status
            error.result = self._result(failed=True)
            raise
        return Result(
            status=end.status,
            x=end.x,
            image=end.image,
            **certificate_figures(self.problem, end.certificate),
            tracker_error=end.tracker_error,
            accuracy=self.termination.accuracy,
            atol=self.termination.atol,
            method=self.method.name,
            settings=_method_settings(self.method, end.state),
            iterations=end.state.iteration,
            counts=end.state.counts,
            seconds=self.seconds,
            peak_memory_bytes=peak_memory(),
            history=self.history,
            problem=self.problem,
            state=end.state,
        )

    def _interrupt(self) -> None:
        """Write the checkpoint and end the run as interrupted."""
        if self._record is not None:
            self._record.interrupt()
        self.status = Status.INTERRUPTED

    def _save(self, record: RunRecord, seconds: float) -> None:
        """Pass the state to the checkpoint, unless a time limit has cut its iteration short: no run continues there."""
        state, status, count = self.state, self.status, len(self.history)
        assert state is not None
        if status is Status.TIME_LIMIT and state.failure is not None:
            return
        memory = {**self.termination.memory(), "best": self.incumbent.memory(state)}
        record.save(Snapshot(state, lambda: self.history.table[:count], seconds, memory, status))

    def _restore(self) -> None:
        """Continue from the checkpoint; a run that had ended has its status, unless its limit is a higher one now."""
        record = self._record
        saved = None if record is None else record.restored_snapshot
        if record is None or saved is None:
            return
        assert not callable(saved.rows)
        self.state, self.history = saved.state, History(saved.rows)
        with record.wrap_errors():
            if not isinstance(saved.status, Status | None):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(f"a status {saved.status!r}")
            self.termination.recall(saved.memory)
            self.incumbent.recall(saved.memory.get("best"), saved.state)
            self.state = verify_recorded_bounds(self.problem, saved.state, self.termination.accuracy)
            seconds = validate.nonnegative("seconds", saved.seconds)
            self._start_time -= seconds
            cpu = float(self.history.first_and_last("cpu_seconds")[1]) if len(self.history) else 0.0
        self._start_cpu -= cpu
        if saved.status is None:
            return
        self._start_time = self._communicator.now() - seconds
        with record.wrap_errors():
            seen = self.termination.count_work(self.state)
            status, _ = self.termination.decide(IterationInfo(self.problem, seen, seconds, self.history, cpu))
            self.termination.recall(saved.memory)  # the decision was known; its callback may set what applications read
            if saved.status.is_conclusive and status is not saved.status:
                raise ValueError(f"its status is {saved.status.value}, which its state does not prove")
        self.status = saved.status if saved.status.is_conclusive or saved.state.failure is not None else status


def check_finite(problem: Problem, state: State) -> None:
    """Raise when iterates are no longer finite; NaN and infinity survive in their inner product.

    Where objective and violation are functions of ||A xbar - b||, they show it, and the oracle's value shows it of lam.
    """
    certificate = state.certificate
    if problem.conjugate_curvature is not None and math.isfinite(certificate.objective + certificate.violation):
        return
    if math.isfinite(inner(state.image, state.dual)):
        return
    if not (validate.all_finite(state.image) and validate.all_finite(state.dual)):  # a product alone may overflow
        raise OracleError(
            f"NaN or infinity in the iterates after iteration {state.iteration}: the oracle, the map or the coupling "
            f"returned one, or numbers overflow; {ADVICE}"
        )


_MALLOC_VECTORS = 16
"""Vectors whose memory the C library should keep for the next iteration."""
_LEAST, _MOST = 1 << 16, 1 << 21
"""Sizes of vectors in bytes that matter: smaller ones are always kept, larger ones would waste memory."""


def tune_malloc(size: int) -> bool:
    """Let the C library keep the memory of freed vectors of ``size`` bytes; return whether that was needed.

    glibc returns memory to the system as soon as a few vectors are freed, and every page of the next ones then costs a
    fault: up to a third of the time of an iteration. It keeps an amount that grows with the largest block ever freed,
    up to 32 MB. So one block is allocated and freed without being written to, which takes no memory.

    >>> tune_malloc(800), tune_malloc(800_000)
    (False, True)
    """
    needed = _LEAST <= size < _MOST
    if needed:
        np.empty(_MALLOC_VECTORS * size, np.uint8)
    return needed


def _method_settings(method: Method, state: State | None) -> dict[str, Any]:
    """Return a method's options that are plain values as the run used them, and the tracker, for the record.

    An option that was left to the method has the value that it chose; one that does not apply is left out.
    """
    options = method_options(method)
    used = {} if state is None else {**state.resolved_options, "tracker": tracker_name(state.primal)}
    return {name: value for name, value in {**options, **used}.items() if isinstance(value, (str, int, float))}


def first_state(
    method: Method, problem: Problem, tracker: Tracker, dual: Array, accuracy: float, start: Result | Array | None
) -> State:
    """Return the first state: at the point of a result where the method can start there, else at lam_0."""
    state = None
    if isinstance(start, Result):
        state = start_from(method, problem, tracker, _warm_point(problem, start, dual), accuracy)
    return method.start(problem, tracker, dual, accuracy) if state is None else state


def _warm_point(problem: Problem, result: Result, dual: Array) -> WarmPoint:
    """Return the dual vector of a result, and its point and atoms as far as they lie in X.

    Where X is a larger or a smaller copy of the set of the result, the atoms are those of X in the same directions.
    """
    is_same_set = result.problem is not None and _are_same_sets(problem.sharp, result.problem.sharp)

    def lies_in_set(x: Any) -> bool:
        known = problem.sharp.has_membership_test
        return is_same_set or (known and np.shape(x) == problem.sharp.shape and problem.sharp.contains(x))

    state = result.state if isinstance(result.state, State) else None
    last, primal = (None, None) if state is None else (state.unwrap(), state.primal)
    x = result.x if result.x is not None and lies_in_set(result.x) else None
    if not isinstance(primal, HasAtoms):
        return WarmPoint(x, dual=dual, state=last)
    ratio = 1.0 if is_same_set else _size_ratio(problem, primal)
    atoms, idle = (
        tuple(known) if ratio == 1.0 else tuple(scale_atom(atom, ratio) for atom in known)
        for known in (primal.atoms, last.idle_atoms if last else ())
    )
    if not all(map(lies_in_set, (*atoms, *idle))) or (x is None and ratio == 1.0):
        return WarmPoint(x, dual=dual, state=last)
    weights = tuple(map(float, primal.weights))
    return WarmPoint(x if ratio == 1.0 else combination(weights, atoms), weights, atoms, idle, dual, last)


def _are_same_sets(sharp: SharpOracle, other: SharpOracle) -> bool:
    """Whether two oracles have one set X: the same object, or one of the library with equal numbers, whatever C is.

    Equal arrays prove nothing, since they may have been changed in place after the earlier run.

    >>> from unipd.sharp import Linear, Simplex
    >>> [_are_same_sets(Linear([1.0, 2.0], Simplex(2)), Linear([3.0, 4.0], Simplex(2, size))) for size in (1.0, 2.0)]
    [True, False]
    """
    one, two = (part.oracle if type(part) is Linear else part for part in (sharp, other))
    if one is two or type(one) is not type(two) or not validate.is_own(one):
        return one is two
    mine, others = ({name: value for name, value in vars(part).items() if name != "_shape"} for part in (one, two))
    is_plain = all(isinstance(value, (int, float, str)) for value in (*mine.values(), *others.values()))
    return is_plain and one.shape == two.shape and mine == others


def _size_ratio(problem: Problem, primal: HasAtoms) -> float:
    """Return the ratio of the vertex of X in the direction of the heaviest atom to that atom; 1 where unknown."""
    size, shape = abs(problem.sharp.maximum()), problem.sharp.shape
    if not (problem.sharp.linear and math.isfinite(size) and len(primal.weights) > 0):
        return 1.0
    atom = primal.atoms[int(np.argmax(primal.weights))]
    direction = None if isinstance(atom, Blocks) else np.asarray(dense(atom))
    squared = 0.0 if direction is None or direction.shape != shape else inner(direction, direction)
    if direction is None or squared == 0.0:
        return 1.0
    far = _FAR * max(1.0, size) / squared * direction  # so far that the cost in f does not count
    vertices = problem.sharp.best_vertices(far, 1, -math.inf)
    ratio = inner_product(direction, vertices[0]) / squared if vertices else 1.0
    return ratio if ratio > 0.0 and abs(ratio - 1.0) > _SAME_SIZE else 1.0


def starting_dual(problem: Problem, start: Result | Array | None) -> Array:
    """Return lam_0: zero, the dual vector of an earlier result, or the given one.

    Where h is infinite at zero (a likelihood), prox_h(0) takes the place of zero.
    A result may have fewer rows, those of an earlier problem to which rows have been appended: these start at 0. It is
    brought into the domain of h, which may be that of another coupling.
    """
    if start is None:
        vector = np.zeros(problem.dual_shape, problem.dtype)
    else:
        dual = start.dual if isinstance(start, Result) else start
        if isinstance(start, Result) and np.ndim(dual) == 1 == len(problem.dual_shape):
            dual = np.append(dual, np.zeros(max(problem.b.size - np.size(dual), 0), np.asarray(dual).dtype))
        given = validate.finite_array("start", dual, shape=problem.dual_shape)
        if given.dtype.kind == "c" and problem.dtype.kind != "c":
            raise InvalidInput("start", "a real dual vector", "a complex one")
        vector = given.astype(problem.dtype)
    is_ours = start is None or isinstance(start, Result)
    return problem.coupling.prox_conjugate(vector, 1.0) if is_ours and not problem.in_dual_domain(vector) else vector
