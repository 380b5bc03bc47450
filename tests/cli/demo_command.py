"""A user-supplied solving command, and problems for ``unipd doctor``."""

import time
from typing import Annotated

import numpy as np
import typer

import unipd
from unipd.cli.options import Options, common_options
from unipd.cli.output import emit, run_solver

EXAMPLES = ("unipd demo --kind loss --accuracy 1e-4",)


def make_problem(kind: str = "loss") -> unipd.Problem:
    if kind == "infeasible":
        return unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [3.0, 3.0, 3.0], "=")
    if kind == "equality":
        return unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    if kind == "slow":
        return unipd.Problem(unipd.sharp.from_callable(slowly, 40), slow_matrix(), slow_matrix()[:, 0] / 2, "=")
    return unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 1.4, -0.3], unipd.couplings.LeastSquares())


def slowly(direction: np.ndarray) -> np.ndarray:
    """A vertex of the simplex, after a while."""
    time.sleep(0.005)
    return np.eye(40)[np.argmax(direction)]


def slow_matrix() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((20, 40))


problem = make_problem()


def failing() -> unipd.Problem:
    raise RuntimeError("no data\nat all")


def broken_problem() -> unipd.Problem:
    smallest = unipd.sharp.from_callable(lambda y: np.eye(3)[np.argmin(y)], 3)
    return unipd.Problem(smallest, np.eye(3), [0.2, 0.3, 0.5], "=")


@common_options(accuracy=1e-2, examples=EXAMPLES)
def demo(
    kind: Annotated[str, typer.Option(help="loss, equality, slow, infeasible or crash.")] = "loss", *, options: Options
) -> int:
    """Solve a small problem."""
    if kind == "crash":
        raise RuntimeError("something nobody thought of")
    if kind == "interrupt":
        raise KeyboardInterrupt
    if kind == "memory":
        raise unipd.errors.MemoryForecastError("x needs 3 TB, 2 GB are available: use another tracker")
    result = run_solver(make_problem(kind), options)
    extras = {"largest": float(result.x.max()), "nothing": float("nan"), "labels": ["a", "b", "c"]}
    return emit(result.with_extras(**extras), options, title="a demonstration")
