"""Semidefinite programs: ``unipd maxcut`` and ``unipd theta`` of graphs, ``unipd certify`` and ``unipd convert``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from unipd._util.context import current_communicator
from unipd._util.files import write_text
from unipd.cli.options import PROGRAM_FILE, PROGRAMS, Options, check_file, check_program_name, common_options, option
from unipd.cli.output import OutputWriter, emit, solver_arguments
from unipd.cli.runtime import SOLVED
from unipd.errors import InvalidInput

Form = Annotated[str, option("File format: rudy, edges (a plain edge list) or auto.", None)]


@common_options(
    only=("accuracy", "threads", "out", "json"),
    accuracy=1e-6,
    examples=(
        "unipd certify truss8.dat-s --dual truss8.npz",
        "unipd certify truss8.dat-s --dual csdp.sol --rigorous --json -",
    ),
)
def certify(
    problem: Annotated[Path, typer.Argument(help=PROGRAM_FILE)],
    dual: Annotated[
        Path, option("A result of unipd (--out), a solution by CSDP or SDPA, or an archive with y and X.", None)
    ],
    rigorous: Annotated[
        bool, option("Account for all rounding errors, for psd blocks of order up to 3,000.", None, "--rigorous")
    ] = False,
    *,
    options: Options,
) -> int:
    """Certify a solution of a semidefinite program, whichever solver it comes from.

    The table shows a proved bound on the optimum, the gap, the infeasibility, the DIMACS errors and the kind of proof,
    all recomputed from the problem and the solution. The exit code is 0 if gap and infeasibility are within the
    accuracy, 4 or 5 if the solution proves the program infeasible or unbounded, else 3; without X only the bound is
    computed, and the exit code is 3.
    """
    from unipd.apps.sdp import SDP
    from unipd.apps.sdp import certify as certify_solution

    check_program_name(str(problem))
    program = SDP.from_file(problem)
    result = certify_solution(program, dual, accuracy=options.accuracy, rigorous=rigorous)
    return emit(result, options, title=f"{problem.name}: {program!r}")


@common_options(
    only=("json",),
    examples=("unipd convert hamming_7_5_6.mat.gz hamming.dat-s", "unipd convert truss8.dat-s truss8.mat"),
)
def convert(
    problem: Annotated[Path, typer.Argument(help=PROGRAM_FILE)],
    target: Annotated[Path, typer.Argument(help="File to write; its extension selects the format.")],
    *,
    options: Options,
) -> int:
    """Convert a semidefinite program between SDPA's sparse format, SeDuMi's and the Conic Benchmark Format (CBF).

    SDPA's max <F0, Y>, <Fi, Y> = ci is SeDuMi's min -<F0, Y>. SDPA has neither free variables, which become differences
    of nonnegative ones, nor second-order cones, which are refused. CBF keeps inequalities, sense and constant.
    """
    from unipd.apps.sdp import SDP

    check_program_name(str(problem))
    check_file("TARGET", target)
    if Path(target.name.lower().removesuffix(".gz")).suffix not in PROGRAMS:
        raise InvalidInput("TARGET", f"a name ending in {', '.join(PROGRAMS)}, optionally .gz", repr(str(target)))
    program = SDP.from_file(problem)
    program.write(target)
    content = {"order": program.order, "constraints": program.data.size, "blocks": len(program.data.blocks)}
    rows = [("program", repr(program)), ("wrote", str(target))]
    return OutputWriter(options).finish(rows, {**content, "wrote": str(target)}, SOLVED)


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
        int | None,
        option("Random hyperplanes for rounding; default 200, fewer for large graphs.", None, min=1),
    ] = None,
    effort: Annotated[
        float,
        option("Effort of the local search for a better cut: 0 for none, 1 for a few seconds.", None, min=0.0),
    ] = 1.0,
    sides: Annotated[Path | None, option("Write every node with its side (1 or -1) to this file.", None)] = None,
    form: Form = "auto",
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
    form: Form = "auto",
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
