"""``unipd theta``: the theta number of a graph."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from unipd._util.context import current_communicator
from unipd.cli.options import Options, common_options, option
from unipd.cli.output import emit, solver_arguments

EXAMPLES = ("unipd theta graph.txt", "unipd theta graph.txt --complement --json -")


@common_options(accuracy=1e-6)
def command(
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
