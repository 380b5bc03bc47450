"""``unipd doctor``: whether the installation works, and whether the parts of a problem fit together."""

from __future__ import annotations

from typing import Annotated

import typer

from unipd._version import __version__
from unipd.cli import tables
from unipd.cli.exits import BAD_INPUT, SOLVED, UNEXPECTED
from unipd.cli.options import Options, common_options
from unipd.cli.outputs import write_json
from unipd.cli.python_objects import load_problem
from unipd.errors import InvalidInput

EXAMPLES = (
    "unipd doctor",
    "unipd doctor --json -",
    "unipd doctor mymodel.py:problem",
    "unipd doctor package.module:make_problem --seed 3",
)


@common_options(only=("seed", "threads", "json", "quiet", "log_file", "debug"))
def command(
    reference: Annotated[
        str | None,
        typer.Argument(
            metavar="PROBLEM",
            help="Check this problem: MODULE:NAME or FILE.py:NAME, an object or a function that makes it.",
        ),
    ] = None,
    *,
    problem: Annotated[str | None, typer.Option(help="The same as the argument.")] = None,
    options: Options,
) -> int:
    """Check the installation, or the parts of a problem: adjoint, oracle, coupling, scaling, memory.

    The exit code is 0 when nothing failed, 1 when the installation and 2 when the problem has a fault.
    """
    from unipd import doctor

    if reference is not None and problem is not None:
        raise InvalidInput("--problem", "the problem once, as the argument or as this option", repr(problem))
    problem = reference if problem is None else problem
    if problem is None:
        report, fault = doctor.check_installation(), UNEXPECTED
    else:
        report, fault = doctor.check(load_problem(problem), seed=options.seed), BAD_INPUT
    if not options.quiet:
        rows = [(check.outcome, check.name, check.detail) for check in report.checks]
        tables.print_table(rows, tables.stream_for(options.json), problem)
    write_json({**report.to_dict(), "problem": problem, "seed": options.seed, "version": __version__}, options.json)
    return SOLVED if report.ok else fault
