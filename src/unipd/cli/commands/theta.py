"""``unipd theta``: the theta number of a graph."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from unipd.cli.options import Options, common_options
from unipd.cli.solving import emit, stopping_rule
from unipd.team import team

EXAMPLES = ("unipd theta graph.txt", "unipd theta graph.txt --complement --json -")


@common_options(accuracy=1e-6)
def command(
    graph: Annotated[Path, typer.Argument(help="A graph: rudy (G-set) file or edge list; weights do not count.")],
    complement: Annotated[bool, typer.Option("--complement", help="Take the graph of the missing edges.")] = False,
    form: Annotated[str, typer.Option(help="What the file is: rudy, edges (a list of edges alone) or auto.")] = "auto",
    *,
    options: Options,
) -> int:
    """Compute the theta number of a graph: an upper bound of the size of its independent sets.

    With --complement it bounds the size of the cliques of the graph, and its chromatic number from below.
    """
    from unipd.apps import theta as app
    from unipd.io.graphs import read_graph

    known = team().read(partial(read_graph, form=form), graph)
    if complement:
        known = app.complement(known)
    weights: dict[str, Any] = {} if options.weights is None else {"weights": options.weights}
    result = app.theta(
        known,
        options.accuracy,
        options.method,
        seed=options.seed,
        stop=stopping_rule(options),
        verbose=not options.quiet,
        **weights,
    )
    bound = math.floor(result.dual_bound + 1e-9) if math.isfinite(result.dual_bound) else None
    figures = {"theta": result.objective, "theta_bound": result.dual_bound, "independence_bound": bound}
    return emit(figures, result, options, title=f"{graph.name}: {known.nodes} nodes, {known.edges} edges")
