"""``unipd reproduce fig1``: the paper's comparison of methods on quantum tomography."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unipd._version import __version__
from unipd.cli import tables
from unipd.cli.commands.reproduce_progress import told_now_and_then
from unipd.cli.delivery import Delivery
from unipd.cli.exits import SOLVED
from unipd.cli.options import Options, common_options
from unipd.cli.outputs import check_file

EXAMPLES = (
    "unipd reproduce fig1 --folder out",
    "unipd reproduce fig1 --qubits 8 --iterations 300 --json -",
)


@common_options(only=("seed", "threads", "time_limit", "json", "quiet", "log_file", "debug"))
def command(
    qubits: Annotated[int, typer.Option(help="Number of qubits; 14 in the paper.")] = 14,
    iterations: Annotated[int, typer.Option(help="Iterations of each method.", min=1)] = 100,
    folder: Annotated[Path, typer.Option(help="Where fig1.png and fig1.csv go.", metavar="FOLDER")] = Path(),
    *,
    options: Options,
) -> int:
    """Compare UniPDGrad, AccUniPDGrad (both also with greedy weights) and Frank-Wolfe on noiseless tomography.

    Writes fig1.png (objective against iterations and seconds) and fig1.csv, and shows the average line-search trials
    beside the paper's 1.978 and 1.057. --time-limit is for each method.
    """
    from unipd.apps.tomography.figure1 import figure1_problem, run_figure1, write_figure1
    from unipd.report.figure1 import plot_figure1

    picture, table = folder / "fig1.png", folder / "fig1.csv"
    check_file("--folder", picture)
    check_file("--folder", table)
    problem = figure1_problem(qubits, options.seed, options.threads)
    traces = run_figure1(
        problem,
        iterations=iterations,
        time_limit=options.time_limit,
        progress=None if options.quiet else told_now_and_then(lambda objective: f"objective {objective:.3g}"),
    )
    title = f"{qubits} qubits, {problem.b.size} Pauli measurements"
    delivery = Delivery()
    delivery.write(picture, lambda path: plot_figure1(traces, path, title=title))
    delivery.write(table, lambda path: write_figure1(traces, path))
    rows = [trace.summary() for trace in traces]
    if not options.quiet:
        _show(rows, delivery.written, title, options)
    about = {"qubits": qubits, "measurements": problem.b.size, "seed": options.seed, "version": __version__}
    delivery.write_json({**about, "methods": rows, "picture": str(picture), "table": str(table)}, options.json, SOLVED)
    return delivery.complete(SOLVED, debug=options.debug)


def _show(rows: list[dict[str, Any]], written: list[str], title: str, options: Options) -> None:
    header = ("method", "iterations", "seconds", "objective", "products", "trials/iteration", "paper")
    cells = [
        (
            row["method"],
            str(row["iterations"]),
            tables.number(row["seconds"], 3),
            tables.number(row["objective"], 3),
            str(row["matvecs"]),
            "" if row["trials_per_iteration"] is None else f"{row['trials_per_iteration']:.3f}",
            "" if row["paper_trials_per_iteration"] is None else f"{row['paper_trials_per_iteration']:.3f}",
        )
        for row in rows
    ]
    stream = tables.stream_for(options.json)
    tables.print_table([header, *cells], stream, title)
    tables.print_table([("wrote", path) for path in written], stream)
