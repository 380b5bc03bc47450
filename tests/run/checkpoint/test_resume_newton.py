"""Newton steps over a fixed diagonal, interrupted after every iteration: the trust-region radius is restored too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from support.runs import same_run
from unipd import MaxIterations, Problem, Status, solve
from unipd.apps.graphs import maxcut_program
from unipd.apps.sdp import analyse
from unipd.io import Graph
from unipd.methods import Method


def _maxcut() -> tuple[Problem, Method]:
    """A MaxCut program with weights of many sizes, so that there are several iterations, and its method."""
    random = np.random.default_rng(4)
    rows, cols = np.nonzero(np.triu(random.random((300, 300)) < 0.03, 1))
    weights = random.standard_normal(rows.size) * 10.0 ** random.uniform(-3.0, 3.0, rows.size)
    analysis = analyse(maxcut_program(Graph.of(300, rows, cols, weights)).data)
    trace = analysis.trace_bound()
    assert trace is not None
    return analysis.problem(trace), analysis.method(None, 0, trace)


def test_every_iteration_is_a_place_to_go_on_from(tmp_path: Path) -> None:
    problem, method = _maxcut()
    settings: dict[str, Any] = {"accuracy": 1e-10}
    whole = solve(problem, method, **settings)
    assert whole.status is Status.SOLVED
    assert whole.iterations >= 6
    radii = set[float]()
    for limit in range(1, whole.iterations + 1):
        path = tmp_path / "run.ckpt"
        part = solve(problem, method, stop=MaxIterations(limit), checkpoint=path, resume=True, **settings)
        radii.add(part.state.radius)
    same_run(part, whole)
    assert max(radii) > 0.0
