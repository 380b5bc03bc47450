"""New users and items without a refit: rows of the fit itself, cold rows, and models from files."""

import numpy as np
import pytest

from unipd.apps.completion import CompletionModel, load_model
from unipd.errors import InvalidInput
from unipd.reproduce import generate_ratings

RADIUS = 25.0


@pytest.fixture(scope="module")
def ratings():
    rng = np.random.default_rng(1)
    truth = 3.0 + rng.standard_normal((60, 2)) @ rng.standard_normal((2, 40))
    users, items = np.nonzero(rng.random(truth.shape) < 0.4)
    return users, items, truth[users, items] + 0.3 * rng.standard_normal(users.size)


def fit(ratings, **options):
    return CompletionModel(RADIUS, accuracy=1e-9, clip=False, **options).fit(ratings)


def features(count):
    rows = np.random.default_rng(count).standard_normal((count, 3))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("options", [{}, {"weight_power": 0.0}, {"side_information": True}], ids=str)
def test_a_twin_of_a_user_or_item_gets_the_same_row(ratings, options):
    users, items, values = ratings
    model = fit(ratings, **options)
    user, item = users == 7, items == 9
    model.fold_in((np.full(user.sum(), 1007), items[user], values[user]))
    everywhere = model.items_
    twins = model.predict((np.full(40, 1007), everywhere)), model.predict((np.full(40, 7), everywhere))
    np.testing.assert_allclose(*twins, atol=2e-3)
    model.fold_in((users[item], np.full(item.sum(), 1009), values[item]))
    twins = model.predict((model.users_, np.full(61, 1009))), model.predict((model.users_, np.full(61, 9)))
    if not options.get("side_information"):  # the first twin has become part of the pattern of items
        np.testing.assert_allclose(*twins, atol=2e-3)
    np.testing.assert_allclose(twins[0][:60], twins[1][:60], atol=5e-2)


def test_new_users_are_predicted_as_by_a_refit():
    """Errors of many users together: those of a few scatter by far more than the two predictions differ."""
    errors = {"folded": [], "fitted": []}
    for seed in range(2):
        made, rng = generate_ratings((200, 100), 5000, rank=3, noise=0.5, seed=seed), np.random.default_rng(seed)
        data = made.users, made.items, made.values
        is_new = np.isin(made.users, rng.choice(200, 20, replace=False))
        is_test = is_new & (rng.random(is_new.size) < 0.3)
        old, new, train, test = (
            tuple(part[rows] for part in data) for rows in (~is_new, is_new & ~is_test, ~is_test, is_test)
        )
        folded = CompletionModel().fit(old).fold_in(new)
        fitted = CompletionModel().fit(train)
        for name, model in (("folded", folded), ("fitted", fitted)):
            errors[name].append(model.predict(test[:2]) - test[2])
    folded, fitted = (np.sqrt(np.mean(np.concatenate(parts) ** 2)) for parts in errors.values())
    assert folded <= 1.01 * fitted


def test_given_features(ratings):
    users, items, values = ratings
    by_user, by_item = features(60), features(40)
    model = CompletionModel(RADIUS, accuracy=1e-9, clip=False, side_information=True)
    model.fit(ratings, user_features=by_user, item_features=by_item)
    user = users == 7
    model.fold_in((np.full(user.sum(), 1007), items[user], values[user]), user_features={1007: by_user[7]})
    twins = (model.predict((np.full(40, name), np.arange(40))) for name in (1007, 7))
    np.testing.assert_allclose(*twins, atol=2e-3)
    cold = fit_with_cold_item(ratings, by_user, by_item)
    model.fold_in(item_features={999: by_item[0]})
    assert 999 in model.items_
    pairs = (np.arange(60), np.full(60, 999))
    assert np.isfinite(model.predict(pairs)).all()
    cold.fold_in(item_features={999: by_item[0]})
    np.testing.assert_allclose(cold.predict(pairs), cold.predict((np.arange(60), np.zeros(60, int))), atol=1e-6)
    with pytest.raises(InvalidInput, match="3 columns"):
        model.fold_in(item_features={998: [1.0]})


@pytest.mark.parametrize("options", [{}, {"side_information": True}, {"residual": 0.5}], ids=str)
def test_features_are_refused_by_a_model_without_them(ratings, options):
    model = fit(ratings, **options)
    for argument in ("user_features", "item_features"):
        with pytest.raises(InvalidInput, match=f"{argument}: expected None"):
            model.fold_in(**{argument: {999: [1.0, 2.0]}})


def fit_with_cold_item(ratings, by_user, by_item):
    """Return a model whose item 0 has features, but no ratings."""
    rated = ratings[1] > 0
    model = CompletionModel(RADIUS, side_information=True, clip=False)
    return model.fit(tuple(part[rated] for part in ratings), user_features=by_user, item_features=by_item)


def test_new_users_rate_new_items(ratings):
    users, items, values = ratings
    model = fit(ratings)
    shapes = model.user_factors_.shape, model.item_factors_.shape
    model.fold_in(([100, 100, 3, 101], [5, 50, 50, 51], [4.0, 2.0, 3.0, 1.0]))
    assert model.users_.tolist() == [*range(60), 100, 101]
    assert model.items_.tolist() == [*range(40), 50, 51]
    assert model.user_factors_.shape == (62, shapes[0][1])
    assert 50 not in model.recommend(100, 42)[0]
    assert 51 in model.recommend(100, 42)[0]
    before = fit(ratings).predict((users, items))
    np.testing.assert_allclose(model.predict((users, items)), before, atol=1e-9)
    with pytest.raises(InvalidInput, match="partial_fit"):
        model.fold_in(([0], [0], [1.0]))
    model.partial_fit(([102], [5], [3.0]))
    assert set(model.users_) >= {100, 101, 102}
    assert model.result_.extras["ratings"] == values.size + 5


def test_names(ratings):
    users, items, values = ratings
    model = CompletionModel(RADIUS).fit(([f"u{user}" for user in users], items, values))
    model.fold_in((["ann"], [3], [5.0]))
    assert "ann" in model.users_


def test_a_loaded_model_folds_like_the_estimator(ratings, tmp_path):
    model = fit(ratings, side_information=True)
    loaded = load_model(model.save(tmp_path / "model.npz"))
    new = ([100, 100], [5, 7], [4.0, 2.0])
    pairs = (np.full(40, 100), np.arange(40))
    np.testing.assert_array_equal(loaded.fold_in(new).predict(pairs), model.fold_in(new).predict(pairs))


@pytest.mark.filterwarnings("ignore:all ratings are")
def test_a_model_without_a_matrix(ratings):
    model = CompletionModel(1.0).fit((*ratings[:2], np.full(ratings[2].size, 3.0)))
    assert model.fold_in(([100], [5], [3.0])).predict([(100, 7)]) == pytest.approx(3.0)


def test_folding_a_training_row_in_reproduces_its_fit_when_columns_are_centred():
    """Centred columns make the item biases nearly orthogonal to the ratings, which must not loosen the gap."""
    rng = np.random.default_rng(3)
    table = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 40)) + 0.5 * rng.standard_normal((60, 40))
    known = rng.random(table.shape) < 0.7
    table = np.where(known, table, np.nan)
    table -= np.nanmean(table, axis=0)
    rows, columns = np.nonzero(known)
    model = CompletionModel(60.0, clip=False, accuracy=1e-6).fit((rows, columns, table[rows, columns]))
    assert model.result_.status.success
    scale = float(np.nansum((table - np.nanmean(table)) ** 2)) / 2.0
    assert (model.objective_ - model.dual_bound_) / scale == pytest.approx(model.gap_, rel=1e-6)
    before = model.predict((rows, columns))
    model.fold_in((rows + 1000, columns, table[rows, columns]))
    np.testing.assert_allclose(model.predict((rows + 1000, columns)), before, atol=1e-3)
