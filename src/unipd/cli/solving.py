"""The common flow of solving commands: run with progress, show a table, write the files, choose the exit code."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import IO, Any

from unipd._version import __version__
from unipd.cli import tables
from unipd.cli.delivery import Delivery
from unipd.cli.exits import exit_code, say
from unipd.cli.live import finished
from unipd.cli.log_file import LOGGER
from unipd.cli.options import Options
from unipd.cli.summary import SHOWN, headline, with_limit
from unipd.memory import peak_memory
from unipd.team import team

REQUIRED = (
    "status",
    "objective",
    "dual_bound",
    "gap",
    "infeasibility",
    "iterations",
    "oracle_calls",
    "matvecs",
    "seconds",
    "peak_memory_bytes",
)
"""Keys that the JSON object of every solving command has, null when unknown; ``seed`` and ``version`` besides."""
Writer = Callable[[Path], Any]


def run_solver(
    problem: Any,
    options: Options,
    *,
    extra: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]] | None = None,
    save: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]] | None = None,
    title: str | None = None,
    **settings: Any,
) -> int:
    """Solve a problem as the common options say, :func:`emit` the result and return the exit code.

    Parameters
    ----------
    problem
        A :class:`unipd.Problem`.
    options
        The common options.
    extra
        More for the table and the JSON object (a number or text a key), or a function of the result that gives it.
    save
        More for the result file (``extra`` of :func:`unipd.io.results.save`), or a function of the result.
    title
        A line above the table.
    settings
        Passed on to :func:`unipd.solve`: ``tracker``, ``start``, options of the method.
    """
    from unipd.run import solve

    if options.verbose:
        say(f"{problem!r}, method {options.method}, accuracy {options.accuracy:g}, seed {options.seed}")
    if options.weights is not None:
        settings["weights"] = options.weights
    result = solve(
        team().divided(problem),
        options.method,
        accuracy=options.accuracy,
        stop=stopping_rule(options),
        verbose=not options.quiet,
        **settings,
    )
    return emit(
        extra(result) if callable(extra) else extra or {},
        result,
        options,
        save=save(result) if callable(save) else save,
        title=title,
    )


def emit(
    summary: Mapping[str, Any],
    result: Any,
    options: Options,
    *,
    save: Mapping[str, Any] | None = None,
    draw: Callable[[str], Any] | None = None,
    files: Mapping[Path, Writer] | None = None,
    title: str | None = None,
    unknown: Collection[str] = (),
) -> int:
    """Show and write a result as the common options say, and return the exit code that its status means.

    Parameters
    ----------
    summary
        Figures to show and to put in the JSON object; they come after, and replace, those of ``result.summary()``.
    result
        A :class:`unipd.Result`, or an application's own object with ``summary()``, or None when ``summary`` says
        everything ("status" at least).
    options
        The common options.
    save
        More for the result file.
    draw
        Called with the path of ``--plot`` in the place of :func:`unipd.report.plot_convergence`.
    files
        What writes a command's files of its own.
    title
        A line above the table.
    unknown
        More keys of the JSON object, null where ``summary`` does not have them.
    """
    figures = {**(result.summary() if result is not None else {}), **summary, **_of_team()}
    figures = with_limit(figures, options)
    nothing: dict[str, Any] = dict.fromkeys((*REQUIRED, *unknown))
    content: dict[str, Any] = {**nothing, **figures, "seed": options.seed, "version": __version__}
    code = exit_code(figures["status"])
    LOGGER.info("%s", content)
    finished(title or "result", result)
    delivery = Delivery()
    for path, writer in {**_files(result, figures["message"], options, save, draw), **(files or {})}.items():
        delivery.write(path, writer)
    try:
        if not options.quiet:
            _show(figures, options, delivery.written, title, tables.stream_for(options.json))
    finally:
        delivery.write_json(content, options.json, code)
    return delivery.complete(code, debug=options.debug)


def _of_team() -> dict[str, Any]:
    """Return the number of processes that solved together, and what each needed; nothing for one."""
    if team().size == 1:
        return {}
    peaks = team().joined([float(peak_memory())])
    return {"ranks": team().size, "peak_memory_bytes_by_rank": [int(peak) for peak in peaks]}


def stopping_rule(options: Options) -> Any:
    """Return the limits of the options as one rule, None when there are none."""
    from unipd.run import MaxIterations, MaxOracleCalls, MaxSeconds, StoppingRule

    rules: list[StoppingRule] = []
    if options.time_limit is not None:
        rules.append(MaxSeconds(options.time_limit))
    if options.max_iterations is not None:
        rules.append(MaxIterations(options.max_iterations))
    if options.max_oracle_calls is not None:
        rules.append(MaxOracleCalls(options.max_oracle_calls))
    return functools.reduce(lambda left, right: left | right, rules) if rules else None


def _files(
    result: Any, message: str, options: Options, save: Mapping[str, Any] | None, draw: Callable[[str], Any] | None
) -> dict[Path, Writer]:
    """Return what writes the result and the picture."""
    files: dict[Path, Writer] = {}
    if options.out is not None and result is not None:
        from unipd.io.results import save as save_result

        known: Any = {"seed": options.seed, "settings": options.settings(), "extra": save, "message": message}
        files[options.out] = lambda path: save_result(result, path, **known)
    if options.plot is not None:
        from unipd.report import plot_convergence

        picture = draw or (lambda path: plot_convergence(result, path, show_bound=options.weights != "greedy"))
        files[options.plot] = lambda path: picture(str(path))
    return files


def _show(figures: Mapping[str, Any], options: Options, written: list[str], title: str | None, stream: IO[str]) -> None:
    rows = headline(figures, options.accuracy)
    rows += [(name.replace("_", " "), tables.number(value)) for name, value in figures.items() if name not in SHOWN]
    rows += [("wrote", path) for path in written]
    tables.print_table(rows, stream, title)
