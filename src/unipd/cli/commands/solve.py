"""``unipd solve``: a semidefinite program in SDPA format, or a problem made by Python code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unipd import validate
from unipd.cli.exits import say
from unipd.cli.options import Options, common_options
from unipd.cli.outputs import check_program_name
from unipd.cli.python_objects import load_problem
from unipd.cli.solving import emit, run_solver, stopping_rule
from unipd.errors import InvalidInput
from unipd.team import team

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
        float | None, typer.Option(help="A bound of the trace of X, for constraints that imply none.", min=0.0)
    ] = None,
    rank: Annotated[int | None, typer.Option(help="Columns of the factor of X to begin with.", min=1)] = None,
    *,
    options: Options,
) -> int:
    """Solve a semidefinite program from an SDPA file, or a problem from Python.

    For a file, max <F0, Y> subject to <Fi, Y> = ci, Y psd is solved: the objective is that of Y (the value that
    SDPLIB publishes) and the dual bound an upper bound of the optimum, proved where the order allows it. The
    multipliers in the result file are the vector x of the format's primal problem.
    """
    if _is_python(problem):
        if trace_bound is not None or rank is not None:
            raise InvalidInput("--trace-bound, --rank", "a file in SDPA format with these options", problem)
        return run_solver(load_problem(problem), options)
    from unipd.apps.sdp import SDP

    if trace_bound is not None:
        validate.positive("--trace-bound", trace_bound)
    check_program_name(problem)
    program = team().read(SDP.from_file, Path(problem))
    if options.verbose:
        say(f"{program!r}, method {options.method}, accuracy {options.accuracy:g}, seed {options.seed}")
    result = program.solve(
        options.accuracy,
        options.method,
        trace_bound=trace_bound,
        rank=rank,
        seed=options.seed,
        stop=stopping_rule(options),
        verbose=not options.quiet,
        **_weights(options),
    )
    return emit({}, result, options, title=f"{Path(problem).name}: {program!r}")


def _weights(options: Options) -> dict[str, Any]:
    return {} if options.weights is None else {"weights": options.weights}


def _is_python(problem: str) -> bool:
    """Whether the argument names a Python object and no file."""
    return ":" in problem and not Path(problem).exists()
