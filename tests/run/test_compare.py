"""Comparisons of several methods."""

import dataclasses

import numpy as np
import pytest

import unipd
from unipd import couplings, sharp
from unipd.run import Comparison, Truth, common_scale, comparison_rows


@pytest.fixture
def problem() -> unipd.Problem:
    return unipd.Problem(sharp.Simplex(4), np.eye(4), [0.1, 0.2, 0.3, 0.4], couplings.LeastSquares())


def test_every_method_has_the_same_history_columns(problem: unipd.Problem) -> None:
    outcome = unipd.compare(problem, ["unipdgrad", "corrective", unipd.FrankWolfe()], stop=unipd.MaxIterations(20))
    assert list(outcome) == ["unipdgrad", "corrective", "frank-wolfe"]
    assert {result.history.table.shape[1] for result in outcome.values()} == {14}
    assert "corrective" in str(outcome)
    assert "<th style='text-align:left'>corrective</th>" in outcome._repr_html_()


def test_variants_of_one_method_are_distinguished(problem: unipd.Problem) -> None:
    variants = [unipd.AccUniPDGrad(), unipd.AccUniPDGrad(weights="greedy")]
    outcome = unipd.compare(problem, variants, stop=unipd.MaxIterations(5))
    assert list(outcome) == ["accunipdgrad", "accunipdgrad #2"]


def test_one_picture_holds_them_all(problem: unipd.Problem, tmp_path) -> None:
    outcome = unipd.compare(problem, ["pairwise", "corrective"], accuracy=1e-6)
    outcome.plot(str(tmp_path / "compare.png"))
    assert (tmp_path / "compare.png").stat().st_size > 5000


def test_no_methods_is_a_mistake(problem: unipd.Problem) -> None:
    with pytest.raises(unipd.errors.InvalidInput, match="methods"):
        unipd.compare(problem, [])


def test_cvxpy_is_the_truth_of_small_problems(problem: unipd.Problem) -> None:
    pytest.importorskip("cvxpy")
    outcome = unipd.compare(problem, accuracy=1e-6, stop=unipd.MaxIterations(50))
    assert list(outcome) == ["unipdgrad", "accunipdgrad", "auto"]
    assert "CVXPY" in outcome.truth.source
    assert outcome.truth.value == pytest.approx(0.0, abs=1e-8)
    assert outcome.residual("auto").size == len(outcome["auto"].history)
    assert outcome.residual("auto")[-1] < 1e-6 < outcome.residual("unipdgrad")[0]
    assert "CVXPY" in str(outcome)


def test_the_truth_may_be_given_or_be_a_bound() -> None:
    birkhoff = unipd.Problem(sharp.Birkhoff(2), np.eye(4), np.full(4, 0.5), couplings.LeastSquares())
    outcome = unipd.compare(birkhoff, ["corrective"], accuracy=1e-6)
    assert "bound" in outcome.truth.source
    assert "no reference value from CVXPY" in outcome.note
    assert outcome.note in str(outcome)
    given = unipd.compare(birkhoff, ["corrective"], accuracy=1e-6, truth=0.25)
    assert given.truth.value == 0.25
    assert given.note == ""
    assert unipd.compare(birkhoff, ["corrective"], truth=None).note == ""
    with pytest.raises(unipd.errors.InvalidInput, match="truth"):
        unipd.compare(birkhoff, ["corrective"], truth="guess")


def test_the_picture_shows_every_quantity_against_every_measure(problem: unipd.Problem, tmp_path) -> None:
    path = tmp_path / "methods.svg"
    outcome = unipd.compare(problem, ["pairwise", "unipdgrad"], truth=0.0, path=path, stop=unipd.MaxIterations(9))
    assert path.stat().st_size > 5000
    figure = outcome.plot()
    assert len(figure.axes) == 8
    labels = [axes.get_xlabel() for axes in figure.axes[4:]]
    assert labels == ["iterations", "sharp-oracle calls", "matrix-vector products", "seconds"]
    assert [axes.get_ylabel() for axes in figure.axes[::4]] == [
        f"objective residual\nrelative to {outcome.scale:.4g}",
        f"certified gap\nrelative to {outcome.scale:.4g}",
    ]
    constrained = unipd.Problem(sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    outcome = unipd.compare(constrained, ["unipdgrad", "auto"], truth=0.0, accuracy=1e-4)
    assert [axes.get_ylabel() for axes in outcome.plot().axes[::4]][1] == "relative infeasibility"
    assert len(outcome.plot(axis="seconds").axes) == 2
    with pytest.raises(unipd.errors.InvalidInput, match="axis"):
        outcome.plot(axis="days")


def test_all_histories_in_one_table(problem: unipd.Problem) -> None:
    pytest.importorskip("pandas")
    outcome = unipd.compare(problem, ["pairwise", unipd.Restarts(unipd.UniPDGrad())], stop=unipd.MaxIterations(4))
    table = outcome.to_dataframe()
    assert set(table["method"]) == {"pairwise", "unipdgrad, continuation"}
    assert {"residual", "gap", "infeasibility", "oracle_calls", "matvecs", "seconds"} <= set(table.columns)


def test_columns_of_the_table_are_aligned_whatever_the_names(problem: unipd.Problem) -> None:
    results = unipd.compare(problem, ["corrective"], accuracy=1e-6, truth=0.0).results
    named = {"the corrective method with a long name": results["corrective"], "b": results["corrective"]}
    head, *rows = str(Comparison(named, Truth(0.0, "the caller"))).splitlines()[:3]
    assert all(row.index("solved") == head.index("status") for row in rows)


def test_one_scale_serves_all_methods_of_a_table() -> None:
    """A method that is far from the solution has a scale of its own, by which its gap would look small."""
    costs = np.array([1.0, 2.0, -3.0])
    problem = unipd.Problem(sharp.Linear(costs, sharp.Simplex(3)), np.eye(3), [0.9, 0.4, 0.1], "<=")
    outcome = unipd.compare(problem, ["unipdgrad", "auto"], truth=None, stop=unipd.MaxIterations(8))
    far, near = outcome["unipdgrad"], outcome["auto"]
    assert far.gap_scale != pytest.approx(near.gap_scale)
    assert far.infeasibility > 0.0
    head, *rows = outcome._rows()
    assert head[4] == f"gap / {outcome.scale:.4g}"
    for name, row in zip(outcome, rows, strict=True):
        assert float(row[4]) == pytest.approx(outcome[name].absolute_gap / outcome.scale, rel=0.05, abs=1e-12)
    least = min(result.feasibility_scale for result in (far, near))
    assert head[5] == f"infeasibility / {least:.4g}"
    assert float(rows[0][5]) == pytest.approx(far.violation / least, rel=0.05)
    unknown = dataclasses.replace(far, problem=None, facts=None)
    head, first, _ = comparison_rows({"a": unknown, "b": near})
    assert head[5] == "infeasibility"  # each relative to its own scale
    assert float(first[5]) == pytest.approx(far.infeasibility, rel=0.05)
    assert comparison_rows(outcome.results)[0][4] == f"gap / {common_scale(outcome.results):.4g}"
