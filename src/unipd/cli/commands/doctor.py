"""``unipd doctor``: checks of the installation, or of the parts of a problem."""

from __future__ import annotations

from typing import Annotated

import typer

from unipd.cli.exits import BAD_INPUT, SOLVED, UNEXPECTED
from unipd.cli.options import Options, common_options
from unipd.cli.output import OutputWriter
from unipd.cli.problems import load_problem

EXAMPLES = (
    "unipd doctor",
    "unipd doctor --json -",
    "unipd doctor mymodel.py:problem",
    "unipd doctor package.module:make_problem --seed 3",
)


@common_options(only=("seed", "threads", "json", "quiet", "log_file", "debug"))
def command(
    problem: Annotated[
        str | None,
        typer.Argument(help="Problem to check: MODULE:NAME or FILE.py:NAME, an object or a function that returns it."),
    ] = None,
    *,
    options: Options,
) -> int:
    """Check the installation, or the parts of a problem: adjoint, oracle, coupling, scaling, memory.

    The exit code is 0 if every check passes, 1 if the installation and 2 if the problem has a fault.
    """
    from unipd import doctor

    if problem is None:
        report, fault = doctor.check_installation(), UNEXPECTED
    else:
        report, fault = doctor.check(load_problem(problem), seed=options.seed), BAD_INPUT
    content = {**report.to_dict(), "problem": problem, "seed": options.seed}
    return OutputWriter(options).finish(report.rows(), content, SOLVED if report.ok else fault, problem)
