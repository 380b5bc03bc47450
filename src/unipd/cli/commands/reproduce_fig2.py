"""``unipd reproduce fig2``: the paper's comparison of methods and formulations on matrix completion."""

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
from unipd.errors import InvalidInput

EXAMPLES = (
    "unipd reproduce fig2 --folder out",
    "unipd reproduce fig2 --iterations 10 --json -",
    "unipd reproduce fig2 --generated --iterations 200",
)


@common_options(only=("seed", "threads", "time_limit", "json", "quiet", "log_file", "debug"))
def command(
    iterations: Annotated[int, typer.Option(help="Iterations of each method.", min=1)] = 500,
    folder: Annotated[
        Path, typer.Option(help="Where fig2.png and fig2.csv go; made if missing.", metavar="FOLDER")
    ] = Path(),
    loose: Annotated[
        bool,
        typer.Option("--loose", help="Singular vectors only as precise as a method needs: faster, other iterates."),
    ] = False,
    generated: Annotated[
        bool, typer.Option("--generated", help="Made-up ratings in the place of MovieLens 100K.")
    ] = False,
    *,
    options: Options,
) -> int:
    """Compare UniPDGrad, AccUniPDGrad and Frank-Wolfe on MovieLens 100K: nuclear ball (a) and nuclear norm (b).

    Writes fig2.png (objective residual and test error against iterations and seconds) and fig2.csv. The data are looked
    for in $UNIPD_DATA and in the cache (see unipd data movielens-100k). --time-limit is for each method. Clocks show
    the methods alone: each does two iterations before, and test errors are computed while its clock stands still.
    """
    from unipd.apps.completion.figure2 import run_figure2, write_figure2
    from unipd.apps.completion.precise import PRECISION
    from unipd.report.figure2 import plot_figure2

    picture, table = folder / "fig2.png", folder / "fig2.csv"
    train, test, shape, radius, title = _made_up(options.seed) if generated else _movielens()
    _make(folder)
    check_file("--folder", picture)
    check_file("--folder", table)
    figure = run_figure2(
        train,
        test,
        shape,
        radius,
        iterations=iterations,
        time_limit=options.time_limit,
        precision=None if loose else PRECISION,
        progress=None if options.quiet else told_now_and_then(lambda error: f"test error {error:.4f}"),
    )
    delivery = Delivery()
    delivery.write(picture, lambda path: plot_figure2(figure, path, title=title))
    delivery.write(table, lambda path: write_figure2(figure, path))
    rows = [trace.summary() for trace in figure.traces]
    if not options.quiet:
        _show(figure, rows, delivery.written, title, options)
    ball, norm = figure.optima["ball"], figure.optima["norm"]
    about = {"optimum": ball.value, "optimum_gap": ball.gap, "optimum_rmse": ball.rmse, "radius": radius}
    about |= {"norm_optimum": norm.value, "norm_optimum_gap": norm.gap, "norm_optimum_rmse": norm.rmse}
    about |= {"norm_optimum_infeasibility": norm.infeasibility}
    files = {"picture": str(picture), "table": str(table), "seed": options.seed, "version": __version__}
    delivery.write_json({**about, "methods": rows, **files}, options.json, SOLVED)
    return delivery.complete(SOLVED, debug=options.debug)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        expected = f"a folder that is there or can be made ({error.strerror})"
        raise InvalidInput("--folder", expected, repr(str(folder))) from error


def _movielens() -> tuple[Any, Any, tuple[int, int], float, str]:
    from unipd.apps.completion import movielens
    from unipd.io.ratings import Ratings

    train, test = (Ratings(part.users - 1, part.items - 1, part.values) for part in movielens.split("ub"))
    return train, test, movielens.SHAPE, movielens.KAPPA, f"MovieLens 100K, {len(train)} ratings"


def _made_up(seed: int) -> tuple[Any, Any, tuple[int, int], float, str]:
    """Return a small instance of the same kind: a tenth of the ratings is for testing."""
    import numpy as np

    from unipd.apps.completion.generated import generate
    from unipd.io.ratings import Ratings

    made = generate((200, 300), 8000, rank=5, seed=seed)
    held = np.random.default_rng(seed + 1).random(made.values.size) < 0.1
    both = Ratings(made.users, made.items, made.values)
    radius = 0.75 * float(np.linalg.svd(made.left @ made.right.T + 3.5, compute_uv=False).sum())
    return both.where(~held), both.where(held), made.shape, radius, f"made-up ratings, {int((~held).sum())} of them"


def _show(figure: Any, rows: list[dict[str, Any]], written: list[str], title: str, options: Options) -> None:
    header = ("method", "iterations", "seconds", "objective", "infeasibility", "test RMSE", "trials/iteration")
    best = [
        (
            "optimum of (a)" if letter == "a" else "near the optimum of (b)",
            "",
            tables.number(optimum.seconds, 3),
            tables.number(optimum.value, 6),
            "" if letter == "a" else tables.number(optimum.infeasibility, 3),
            f"{optimum.rmse:.4f}",
            "",
        )
        for letter, optimum in zip("ab", (figure.optima["ball"], figure.optima["norm"]), strict=True)
    ]
    cells = [
        (
            f"({'a' if row['formulation'] == 'ball' else 'b'}) {row['method']}",
            str(row["iterations"]),
            tables.number(row["seconds"], 3),
            tables.number(row["objective"], 6),
            "" if row["formulation"] == "ball" else tables.number(row["infeasibility"], 3),
            f"{row['rmse']:.4f}",
            "" if row["trials_per_iteration"] is None else f"{row['trials_per_iteration']:.3f}",
        )
        for row in rows
    ]
    files = [("wrote", path) + ("",) * (len(header) - 2) for path in written]
    tables.print_table([header, *cells, *best, *files], tables.stream_for(options.json), title)
