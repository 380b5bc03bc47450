"""Progress of a run: a rich bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from unipd.pulse import listening
from unipd.run.estimate import duration, remaining_seconds
from unipd.run.heartbeat import Heartbeat
from unipd.run.history import relative_gap
from unipd.run.moment import Moment

LINE_INTERVAL = 2.0
"""Seconds between plain lines."""
BAR_INTERVAL = 0.2
"""Seconds between changes of the bar."""


@contextmanager
def progress_display(method: str, accuracy: float) -> Generator[Callable[[Moment], None]]:
    """Give a function that shows a moment; the display ends with the block."""
    if sys.stderr.isatty():
        try:
            import rich.progress as rich_progress
        except ImportError:
            rich_progress = None
        if rich_progress is not None:
            with _bar(rich_progress, method, accuracy) as show:
                yield show
            return
    with plain_lines(method, accuracy, _to_standard_error) as show:
        yield show


def _to_standard_error(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def describe(moment: Moment) -> str:
    """Return one line: iteration, objective, infeasibility (for a loss its residual), bound, gap, and the work done.

    The residual of a loss is phi(A x - b) / phi(-b), for least squares ||A x - b||^2 / ||b||^2. An oracle that
    minimises for a maximisation says how values are ``shown``.
    """
    certificate, counts = moment.state.certificate, moment.state.counts
    gap = relative_gap(moment.problem, certificate.objective, certificate.dual_bound)
    rate = counts.oracle_calls / moment.seconds if moment.seconds > 0 else 0.0
    shown = getattr(moment.problem.sharp, "shown", float)
    error = f"infeasibility {certificate.infeasibility:.1e}"
    if moment.problem.loss is not None:
        error = f"residual {certificate.objective / moment.problem.scale(certificate.objective):.1e}"
    return (
        f"iteration {moment.state.iteration}  objective {shown(certificate.objective) + 0.0:.6g}  {error}  "
        f"bound {shown(certificate.dual_bound) + 0.0:.6g}  gap {gap:.1e}  {rate:.3g} oracle calls/s  "
        f"{counts.matvecs} products"
    )


def errors_of(moment: Moment) -> tuple[float, float]:
    """Return the larger of relative gap and infeasibility, at the first iteration and now."""
    (first_gap, gap), (first_distance, distance) = (
        moment.history.first_and_last(column) for column in ("gap", "relative_infeasibility")
    )
    return max(abs(first_gap), first_distance), max(abs(gap), distance)


def progress_fraction(moment: Moment, accuracy: float) -> float:
    """Return how far the run has come on a logarithmic scale, from its first error to the accuracy."""
    first, now = errors_of(moment)
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

    def left(self, moment: Moment) -> str:
        """Take a moment up and return the time left in words."""
        self._seconds.append(moment.seconds)
        self._errors.append(errors_of(moment)[1])
        return duration(remaining_seconds(self._seconds, self._errors, self._accuracy))


@contextmanager
def plain_lines(method: str, accuracy: float, write: Callable[[str], None]) -> Generator[Callable[[Moment], None]]:
    """Give a function that writes a line about a moment every two seconds; long iterations give signs of life."""
    last, curve = -math.inf, _Curve(accuracy)

    def say(seconds: float, text: str) -> None:
        write(f"{method}  {seconds:6.1f} s  {text}")

    pulse = Heartbeat(say)

    def show(moment: Moment) -> None:
        nonlocal last
        if moment.seconds - last >= LINE_INTERVAL:
            last = moment.seconds
            pulse.iterated()
            say(moment.seconds, f"{describe(moment)}  ETA {curve.left(moment)}")

    with listening(pulse):
        yield show


@contextmanager
def _bar(rich_progress: Any, method: str, accuracy: float) -> Generator[Callable[[Moment], None]]:
    """Show a bar with the time spent and left, and the figures on lines of their own: they fit any terminal."""
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

    pulse = Heartbeat(say, silence=1.0)

    def show(moment: Moment) -> None:
        nonlocal last
        if moment.seconds - last >= BAR_INTERVAL:
            last = moment.seconds
            pulse.iterated()
            work.plain = ""
            bar.update(task, completed=progress_fraction(moment, accuracy), left=curve.left(moment))
            figures.plain = describe(moment)

    group = Group(bar, figures, work)
    with Live(group, console=Console(stderr=True), transient=True, refresh_per_second=5), listening(pulse):
        yield show
