"""Ratings in any unit, and constant ratings."""

import numpy as np
import pytest

import unipd
from unipd.apps.completion import CompletionModel
from unipd.reproduce import generate_ratings

PLACES = np.divmod(np.random.default_rng(0).choice(64, 30, replace=False), 8)
EVERYWHERE = np.indices((8, 8)).reshape(2, -1).T


@pytest.fixture(scope="module")
def ratings():
    made = generate_ratings((40, 30), 500, rank=2, noise=0.3, seed=1)
    return made.users.astype(int), made.items.astype(int), made.values


@pytest.mark.parametrize("unit", [1e-90, 1e-3, 1e12, 1e90])
@pytest.mark.parametrize("residual", [0.0, 0.3])
def test_the_least_norm_in_any_unit(ratings, residual, unit):
    users, items, values = ratings
    plain, other = (
        CompletionModel(residual=residual * scale, clip=False).fit((users, items, values * scale))
        for scale in (1.0, unit)
    )
    assert other.result_.status is unipd.Status.SOLVED
    assert other.radius_ / unit == pytest.approx(plain.radius_, rel=1e-4)
    assert other.rmse((users, items, values * unit)) / unit == pytest.approx(residual, abs=1e-3)
    assert other.objective_ / unit**2 == pytest.approx(plain.objective_, rel=2e-4)
    assert 0.99 * other.objective_ <= other.dual_bound_ <= other.objective_
    np.testing.assert_allclose(other.result_.history["objective"][-1], other.objective_)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.95], ids=["exact", "half", "most"])
def test_gap_and_infeasibility_of_the_least_norm_are_those_of_its_problem(ratings, share, unit):
    users, items, values = ratings
    biases_only = CompletionModel(residual=1e3).fit((users, items, values)).rmse((users, items, values))
    model = CompletionModel(residual=share * biases_only * unit, clip=False, accuracy=1e-4)
    result = model.fit((users, items, values * unit)).result_
    problem, history = result.problem, result.history
    assert result.status is unipd.Status.SOLVED
    assert max(result.gap, result.infeasibility) <= 1e-4
    assert result.gap == pytest.approx(problem.relative_gap(result.objective, result.dual_bound))
    violation, infeasibility = problem.measure_residual(problem.map.image(result.x) - problem.b)
    assert result.infeasibility == pytest.approx(infeasibility, abs=1e-12)
    gaps = [problem.relative_gap(*pair) for pair in zip(history["objective"], history["dual_bound"], strict=True)]
    np.testing.assert_allclose(history["gap"], gaps)
    if share == 0.0:  # all iterates have the scale ||b||
        np.testing.assert_allclose(history["infeasibility"] * violation, history["violation"] * infeasibility)


@pytest.mark.parametrize("unit", [1e-140, 1e-50, 1e90])
def test_the_ball_in_any_unit(ratings, unit):
    users, items, values = ratings
    plain, other = (
        CompletionModel(30.0 * scale, accuracy=1e-6).fit((users, items, values * scale)) for scale in (1.0, unit)
    )
    assert other.result_.status is unipd.Status.SOLVED
    np.testing.assert_allclose(other.predict(ratings[:2]) / unit, plain.predict(ratings[:2]), atol=1e-2)


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
@pytest.mark.parametrize("options", [{}, {"accuracy": 1e-6}, {"side_information": True}], ids=str)
@pytest.mark.parametrize("radius", [30.0, 2000.0], ids=["smooths", "interpolates"])
def test_a_fit_is_the_same_to_the_last_bit_in_units_of_powers_of_two(ratings, radius, options, unit):
    users, items, values = ratings
    plain, other = (
        CompletionModel(radius * scale, **options).fit((users, items, values * scale)) for scale in (1.0, unit)
    )
    assert other.n_iter_ == plain.n_iter_
    np.testing.assert_array_equal(other.predict(EVERYWHERE) / unit, plain.predict(EVERYWHERE))


@pytest.mark.parametrize("rating", [0.0, 1e-3, 3.0])
@pytest.mark.parametrize(
    "options", [{}, {"side_information": True}, {"radius": 50.0}, {"residual": 0.0}, {"residual": 0.5}], ids=str
)
def test_constant_ratings_are_predicted_everywhere(rating, options):
    values = np.full(30, rating)
    with pytest.warns(UserWarning, match=f"all ratings are {rating:g}.*Implicit"):
        model = CompletionModel(clip=False, **options).fit((*PLACES, values))
    assert model.result_.status is unipd.Status.SOLVED
    np.testing.assert_allclose(model.predict(EVERYWHERE), rating, rtol=1e-12)
    assert (model.rank_, model.objective_) == (0, 0.0)


def test_constant_ratings_and_then_others():
    with pytest.warns(UserWarning, match="all ratings are 3"):
        model = CompletionModel(clip=False).fit((*PLACES, np.full(30, 3.0)))
    model.partial_fit(([0, 9], [1, 2], [3.0, 3.0]))
    assert model.rmse(([9], [7], [3.0])) == 0.0
    model.partial_fit(([0, 1], [1, 1], [5.0, 1.0]))
    assert model.result_.status is unipd.Status.SOLVED
    assert model.predict([(0, 1)]) > model.predict([(1, 1)])


def test_constant_but_for_a_rating_held_out():
    values = np.full(30, 3.0)
    values[np.random.default_rng(0).random(30) < 0.1] = 5.0
    model = CompletionModel().fit((*PLACES, values))
    assert model.result_.status is unipd.Status.SOLVED
    assert np.isfinite(model.path_).all()
