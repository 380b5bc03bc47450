"""``unipd solve`` and ``unipd doctor``: a semidefinite program from a file, or a problem defined in Python."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unipd._util.context import current_communicator
from unipd.cli.options import METHODS, PROBLEM, Options, check_program_name, common_options, option
from unipd.cli.output import OutputWriter, announce, emit, run_solver, solver_arguments
from unipd.cli.runtime import BAD_INPUT, SOLVED, UNEXPECTED
from unipd.errors import InvalidInput, UnipdError

if TYPE_CHECKING:
    from unipd.problem import Problem

CONIC = ("interior", "splitting")
"""Methods for semidefinite programs only, in addition to those of the library."""


@common_options(
    accuracy=1e-6,
    methods=(*METHODS, *CONIC),
    examples=(
        "unipd solve mcp100.dat-s",
        "unipd solve theta1.dat-s.gz --accuracy 1e-8 --json -",
        "unipd solve hamming_7_5_6.mat.gz",
        "unipd solve truss.dat-s --trace-bound 100 --out truss.npz --plot truss.png",
        "unipd solve model.py:problem --method accunipdgrad",
    ),
)
def solve(
    problem: Annotated[str, typer.Argument(help=PROBLEM)],
    trace_bound: Annotated[
        float | None, option("Bound on the trace of X, where the constraints imply none.", None, min=0.0)
    ] = None,
    rank: Annotated[int | None, option("Initial number of columns of the factor of X.", None, min=1)] = None,
    atol: Annotated[
        float, option("Absolute tolerance on gap and violation, for a problem in Python.", None, min=0.0)
    ] = 0.0,
    *,
    options: Options,
) -> int:
    """Solve a semidefinite program in an SDPA, SeDuMi or CBF file, or a problem defined in Python.

    An SDPA file is solved as max <F0, Y> subject to <Fi, Y> = ci, Y psd: the objective is that of Y (the value that
    SDPLIB publishes) and the dual bound is an upper bound on the optimum, rigorous where the size permits. The
    multipliers in the result file are the vector x of the format's primal problem. A SeDuMi file is solved as min c'x
    subject to A x = b, x in K, and the multipliers are -y. The objective of a CBF file is that of the file.
    """
    if is_python(problem):
        if options.method in CONIC:
            raise InvalidInput("--method", "a file with a semidefinite program with this method", problem)
        if trace_bound is not None or rank is not None:
            raise InvalidInput(
                "--trace-bound, --rank", "a file with a semidefinite program with these options", problem
            )
        return emit(run_solver(load_problem(problem), options, atol=atol), options)
    if atol:
        raise InvalidInput("--atol", "a problem in Python with this option", problem)
    from unipd._util import validate
    from unipd.apps.sdp import SDP

    if trace_bound is not None:
        validate.positive("--trace-bound", trace_bound)
    check_program_name(problem)
    program = current_communicator().read(SDP.from_file, Path(problem))
    announce(program, options)
    result = program.solve(trace_bound=trace_bound, rank=rank, seed=options.seed, **solver_arguments(options))
    return emit(result, options, title=f"{Path(problem).name}: {program!r}")


@common_options(
    only=("seed", "threads", "json", "quiet", "log_file", "debug"),
    examples=(
        "unipd doctor",
        "unipd doctor --compile",
        "unipd doctor mymodel.py:problem",
        "unipd doctor package.module:make_problem --seed 3",
    ),
)
def doctor(
    problem: Annotated[
        str | None,
        typer.Argument(help="Problem to check: MODULE:NAME or FILE.py:NAME, an object or a function that returns it."),
    ] = None,
    compile: Annotated[bool, option("Compile all kernels now rather than on first use.", None, "--compile")] = False,
    *,
    options: Options,
) -> int:
    """Check the installation, or the parts of a problem: adjoint, oracle, coupling, scaling, memory.

    Without a problem the table shows what a bug report needs: versions, threads, BLAS, compiler and kernels. The exit
    code is 0 if every check passes, 1 for a fault of the installation and 2 for one of the problem.
    """
    from unipd import doctor

    if compile:
        if problem is not None:
            raise InvalidInput("--compile", "no problem with this option", problem)
        report, fault = doctor.compile_kernels(), UNEXPECTED
    elif problem is None:
        report, fault = doctor.check_installation(), UNEXPECTED
    else:
        report, fault = doctor.check(load_problem(problem), seed=options.seed), BAD_INPUT
    content = {**report.to_dict(), "problem": problem, "seed": options.seed}
    return OutputWriter(options).finish(report.rows(), content, SOLVED if report.ok else fault, problem)


def is_python(problem: str) -> bool:
    """Whether an argument names a Python object, not a file."""
    return ":" in problem and not Path(problem).exists()


def load_problem(reference: str) -> Problem:
    """Return the problem ``MODULE:NAME``: an object, or the return value of a function without arguments."""
    from unipd.problem import Problem

    value = load_object(reference)
    if not isinstance(value, Problem) and callable(value):
        try:
            value = value()
        except UnipdError:
            raise
        except Exception as error:
            raise InvalidInput(
                reference, "a function that returns a problem", f"{type(error).__name__}: {error}"
            ) from error
    if not isinstance(value, Problem):
        raise InvalidInput(reference, "a unipd.Problem or a function that returns one", type(value).__name__)
    return value


def load_object(reference: str) -> Any:
    """Return the object ``MODULE:NAME`` or ``FILE.py:NAME``.

    >>> load_object("math:pi")
    3.141592653589793
    """
    place, separator, name = reference.rpartition(":")
    if not (separator and place and name):
        raise InvalidInput("problem", "MODULE:NAME or FILE.py:NAME", repr(reference))
    module = _from_file(Path(place)) if place.endswith(".py") else _from_name(place)
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            raise InvalidInput("problem", f"a name that {place} defines", repr(name))
        value = getattr(value, part)
    return value


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise FileNotFoundError(2, "No such file", str(path))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InvalidInput("problem", "a Python file", repr(str(path)))
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(spec.name, module)  # dataclasses look up the module in which they are defined
    _run(lambda: spec.loader.exec_module(module), str(path), str(path.parent.resolve()))  # pyright: ignore[reportOptionalMemberAccess]
    return module


def _from_name(name: str) -> ModuleType:
    return _run(lambda: importlib.import_module(name), name, str(Path.cwd()))


def _run(action: Any, place: str, folder: str) -> Any:
    """Import with ``folder`` on the path; errors of a user-supplied module are reported as invalid input."""
    sys.path.insert(0, folder)
    try:
        return action()
    except UnipdError:
        raise
    except Exception as error:
        raise InvalidInput(place, "a module that can be imported", f"{type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)
