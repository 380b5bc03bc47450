"""The paper's Figure 2: universal methods and Frank-Wolfe on matrix completion, in both formulations."""

from __future__ import annotations

import csv
import io
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array, FloatArray
from unipd.apps.completion.figure2_methods import BALL, EPS, NORM, NORM_EPS_SHARE, Contestant, contestants
from unipd.apps.completion.formulations import ball_design, factored_norm_method, norm_problem
from unipd.apps.completion.precise import PRECISION, engine_for
from unipd.apps.completion.solving import Plan, solve_design
from unipd.io.ratings import Ratings
from unipd.maps import Sampling
from unipd.replacing import write_text
from unipd.run import History, MaxIterations, iterate, solve

REFERENCE_ACCURACY = 1e-6
NORM_ACCURACY = 1e-2
"""Certified accuracy of the optimum of (b), far finer than the methods reach."""
_NORM_STEPS, _NORM_COLUMNS = 200, 220
COLUMNS = ("iteration", "seconds", "objective", "relative_infeasibility", "oracle_calls", "trials", "matvecs")


@dataclass(frozen=True, eq=False)
class Trace:
    """One run of the comparison."""

    contestant: Contestant
    history: History
    rmse: FloatArray
    """Root mean squared error on the test ratings, one an iteration."""

    def summary(self) -> dict[str, Any]:
        """Return the figures at the end of the run."""
        last = {name: float(self.history[name][-1]) for name in COLUMNS}
        trials = last["trials"] / last["iteration"] if last["trials"] else None
        return {
            "method": self.contestant.name,
            "formulation": self.contestant.formulation,
            "iterations": int(last["iteration"]),
            "seconds": last["seconds"],
            "objective": last["objective"],
            "infeasibility": last["relative_infeasibility"],
            "rmse": float(self.rmse[-1]),
            "trials_per_iteration": trials,
            "oracle_calls": int(last["oracle_calls"]),
            "matvecs": int(last["matvecs"]),
        }


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


@dataclass(frozen=True, eq=False)
class TestImage:
    """Tracker of the predictions on the test ratings, all that the figure needs of xbar."""

    sampling: Sampling
    image: Array

    exact_objective = False
    __test__ = False

    def mixed(self, gamma: float, atom: Any) -> TestImage:
        """Return the tracker of (1 - gamma) xbar + gamma atom."""
        return TestImage(self.sampling, (1.0 - gamma) * self.image + gamma * self.sampling.image(atom))

    def point(self) -> None:
        """Return None: the matrix is not kept."""
        return

    @property
    def nbytes(self) -> int:
        """Bytes of the predictions."""
        return self.image.nbytes


def run_figure2(
    train: Ratings,
    test: Ratings,
    shape: tuple[int, int],
    radius: float,
    *,
    iterations: int = 500,
    time_limit: float | None = None,
    precision: float | None = PRECISION,
    progress: Callable[[str, int, float], Any] | None = None,
) -> Figure2:
    """Run the methods one after the other and return their curves.

    Parameters
    ----------
    train, test
        Ratings whose users and items are rows and columns from 0.
    shape, radius
        Shape of the matrix, and kappa of formulation (a).
    iterations, time_limit
        Limits of each run.
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
        history, errors, begun = History(), list[float](), time.perf_counter()
        for state in iterate(problem, contestant.method, accuracy=EPS, tracker=start):
            seconds = time.perf_counter() - begun
            history.record(problem, state, seconds)
            tracker: Any = state.primal
            errors.append(_rmse(tracker.image, test.values))
            if progress is not None:
                progress(f"{contestant.name} ({contestant.formulation})", state.iteration, errors[-1])
            if state.iteration >= limit or (time_limit is not None and seconds >= time_limit):
                break
        traces.append(Trace(contestant, history, np.array(errors)))
    optima = {
        name: Optimum(
            best.objective,
            best.objective - best.dual_bound,
            best.relative_infeasibility,
            _rmse(sampling.image(best.x), test.values),
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


def _rmse(predicted: Array, truth: FloatArray) -> float:
    return float(np.sqrt(np.mean((predicted - truth) ** 2)))
