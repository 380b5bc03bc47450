"""The paper's Figure 2: universal methods and Frank-Wolfe on matrix completion, in both formulations."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unipd import validate
from unipd._typing import FloatArray
from unipd.apps.completion.figure2_methods import BALL, NORM, NORM_EPS_SHARE, contestants
from unipd.apps.completion.figure2_runs import COLUMNS, Progress, TestImage, Trace, root_mean_square, traced, warm_up
from unipd.apps.completion.formulations import ball_design, factored_norm_method, norm_problem
from unipd.apps.completion.precise import PRECISION, engine_for
from unipd.apps.completion.solving import Plan, solve_design
from unipd.io.ratings import Ratings
from unipd.maps import Sampling
from unipd.replacing import write_text
from unipd.run import MaxIterations, solve

REFERENCE_ACCURACY = 1e-6
NORM_ACCURACY = 1e-2
"""Certified accuracy of the optimum of (b), far finer than the methods reach."""
_NORM_STEPS, _NORM_COLUMNS = 200, 220


@dataclass(frozen=True)
class Optimum:
    """The optimum of a formulation, to which its curves are compared."""

    value: float
    """phi of (a) or psi of (b) at the best point found: where that is infeasible, psi may be below psi^*."""
    gap: float
    """Its distance to a certified lower bound."""
    infeasibility: float
    """||A(X) - b|| / max(1, ||b||) at that point; 0 for (a)."""
    rmse: float
    """Test error there."""
    seconds: float
    """What it took."""


@dataclass(frozen=True)
class Figure2:
    """Everything that the figure shows."""

    traces: list[Trace]
    optima: dict[str, Optimum]
    """Optima of the formulations."""
    radius: float


def run_figure2(
    train: Ratings,
    test: Ratings,
    shape: tuple[int, int],
    radius: float,
    *,
    iterations: int = 500,
    time_limit: float | None = None,
    precision: float | None = PRECISION,
    progress: Progress | None = None,
) -> Figure2:
    """Run the methods one after the other and return their curves.

    Parameters
    ----------
    train, test
        Ratings whose users and items are rows and columns from 0.
    shape, radius
        Shape of the matrix, and kappa of formulation (a).
    iterations, time_limit
        Limits of each run. Two iterations before it, test errors and progress are not on its clock.
    precision
        Largest relative residual of the oracle's vectors; None for what each method asks.
    progress
        Called with a run's name, the iteration and the test error.
    """
    limit = validate.integer("iterations", iterations, minimum=1)
    data = (train.users, train.items, train.values, shape)
    design = ball_design(*data)
    sampling = Sampling(test.users, test.items, shape)
    start = TestImage(sampling, np.zeros(test.values.size))
    problems = {
        BALL: design.problem(radius, engine_for(precision)),
        NORM: norm_problem(*data, precision=precision),
    }
    least = norm_problem(*data, precision=None)
    norm_method = factored_norm_method(design, least, min(_NORM_COLUMNS, *shape))
    found = {
        BALL: solve_design(design, radius, Plan(accuracy=REFERENCE_ACCURACY)),
        NORM: solve(least, norm_method, accuracy=NORM_ACCURACY, stop=MaxIterations(_NORM_STEPS)),
    }
    norm_eps = NORM_EPS_SHARE * radius**2 / train.values.size
    traces: list[Trace] = []
    for contestant in contestants(norm_eps):
        problem = problems[contestant.formulation]
        warm_up(problem, contestant, start)
        traces.append(traced(problem, contestant, start, test.values, (limit, time_limit), progress))
    optima = {
        name: Optimum(
            best.objective,
            best.objective - best.dual_bound,
            best.relative_infeasibility,
            root_mean_square(sampling.image(best.x), test.values),
            best.seconds,
        )
        for name, best in found.items()
    }
    return Figure2(traces, optima, radius)


def write_figure2(figure: Figure2, path: str | os.PathLike[str]) -> None:
    """Write the curves to a CSV file, one row a run and iteration."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(("formulation", "method", *COLUMNS, "objective_residual", "test_rmse"))
    for trace in figure.traces:
        name = (trace.contestant.formulation, trace.contestant.name)
        columns = [*(trace.history[column] for column in COLUMNS), residual(figure, trace), trace.rmse]
        writer.writerows((*name, *(f"{value:.10g}" for value in row)) for row in zip(*columns, strict=True))
    write_text(Path(path), table.getvalue())


def residual(figure: Figure2, trace: Trace) -> FloatArray:
    """Return |phi - phi^*| / phi^*, and |psi - psi^*| / psi^* for formulation (b).

    Iterates of (b) do not satisfy A(X) = b, so psi may be below its optimum; it is the weighted mean of psi at the
    atoms, which bounds psi at their mean from above.
    """
    best = figure.optima[trace.contestant.formulation].value
    return np.abs(trace.history["objective"] - best) / best
