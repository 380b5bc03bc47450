"""Approximate trackers: solved runs return points of X, and the approximation error is reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unipd
from unipd import MaxIterations, Problem, Status, solve
from unipd.couplings import LeastSquares
from unipd.maps import DenseMatrix
from unipd.protocols import Tracker
from unipd.run import tracker_error
from unipd.sharp import NuclearBall, NuclearNormSquared, Product, Simplex, Spectrahedron, TraceBall
from unipd.trackers import ByBlock, Dense, LowRankTracker, SketchTracker

SIZE = 24
SETS = {
    "spectrahedron": Spectrahedron(SIZE, 2.0),
    "trace ball": TraceBall(SIZE, 2.0),
    "nuclear ball": NuclearBall((SIZE, SIZE), 2.0),
    "nuclear norm squared": NuclearNormSquared((SIZE, SIZE), 0.1),
}
TRACKERS: dict[str, Any] = {
    "lowrank": "lowrank",
    "sketch": "sketch",
    "low rank of 3": LowRankTracker(3),
    "low rank of 3 with its trace": LowRankTracker(3, trace_correction=True),
    "sketch of rank 2": SketchTracker((SIZE, SIZE), 2),
}


def fit(oracle: Any, seed: int = 0) -> Problem:
    """Return a least-squares fit whose solution is of high rank."""
    random = np.random.default_rng(seed)
    truth = random.standard_normal((SIZE, SIZE))
    matrix = random.standard_normal((60, SIZE * SIZE)) / SIZE
    b = matrix @ (truth @ truth.T * (1.5 / np.trace(truth @ truth.T))).ravel()
    return Problem(oracle, DenseMatrix(matrix, domain=(SIZE, SIZE)), b, LeastSquares())


@pytest.mark.parametrize("accuracy", [3e-2, 1e-2])
@pytest.mark.parametrize("tracker", TRACKERS)
@pytest.mark.parametrize("name", SETS)
def test_solved_points_lie_in_the_set(name: str, tracker: str, accuracy: float) -> None:
    result = solve(fit(SETS[name]), "unipdgrad", accuracy=accuracy, tracker=TRACKERS[tracker], stop=MaxIterations(400))
    assert result.tracker_error is not None
    assert result.tracker_error == tracker_error(result.state.primal)
    if result.status is Status.SOLVED:
        assert SETS[name].contains(result.x, accuracy)
    if isinstance(TRACKERS[tracker], str) or "trace" in tracker:
        assert SETS[name].contains(result.x, 1e-9)


def test_a_point_outside_the_set_is_not_solved_and_the_tracker_is_named() -> None:
    """Of an average near I / n few terms have too little trace, though their diagonal is even enough."""
    oracle = Spectrahedron(SIZE)
    diagonal = np.eye(SIZE * SIZE)[:: SIZE + 1]
    matrix = diagonal[1:] - diagonal[:-1]
    problem = Problem(oracle, DenseMatrix(matrix, domain=(SIZE, SIZE)), np.zeros(SIZE - 1), "=")
    cut = solve(problem, "unipdgrad", accuracy=0.3, tracker=LowRankTracker(1, 1), stop=MaxIterations(2000))
    assert not oracle.contains(cut.x, 0.3)
    assert cut.infeasibility <= 0.3
    assert cut.status is Status.STALLED
    assert "LowRankTracker" in cut.message
    whole = solve(problem, "unipdgrad", accuracy=0.3, tracker="lowrank", stop=MaxIterations(2000))
    assert whole.status is Status.SOLVED
    assert oracle.contains(whole.x)


def test_a_large_spectrahedron_keeps_its_trace() -> None:
    size, random = 120, np.random.default_rng(0)
    vectors = random.standard_normal((300, size)) / np.sqrt(size)
    matrix = np.einsum("ki,kj->kij", vectors, vectors).reshape(300, -1)
    b = matrix @ np.eye(size).ravel() / size
    oracle = Spectrahedron(size)
    problem = Problem(oracle, DenseMatrix(matrix, domain=(size, size)), b, LeastSquares())
    result = solve(problem, "frank-wolfe", accuracy=1e-6, tracker="lowrank", stop=MaxIterations(200))
    assert result.tracker_error is not None
    assert result.tracker_error > 1e-3  # terms were dropped
    assert oracle.contains(result.x)


def test_blocks_are_approximated_one_by_one() -> None:
    oracles = [Spectrahedron(SIZE), Simplex(3)]
    single = fit(Spectrahedron(SIZE))
    problem = Problem(
        Product(oracles), [single.map, np.random.default_rng(2).standard_normal((60, 3))], single.b, LeastSquares()
    )
    kept: Tracker = ByBlock((LowRankTracker(2), Dense()))
    for tracker in ("lowrank", "sketch", kept):
        result = solve(problem, "unipdgrad", accuracy=3e-2, tracker=tracker, stop=MaxIterations(300))
        assert result.tracker_error is not None
        assert problem.sharp.contains(result.x, 3e-2) or result.status is not Status.SOLVED
        if tracker is not kept:
            assert problem.sharp.contains(result.x)


def test_the_error_is_shown_and_saved(tmp_path: Path) -> None:
    problem = fit(SETS["nuclear ball"])
    result = solve(problem, "unipdgrad", accuracy=1e-2, tracker="sketch", stop=MaxIterations(20))
    assert result.tracker_error is not None
    assert json.loads(json.dumps(result.summary()))["tracker_error"] == result.tracker_error
    assert "tracker error" in str(result)
    assert unipd.load(result.save(tmp_path / "run.npz")).tracker_error == result.tracker_error
    exact = solve(problem, "unipdgrad", accuracy=1e-2, tracker="atoms", stop=MaxIterations(20))
    assert exact.tracker_error is None
    assert "tracker_error" not in exact.summary()
    assert unipd.load(exact.save(tmp_path / "exact.npz")).tracker_error is None
