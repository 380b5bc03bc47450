"""The paper's comparison on synthetic ratings, and its figure."""

import csv

import numpy as np
import pytest

from unipd.errors import InvalidInput
from unipd.io import Ratings
from unipd.reproduce import generate_ratings, plot_figure2, run_figure2, write_figure2
from unipd.reproduce.figure2 import BALL, COLUMNS, NORM, residual, summarize_trace


@pytest.fixture(scope="module")
def data():
    made = generate_ratings((30, 25), 350, rank=2, noise=0.2)
    both = Ratings(made.users, made.items, made.values)
    held = np.random.default_rng(0).random(len(both)) < 0.2
    return both.where(~held), both.where(held), made.shape, 70.0


@pytest.fixture(scope="module")
def figure(data):
    said = []
    found = run_figure2(*data, iterations=6, precision=1e-9, progress=lambda *line: said.append(line))
    names = [name for name, _, _ in said]
    assert said[0][:2] == ("optimum of (a)", 0)  # before anything is solved
    references = [name for name in names if name.startswith("optimum of")]
    assert set(references) == {"optimum of (a)", "optimum of (b)"}
    assert len(names) == len(references) + 6 * len(found.traces)
    return found


def test_every_run_is_there(figure):
    names = [(trace.contestant.formulation, trace.contestant.name) for trace in figure.traces]
    assert len(set(names)) == 8
    assert [formulation for formulation, _ in names].count(NORM) == 3
    for trace in figure.traces:
        assert len(trace.history) == trace.merit.size == 6
        assert summarize_trace(trace)["iterations"] == 6


def test_references_cut_by_the_time_limit_are_not_called_optima(data, figure):
    cut = run_figure2(*data, iterations=1, time_limit=0.0)
    for formulation, letter in ((BALL, "a"), (NORM, "b")):
        assert figure.reference_name(formulation) == f"optimum of ({letter})"
        assert cut.reference_name(formulation) == f"time limit before the optimum of ({letter})"


def test_residuals(data, figure):
    ball, norm = figure.optima[BALL], figure.optima[NORM]
    assert 0 <= ball.objective - ball.dual_bound <= 1e-3 * ball.objective + 1e-9
    assert abs(norm.objective - norm.dual_bound) <= 2e-2 * norm.objective
    assert norm.objective >= 0.98 * np.mean(data[0].values ** 2)  # nuclear norms are at least Frobenius norms
    for trace in figure.traces:
        best, values = figure.optima[trace.contestant.formulation].objective, trace.history["objective"]
        np.testing.assert_allclose(residual(figure, trace) * best, np.abs(values - best))
        if trace.contestant.formulation == BALL:
            assert (values > best * (1 - 1e-9)).all()


def test_test_errors_are_those_of_the_average(data, figure):
    import unipd
    from unipd.apps.completion import ball_problem

    train, test, shape, radius = data
    problem = ball_problem(train.users, train.items, train.values, shape, radius)
    stop = unipd.MaxIterations(6)
    result = unipd.solve(problem, unipd.AccUniPDGrad(eps=1e-3), accuracy=1e-3, stop=stop, tracker="atoms")
    error = result.x.dense()[test.users, test.items] - test.values
    trace = next(t for t in figure.traces if t.contestant.name == "AccUniPDGrad" and t.contestant.formulation == BALL)
    assert trace.merit[-1] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-6)
    assert trace.history["objective"][-1] == pytest.approx(result.objective, rel=1e-6)


def test_table(figure, tmp_path):
    write_figure2(figure, tmp_path / "fig2.csv")
    with open(tmp_path / "fig2.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 48
    assert set(rows[0]) == {"formulation", "method", *COLUMNS, "objective_residual", "test_rmse"}
    assert float(rows[5]["test_rmse"]) == pytest.approx(figure.traces[0].merit[-1])


def test_limits(data):
    with pytest.raises(InvalidInput, match="iterations"):
        run_figure2(*data, iterations=0)
    limited = run_figure2(*data, time_limit=0.0)
    assert all(len(trace.history) == 1 for trace in limited.traces)
    assert all(optimum.iterations <= 1 for optimum in limited.optima.values())


def test_the_clock_shows_the_method_alone(data, monkeypatch):
    """One second per iteration: what comes before the run, and progress reports, take no time."""
    from unipd.reproduce import comparison

    now, real = [0.0], comparison.iterate

    def slow(*arguments, **options):
        now[0] += 50.0 if slow.first else 0.0
        slow.first = False
        for state in real(*arguments, **options):
            now[0] += 1.0
            yield state

    slow.first = True

    def advance_clock(*line):
        now[0] += 100.0

    monkeypatch.setattr(comparison, "iterate", slow)
    monkeypatch.setattr(comparison.time, "perf_counter", lambda: now[0])
    for trace in run_figure2(*data, iterations=3, progress=advance_clock).traces:
        np.testing.assert_allclose(trace.history["seconds"], [1.0, 2.0, 3.0])


def test_picture(figure, tmp_path):
    pytest.importorskip("matplotlib")
    picture = plot_figure2(figure, tmp_path / "fig2.svg", title="made-up ratings")
    assert (tmp_path / "fig2.svg").stat().st_size > 1000
    top, middle, bottom = picture.axes[0], picture.axes[2], picture.axes[4]
    assert [axes.get_title(loc="left")[0] for axes in picture.axes] == list("ABCDEF")
    assert (len(top.lines), len(middle.lines), len(bottom.lines)) == (8, 3, 10)
    np.testing.assert_allclose(middle.lines[0].get_ydata(), figure.traces[5].history["infeasibility"])
    drawn = bottom.lines[7]
    np.testing.assert_allclose(drawn.get_ydata(), figure.traces[7].merit)
    assert drawn.get_linestyle() == "--"
