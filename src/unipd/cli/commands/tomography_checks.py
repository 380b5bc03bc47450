"""What ``unipd tomography`` checks before it computes, and the progress of its bootstrap."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator

from unipd.cli.exits import say
from unipd.cli.options import Options
from unipd.errors import InvalidInput

_CONSTRAINED = ("trace", "trace-squared")


def check_model(objective: str, noise_level: float | None) -> None:
    """Raise when an option would have no effect with the objective chosen."""
    if noise_level is not None and objective not in _CONSTRAINED:
        raise InvalidInput("--noise-level", "--objective trace or trace-squared beside it", f"--objective {objective}")


def check_replicates(options: Options) -> None:
    """Raise when there are replicates beside the checkpoint that cannot be read."""
    from unipd.apps.tomography.replicates import found_replicates

    if options.checkpoint is not None:
        found_replicates(options.checkpoint)


@contextlib.contextmanager
def counted(name: str, total: int, *, quiet: bool) -> Generator[Callable[[int, int], None]]:
    """Give a function of (done, all) that shows progress: a bar on a terminal, a line every tenth elsewhere."""
    if quiet:
        yield lambda done, total: None
        return
    if sys.stderr.isatty():
        with contextlib.suppress(ImportError):
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("[bold]{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            bar = Progress(*columns, console=Console(stderr=True), transient=True)
            task = bar.add_task(name, total=total)
            with bar:
                yield lambda done, total: bar.update(task, completed=done, total=total)
            return

    def line(done: int, total: int) -> None:
        if done == total or done % max(1, total // 10) == 0:
            say(f"{name}: {done} of {total}")

    yield line
