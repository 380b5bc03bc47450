"""Ratings in any unit, and ratings that do not differ."""

import numpy as np
import pytest

import unipd
from unipd.apps.completion import CompletionModel
from unipd.apps.completion.generated import generate

PLACES = np.divmod(np.random.default_rng(0).choice(64, 30, replace=False), 8)
EVERYWHERE = np.indices((8, 8)).reshape(2, -1).T


@pytest.fixture(scope="module")
def made():
    made = generate((40, 30), 500, rank=2, noise=0.3, seed=1)
    return made.users.astype(int), made.items.astype(int), made.values


@pytest.mark.parametrize("unit", [1e-90, 1e-3, 1e12, 1e90])
@pytest.mark.parametrize("residual", [0.0, 0.3])
def test_the_least_norm_in_any_unit(made, residual, unit):
    users, items, values = made
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


@pytest.mark.parametrize("unit", [1e-140, 1e-50, 1e90])
def test_the_ball_in_any_unit(made, unit):
    users, items, values = made
    plain, other = (
        CompletionModel(30.0 * scale, accuracy=1e-6).fit((users, items, values * scale)) for scale in (1.0, unit)
    )
    assert other.result_.status is unipd.Status.SOLVED
    np.testing.assert_allclose(other.predict(made[:2]) / unit, plain.predict(made[:2]), atol=1e-2)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rating", [0.0, 1e-3, 3.0])
@pytest.mark.parametrize(
    "options", [{}, {"side": True}, {"radius": 50.0}, {"residual": 0.0}, {"residual": 0.5}], ids=str
)
def test_constant_ratings_are_predicted_everywhere(rating, options):
    values = np.full(30, rating)
    model = CompletionModel(clip=False, **options).fit((*PLACES, values))
    assert model.result_.status is unipd.Status.SOLVED
    np.testing.assert_allclose(model.predict(EVERYWHERE), rating, rtol=1e-12)
    assert (model.rank_, model.objective_) == (0, 0.0)


def test_constant_ratings_and_then_others():
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
