"""One time limit covers everything in a fit, and counts mean the same throughout."""

import numpy as np
import pytest

import unipd
from unipd import Status
from unipd._util.context import Communicator
from unipd.apps.completion import SEARCH_CUT, CompletionModel, Deadline, model, solver
from unipd.reproduce import generate_ratings

SETS = 5
"""Sets held out of this few ratings: fits per trial."""


class Clock:
    """A clock that advances by a second with every fit."""

    def __init__(self):
        self.time = 100.0
        self.given = []

    def now(self):
        return self.time

    def count_solves(self, solve):
        def run(completion, radius, options, start=None):
            self.given.append(options.seconds)
            result = solve(completion, radius, options, start)
            self.time += 1.0
            return result

        return run


@pytest.fixture(scope="module")
def ratings():
    made = generate_ratings((50, 40), 900, rank=2, noise=0.3, seed=2)
    return made.users, made.items, made.values


@pytest.fixture(scope="module")
def unlimited_fit(ratings):
    return CompletionModel().fit(ratings)


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(Communicator, "now", staticmethod(found.now))
    for module in (solver, model):
        monkeypatch.setattr(module, "solve_completion", found.count_solves(module.solve_completion))
    return found


def test_every_fit_gets_what_is_left(clock, ratings, unlimited_fit):
    model = CompletionModel(max_seconds=12.0).fit(ratings)
    assert clock.given == [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 3.0]
    assert len(model.path_) == 1 < len(unlimited_fit.path_)
    assert model.radius_ == model.path_[0][0]
    assert model.result_.status is Status.TIME_LIMIT
    assert model.summary()["message"] == SEARCH_CUT


def test_before_the_first_trial_is_complete_the_radius_is_an_estimate(clock, ratings):
    model = CompletionModel(max_seconds=4.0).fit(ratings)
    assert clock.given == [3.0, 2.0, 1.0, 1.0]
    assert model.path_ == []
    assert model.radius_ > 0.0
    assert model.result_.extras["search_iterations"] >= 3


def test_a_trial_that_is_cut_short_does_not_count(monkeypatch, ratings, unlimited_fit):
    from dataclasses import replace

    real, seen = solver.solve_completion, []

    def late(*arguments):
        seen.append(real(*arguments))
        return replace(seen[-1], status=Status.TIME_LIMIT) if len(seen) > SETS else seen[-1]

    monkeypatch.setattr(solver, "solve_completion", late)
    model = CompletionModel(max_seconds=1e6).fit(ratings)
    assert (len(seen), len(model.path_)) == (SETS + 1, 1)
    assert model.result_.message == SEARCH_CUT
    assert model.result_.extras["search_iterations"] == sum(result.iterations for result in seen)


def test_time_enough_changes_nothing(ratings, unlimited_fit):
    model = CompletionModel(max_seconds=1e6).fit(ratings)
    assert model.result_.status is Status.SOLVED
    assert (model.radius_, model.path_) == (unlimited_fit.radius_, unlimited_fit.path_)


def test_no_time_is_no_success(ratings, unlimited_fit):
    model = CompletionModel(max_seconds=0.0, accuracy=0.9).fit(ratings)
    assert model.gap_ <= 0.9
    assert model.radius_ != unlimited_fit.radius_
    assert model.result_.status is Status.TIME_LIMIT


def test_a_radius_that_is_given_may_be_solved_in_no_time(ratings):
    model = CompletionModel(40.0, max_seconds=0.0, accuracy=0.9).fit(ratings)
    assert model.result_.status is Status.SOLVED


@pytest.mark.parametrize("options", [{"radius": 40.0}, {"residual": 0.1}], ids=["ball", "norm"])
def test_other_methods_keep_the_limit(ratings, options):
    patience = 30
    model = CompletionModel(
        **options,
        method="accunipdgrad",
        accuracy=1e-9,
        max_seconds=0.0,
        callback=lambda info: info.state.iteration >= patience,
    ).fit(ratings)
    assert (model.result_.status, model.n_iter_) == (Status.TIME_LIMIT, 1)


def test_the_deadline_counts_from_its_beginning(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(Communicator, "now", staticmethod(clock.now))
    deadline = Deadline(10.0)
    clock.time += 4.0
    assert (deadline.remaining(), deadline.remaining(0.75), deadline.remaining(0.25)) == (6.0, 3.5, 0.0)


def test_counts_are_of_the_final_fit_and_of_the_search(unlimited_fit, tmp_path):
    figures, result = unlimited_fit.summary(), unlimited_fit.result_
    assert figures["iterations"] == unlimited_fit.n_iter_ == result.iterations
    assert figures["oracle_calls"] == result.counts.oracle_calls
    assert figures["seconds"] == result.seconds
    assert figures["search_iterations"] >= SETS * len(unlimited_fit.path_)
    assert figures["search_oracle_calls"] > figures["oracle_calls"]
    assert figures["search_matvecs"] > figures["matvecs"]
    assert figures["total_seconds"] >= figures["seconds"] + figures["search_seconds"]
    saved = unipd.load(unlimited_fit.save(tmp_path / "model.npz")).summary()
    assert saved == {name: figures[name] for name in saved}
    assert "search_iterations" in saved


@pytest.mark.parametrize("options", [{"radius": 40.0}, {"residual": 0.5}], ids=["ball", "norm"])
def test_without_a_search_its_counts_are_zero(ratings, options):
    figures = CompletionModel(**options).fit(ratings).summary()
    assert [figures[f"search_{name}"] for name in ("iterations", "oracle_calls", "matvecs", "seconds")] == [0, 0, 0, 0]
    assert np.isfinite(figures["total_seconds"])
