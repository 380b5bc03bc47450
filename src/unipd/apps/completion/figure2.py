"""The paper's Figure 2: universal methods and Frank-Wolfe on matrix completion, in both formulations."""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array, FloatArray
from unipd.apps.completion.formulations import ball_design, norm_problem
from unipd.apps.completion.precise import PRECISION, engine_for
from unipd.apps.completion.solving import Plan, solve_design
from unipd.io.ratings import Ratings
from unipd.maps import Sampling
from unipd.methods import AccUniPDGrad, FrankWolfe, Method, UniPDGrad
from unipd.run import History, iterate

EPS = 1e-3
"""The paper's accuracy."""
NORM_EPS_SHARE = 1.0
"""Accuracy for formulation (b) as a share of its optimum: with the paper's 1e-3 the methods hardly move."""
REFERENCE_ACCURACY = 1e-6
BALL, NORM = "ball", "norm"
COLUMNS = ("iteration", "seconds", "objective", "relative_infeasibility", "oracle_calls", "trials", "matvecs")


@dataclass(frozen=True)
class Contestant:
    """A method of the comparison."""

    name: str
    """Name in the legend."""
    family: str
    """Runs of one family share a colour."""
    searched: bool
    """Whether weights (or step sizes) are found by line search."""
    formulation: str
    """"ball" (a) or "norm" (b)."""
    method: Method


def contestants(norm_eps: float) -> tuple[Contestant, ...]:
    """Return the curves of the figure; ``norm_eps`` is the accuracy of formulation (b)."""
    return (
        Contestant("Frank-Wolfe", "fw", False, BALL, FrankWolfe("open-loop")),
        Contestant("Frank-Wolfe, line search", "fw", True, BALL, FrankWolfe("line-search")),
        Contestant("UniPDGrad", "uni", False, BALL, UniPDGrad(eps=EPS)),
        Contestant("AccUniPDGrad", "acc", False, BALL, AccUniPDGrad(eps=EPS)),
        Contestant("AccUniPDGrad, greedy weights", "acc", True, BALL, AccUniPDGrad(eps=EPS, weights="greedy")),
        Contestant("UniPDGrad", "uni", False, NORM, UniPDGrad(eps=norm_eps)),
        Contestant("AccUniPDGrad", "acc", False, NORM, AccUniPDGrad(eps=norm_eps)),
        Contestant("AccUniPDGrad, greedy weights", "acc", True, NORM, AccUniPDGrad(eps=norm_eps, weights="greedy")),
    )


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
class Figure2:
    """Everything that the figure shows."""

    traces: list[Trace]
    optimum: float
    """phi^* of formulation (a), certified to ``gap``."""
    gap: float
    rmse: float
    """Test error at that optimum."""
    radius: float
    seconds: float = field(default=0.0)
    """What the optimum took."""


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
    best = solve_design(design, radius, Plan(accuracy=REFERENCE_ACCURACY))
    sampling = Sampling(test.users, test.items, shape)
    start = TestImage(sampling, np.zeros(test.values.size))
    problems = {
        BALL: design.problem(radius, engine_for(precision)),
        NORM: norm_problem(*data, precision=precision),
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
    error = _rmse(sampling.image(best.x), test.values)
    return Figure2(traces, best.objective, best.objective - best.dual_bound, error, radius, best.seconds)


def write_figure2(figure: Figure2, path: str | os.PathLike[str]) -> None:
    """Write the curves to a CSV file, one row a run and iteration."""
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("formulation", "method", *COLUMNS, "objective_residual", "test_rmse"))
        for trace in figure.traces:
            name = (trace.contestant.formulation, trace.contestant.name)
            columns = [*(trace.history[column] for column in COLUMNS), residual(figure, trace), trace.rmse]
            writer.writerows((*name, *(f"{value:.10g}" for value in row)) for row in zip(*columns, strict=True))


def residual(figure: Figure2, trace: Trace) -> FloatArray:
    """Return (phi - phi^*) / phi^*, nan for formulation (b)."""
    values = (trace.history["objective"] - figure.optimum) / figure.optimum
    return values if trace.contestant.formulation == BALL else np.full(values.size, np.nan)


def _rmse(predicted: Array, truth: FloatArray) -> float:
    return float(np.sqrt(np.mean((predicted - truth) ** 2)))
