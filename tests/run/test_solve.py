"""The contract of ``solve``: verified results, correct statuses, warm starts, histories, no output."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from support.methods import FalseCertificates
from support.references import SETS, constrained_reference, loss_reference
from unipd import MaxIterations, PairwiseFrankWolfe, Status, solve
from unipd.errors import InvalidInput, MissingExtra
from unipd.run import COLUMNS, History

GENERAL = ["unipdgrad", "accunipdgrad", "corrective"]
FOR_LOSSES = [*GENERAL, "frank-wolfe", "away-step", "pairwise"]
for_constraints = pytest.mark.parametrize("method", GENERAL)
for_losses = pytest.mark.parametrize("method", FOR_LOSSES)


def test_solved_is_only_said_after_a_check_of_the_point_itself() -> None:
    problem, _ = loss_reference("simplex", "least squares")
    result = solve(problem, FalseCertificates(PairwiseFrankWolfe()), accuracy=1e-6)
    assert result.status is not Status.SOLVED
    assert result.objective == pytest.approx(problem.coupling.value(problem.map.image(result.x) - problem.b))


@for_losses
def test_reported_figures_are_those_of_the_point(method: str) -> None:
    problem, _ = loss_reference("l1 ball", "least squares")
    result = solve(problem, method, accuracy=1e-2)
    residual = problem.map.image(result.x) - problem.b
    assert result.objective == pytest.approx(problem.coupling.value(residual), rel=1e-12)
    np.testing.assert_allclose(result.image, problem.map.image(result.x), rtol=1e-12)
    assert result.gap == pytest.approx((result.objective - result.dual_bound) / problem.scale(0.0))


@for_constraints
@pytest.mark.parametrize("coupling", SETS)
def test_the_dual_vector_returned_attains_the_bound(method: str, coupling: str) -> None:
    problem, _ = constrained_reference("squared norm", coupling)
    result = solve(problem, method, accuracy=1e-2)
    answer = problem.sharp(problem.map.adjoint(-result.dual))
    total = answer.value + float(result.dual @ problem.b) + problem.coupling.conjugate(result.dual)
    assert -total == pytest.approx(result.dual_bound, abs=1e-9)


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad"])
def test_a_warm_start_saves_work(method: str) -> None:
    problem, _ = constrained_reference("squared norm", "equality")
    rough = solve(problem, method, accuracy=1e-2)
    cold = solve(problem, method, accuracy=1e-3)
    warm = solve(problem, method, accuracy=1e-3, start=rough)
    assert warm.status is cold.status is Status.SOLVED
    assert warm.counts.oracle_calls < 0.8 * cold.counts.oracle_calls
    again = solve(problem, method, accuracy=1e-3, start=rough.dual)
    assert again.counts == warm.counts


@pytest.mark.parametrize("method", GENERAL)
def test_a_start_at_the_dual_optimum_is_certified_at_once(method: str) -> None:
    problem, optimum = constrained_reference("squared norm", "equality")
    best = solve(problem, "corrective", accuracy=1e-6)
    result = solve(problem, method, accuracy=1e-3, start=best)
    assert result.history["dual_bound"][0] == pytest.approx(optimum, abs=1e-5)


@for_losses
def test_histories_have_one_row_an_iteration(method: str) -> None:
    problem, _ = loss_reference("l1 ball", "least squares")
    result = solve(problem, method, accuracy=1e-2, stop=MaxIterations(50))
    history = result.history
    assert len(history) == result.iterations
    np.testing.assert_array_equal(history["iteration"], np.arange(1, result.iterations + 1))
    assert history.table.shape == (result.iterations, len(COLUMNS))
    assert np.all(np.diff(history["seconds"]) >= 0)
    assert np.all(np.diff(history["dual_bound"]) >= 0)
    assert history["oracle_calls"][-1] == result.counts.oracle_calls
    assert history["matvecs"][-1] == result.counts.matvecs
    scale = problem.scale(0.0)
    np.testing.assert_allclose(history["gap"], (history["objective"] - history["dual_bound"]) / scale)
    assert history["nu"].shape == (result.iterations,)


def test_histories_become_data_frames() -> None:
    problem, _ = loss_reference("l1 ball", "least squares")
    history = solve(problem, "unipdgrad", accuracy=1e-2).history
    frame = history.to_dataframe()
    assert list(frame.columns) == [*COLUMNS, "nu"]
    assert len(frame) == len(history)
    assert frame["iteration"].dtype.kind == "i"
    np.testing.assert_array_equal(frame["gap"].to_numpy(), history["gap"])


def test_histories_survive_a_round_trip_through_their_table() -> None:
    problem, _ = loss_reference("l1 ball", "least squares")
    history = solve(problem, "unipdgrad", accuracy=1e-2).history
    np.testing.assert_array_equal(History(history.table).table, history.table)


def test_a_missing_pandas_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"pandas.*unipd\[data\]"):
        History().to_dataframe()


def test_an_unknown_column_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"column.*nonsense"):
        History()["nonsense"]


@pytest.mark.parametrize("status", list(Status))
def test_every_status_has_a_message_and_only_one_is_a_success(status: Status) -> None:
    assert status.message.endswith(".")
    assert status.success == (status.value == "solved")
