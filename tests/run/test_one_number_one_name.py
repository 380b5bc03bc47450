"""`gap` and `infeasibility` are relative in every output of a run, `absolute_gap` and `violation` absolute."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unipd
from unipd import couplings, sharp
from unipd.apps.sdp import SDP
from unipd.io import load, save
from unipd.report import compute_curves, describe_certificate, write_report
from unipd.run import IterationInfo, summary_rows

SCALE = 1e3
"""Units of the data, so that no relative number equals its absolute counterpart."""


def linear_program(coupling: Any = "=") -> unipd.Problem:
    random = np.random.default_rng(3)
    A = SCALE * random.standard_normal((5, 20))
    A /= np.linalg.norm(A, axis=1, keepdims=True) / SCALE  # so that infeasibility is violation over scale
    return unipd.Problem(
        sharp.Linear(SCALE * random.standard_normal(20), sharp.Simplex(20)),
        A,
        A @ random.dirichlet(np.ones(20)),
        coupling,
    )


def solved(coupling: Any = "=") -> tuple[unipd.Result, list[IterationInfo]]:
    seen: list[IterationInfo] = []
    problem = linear_program(coupling)
    limit = unipd.MaxIterations(12)
    return unipd.solve(problem, "unipdgrad", accuracy=1e-4, stop=limit, callback=seen.append), seen


@pytest.mark.parametrize("coupling", ["=", "<=", couplings.LeastSquares()])
def test_result_summary_history_and_states_agree(coupling: Any) -> None:
    result, seen = solved(coupling)
    problem, certificate = result.problem, result.state.certificate
    residual = problem.map.image(result.x) - problem.b
    gap = result.objective - result.dual_bound
    assert result.absolute_gap == certificate.absolute_gap == gap
    assert result.violation == certificate.violation == pytest.approx(problem.coupling.distance(residual))
    assert result.gap == certificate.gap(problem) == pytest.approx(gap / result.gap_scale)
    assert result.gap_scale == problem.scale(result.objective)
    assert result.infeasibility == certificate.infeasibility == problem.infeasibility(residual)
    if problem.loss is None:
        assert result.infeasibility == pytest.approx(result.violation / result.feasibility_scale)
        assert result.violation > 2.0 * result.infeasibility > 0.0
    else:
        assert (result.violation, result.infeasibility, result.feasibility_scale) == (0.0, 0.0, None)
    summary = result.summary()
    for name in ("gap", "infeasibility", "absolute_gap", "violation", "accuracy", "gap_scale", "feasibility_scale"):
        assert summary[name] == getattr(result, name)
    history = result.history
    for place, info in enumerate(seen):
        assert history["gap"][place] == info.gap == info.state.certificate.gap(problem)
        assert history["infeasibility"][place] == info.infeasibility == info.state.certificate.infeasibility
        assert history["violation"][place] == info.state.certificate.violation
        scale = problem.scale(history["objective"][place])
        absolute = history["objective"][place] - history["dual_bound"][place]
        assert history["gap"][place] == pytest.approx(absolute / scale)


def test_gaps_of_likelihoods_are_in_nats_everywhere(tmp_path: Path) -> None:
    loss = couplings.PoissonLikelihood([3.0, 1.0], [1.0, 1.0])
    result = unipd.solve(unipd.Problem(sharp.Simplex(2), np.eye(2) * 4.0, np.zeros(2), loss), accuracy=1e-4)
    for each in (result, load(save(result, tmp_path / "run.npz"))):
        assert each.summary()["gap_unit"] == each.gap_unit == compute_curves(each).unit == "nats"
        assert f"{each.gap:.3g} nats, requested 0.0001" in str(each)
        assert "(nats) of the optimal one" in " ".join(describe_certificate(each))
    assert solved()[0].gap_unit == "relative"


def test_the_scale_in_equilibrated_rows_has_a_name_of_its_own() -> None:
    rows = np.random.default_rng(0).standard_normal((2, 4)) * np.array([[10.0], [0.1]])
    result = unipd.solve(unipd.Problem(sharp.Simplex(4), rows, rows.mean(axis=1), "="))
    problem = result.problem
    scale = problem.equilibrated_scale(result.image - problem.b)
    assert scale == pytest.approx(np.linalg.norm(problem.b / np.linalg.norm(rows, axis=1)))
    assert result.feasibility_scale == pytest.approx(scale * np.linalg.norm(rows, axis=1).min())
    assert not hasattr(problem, "feasibility_scale")


def test_files_tables_and_pages_show_the_same_numbers(tmp_path: Path) -> None:
    result, _ = solved()
    names = ("gap", "infeasibility", "absolute_gap", "violation", "accuracy", "gap_scale", "feasibility_scale")
    stored = load(save(result, tmp_path / "run.npz"))
    assert {name: getattr(stored, name) for name in names} == {name: getattr(result, name) for name in names}
    assert stored.summary() == {**result.summary(), "message": stored.message}
    rows = dict(summary_rows(result.summary(), result.accuracy))
    assert rows["gap"] == f"{result.gap:.3g} (relative to {result.gap_scale:.4g}, requested 0.0001)"
    assert rows["infeasibility"] == f"{result.infeasibility:.3g} (relative to {result.feasibility_scale:.4g})"
    frame = result.history.to_dataframe()
    assert frame["gap"].iloc[-1] == result.history["gap"][-1]
    page = write_report(result, tmp_path / "run.html")
    text = Path(page).read_text()
    cells = dict(re.findall(r"<th[^>]*>([^<]+)</th>\s*<td[^>]*>([^<]+)</td>", text))
    assert float(cells["gap (relative)"]) == pytest.approx(result.gap, rel=1e-2)
    assert float(cells["absolute gap"]) == pytest.approx(result.absolute_gap, rel=1e-2)
    assert float(cells["violation (absolute)"]) == pytest.approx(result.violation, rel=1e-2)
    assert float(cells["infeasibility (relative)"]) == pytest.approx(result.infeasibility, rel=1e-2)
    assert float(cells["scale of the gap"]) == pytest.approx(result.gap_scale, rel=1e-3)


def test_progress_shows_the_relative_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    result = unipd.solve(linear_program(), "unipdgrad", accuracy=1e-4, stop=unipd.MaxIterations(12), verbose=True)
    line = capsys.readouterr().err.splitlines()[0]
    iteration = int(re.search(r"iteration (\d+)", line)[1]) - 1  # pyright: ignore[reportOptionalSubscript]
    for name in ("gap", "infeasibility"):
        shown = float(re.search(rf"{name} (\S+)", line)[1])  # pyright: ignore[reportOptionalSubscript]
        assert shown == pytest.approx(result.history[name][iteration], rel=0.06)


@pytest.mark.parametrize("maximise", [False, True])
def test_semidefinite_programs_use_the_same_names(maximise: bool) -> None:
    random = np.random.default_rng(0)
    matrices = [SCALE * np.eye(4), *(SCALE * (m + m.T) for m in random.standard_normal((2, 4, 4)))]
    start = np.eye(4) / 4.0
    b = [float(np.sum(m * start)) for m in matrices]
    cost = SCALE * np.diag([1.0, 2.0, 3.0, 4.0])
    result = SDP.from_matrices(cost, matrices, b, maximise=maximise).solve(1e-3, stop=unipd.MaxIterations(2))
    sign = -1.0 if maximise else 1.0
    assert result.absolute_gap == sign * (result.objective - result.dual_bound)
    assert result.gap == pytest.approx(result.absolute_gap / result.gap_scale)
    assert result.infeasibility == pytest.approx(result.violation / result.feasibility_scale)
    norms = [np.linalg.norm(matrix) for matrix in matrices]
    violations = [
        abs(np.sum(m * result.x.dense()) - bound) / size for m, bound, size in zip(matrices, b, norms, strict=True)
    ]
    assert result.violation == pytest.approx(float(np.linalg.norm(violations)))
    assert "accuracy" in result.summary()


def test_json_names_what_is_relative_and_what_is_not(tmp_path: Path) -> None:
    from unipd.cli.output import to_jsonable

    result, _ = solved()
    content = json.loads(json.dumps(to_jsonable(result.summary())))
    assert content["gap"] * content["gap_scale"] == pytest.approx(content["absolute_gap"])
    assert content["infeasibility"] * content["feasibility_scale"] == pytest.approx(content["violation"])
    assert content["accuracy"] == 1e-4
    unknown = replace(unipd.Result(unipd.Status.STOPPED), accuracy=1e-3)
    assert math.isnan(unknown.summary()["violation"])
