"""Progress of a run: a rich bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from unipd.problem import Problem
from unipd.run.estimate import duration, remaining_seconds
from unipd.run.history import relative_gap
from unipd.run.stopping import Moment

LINE_INTERVAL = 2.0
"""Seconds between plain lines."""
BAR_INTERVAL = 0.2
"""Seconds between changes of the bar."""


@contextmanager
def progress_display(problem: Problem, method: str, accuracy: float) -> Generator[Callable[[Moment], None]]:
    """Give a function that shows a moment; the display ends with the block."""
    if sys.stderr.isatty():
        try:
            import rich.progress as rich_progress
        except ImportError:
            yield _plain_lines(method)
            return
        with _bar(rich_progress, method, accuracy) as show:
            yield show
    else:
        yield _plain_lines(method)


def describe(moment: Moment) -> str:
    """Return one line: iteration, objective, infeasibility, bound, gap, oracle calls a second."""
    certificate, counts = moment.state.certificate, moment.state.counts
    gap = relative_gap(moment.problem, certificate.objective, certificate.dual_bound)
    rate = counts.oracle_calls / moment.seconds if moment.seconds > 0 else 0.0
    return (
        f"iteration {moment.state.iteration}  objective {certificate.objective:.6g}  "
        f"infeasibility {certificate.infeasibility:.1e}  bound {certificate.dual_bound:.6g}  gap {gap:.1e}  "
        f"{rate:.3g} oracle calls/s"
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


def _plain_lines(method: str) -> Callable[[Moment], None]:
    last = -math.inf

    def show(moment: Moment) -> None:
        nonlocal last
        if moment.seconds - last >= LINE_INTERVAL:
            last = moment.seconds
            print(f"{method}  {moment.seconds:6.1f} s  {describe(moment)}", file=sys.stderr, flush=True)

    return show


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
    figures = Text("starting")
    times, errors = [-math.inf], [math.nan]
    with Live(Group(bar, figures), console=Console(stderr=True), transient=True, refresh_per_second=5):

        def show(moment: Moment) -> None:
            if moment.seconds - times[-1] < BAR_INTERVAL:
                return
            times.append(moment.seconds)
            errors.append(errors_of(moment)[1])
            left = duration(remaining_seconds(times[1:], errors[1:], accuracy))
            bar.update(task, completed=progress_fraction(moment, accuracy), left=left)
            figures.plain = describe(moment)

        yield show
