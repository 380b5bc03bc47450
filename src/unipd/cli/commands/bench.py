"""``unipd bench``: the benchmarks of the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unipd._version import __version__
from unipd.cli import benchmarks, tables
from unipd.cli.benchmarks import Outcome
from unipd.cli.exits import NOT_REACHED, SOLVED, UNEXPECTED, say
from unipd.cli.options import Options, common_options
from unipd.cli.outputs import write_json

EXAMPLES = (
    "unipd bench --list",
    "unipd bench --quick",
    "unipd bench overhead first_order --threads 1 --json figures.json",
    "unipd bench tomography --folder ~/src/unipd/benchmarks",
)
_COMMON = ("threads", "time_limit", "json", "quiet", "log_file", "debug")
_HEAD = ("benchmark", "figure", "value", "goal", "")


@common_options(only=_COMMON)
def command(
    names: Annotated[
        list[str] | None, typer.Argument(help="Which benchmarks; all when none is named.", metavar="NAMES")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Only list the benchmarks.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small instances, seconds each: do they run? Goals are not judged.")
    ] = False,
    folder: Annotated[
        Path | None, typer.Option(help="Where the benchmarks are; default: beside the sources.", metavar="FOLDER")
    ] = None,
    *,
    options: Options,
) -> int:
    """Run the benchmarks of the repository and gather their figures in one table, with machine, threads and versions.

    What the scripts print goes to standard error. --time-limit holds for each of them. The exit code is 0 when all
    ran (and, without --quick, met their goals), 3 when a goal was missed, 1 when a script failed or took too long.
    """
    known = benchmarks.benchmarks(benchmarks.find_folder(folder))
    wanted = benchmarks.chosen(known, names or [])
    stream = tables.stream_for(options.json)
    if list_:
        content = [{"name": each.name, "question": each.question} for each in wanted]
        if not options.quiet:
            tables.print_table([(each.name, each.question) for each in wanted], stream)
        write_json({"benchmarks": content, "version": __version__}, options.json)
        return SOLVED
    outcomes: list[Outcome] = []
    try:
        for each in wanted:
            if not options.quiet:
                say(f"bench: {each.name}")
            show = not options.quiet
            outcomes.append(benchmarks.run(each, quick=quick, show=show, limit=options.time_limit))
    finally:
        code = _emit(outcomes, options, quick=quick)
    return code


def _emit(outcomes: list[Outcome], options: Options, *, quick: bool) -> int:
    """Show and write what has been measured, and return the exit code."""
    about, code = benchmarks.machine(), code_of(outcomes, quick=quick)
    if not options.quiet and outcomes:
        rows = [row for outcome in outcomes for row in rows_of(outcome, quick=quick)]
        tables.print_table([_HEAD, *rows], tables.stream_for(options.json), _title(about))
    results = [outcome.to_dict() for outcome in outcomes]
    content: dict[str, Any] = {"machine": about, "quick": quick, "benchmarks": results}
    write_json({**content, "version": __version__, "exit_code": code}, options.json)
    return code


def code_of(outcomes: list[Outcome], *, quick: bool) -> int:
    """Return the exit code that the outcomes mean."""
    if any(outcome.exit_code != 0 for outcome in outcomes):
        return UNEXPECTED
    missed = any(figure["met"] is False for outcome in outcomes for figure in outcome.figures)
    return NOT_REACHED if missed and not quick else SOLVED


def rows_of(outcome: Outcome, *, quick: bool) -> list[tuple[str, ...]]:
    """Return the rows of one benchmark: how the script ended, then its figures.

    >>> figure = {"name": "own share", "value": 0.02, "unit": "share", "goal": 0.05, "met": True, "at_least": False}
    >>> rows_of(Outcome("overhead", 3.0, 0, [figure]), quick=False)[1]
    ('', 'own share', '0.02 share', 'at most 0.05', 'met')
    """
    ended = {0: "ran", None: "took too long"}.get(outcome.exit_code, f"failed ({outcome.exit_code})")
    rows = [(outcome.name, ended, f"{outcome.seconds:.1f} s", "", "")]
    for figure in outcome.figures:
        side = "at least" if figure.get("at_least") else "at most"
        goal = "" if figure["goal"] is None or quick else f"{side} {figure['goal']:g}"
        judged = "" if figure["met"] is None or quick else "met" if figure["met"] else "NOT met"
        value = f"{tables.number(figure['value'], 4)} {figure['unit']}".strip()
        rows.append(("", str(figure["name"]), value, goal, judged))
    return rows


def _title(about: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    threads = ", ".join(f"{name}={value}" for name, value in about["threads"].items()) or "threads not limited"
    return f"{about['processor']}, {about['cores']} cores, {about['system']}; {threads}; {versions}"
