"""``unipd convert``: semidefinite programs from one file format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unipd.cli.exits import SOLVED
from unipd.cli.options import PROGRAMS, Options, check_file, check_program_name, common_options
from unipd.cli.output import OutputWriter
from unipd.errors import InvalidInput


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
