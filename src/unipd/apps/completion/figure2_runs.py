"""Runs of the methods that the paper's Figure 2 compares, with clocks that show the methods alone."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.apps.completion.figure2_methods import EPS, Contestant
from unipd.maps import Sampling
from unipd.problem import Problem
from unipd.run import History, iterate

_WARMING = 2
"""Iterations of every method before its clock starts."""
Progress = Callable[[str, int, float], Any]
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


def warm_up(problem: Problem, contestant: Contestant, start: TestImage) -> None:
    """Do two iterations, so that nothing is compiled or allocated for the first time on the clock."""
    for _ in itertools.islice(iterate(problem, contestant.method, accuracy=EPS, tracker=start), _WARMING):
        pass


def traced(
    problem: Problem,
    contestant: Contestant,
    start: TestImage,
    truth: FloatArray,
    limits: tuple[int, float | None],
    progress: Progress | None,
) -> Trace:
    """Return the curves of one run; while errors are computed and told, and rows recorded, its clock stands still."""
    history, errors, seconds, begun = History(), list[float](), 0.0, time.perf_counter()
    for state in iterate(problem, contestant.method, accuracy=EPS, tracker=start):
        seconds += time.perf_counter() - begun
        history.record(problem, state, seconds)
        tracker: Any = state.primal
        errors.append(root_mean_square(tracker.image, truth))
        if progress is not None:
            progress(f"{contestant.name} ({contestant.formulation})", state.iteration, errors[-1])
        if state.iteration >= limits[0] or (limits[1] is not None and seconds >= limits[1]):
            break
        begun = time.perf_counter()
    return Trace(contestant, history, np.array(errors))


def root_mean_square(predicted: Array, truth: FloatArray) -> float:
    """Return the root mean squared error of predictions."""
    return float(np.sqrt(np.mean((predicted - truth) ** 2)))
