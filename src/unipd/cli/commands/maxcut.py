"""``unipd maxcut``: a bound of the maximum cut of a graph, and a good cut."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from unipd.cli.options import Options, common_options
from unipd.cli.outputs import check_file
from unipd.cli.solving import emit, stopping_rule
from unipd.replacing import write_text
from unipd.team import team

EXAMPLES = (
    "unipd maxcut G1.txt",
    "unipd maxcut network.edges --accuracy 1e-6 --json -",
    "unipd maxcut G14.txt --sides cut.txt --out G14.npz",
)


@common_options(accuracy=1e-4)
def command(
    graph: Annotated[Path, typer.Argument(help="A graph: rudy (G-set) file or edge list, perhaps with gzip.")],
    hyperplanes: Annotated[int, typer.Option(help="Random hyperplanes of the rounding.", min=1)] = 200,
    sides: Annotated[Path | None, typer.Option(help="Write each node and its side (1 or -1) to this file.")] = None,
    form: Annotated[str, typer.Option(help="What the file is: rudy, edges (a list of edges alone) or auto.")] = "auto",
    *,
    options: Options,
) -> int:
    """Bound the maximum cut of a graph by semidefinite programming and find a cut by rounding and local search.

    No cut is larger than "sdp_bound"; "cut_value" is the weight of the cut found.
    """
    from unipd.apps.maxcut import maxcut
    from unipd.io.graphs import read_graph

    check_file("--sides", sides)
    known = team().read(partial(read_graph, form=form), graph)
    weights: dict[str, Any] = {} if options.weights is None else {"weights": options.weights}
    found = maxcut(
        known,
        options.accuracy,
        options.method,
        hyperplanes=hyperplanes,
        seed=options.seed,
        stop=stopping_rule(options),
        verbose=not options.quiet,
        **weights,
    )
    lines = "".join(f"{label} {side}\n" for label, side in zip(known.labels, found.sides, strict=True))
    files = {sides: lambda path: write_text(path, lines)} if sides is not None and team().leads else {}
    figures: dict[str, Any] = {
        "cut_value": found.cut_value,
        "sdp_bound": found.sdp_bound,
        "ratio": found.ratio,
        "nodes": known.nodes,
        "edges": known.edges,
    }
    title = f"{graph.name}: {known.nodes} nodes, {known.edges} edges"
    return emit(figures, found.sdp, options, save={"sides": found.sides}, files=files, title=title)
