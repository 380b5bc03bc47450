"""``unipd compare``: several methods on one problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unipd._util.printing import format_value
from unipd.cli.exits import INFEASIBLE, INTERRUPTED, NOT_REACHED, SOLVED, UNBOUNDED, exit_code
from unipd.cli.options import (
    AVERAGING_METHODS,
    METHODS,
    SOLVING,
    WATCHING,
    WRITING,
    Options,
    check_choice,
    check_program_name,
    check_style,
    common_options,
    make_folder,
    option,
)
from unipd.cli.output import OutputWriter, announce, run_solver, solver_arguments
from unipd.cli.problems import DEMOS, is_python, load_problem
from unipd.errors import InvalidInput
from unipd.status import Status

if TYPE_CHECKING:
    from unipd.apps.sdp import SDP
    from unipd.problem import Problem
    from unipd.run import Result

LOSS_METHODS = ("frank-wolfe", "away-step", "pairwise")
"""Methods that need a smooth loss."""


def parse_methods(text: str) -> list[str]:
    """Parse a comma-separated list of methods.

    >>> parse_methods("unipdgrad, corrective")
    ['unipdgrad', 'corrective']
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in METHODS]
    if unknown or not names:
        expected = f"some of {', '.join(METHODS)}, separated by commas"
        raise InvalidInput("--methods", expected, repr(unknown[0] if unknown else text))
    if len(set(names)) < len(names):
        raise InvalidInput("--methods", "each method once", repr(text))
    return names


def load_subject(problem: str | None, demo: str | None, size: int | None, seed: int) -> tuple[Problem | SDP, str]:
    """Return a user-supplied or generated problem, and its title."""
    if (problem is None) == (demo is None):
        got = "neither" if problem is None else "both"
        raise InvalidInput("PROBLEM", "either a problem or --demo NAME", got)
    if demo is not None:
        check_choice("--demo", demo, DEMOS)
        make, default_size, title = DEMOS[demo]
        return make(size or default_size, seed), title
    if size is not None:
        raise InvalidInput("--size", "--demo NAME with this option", "a problem of its own size")
    assert problem is not None
    if is_python(problem):
        return load_problem(problem), problem
    from unipd.apps.sdp import SDP

    check_program_name(problem)
    return SDP.from_file(Path(problem)), Path(problem).name


def choose_methods(subject: Problem | SDP, names: Sequence[str] | None) -> Sequence[str]:
    """Return the methods to run (all applicable ones by default), or raise if one is not applicable."""
    from unipd.methods.factored import is_factorable
    from unipd.problem import Problem

    applicable = list(METHODS[1:])
    if not isinstance(subject, Problem) or subject.loss is None:
        applicable = [name for name in applicable if name not in LOSS_METHODS]
    if isinstance(subject, Problem) and not is_factorable(subject.sharp):
        applicable.remove("factored")
    for name in names or ():
        if name not in ("auto", *applicable):
            raise InvalidInput("--methods", f"methods for this problem ({', '.join(applicable)})", repr(name))
    return names or applicable


EXAMPLES = (
    "unipd compare --demo least-squares --plot methods.png",
    "unipd compare mcp100.dat-s --methods factored,corrective --time-limit 60",
    "unipd compare model.py:problem --axis seconds --plot methods.svg",
    "unipd compare --demo maxcut --size 200 --save runs --json -",
)
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
        option(f"Solve a generated problem: {', '.join(DEMOS)}.", _PROBLEM, choices=DEMOS),
    ] = None,
    size: Annotated[int | None, option("Size of the generated problem.", _PROBLEM, min=4)] = None,
    methods: Annotated[str | None, option("Comma-separated methods; default: all applicable ones.", "Solver")] = None,
    axis: Annotated[
        str, option("Axis of --plot: iterations, oracle_calls, matvecs or seconds.", "Output")
    ] = "oracle_calls",
    theme: Annotated[str, option("Theme of --plot: light or dark.", "Output")] = "light",
    save: Annotated[
        Path | None, option("Save every result to this folder, for unipd report.", "Output", metavar="FOLDER")
    ] = None,
    *,
    options: Options,
) -> int:
    """Solve one problem by several methods and compare them.

    Limits apply to each method. The exit code is 0 if every method reached the accuracy, 3 otherwise.
    """
    check_style(axis, theme)
    names = None if methods is None else parse_methods(methods)
    subject, title = load_subject(problem, demo, size, options.seed)
    chosen = choose_methods(subject, names)
    if save is not None:
        make_folder("--save", save)
    results: dict[str, Result] = {}
    writer = OutputWriter(options)
    for name in chosen:
        results[name] = result = _solve(subject, name, options)
        if save is not None:
            writer.write(save / f"{name}.npz", partial(_save, result, name=name, options=options))
        if result.status is Status.INTERRUPTED:
            break
    if options.plot is not None:
        from unipd.report import plot_comparison

        writer.write(options.plot, lambda path: plot_comparison(results, path, title=title, axis=axis, theme=theme))
    rows = [_HEAD, *(_row(name, result.summary()) for name, result in results.items())]
    runs = [{"name": name, **result.summary()} for name, result in results.items()]
    content = {"problem": repr(subject), "title": title, "accuracy": options.accuracy, "runs": runs}
    code = combined_exit_code([result.status for result in results.values()])
    return writer.finish(rows, {**content, "seed": options.seed}, code, f"{title}: {subject!r}")


def _solve(subject: Problem | SDP, name: str, options: Options) -> Result:
    from unipd.problem import Problem

    chosen = replace(options, method=name, weights=options.weights if name in AVERAGING_METHODS else None)
    if isinstance(subject, Problem):
        return run_solver(subject, chosen)
    announce(subject, chosen)
    return subject.solve(**solver_arguments(chosen))


def combined_exit_code(statuses: Sequence[Status]) -> int:
    """Return the exit code of several runs.

    >>> combined_exit_code([Status.SOLVED, Status.TIME_LIMIT]), combined_exit_code([Status.INFEASIBLE] * 2)
    (3, 4)
    """
    codes = {exit_code(status) for status in statuses}
    if INTERRUPTED in codes:
        return INTERRUPTED
    return codes.pop() if codes in ({SOLVED}, {INFEASIBLE}, {UNBOUNDED}) else NOT_REACHED


def _row(name: str, figures: dict[str, Any]) -> tuple[str, ...]:
    def cell(key: str, digits: int) -> str:
        return format_value(figures.get(key), digits)

    numbers = [cell("objective", 9), cell("dual_bound", 9), cell("gap", 2), cell("infeasibility", 2)]
    return (name, str(figures["status"]), *numbers, cell("iterations", 6), cell("oracle_calls", 6), cell("seconds", 3))


def _save(result: Result, path: Path, name: str, options: Options) -> None:
    from unipd.io.results import save

    save(result, path, seed=options.seed, settings={**options.settings(), "method": name})
