"""``unipd maxcut`` and ``unipd theta``: bounds on cuts and independent sets of graphs by semidefinite programming."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from unipd._util.context import current_communicator
from unipd._util.files import write_text
from unipd.cli.options import Options, check_file, common_options, option
from unipd.cli.output import emit, solver_arguments


@common_options(
    accuracy=1e-4,
    examples=(
        "unipd maxcut G1.txt",
        "unipd maxcut network.edges --accuracy 1e-6 --json -",
        "unipd maxcut G14.txt --sides cut.txt --out G14.npz",
    ),
)
def maxcut(
    graph: Annotated[Path, typer.Argument(help="Graph: rudy (G-set) file or edge list, optionally gzipped.")],
    hyperplanes: Annotated[
        int | None, option("Random hyperplanes for the rounding; default 200, fewer for large graphs.", None, min=1)
    ] = None,
    effort: Annotated[
        float, option("Work of the search for a better cut: 1 is some seconds, 0 is rounding alone.", None, min=0.0)
    ] = 1.0,
    sides: Annotated[Path | None, option("Write every node with its side (1 or -1) to this file.", None)] = None,
    form: Annotated[str, option("File format: rudy, edges (a plain edge list) or auto.", None)] = "auto",
    *,
    options: Options,
) -> int:
    """Bound the maximum cut of a graph by semidefinite programming and find a cut by rounding and local search.

    No cut is larger than "sdp_bound"; "cut_value" is the weight of the best cut found.
    """
    from unipd.apps.graphs import maxcut as app
    from unipd.io.graphs import read_graph

    check_file("--sides", sides)
    content = current_communicator().read(partial(read_graph, form=form), graph)
    cut = app.maxcut(content, hyperplanes=hyperplanes, effort=effort, seed=options.seed, **solver_arguments(options))
    lines = "".join(f"{label} {side}\n" for label, side in zip(content.labels, cut.sides, strict=True))
    files = (
        {sides: lambda path: write_text(path, lines)} if sides is not None and current_communicator().is_leader else {}
    )
    title = f"{graph.name}: {content.nodes} nodes, {content.edges} edges"
    return emit(cut.result, options, files=files, title=title)


@common_options(
    accuracy=1e-6,
    examples=("unipd theta graph.txt", "unipd theta graph.txt --complement --json -"),
)
def theta(
    graph: Annotated[Path, typer.Argument(help="Graph: rudy (G-set) file or edge list; weights are ignored.")],
    complement: Annotated[bool, option("Use the complement graph.", None, "--complement")] = False,
    form: Annotated[str, option("File format: rudy, edges (a plain edge list) or auto.", None)] = "auto",
    *,
    options: Options,
) -> int:
    """Compute the Lovasz theta number of a graph, an upper bound on the size of its independent sets.

    With --complement it bounds the clique number from above and the chromatic number from below.
    """
    from unipd.apps.graphs import theta as app
    from unipd.io.graphs import read_graph

    content = current_communicator().read(partial(read_graph, form=form), graph)
    if complement:
        content = content.complement()
    result = app.theta(content, seed=options.seed, **solver_arguments(options))
    return emit(result, options, title=f"{graph.name}: {content.nodes} nodes, {content.edges} edges")
