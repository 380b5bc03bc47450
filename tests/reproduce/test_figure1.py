"""The paper's figure 1."""

import csv
import itertools

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import unipd
from unipd.errors import InvalidInput
from unipd.reproduce import (
    COLUMNS,
    DEFAULT,
    METHODS,
    ORACLE_ACCURACY,
    figure1_experiment,
    plot_figure1,
    run_figure1,
    summarize_trace,
    write_figure1,
)


@pytest.fixture(scope="module")
def traces():
    return run_figure1(*figure1_experiment(6, seed=0), iterations=120)


def test_the_order_of_the_methods_is_the_papers(traces):
    """Acc is the clear winner; line search improves Frank-Wolfe; UniPDGrad is like plain Frank-Wolfe."""
    final = {trace.name: trace.history["objective"][-1] for trace in traces}
    assert final["AccUniPDGrad"] < 0.2 * final["Frank-Wolfe, line search"] < final["Frank-Wolfe"]
    assert final["AccUniPDGrad, greedy weights"] < 0.1 * final["AccUniPDGrad"]
    assert 0.1 < final["UniPDGrad"] / final["Frank-Wolfe"] < 10


def test_the_line_search_takes_as_many_trials_as_the_paper_prints(traces):
    found = {trace.name: trace.trials for trace in traces}
    assert found["UniPDGrad"] == pytest.approx(1.978, abs=0.05)
    assert found["AccUniPDGrad"] == pytest.approx(1.057, abs=0.08)
    assert found["Frank-Wolfe"] is None


def test_the_table_has_every_iteration(traces, tmp_path):
    write_figure1(traces, tmp_path / "fig1.csv")
    with open(tmp_path / "fig1.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 6 * 120
    assert set(rows[0]) == {"method", *COLUMNS, "relative_error"}
    assert float(rows[119]["relative_error"]) == pytest.approx(traces[0].merit[-1])
    last = rows[119]
    assert last["method"] == "UniPDGrad"
    assert float(last["objective"]) == pytest.approx(traces[0].history["objective"][-1])


def test_the_merit_is_the_relative_error_of_the_point():
    problem, truth = figure1_experiment(3, seed=1)
    exact = truth.density_matrix()
    for contestant in (*METHODS[:5:2], DEFAULT):
        (trace,) = run_figure1(problem, truth, iterations=6, methods=[contestant])
        last = list(
            itertools.islice(
                unipd.iterate(problem, contestant.method, accuracy=ORACLE_ACCURACY, tracker="dense"), len(trace.history)
            )
        )[-1]
        expected = np.linalg.norm(np.asarray(unipd.atoms.dense(last.primal.point())) - exact)
        assert trace.merit[-1] == pytest.approx(expected, rel=1e-3, abs=1e-6)
        assert summarize_trace(trace)["relative_error"] == trace.merit[-1]


def test_errors_follow_the_objective(traces):
    for trace in traces:
        assert trace.merit[-1] < 0.5 * trace.merit[0]
    final = {trace.name: trace.merit[-1] for trace in traces}
    assert final["AccUniPDGrad"] < final["Frank-Wolfe, line search"] < final["Frank-Wolfe"]


def test_the_picture_has_six_curves_in_four_panels(traces, tmp_path):
    figure = plot_figure1(traces, tmp_path / "fig1.png", title="a title")
    assert (tmp_path / "fig1.png").stat().st_size > 5000
    for axes in figure.axes:
        assert len(axes.lines) == 6
        assert sum(line.get_linestyle() == "--" for line in axes.lines) == 3
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_xdata(), np.arange(1, 121))
    with pytest.raises(InvalidInput):
        plot_figure1([])


def test_the_default_runs_until_its_gap_is_certified():
    (trace,) = run_figure1(*figure1_experiment(4, seed=0), iterations=50, methods=[DEFAULT])
    gaps = np.abs(trace.history["gap"])
    assert gaps[-1] <= ORACLE_ACCURACY
    assert (gaps[:-1] > ORACLE_ACCURACY).all()
    assert trace.summary()["gap"] == trace.history["gap"][-1]
    assert plot_figure1([trace]).axes[0].lines[0].get_marker() == "*"


def test_limits_and_progress():
    seen = []
    experiment, methods = figure1_experiment(3), METHODS[:2]
    few = run_figure1(
        *experiment, iterations=50, time_limit=0.0, methods=methods, progress=lambda *part: seen.append(part)
    )
    assert [len(trace.history) for trace in few] == [1, 1]
    assert seen[0][:2] == ("UniPDGrad", 1)
    assert summarize_trace(few[0])["paper_trials_per_iteration"] == 1.978
    with pytest.raises(InvalidInput):
        run_figure1(*experiment, iterations=0)
