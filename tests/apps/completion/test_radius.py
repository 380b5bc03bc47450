"""Choosing the radius by validation."""

import itertools

import numpy as np
import pytest

from unipd.apps.completion import (
    MOST_TRIALS,
    CompletionModel,
    CompletionProblem,
    ModelSettings,
    RadiusChoice,
    SolverOptions,
    choose_radius,
    initial_radius,
    least_of_parabola,
    predict_at,
)
from unipd.reproduce import generate_ratings


def test_parabola():
    radii = [1.0, 2.0, 5.0]
    assert least_of_parabola(radii, [(np.log(r) - 0.9) ** 2 for r in radii]) == pytest.approx(np.exp(0.9))
    assert least_of_parabola([1.0, 2.0], [1.0, 2.0]) == 1.0
    assert least_of_parabola([1.0, 2.0], [2.0, 1.0]) == 2.0
    assert least_of_parabola([1.0, 2.0, 4.0], [1.0, 1.0, 1.0]) in (1.0, 2.0, 4.0)


@pytest.fixture(scope="module")
def instance():
    made = generate_ratings((80, 60), 2000, rank=3, noise=0.5, seed=1)
    held = np.random.default_rng(0).random(made.values.size) < 0.2
    rest = [part[~held] for part in (made.users, made.items, made.values)]
    return CompletionProblem(*rest, made.shape, ModelSettings()), [
        part[held] for part in (made.users, made.items, made.values)
    ]


def test_the_choice_is_about_the_best(instance, capsys):
    completion, (users, items, values) = instance
    errors_seen = []

    def judge(point):
        errors_seen.append(float(np.sqrt(np.mean((predict_at(completion, point, users, items, None) - values) ** 2))))
        return errors_seen[-1]

    chosen = choose_radius([(completion, judge)], SolverOptions(verbose=True))
    radius, trials = chosen.radius, chosen.trials
    assert len(errors_seen) == len(trials) <= MOST_TRIALS
    assert [trial.radius for trial in trials] == sorted(trial.radius for trial in trials)
    best = min(trials, key=lambda trial: trial.error)
    assert best is not trials[0]
    assert best is not trials[-1]
    assert 0.5 * best.radius <= radius <= 2.0 * best.radius
    assert best.error < np.std(values)
    assert capsys.readouterr().err.count("validation error") == len(trials)


def test_no_other_radius_predicts_much_better_where_ratings_are_nearly_interpolated():
    made = generate_ratings((120, 100), 3600, rank=3, noise=0.3)
    held = np.random.default_rng(0).random(made.values.size) < 0.2
    train, test = ([part[use] for part in (made.users, made.items, made.values)] for use in (~held, held))
    chosen = CompletionModel().fit(tuple(train))
    others = [CompletionModel(share * chosen.radius_).fit(tuple(train)).rmse(tuple(test)) for share in (0.6, 0.8)]
    assert chosen.rmse(tuple(train)) < 0.1 < chosen.rmse(tuple(test)) < 1.03 * min(others)


def test_the_initial_radius_scales_with_the_ratings(instance):
    completion, _ = instance
    twice = CompletionProblem(
        completion.users,
        completion.items,
        2.0 * (completion.target + completion.mean),
        completion.shape,
        ModelSettings(),
    )
    assert initial_radius(twice) == pytest.approx(2.0 * initial_radius(completion))


def test_the_initial_radius_for_constant_ratings_is_positive():
    completion = CompletionProblem(np.array([0, 1]), np.array([0, 1]), np.array([3.0, 3.0]), (2, 2), ModelSettings())
    assert initial_radius(completion) > 0


def test_an_interrupt_ends_the_search(instance, monkeypatch):
    from unipd import Status
    from unipd.apps.completion import solver as module

    completion, _ = instance
    real = module.solve_completion

    def interrupt_solve(*arguments):
        from dataclasses import replace

        return replace(real(*arguments), status=Status.INTERRUPTED)

    monkeypatch.setattr(module, "solve_completion", interrupt_solve)
    with pytest.raises(KeyboardInterrupt):
        choose_radius([(completion, lambda point: 1.0)], SolverOptions())


def norm_of(matrix):
    return np.linalg.svd(np.asarray((matrix.left * matrix.weights) @ matrix.right.T), compute_uv=False).sum()


def precise_instance(noise, seed=0):
    """Few tastes, and ratings that can be fitted almost exactly."""
    rng = np.random.default_rng(seed)
    users, items = np.divmod(rng.permutation(40 * 30)[:600], 30)
    tastes = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 30))
    return users, items, tastes[users, items] + noise * rng.standard_normal(600), tastes


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_a_ball_that_is_not_filled_is_not_made_larger(noise):
    users, items, values, _ = precise_instance(noise)
    held = np.random.default_rng(1).random(600) < 0.1
    completion = CompletionProblem(users[~held], items[~held], values[~held], (40, 30), ModelSettings(weight_power=0.0))
    norms = []

    def judge(point):
        norms.append(norm_of(point.parts[0]))
        found = predict_at(completion, point, users[held], items[held], None)
        return float(np.sqrt(np.mean((found - values[held]) ** 2)))

    chosen = choose_radius([(completion, judge)], SolverOptions())
    radius, trials = chosen.radius, chosen.trials
    assert sorted(norms) == pytest.approx([trial.radius for trial in trials], rel=0.011)
    assert radius <= 1.01 * max(norms)
    assert not trials[-1].is_filled or trials[-1].error > min(trial.error for trial in trials)


def test_steep_errors_are_looked_at_again():
    users, items, values, tastes = precise_instance(0.02, seed=3)
    model = CompletionModel(weight_power=0.0).fit((users, items, values))
    radii, errors = zip(*model.path_, strict=True)
    best = int(np.argmin(errors))
    assert radii[best] / radii[best - 1] < 1.9
    assert max(errors[max(best - 1, 0) : best + 2]) < 3.0 * errors[best]
    others = np.ones((40, 30), bool)
    others[users, items] = False
    assert model.rmse(np.where(others, tastes, np.nan)) < 1.5 * errors[best]


@pytest.mark.parametrize(("count", "sets"), [(300, 5), (4000, 3), (20000, 1)])
def test_few_ratings_are_held_out_in_several_sets(monkeypatch, count, sets):
    from unipd.apps.completion import solver

    seen = []

    def chosen(folds, options):
        seen.extend(folds)
        return RadiusChoice(1.0)

    monkeypatch.setattr(solver, "choose_radius", chosen)
    rng = np.random.default_rng(0)
    places = rng.permutation(200 * 200)[:count]
    CompletionModel(max_seconds=0.0).fit((*np.divmod(places, 200), rng.standard_normal(count)))
    kept = [set(zip(completion.users.tolist(), completion.items.tolist(), strict=True)) for completion, _ in seen]
    assert len(kept) == sets
    assert all(len(pairs) == pytest.approx(0.9 * count, rel=0.05) for pairs in kept)
    assert all(len(first | second) == count for first, second in itertools.combinations(kept, 2))


def test_ratings_that_are_all_the_same_end_the_search():
    users, items = np.divmod(np.arange(120), 12)
    with pytest.warns(UserWarning, match="all ratings are 4"):
        model = CompletionModel().fit((users, items, np.full(120, 4.0)))
    assert len(model.path_) <= 2
    assert model.rank_ == 0
    assert model.predict([(0, 0), (99, 99)]).tolist() == [4.0, 4.0]


def test_trials_start_from_each_other(instance, monkeypatch):
    from unipd.apps.completion import solver as module

    completion, (users, items, values) = instance
    real, starts, points = module.solve_completion, [], []

    def judge(point):
        return float(np.sqrt(np.mean((predict_at(completion, point, users, items, None) - values) ** 2)))

    def record_start(completion, radius, options, start):
        starts.append(start)
        points.append(real(completion, radius, options, start))
        return points[-1]

    def cold(completion, radius, options, start):
        return real(completion, radius, options, None)

    monkeypatch.setattr(module, "solve_completion", record_start)
    warm = choose_radius([(completion, judge)], SolverOptions())
    monkeypatch.setattr(module, "solve_completion", cold)
    afresh = choose_radius([(completion, judge)], SolverOptions())
    assert [start is None for start in starts] == [True] + [False] * (len(warm.trials) - 1)
    spent, alone = (chosen.work["matvecs"] / len(chosen.trials) for chosen in (warm, afresh))
    assert len(warm.trials) > 2
    assert spent < 0.9 * alone
    assert any(warm.start.point is result.x for result in points)


def test_the_final_fit_starts_from_the_path():
    made = generate_ratings((80, 60), 2000, rank=3, noise=0.5, seed=1)
    ratings = made.users, made.items, made.values
    warm = CompletionModel(accuracy=1e-5).fit(ratings)
    cold = CompletionModel(warm.radius_, accuracy=1e-5).fit(ratings)
    assert warm.result_.counts.matvecs < cold.result_.counts.matvecs


def test_the_order_of_the_ratings_changes_nothing():
    made = generate_ratings((60, 50), 1500, rank=3, noise=0.5, seed=1)
    order = np.random.default_rng(5).permutation(made.values.size)
    plain = CompletionModel().fit((made.users, made.items, made.values))
    shuffled = CompletionModel().fit((made.users[order], made.items[order], made.values[order]))
    assert shuffled.path_ == plain.path_
    pairs = made.users, made.items
    np.testing.assert_array_equal(shuffled.predict(pairs), plain.predict(pairs))
