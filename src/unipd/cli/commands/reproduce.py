"""``unipd reproduce``, the experiments of the paper, and ``unipd data``, their data sets."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from unipd._util.printing import format_value
from unipd.cli.app import with_examples
from unipd.cli.options import Options, check_file, common_options, make_folder, option
from unipd.cli.output import OutputWriter, print_table, stream_for
from unipd.cli.runtime import SOLVED, say
from unipd.errors import InvalidInput

_COMMON = ("seed", "threads", "time_limit", "json", "quiet", "log_file", "debug")
DATA_SETS = ("movielens-100k",)
_PROGRESS_INTERVAL = 5.0
"""Seconds between two progress lines."""

_TRIALS = {"trials/iteration": ("trials_per_iteration", 4)}
Iterations = Annotated[int, option("Iterations of each method.", None, min=1)]


_GROUP = with_examples(TyperGroup, "unipd reproduce fig1 --qubits 10 --folder out", "unipd reproduce fig2 --generated")
_FIGURE1 = with_examples(
    TyperCommand,
    "unipd reproduce fig1 --folder out",
    "unipd reproduce fig1 --qubits 8 --iterations 300 --json -",
    "unipd reproduce fig1 --qubits 10 --default --folder out",
)
_FIGURE2 = with_examples(
    TyperCommand,
    "unipd reproduce fig2 --folder out",
    "unipd reproduce fig2 --iterations 10 --json -",
    "unipd reproduce fig2 --generated --iterations 200",
)
reproduce = typer.Typer(add_completion=False, rich_markup_mode="rich", no_args_is_help=True, cls=_GROUP)


@reproduce.callback()
def about() -> None:
    """Reproduce the experiments of the paper."""


@reproduce.command("fig1", cls=_FIGURE1)
@common_options(only=_COMMON)
def fig1(
    qubits: Annotated[int, option("Number of qubits; 14 in the paper.", None)] = 14,
    iterations: Iterations = 100,
    default: Annotated[bool, option("Add the default method, beyond the paper.", None, "--default")] = False,
    folder: Annotated[
        Path, option("Folder for fig1.png and fig1.csv, created if missing.", None, metavar="FOLDER")
    ] = Path(),
    *,
    options: Options,
) -> int:
    """Compare UniPDGrad, AccUniPDGrad (both also with greedy weights) and Frank-Wolfe on noiseless tomography.

    Writes fig1.png (objective and relative error against iterations and seconds) and fig1.csv, and compares the
    line-search trials per iteration with the paper's 1.978 and 1.057. --time-limit applies to each method.
    """
    from unipd.reproduce.figure1 import (
        DEFAULT,
        METHODS,
        figure1_experiment,
        plot_figure1,
        run_figure1,
        summarize_trace,
        write_figure1,
    )

    picture, table = _output_files(folder, "fig1")
    problem, truth = figure1_experiment(qubits, options.seed, options.threads)
    traces = run_figure1(
        problem,
        truth,
        iterations=iterations,
        time_limit=options.time_limit,
        methods=(*METHODS, DEFAULT) if default else METHODS,
        progress=_progress_printer("relative error", ".3g", options),
    )
    title = f"{qubits} qubits, {problem.b.size} Pauli measurements"
    methods = [summarize_trace(trace) for trace in traces]
    columns = {
        **{"method": ("method", 0), "iterations": ("iterations", 0), "seconds": ("seconds", 3)},
        **{"objective": ("objective", 3), "relative error": ("relative_error", 3), "gap": ("gap", 2)},
        **{"products": ("matvecs", 0), **_TRIALS, "in the paper": ("paper_trials_per_iteration", 4)},
    }
    writers = {picture: partial(plot_figure1, traces, title=title), table: partial(write_figure1, traces)}
    content = {"qubits": qubits, "measurements": problem.b.size, "methods": methods}
    return _emit(title, _table(methods, columns), content, writers, options)


@reproduce.command("fig2", cls=_FIGURE2)
@common_options(only=_COMMON)
def fig2(
    iterations: Iterations = 500,
    folder: Annotated[
        Path, option("Folder for fig2.png and fig2.csv; created if missing.", None, metavar="FOLDER")
    ] = Path(),
    loose: Annotated[
        bool,
        option("Singular vectors only as accurate as each method needs: faster, with other iterates.", None, "--loose"),
    ] = False,
    generated: Annotated[bool, option("Use synthetic ratings instead of MovieLens 100K.", None, "--generated")] = False,
    *,
    options: Options,
) -> int:
    """Compare UniPDGrad, AccUniPDGrad and Frank-Wolfe on MovieLens 100K: nuclear ball (a) and nuclear norm (b).

    Writes fig2.png (objective residual, infeasibility of (b) and test error against iterations and seconds) and
    fig2.csv. The data are looked up in $UNIPD_DATA and in the cache (see unipd data movielens-100k). The optima of
    (a) and (b) are computed first. --time-limit applies to each of these and to each method. The times are those of
    the methods alone: two warm-up iterations and the test errors are not counted.
    """
    from unipd.reproduce.figure2 import plot_figure2, run_figure2, summarize_trace, write_figure2
    from unipd.spectral import PRECISION

    train, test, shape, radius, title = _generate_ratings(options.seed) if generated else _load_movielens()
    picture, table = _output_files(folder, "fig2")
    figure = run_figure2(
        train,
        test,
        shape,
        radius,
        iterations=iterations,
        time_limit=options.time_limit,
        precision=None if loose else PRECISION,
        progress=_progress_printer("test error", ".4f", options),
    )
    methods = [summarize_trace(trace) for trace in figure.traces]
    content: dict[str, Any] = {"radius": radius}
    for prefix, name in (("", "ball"), ("norm_", "norm")):
        best = figure.optima[name]
        content[f"{prefix}optimum"] = best.objective
        content[f"{prefix}optimum_gap"] = best.objective - best.dual_bound
        content[f"{prefix}optimum_rmse"] = figure.test_errors[name]
    content |= {"norm_optimum_infeasibility": figure.optima["norm"].infeasibility, "methods": methods}
    writers = {picture: partial(plot_figure2, figure, title=title), table: partial(write_figure2, figure)}
    return _emit(title, _figure2_rows(methods, figure), content, writers, options)


def _figure2_rows(methods: list[dict[str, Any]], figure: Any) -> list[tuple[str, ...]]:
    columns = {
        **{"method": ("method", 0), "iterations": ("iterations", 0), "seconds": ("seconds", 3)},
        **{"objective": ("objective", 6), "infeasibility": ("infeasibility", 3), "test RMSE": ("rmse", 4), **_TRIALS},
    }
    rows: list[dict[str, Any]] = []
    for row in methods:
        letter, known = ("a", {"infeasibility": None}) if row["formulation"] == "ball" else ("b", {})
        rows.append({**row, **known, "method": f"({letter}) {row['method']}"})
    for prefix, name in (("", "ball"), ("near the ", "norm")):
        found, best = figure.reference_name(name), figure.optima[name]
        label = f"{prefix}{found}" if found.startswith("optimum") else found
        row = {"method": label, "seconds": best.seconds, "objective": best.objective, "rmse": figure.test_errors[name]}
        rows.append({**row, "infeasibility": None if name == "ball" else best.infeasibility})
    return _table(rows, columns)


def _table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, tuple[str, int]]) -> list[tuple[str, ...]]:
    """Return the heads and the figures of every row; a column is a key and its digits, unknown figures are empty."""
    cells = [
        tuple("" if row.get(key) is None else format_value(row[key], digits) for key, digits in columns.values())
        for row in rows
    ]
    return [tuple(columns), *cells]


def _emit(
    title: str,
    rows: Sequence[tuple[str, ...]],
    content: Mapping[str, Any],
    writers: Mapping[Path, Callable[[Path], Any]],
    options: Options,
) -> int:
    """Write picture and table, print the rows and write the JSON object."""
    writer = OutputWriter(options)
    for path, write in writers.items():
        writer.write(path, write)
    if not options.quiet:
        print_table(rows, stream_for(options.json), title)
    files = dict(zip(("picture", "table"), map(str, writers), strict=True))
    rows = [("wrote", path) for path in writer.paths]
    return writer.finish(rows, {**content, **files, "seed": options.seed}, SOLVED)


def _output_files(folder: Path, name: str) -> tuple[Path, Path]:
    """Return the paths of picture and table, in a folder that is made if it is missing."""
    make_folder("--folder", folder)
    files = folder / f"{name}.png", folder / f"{name}.csv"
    for file in files:
        check_file("--folder", file)
    return files


def _progress_printer(label: str, form: str, options: Options) -> Callable[[str, int, float], None] | None:
    """Return a function of (method, iteration, figure) that prints a line when a run begins and every few seconds."""
    if options.quiet:
        return None
    last, current = time.perf_counter(), ""

    def show(name: str, iteration: int, figure: float) -> None:
        nonlocal last, current
        if name != current or time.perf_counter() - last >= _PROGRESS_INTERVAL:
            last, current = time.perf_counter(), name
            say(f"{name}: iteration {iteration}, {label} {figure:{form}}")

    return show


def _load_movielens() -> tuple[Any, Any, tuple[int, int], float, str]:
    from unipd.io.ratings import Ratings
    from unipd.reproduce.completion_data import MOVIELENS_RADIUS, MOVIELENS_SHAPE, load_movielens_split

    train, test = (Ratings(part.users - 1, part.items - 1, part.values) for part in load_movielens_split("ub"))
    return train, test, MOVIELENS_SHAPE, MOVIELENS_RADIUS, f"MovieLens 100K, {len(train)} ratings"


def _generate_ratings(seed: int) -> tuple[Any, Any, tuple[int, int], float, str]:
    """Return a small synthetic instance with a tenth of the ratings held out."""
    import numpy as np

    from unipd.io.ratings import Ratings
    from unipd.reproduce.completion_data import generate_ratings

    made = generate_ratings((200, 300), 8000, rank=5, seed=seed)
    held = np.random.default_rng(seed + 1).random(made.values.size) < 0.1
    both = Ratings(made.users, made.items, made.values)
    radius = 0.75 * float(np.linalg.svd(made.left @ made.right.T + 3.5, compute_uv=False).sum())
    return both.where(~held), both.where(held), made.shape, radius, f"synthetic ratings, {int((~held).sum())} of them"


@common_options(
    only=("json", "quiet", "debug"),
    examples=("unipd data", "unipd data movielens-100k", "unipd data movielens-100k --folder ~/data"),
)
def data(
    name: Annotated[
        str | None, typer.Argument(help=f"One of {', '.join(DATA_SETS)}; default: list the data sets.")
    ] = None,
    folder: Annotated[Path | None, option("Target folder; default: the user's cache.", None, file_okay=False)] = None,
    *,
    options: Options,
) -> int:
    """List the data sets, or download one from its official site and verify it.

    The terms of use are shown first: downloading the data means accepting them. Data sets are looked up in the
    folder $UNIPD_DATA, then in the cache.
    """
    from unipd.reproduce import completion_data

    if name is not None and name not in DATA_SETS:
        raise InvalidInput("NAME", f"one of {', '.join(DATA_SETS)}", repr(name))
    if name is None and folder is not None:
        raise InvalidInput("--folder", f"the name of a data set with this option ({', '.join(DATA_SETS)})", "none")
    writer = OutputWriter(options)
    if name is None:
        place = completion_data.find_movielens()
        found = None if place is None else str(place)
        title = f"Data sets, in ${completion_data.DATA_VARIABLE} or the cache"
        content = {"data": {DATA_SETS[0]: found}, "cache": str(completion_data.cache_folder())}
        return writer.finish([(DATA_SETS[0], found or "not found")], content, SOLVED, title)
    if not options.quiet:
        for line in completion_data.MOVIELENS_TERMS:
            say(line)
    target = completion_data.fetch_movielens(None if folder is None else folder.expanduser())
    about = {"folder": str(target), "source": completion_data.MOVIELENS_URL, "sha256": completion_data.SHA256}
    return writer.finish(list(about.items()), {"name": name, **about}, SOLVED, DATA_SETS[0])
