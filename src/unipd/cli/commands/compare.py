"""``unipd compare``: several methods on one problem."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from unipd._version import __version__
from unipd.cli import tables
from unipd.cli.commands.compare_tasks import Task, parse_methods, task_for
from unipd.cli.delivery import Delivery
from unipd.cli.demos import DEMOS
from unipd.cli.exits import INFEASIBLE, INTERRUPTED, NOT_REACHED, SOLVED, exit_code, say
from unipd.cli.options import SOLVING, WATCHING, WRITING, Options, common_options
from unipd.cli.outputs import check_choice
from unipd.cli.solving import stopping_rule
from unipd.errors import InvalidInput
from unipd.status import Status

EXAMPLES = (
    "unipd compare --demo least-squares --plot methods.png",
    "unipd compare mcp100.dat-s --methods factored,corrective --time-limit 60",
    "unipd compare model.py:problem --axis seconds --plot methods.svg",
    "unipd compare --demo maxcut --size 200 --save runs --json -",
)
AXES = ("iterations", "oracle_calls", "matvecs", "seconds")
THEMES = ("light", "dark")
_COMMON = tuple(name for name in (*SOLVING, *WRITING, *WATCHING) if name not in ("method", "out"))
_PROBLEM = "Problem"
_HEAD = ("method", "status", "objective", "bound", "gap", "infeasibility", "iterations", "oracle calls", "seconds")


@common_options(only=_COMMON)
def command(
    problem: Annotated[
        str | None,
        typer.Argument(help="A file in SDPA sparse format (.dat-s, .dat-s.gz), or MODULE:NAME or FILE.py:NAME."),
    ] = None,
    demo: Annotated[
        str | None,
        typer.Option(
            help=f"Generate a problem instead: {', '.join(DEMOS)}.",
            rich_help_panel=_PROBLEM,
            autocompletion=lambda: list(DEMOS),
        ),
    ] = None,
    size: Annotated[
        int | None, typer.Option(help="Size of the generated problem.", rich_help_panel=_PROBLEM, min=4)
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(help="Which methods, with commas between; default: all that fit.", rich_help_panel="Solver"),
    ] = None,
    axis: Annotated[
        str, typer.Option(help="Of --plot: iterations, oracle_calls, matvecs or seconds.", rich_help_panel="Output")
    ] = "oracle_calls",
    theme: Annotated[str, typer.Option(help="Of --plot: light or dark.", rich_help_panel="Output")] = "light",
    save: Annotated[
        Path | None,
        typer.Option(
            help="Write every result to this folder, for unipd report.", rich_help_panel="Output", metavar="FOLDER"
        ),
    ] = None,
    *,
    options: Options,
) -> int:
    """Solve one problem by several methods and show them side by side.

    Limits hold for each method. The exit code is 0 when every method reached the accuracy, 3 when one did not.
    """
    check_choice("--axis", axis, AXES)
    check_choice("--theme", theme, THEMES)
    asked = None if methods is None else parse_methods(methods)
    task = task_for(problem, demo, size, options.seed)
    chosen = task.check(asked)
    _prepare_folder(save)
    results: dict[str, Any] = {}
    delivery = Delivery()
    for name, result in _solved(task, chosen, options):
        results[name] = result
        if save is not None:
            delivery.write(save / f"{name}.npz", partial(_save, result, name=name, options=options))
    return _emit(task, results, {"axis": axis, "theme": theme}, options, delivery)


def _solved(task: Task, names: Sequence[str], options: Options) -> Iterator[tuple[str, Any]]:
    """Yield each method's result; an interrupted method is the last."""
    for name in names:
        settings: dict[str, Any] = {"stop": stopping_rule(options), "verbose": not options.quiet}
        if options.weights is not None and name in ("unipdgrad", "accunipdgrad"):
            settings["weights"] = options.weights
        if options.verbose:
            say(f"{task.known}, method {name}, accuracy {options.accuracy:g}, seed {options.seed}")
        result = task.solve(name, options.accuracy, **settings)
        yield name, result
        if Status(result.status) is Status.INTERRUPTED:
            return


def _emit(task: Task, results: dict[str, Any], look: dict[str, Any], options: Options, delivery: Delivery) -> int:
    code = code_of([Status(result.status) for result in results.values()])
    if options.plot is not None:
        from unipd.report import plot_comparison

        delivery.write(options.plot, lambda path: plot_comparison(results, path, title=task.title, **look))
    if not options.quiet:
        rows = [_HEAD, *(_row(name, result.summary()) for name, result in results.items())]
        tables.print_table(rows, tables.stream_for(options.json), f"{task.title}: {task.known}")
    runs = [{"name": name, **result.summary()} for name, result in results.items()]
    content = {"problem": task.known, "title": task.title, "accuracy": options.accuracy, "runs": runs}
    delivery.write_json({**content, "seed": options.seed, "version": __version__}, options.json, code)
    return delivery.complete(code, debug=options.debug)


def code_of(statuses: Sequence[Status]) -> int:
    """Return the exit code of several runs.

    >>> code_of([Status.SOLVED, Status.TIME_LIMIT]), code_of([Status.INFEASIBLE] * 2)
    (3, 4)
    """
    codes = {exit_code(status) for status in statuses}
    if INTERRUPTED in codes:
        return INTERRUPTED
    return codes.pop() if codes in ({SOLVED}, {INFEASIBLE}) else NOT_REACHED


def _row(name: str, figures: dict[str, Any]) -> tuple[str, ...]:
    def cell(key: str, digits: int) -> str:
        return tables.number(figures.get(key), digits)

    numbers = [cell("objective", 9), cell("dual_bound", 9), cell("gap", 2), cell("infeasibility", 2)]
    return (name, str(figures["status"]), *numbers, cell("iterations", 6), cell("oracle_calls", 6), cell("seconds", 3))


def _prepare_folder(folder: Path | None) -> None:
    """Make the folder where it is missing; raise when it cannot be written to."""
    if folder is None:
        return
    if folder.exists() and not folder.is_dir():
        raise InvalidInput("--save", "a folder", f"the file {str(folder)!r}")
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidInput("--save", "a folder that can be written to", repr(str(folder)))


def _save(result: Any, path: Path, name: str, options: Options) -> None:
    from unipd.io.results import save

    save(result, path, seed=options.seed, settings={**options.settings(), "method": name})
