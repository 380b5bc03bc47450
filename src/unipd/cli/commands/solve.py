"""``unipd solve``: a semidefinite program in SDPA format, or a problem defined in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unipd._util.context import current_communicator
from unipd.cli.options import Options, check_program_name, common_options, option
from unipd.cli.output import announce, emit, run_solver, solver_arguments
from unipd.cli.problems import is_python, load_problem
from unipd.errors import InvalidInput

EXAMPLES = (
    "unipd solve mcp100.dat-s",
    "unipd solve theta1.dat-s.gz --accuracy 1e-8 --json -",
    "unipd solve truss.dat-s --trace-bound 100 --out truss.npz --plot truss.png",
    "unipd solve model.py:problem --method accunipdgrad",
)


@common_options(accuracy=1e-6)
def command(
    problem: Annotated[
        str, typer.Argument(help="A file in SDPA sparse format (.dat-s, .dat-s.gz), or MODULE:NAME or FILE.py:NAME.")
    ],
    trace_bound: Annotated[
        float | None, option("Bound on the trace of X, if the constraints imply none.", None, min=0.0)
    ] = None,
    rank: Annotated[int | None, option("Initial number of columns of the factor of X.", None, min=1)] = None,
    *,
    options: Options,
) -> int:
    """Solve a semidefinite program from an SDPA file, or a problem from Python.

    A file is solved as max <F0, Y> subject to <Fi, Y> = ci, Y psd: the objective is that of Y (the value published by
    SDPLIB) and the dual bound is an upper bound on the optimum, rigorous where the size permits. The multipliers in
    the result file are the vector x of the format's primal problem.
    """
    if is_python(problem):
        if trace_bound is not None or rank is not None:
            raise InvalidInput("--trace-bound, --rank", "a file in SDPA format with these options", problem)
        return emit(run_solver(load_problem(problem), options), options)
    from unipd._util import validate
    from unipd.apps.sdp import SDP

    if trace_bound is not None:
        validate.positive("--trace-bound", trace_bound)
    check_program_name(problem)
    program = current_communicator().read(SDP.from_file, Path(problem))
    announce(program, options)
    result = program.solve(trace_bound=trace_bound, rank=rank, seed=options.seed, **solver_arguments(options))
    return emit(result, options, title=f"{Path(problem).name}: {program!r}")
