"""``unipd certify`` and ``unipd convert``: what a solution of a semidefinite program proves; other file formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unipd.cli.exits import SOLVED
from unipd.cli.options import PROGRAMS, Options, check_file, check_program_name, common_options, option
from unipd.cli.output import OutputWriter, emit
from unipd.errors import InvalidInput


@common_options(
    only=("accuracy", "threads", "out", "json"),
    accuracy=1e-6,
    examples=(
        "unipd certify truss8.dat-s --dual truss8.npz",
        "unipd certify truss8.dat-s --dual csdp.sol --rigorous --json -",
    ),
)
def certify(
    problem: Annotated[Path, typer.Argument(help="An SDPA file (.dat-s) or SeDuMi file (.mat), also .gz.")],
    dual: Annotated[
        Path, option("A result of unipd (--out), a solution of CSDP or SDPA, or an archive with y and X.", None)
    ],
    rigorous: Annotated[
        bool, option("Count the rounding of all sums, for psd blocks of order up to 3,000.", None, "--rigorous")
    ] = False,
    *,
    options: Options,
) -> int:
    """Certify a solution of a semidefinite program, whichever solver it comes from.

    The table has a proved bound on the optimum, the gap, the infeasibility, the DIMACS errors and the kind of proof,
    all computed anew from the problem and the solution. The exit code is 0 if gap and infeasibility are within the
    accuracy, and 3 if not, or without X, which leaves only the bound.
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
    problem: Annotated[Path, typer.Argument(help="An SDPA file (.dat-s) or SeDuMi file (.mat), also .gz.")],
    target: Annotated[Path, typer.Argument(help="The file to write; its name tells the format.")],
    *,
    options: Options,
) -> int:
    """Convert a semidefinite program between SDPA's sparse format and SeDuMi's.

    SDPA's max <F0, Y>, <Fi, Y> = ci is SeDuMi's min -<F0, Y>. SDPA has neither free variables, which become differences
    of nonnegative ones, nor second-order cones, which are refused.
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
