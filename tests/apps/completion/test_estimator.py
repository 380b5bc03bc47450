"""The estimator: input, predictions and refusals."""

import numpy as np
import pytest
import scipy.sparse as sp

import unipd
from unipd.errors import InvalidInput, UnipdError
from unipd.reproduce import generate_ratings


@pytest.fixture(scope="module")
def ratings() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    made = generate_ratings((60, 40), 1000, rank=2)
    return made.users, made.items, made.values


@pytest.fixture(scope="module")
def model(ratings) -> unipd.MatrixCompletion:
    return unipd.MatrixCompletion(radius=60.0).fit(ratings)


def test_the_fit_is_certified_and_of_low_rank(model) -> None:
    assert model.result_.status is unipd.Status.SOLVED
    assert model.result_.dual_bound <= model.result_.objective
    assert 1 <= model.singular_values_.size <= 40


def test_every_form_of_the_data_gives_one_model(ratings, model) -> None:
    users, items, values = ratings
    matrix = sp.coo_array((values, (users, items)), shape=(60, 40))
    array = np.full((60, 40), np.nan)
    array[users, items] = values
    pairs = np.column_stack([users, items])[:50]
    for data in (matrix, array):
        other = unipd.MatrixCompletion(radius=60.0).fit(data)
        np.testing.assert_allclose(other.predict(pairs), model.predict(pairs), atol=0.05)


def test_it_predicts_better_than_the_mean(ratings, model) -> None:
    users, items, values = ratings
    error = np.sqrt(np.mean((model.predict(np.column_stack([users, items])) - values) ** 2))
    assert error < 0.8 * values.std()


def test_unknown_users_are_predicted_from_what_is_known(model) -> None:
    predicted = model.predict(np.array([[10_000, 10_000]]))
    assert np.isfinite(predicted).all()


def test_recommendations_are_sorted(model) -> None:
    _, scores = model.recommend(user=0, n=5)
    assert (np.diff(scores) <= 1e-12).all()


@pytest.mark.parametrize("radius", [np.nan, -1.0, 0.0, "large", None])
def test_a_radius_must_be_a_number_above_zero(ratings, radius) -> None:
    with pytest.raises(InvalidInput, match="radius"):
        unipd.MatrixCompletion(radius=radius).fit(ratings)


def test_nothing_to_learn_from_is_a_mistake() -> None:
    with pytest.raises(UnipdError):
        unipd.MatrixCompletion(radius=1.0).fit((np.zeros(0, int), np.zeros(0, int), np.zeros(0)))
