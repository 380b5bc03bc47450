"""Progress of a run: a rich bar on a terminal, plain lines elsewhere, and watchers of all runs in a block."""

from __future__ import annotations

import math
import sys
import time
from bisect import bisect_left
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from unipd._util.context import RunContext, change_context, current_context, subscribe
from unipd._util.printing import print_to_stderr
from unipd.run.history import IterationInfo

SLOWING = 0.8
"""When the fourth quarter gains less than this share of what the third did, convergence counts as sublinear."""


def remaining_seconds(seconds: Sequence[float], errors: Sequence[float], accuracy: float) -> float | None:
    """Return the estimated seconds until the error reaches the accuracy, from the second half of the run, or None.

    Errors that fall by a constant factor in equal times are extrapolated linearly in their logarithm; errors that slow
    down as a power of the time, as in the theorems.

    >>> round(remaining_seconds([1.0, 2.0, 3.0, 4.0], [1e-1, 1e-2, 1e-3, 1e-4], 1e-6), 6)
    2.0
    """
    if len(seconds) < 4:
        return None
    now = seconds[-1]
    half, later = (errors[bisect_left(seconds, share * now)] for share in (0.5, 0.75))
    last = errors[-1]
    if not all(math.isfinite(error) and error > 0.0 for error in (half, later, last)):
        return None
    end = math.log(last)
    gained, lately, missing = math.log(half) - end, math.log(later) - end, end - math.log(accuracy)
    if missing <= 0.0:
        return 0.0
    if gained <= 0.0:
        return None
    if lately >= SLOWING * (gained - lately):
        return 0.5 * now * missing / gained
    power = missing * math.log(2.0) / gained
    return now * math.expm1(power) if power < 40.0 else None


def duration_text(seconds: float | None) -> str:
    """Return a waiting time as text.

    >>> duration_text(45.2), duration_text(600.0), duration_text(9000.0), duration_text(1e7), duration_text(None)
    ('45 s', '10 min', '2.5 h', 'more than a day', 'unknown')
    """
    if seconds is None:
        return "unknown"
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    if seconds < 5400.0:
        return f"{seconds / 60.0:.0f} min"
    return f"{seconds / 3600.0:.1f} h" if seconds < 86400.0 else "more than a day"


SILENCE = 5.0
"""Seconds of silence after which the current work is shown; later a tenth of the time spent."""
QUIET_SHARE = 0.1


class Heartbeat:
    """Listener to products that, after a silence, reports the current work.

    Parameters
    ----------
    say
        Called with the seconds since the beginning and one line of text.
    silence
        Seconds between lines at least; None for one that grows with the run.
    clock
        Returns seconds.

    Examples
    --------
    >>> times = iter([0.0, 1.0, 8.0])
    >>> lines = []
    >>> heartbeat = Heartbeat(lambda seconds, text: lines.append(text), clock=lambda: next(times))
    >>> heartbeat("eigenvector", 1); heartbeat("eigenvector", 3)
    >>> lines
    ['eigenvector: 4 products, 0.5 a second']
    """

    def __init__(
        self,
        say: Callable[[float, str], None],
        silence: float | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._say, self._silence, self._clock = say, silence, clock
        self._begun = self._heard = self._phase = clock()
        self._work, self._products, self._before = "", 0, self._begun

    def __call__(self, work: str, products: int) -> None:
        """Count products and, after a silence, report them."""
        now = self._clock()
        if work != self._work:
            self._work, self._products, self._phase = work, 0, self._before
        self._products, self._before = self._products + products, now
        spent = now - self._begun
        silence = max(SILENCE, QUIET_SHARE * spent) if self._silence is None else self._silence
        if now - self._heard >= silence:
            self._heard = now
            rate = self._products / max(now - self._phase, 1e-9)
            self._say(spent, f"{work}: {self._products} products, {rate:.2g} a second")

    def start_count(self) -> None:
        """Start a new count: an iteration was shown."""
        self._work, self._heard = "", self._clock()


LINE_INTERVAL = 2.0
"""Seconds between plain lines."""
BAR_INTERVAL = 0.2
"""Seconds between changes of the bar."""


@contextmanager
def progress_display(method: str, accuracy: float) -> Generator[Callable[[IterationInfo], None]]:
    """Yield a function that shows an iteration; the display ends with the block."""
    if sys.stderr is not None and sys.stderr.isatty():  # pyright: ignore[reportUnnecessaryComparison]
        try:
            import rich.progress as rich_progress
        except ImportError:
            rich_progress = None
        if rich_progress is not None:
            with _bar(rich_progress, method, accuracy) as show:
                yield show
            return
    with plain_lines(method, accuracy, print_to_stderr) as show:
        yield show


def describe(info: IterationInfo) -> str:
    """Return one line: iteration, objective, infeasibility (for a loss its residual), bound, gap, and the work done.

    The residual of a loss is phi(A x - b) / phi(-b), for least squares ||A x - b||^2 / ||b||^2. An oracle that
    minimises for a maximisation reports values through ``display_value``.
    """
    certificate, counts = info.state.certificate, info.state.counts
    rate = counts.oracle_calls / info.seconds if info.seconds > 0 else 0.0
    shown = info.problem.sharp.display_value
    error = f"infeasibility {info.infeasibility:.1e}"
    if info.problem.loss_at_zero > 0.0:
        error = f"residual {certificate.objective / info.problem.loss_at_zero:.1e}"
    return (
        f"iteration {info.state.iteration}  objective {shown(certificate.objective) + 0.0:.6g}  {error}  "
        f"bound {shown(certificate.dual_bound) + 0.0:.6g}  gap {info.gap:.1e}  {rate:.3g} oracle calls/s  "
        f"{counts.matvecs} products"
    )


def errors_of(info: IterationInfo) -> tuple[float, float]:
    """Return the larger of relative gap and infeasibility, at the first iteration and now."""
    (first_gap, gap), (first_distance, distance) = (
        info.history.first_and_last(column) for column in ("gap", "infeasibility")
    )
    return max(abs(first_gap), first_distance), max(abs(gap), distance)


def progress_fraction(info: IterationInfo, accuracy: float) -> float:
    """Return the progress on a logarithmic scale, from the first error (0) to the accuracy (1)."""
    first, now = errors_of(info)
    if not (math.isfinite(first) and math.isfinite(now)) or first <= accuracy:
        return 0.0
    done = math.log(first / max(now, accuracy)) / math.log(first / accuracy)
    return min(1.0, max(0.0, done))


class _Curve:
    """The errors of a run over time, for the estimate of the time left."""

    def __init__(self, accuracy: float) -> None:
        self._accuracy = accuracy
        self._seconds: list[float] = []
        self._errors: list[float] = []

    def left(self, info: IterationInfo) -> str:
        """Add an iteration and return the remaining time as text."""
        self._seconds.append(info.seconds)
        self._errors.append(errors_of(info)[1])
        return duration_text(remaining_seconds(self._seconds, self._errors, self._accuracy))


@contextmanager
def plain_lines(
    method: str, accuracy: float, write: Callable[[str], None]
) -> Generator[Callable[[IterationInfo], None]]:
    """Yield a function that writes a line at most every two seconds; long iterations report their products."""
    last, curve = -math.inf, _Curve(accuracy)

    def say(seconds: float, text: str) -> None:
        write(f"{method}  {seconds:6.1f} s  {text}")

    heartbeat = Heartbeat(say)

    def show(info: IterationInfo) -> None:
        nonlocal last
        if info.seconds - last >= LINE_INTERVAL:
            last = info.seconds
            heartbeat.start_count()
            say(info.seconds, f"{describe(info)}  ETA {curve.left(info)}")

    with subscribe(heartbeat):
        yield show


@contextmanager
def _bar(rich_progress: Any, method: str, accuracy: float) -> Generator[Callable[[IterationInfo], None]]:
    """Show a bar with elapsed and remaining time, and the figures on separate lines, which fit any terminal."""
    from rich.console import Console, Group
    from rich.live import Live
    from rich.text import Text

    bar = rich_progress.Progress(
        rich_progress.TextColumn("[bold]{task.fields[method]}"),
        rich_progress.BarColumn(bar_width=None),
        rich_progress.TaskProgressColumn(),
        rich_progress.TimeElapsedColumn(),
        rich_progress.TextColumn("ETA {task.fields[left]}"),
        expand=True,
    )
    task = bar.add_task("", total=1.0, method=method, left="unknown")
    figures, work = Text("starting"), Text("")
    last, curve = -math.inf, _Curve(accuracy)

    def say(_: float, text: str) -> None:
        work.plain = text

    heartbeat = Heartbeat(say, silence=1.0)

    def show(info: IterationInfo) -> None:
        nonlocal last
        if info.seconds - last >= BAR_INTERVAL:
            last = info.seconds
            heartbeat.start_count()
            work.plain = ""
            bar.update(task, completed=progress_fraction(info, accuracy), left=curve.left(info))
            figures.plain = describe(info)

    group = Group(bar, figures, work)
    with Live(group, console=Console(stderr=True), transient=True, refresh_per_second=5), subscribe(heartbeat):
        yield show


Show = Callable[[IterationInfo], None]
Watcher = Callable[[str, float], Show]
"""Called with the method's name and the accuracy when a run begins; returns what to call after every iteration."""


def watch_runs(watcher: Watcher) -> AbstractContextManager[RunContext]:
    """Let ``watcher`` follow the runs that begin inside the block, in this thread.

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> seen = []
    >>> with watch_runs(lambda method, accuracy: lambda info: seen.append(info.state.iteration)):
    ...     result = unipd.solve(problem, "unipdgrad", stop=unipd.MaxIterations(3), accuracy=1e-9)
    >>> seen
    [1, 2, 3]
    """
    return change_context(watcher=watcher)


def write_progress_to(write: Callable[[str], None]) -> AbstractContextManager[RunContext]:
    """Send the progress lines of runs that begin inside the block to ``write``, whether or not they are displayed.

    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> lines = []
    >>> with write_progress_to(lines.append):
    ...     result = unipd.solve(problem, "unipdgrad", stop=unipd.MaxIterations(3), accuracy=1e-9)
    >>> len(lines), lines[0].split()[3:5]
    (1, ['iteration', '1'])
    """
    return change_context(progress_writer=write)


@contextmanager
def open_observers(method: str, accuracy: float, *, verbose: bool) -> Generator[Show]:
    """Yield a function that shows an iteration on the terminal, in the log and to the watcher."""
    watcher, write = current_context().watcher, current_context().progress_writer
    shows: list[Show] = []
    with ExitStack() as stack:
        if write is not None:
            shows.append(stack.enter_context(plain_lines(method, accuracy, write)))
        if verbose:
            shows.append(stack.enter_context(progress_display(method, accuracy)))
        if watcher is not None:
            shows.append(watcher(method, accuracy))

        def show_all(info: IterationInfo) -> None:
            for show in shows:
                show(info)

        yield show_all
