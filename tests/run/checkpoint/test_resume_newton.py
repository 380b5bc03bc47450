"""Newton steps over a fixed diagonal, interrupted after every iteration: the trust-region radius is restored too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.runs import same_run
from unipd import MaxIterations, Problem, Status, solve
from unipd.apps.graphs import maxcut_program
from unipd.apps.sdp import analyse
from unipd.io import Graph
from unipd.methods import Method
from unipd.methods.factored import trust_region


def _maxcut(monkeypatch: pytest.MonkeyPatch) -> tuple[Problem, Method]:
    """A MaxCut program and its method, with few products per iteration so that there are many iterations."""
    monkeypatch.setattr(trust_region, "PRODUCTS", 5)
    random = np.random.default_rng(4)
    rows, cols = np.nonzero(np.triu(random.random((40, 40)) < 0.2, 1))
    analysis = analyse(maxcut_program(Graph.of(40, rows, cols, random.standard_normal(rows.size))).data)
    trace = analysis.trace_bound()
    assert trace is not None
    return analysis.problem(trace), analysis.method(None, 0, trace)


def test_every_iteration_is_a_place_to_go_on_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, method = _maxcut(monkeypatch)
    settings: dict[str, Any] = {"accuracy": 1e-7}
    whole = solve(problem, method, **settings)
    assert whole.status is Status.SOLVED
    assert whole.iterations >= 8
    radii = set[float]()
    for limit in range(1, whole.iterations + 1):
        path = tmp_path / "run.ckpt"
        part = solve(problem, method, stop=MaxIterations(limit), checkpoint=path, resume=True, **settings)
        radii.add(part.state.radius)
    same_run(part, whole)
    assert max(radii) > 0.0
