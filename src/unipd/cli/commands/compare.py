"""``unipd compare``: several methods on one problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from unipd.cli.commands.solve import is_python, load_problem
from unipd.cli.options import (
    METHODS,
    PROBLEM,
    SOLVING,
    WATCHING,
    WRITING,
    Axis,
    Options,
    Theme,
    check_program_name,
    common_options,
    make_folder,
    option,
)
from unipd.cli.output import OutputWriter, announce, run_solver, solver_arguments
from unipd.cli.runtime import INFEASIBLE, INTERRUPTED, NOT_REACHED, SOLVED, UNBOUNDED, exit_code
from unipd.errors import InvalidInput
from unipd.status import Status

if TYPE_CHECKING:
    from unipd.apps.sdp import SDP
    from unipd.problem import Problem
    from unipd.run import Result

LOSS_METHODS = ("frank-wolfe", "away-step", "pairwise", "blended-pairwise")
"""Methods that need a smooth loss."""


def least_squares(size: int, seed: int) -> Problem:
    """Return 1/2 ||A x - b||^2 over an l1 ball, with a sparse solution and a little noise."""
    import numpy as np

    import unipd

    random = np.random.default_rng(seed)
    rows = max(4, size // 4)
    A = random.standard_normal((rows, size)) / np.sqrt(rows)
    truth = np.zeros(size)
    truth[random.choice(size, max(1, rows // 10), replace=False)] = 1.0
    b = A @ truth + 0.05 * random.standard_normal(rows)
    return unipd.Problem(unipd.sharp.L1Ball(size, 0.9 * float(truth.sum())), A, b, unipd.couplings.LeastSquares())


def linear_program(size: int, seed: int) -> Problem:
    """Return min c^T x over the simplex subject to A x = b, with b from the middle of the simplex."""
    import numpy as np

    import unipd

    random = np.random.default_rng(seed)
    rows = max(2, size // 20)
    A = random.standard_normal((rows, size)) / np.sqrt(size)
    sharp = unipd.sharp.Linear(random.random(size), unipd.sharp.Simplex(size))
    return unipd.Problem(sharp, A, A @ np.full(size, 1.0 / size), "=")


def maximum_cut(size: int, seed: int) -> SDP:
    """Return the semidefinite relaxation of the maximum cut of a random graph with about four edges a node."""
    import numpy as np

    from unipd.apps.graphs.maxcut import maxcut_program
    from unipd.io import Graph

    ends = np.sort(np.random.default_rng(seed).integers(0, size, (2, 4 * size)), axis=0)
    ends = np.unique(ends[:, ends[0] < ends[1]], axis=1)
    return maxcut_program(Graph.of(size, ends[0], ends[1], np.ones(ends.shape[1])))


DEMOS: dict[str, tuple[Callable[[int, int], Any], int, str]] = {
    "least-squares": (least_squares, 800, "least squares over an l1 ball"),
    "linear-program": (linear_program, 400, "a linear program over the simplex"),
    "maxcut": (maximum_cut, 100, "the semidefinite relaxation of a maximum cut"),
}
"""Function, default size and description of each generated problem."""
Demo = Literal["least-squares", "linear-program", "maxcut"]


def parse_methods(text: str) -> list[str]:
    """Parse a comma-separated list of methods.

    >>> parse_methods("unipdgrad, corrective")
    ['unipdgrad', 'corrective']
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in METHODS]
    if unknown or not names:
        expected = f"some of {', '.join(METHODS)}, separated by commas"
        raise InvalidInput("--methods", expected, repr(unknown[0] if unknown else text))
    if len(set(names)) < len(names):
        raise InvalidInput("--methods", "each method once", repr(text))
    return names


def load_subject(problem: str | None, demo: str | None, size: int | None, seed: int) -> tuple[Problem | SDP, str]:
    """Return a user-supplied or generated problem, and its title."""
    if (problem is None) == (demo is None):
        got = "neither" if problem is None else "both"
        raise InvalidInput("PROBLEM", "either a problem or --demo NAME", got)
    if demo is not None:
        make, default_size, title = DEMOS[demo]
        return make(size or default_size, seed), title
    if size is not None:
        raise InvalidInput("--size", "--demo NAME with this option", "a problem from a file or a module")
    assert problem is not None
    if is_python(problem):
        return load_problem(problem), problem
    from unipd.apps.sdp import SDP

    check_program_name(problem)
    return SDP.from_file(Path(problem)), Path(problem).name


def choose_methods(subject: Problem | SDP, names: Sequence[str] | None) -> Sequence[str]:
    """Return the methods to run (all applicable ones by default), or raise if one is not applicable."""
    from unipd.methods import has_norm_barrier
    from unipd.methods.auto import has_smooth_dual
    from unipd.methods.coordinate import has_coordinates
    from unipd.methods.factored import is_factorable
    from unipd.methods.universal import has_sign_cone
    from unipd.problem import Problem

    given = subject if isinstance(subject, Problem) else None
    conditions = {
        **dict.fromkeys(LOSS_METHODS, given is not None and given.loss is not None),
        "cgal": given is not None and given.linear and not given.has_penalty,
        "factored": given is None or is_factorable(given.sharp),
        "quasi-newton": given is not None and has_smooth_dual(given.sharp) and has_sign_cone(given),
        "coordinate": given is not None and has_coordinates(given),
        "barrier": given is not None and has_norm_barrier(given),
    }
    applicable = [name for name in METHODS[1:] if conditions.get(name, True)]
    for name in names or ():
        if name not in ("auto", *applicable):
            raise InvalidInput("--methods", f"methods for this problem ({', '.join(applicable)})", repr(name))
    return names or applicable


_COMMON = tuple(name for name in (*SOLVING, *WRITING, *WATCHING) if name not in ("method", "out"))
_PROBLEM = "Problem"


@common_options(
    only=_COMMON,
    examples=(
        "unipd compare --demo least-squares --plot methods.png",
        "unipd compare mcp100.dat-s --methods factored,corrective --time-limit 60",
        "unipd compare model.py:problem --axis seconds --plot methods.svg",
        "unipd compare --demo maxcut --size 200 --save runs --json -",
    ),
)
def compare(
    problem: Annotated[
        str | None,
        typer.Argument(help=PROBLEM),
    ] = None,
    demo: Annotated[Demo | None, option(f"Solve a generated problem: {', '.join(DEMOS)}.", _PROBLEM)] = None,
    size: Annotated[int | None, option("Size of the generated problem.", _PROBLEM, min=4)] = None,
    methods: Annotated[str | None, option("Methods, separated by commas; default: all that apply.", "Solver")] = None,
    axis: Axis = "oracle_calls",
    theme: Theme = "light",
    save: Annotated[
        Path | None, option("Save each result to this folder, for unipd report.", "Output", metavar="FOLDER")
    ] = None,
    *,
    options: Options,
) -> int:
    """Solve one problem by several methods and compare them.

    Limits apply to each method. The exit code is 0 if every method reached the accuracy, 3 otherwise.
    """
    from unipd.run.comparison import comparison_rows

    names = None if methods is None else parse_methods(methods)
    subject, title = load_subject(problem, demo, size, options.seed)
    chosen = choose_methods(subject, names)
    if save is not None:
        make_folder("--save", save)
    results: dict[str, Result] = {}
    writer = OutputWriter(options)
    for name in chosen:
        results[name] = result = _solve(subject, name, options)
        if save is not None:
            writer.write(save / f"{name}.npz", partial(_save, result, name=name, options=options))
        if result.status is Status.INTERRUPTED:
            break
    if options.plot is not None:
        from unipd.report import plot_comparison

        writer.write(options.plot, lambda path: plot_comparison(results, path, title=title, axis=axis, theme=theme))
    runs = [{"name": name, **result.summary()} for name, result in results.items()]
    content = {"problem": repr(subject), "title": title, "accuracy": options.accuracy, "runs": runs}
    code = combined_exit_code([result.status for result in results.values()])
    return writer.finish(comparison_rows(results), {**content, "seed": options.seed}, code, f"{title}: {subject!r}")


def _solve(subject: Problem | SDP, name: str, options: Options) -> Result:
    from unipd.problem import Problem

    chosen = options.for_method(name)
    if isinstance(subject, Problem):
        return run_solver(subject, chosen)
    announce(subject, chosen)
    return subject.solve(**solver_arguments(chosen))


def combined_exit_code(statuses: Sequence[Status]) -> int:
    """Return the exit code of several runs.

    >>> combined_exit_code([Status.SOLVED, Status.TIME_LIMIT]), combined_exit_code([Status.INFEASIBLE] * 2)
    (3, 4)
    """
    codes = {exit_code(status) for status in statuses}
    if INTERRUPTED in codes:
        return INTERRUPTED
    return codes.pop() if codes in ({SOLVED}, {INFEASIBLE}, {UNBOUNDED}) else NOT_REACHED


def _save(result: Result, path: Path, name: str, options: Options) -> None:
    from unipd.io.results import save

    save(result, path, seed=options.seed, settings={**options.settings(), "method": name})
