"""Fitted models: stopping rules, more ratings, files, other methods, invalid parameters."""

import numpy as np
import pytest

import unipd
from unipd.apps.completion import CompletionModel, load_model
from unipd.errors import FileFormatError, InvalidInput
from unipd.reproduce import generate_ratings

RADIUS = 40.0


@pytest.fixture(scope="module")
def dataset():
    return generate_ratings((50, 40), 900, rank=2, noise=0.3, seed=2)


@pytest.fixture(scope="module")
def ratings(dataset):
    return dataset.users.astype(int) + 100, dataset.items.astype(int), dataset.values


@pytest.fixture(scope="module")
def model(ratings):
    return CompletionModel(RADIUS, accuracy=1e-6).fit(ratings)


def test_predictions_are_the_model(model):
    x = (model.user_factors_ * model.singular_values_) @ model.item_factors_.T
    full = model.mean_ + model.user_bias_[:, None] + model.item_bias_ + x
    users, items = np.meshgrid(model.users_, model.items_, indexing="ij")
    predicted = model.predict((users.ravel(), items.ravel()))
    np.testing.assert_allclose(predicted, np.clip(full, *model.range_).ravel(), atol=1e-9)
    for factors in (model.user_factors_, model.item_factors_):
        np.testing.assert_allclose(factors.T @ factors, np.eye(factors.shape[1]), atol=1e-9)
    assert 1 <= model.rank_ <= model.singular_values_.size
    assert (np.diff(model.singular_values_) <= 0).all()


def test_the_ball_holds(model):
    counts = [np.bincount(places) for places in (model.fit_.data.rows, model.fit_.data.columns)]
    left, right = ((count / count.mean()) ** 0.25 for count in counts)
    x = (model.user_factors_ * model.singular_values_) @ model.item_factors_.T
    weighted = np.linalg.svd(left[:, None] * x * right, compute_uv=False).sum()
    assert 0.9 * RADIUS < weighted <= RADIUS * (1 + 1e-9)
    assert model.gap_ <= 1e-6
    assert model.dual_bound_ <= model.objective_
    assert model.radius_ == RADIUS
    assert model.path_ == []
    assert model.n_iter_ >= 1


def test_strangers_are_predicted_from_the_biases(model):
    known_user, known_item = model.users_[3], model.items_[5]
    low, high = model.range_
    expected = [model.mean_, model.mean_ + model.item_bias_[5], model.mean_ + model.user_bias_[3]]
    found = model.predict([(7, 999), (7, known_item), (known_user, 999)])
    np.testing.assert_allclose(found, np.clip(expected, low, high))


def test_clipping(ratings):
    values = ratings[2]
    free = CompletionModel(RADIUS, clip=False).fit(ratings)
    assert free.range_ is None
    tight = CompletionModel(RADIUS, clip=(3.0, 4.0)).fit(ratings)
    assert tight.predict(np.column_stack(ratings[:2])).max() <= 4.0
    assert CompletionModel(RADIUS).fit(ratings).range_ == (values.min(), values.max())


@pytest.mark.parametrize("users", [[0, 1], (0,), np.array([3, 10**6])])
def test_many_users_at_once(model, users):
    items, scores = model.recommend(users, 5)
    for user, row, values in zip(users, items, scores, strict=True):
        alone = model.recommend(user, 5)
        np.testing.assert_array_equal(row, alone[0])
        np.testing.assert_allclose(values, alone[1])
    every = model.recommend(users, 1000)[1]
    assert every.shape == (len(users), model.items_.size)
    assert np.isnan(every).sum(axis=1).tolist() == [model.items_.size - len(model.recommend(u, 1000)[0]) for u in users]
    with pytest.raises(InvalidInput, match="list of users"):
        model.recommend([users])


def test_a_matrix_of_features_has_a_row_for_everyone(ratings):
    model = CompletionModel(RADIUS, side_information=True)
    with pytest.raises(InvalidInput, match=r"from 0 to 149 .*50 rows"):
        model.fit(ratings, user_features=np.ones((50, 2)))
    with pytest.raises(InvalidInput, match="from 0 to 39"):
        model.fit(ratings, item_features=np.ones((39, 2)))
    model.fit(ratings, user_features=np.ones((150, 2)))
    assert 150 in model.partial_fit(([150], [0], [3.0])).users_


@pytest.mark.parametrize("value", [4.0, 0.1, 0.0])
def test_ratings_that_do_not_differ_have_no_matrix(ratings, value):
    with pytest.warns(UserWarning, match="all ratings are"):
        assert CompletionModel(clip=False).fit((*ratings[:2], np.full(ratings[2].size, value))).rank_ == 0


def test_a_matrix_counts_beside_what_differs_not_beside_the_mean(ratings, model):
    moved = CompletionModel(RADIUS, accuracy=1e-6).fit((*ratings[:2], ratings[2] + 1e5))
    assert moved.rank_ >= 1
    assert CompletionModel(1e-4).fit(ratings).rank_ == 0


def test_a_sum_of_squares_is_never_below_zero(ratings):
    model = CompletionModel(1000.0, max_seconds=0.0).fit(ratings)
    assert (model.dual_bound_, model.result_.bound_kind) == (0.0, "rigorous")
    assert model.gap_ == pytest.approx(model.objective_ / model.result_.problem.loss_at_zero)
    assert not model.result_.dual.any()


def test_recommendations(model, ratings):
    user = int(ratings[0][0])
    items, scores = model.recommend(user, 40)
    rated = set(ratings[1][ratings[0] == user].tolist())
    assert not rated & set(items.tolist())
    assert len(items) == 40 - len(rated)
    again, _ = model.recommend(user, 3, seen=True)
    everything = model.predict([(user, item) for item in model.items_])
    assert scores.max() <= everything.max() + 1e-12
    assert len(again) == 3
    popular, _ = model.recommend(1, 2)
    assert popular.tolist() == model.items_[np.argsort(-model.item_bias_)[:2]].tolist()
    with pytest.raises(InvalidInput, match="n"):
        model.recommend(user, 0)


def test_scores(model, ratings):
    users, items, values = ratings
    error = model.predict((users, items)) - values
    assert model.rmse(ratings) == pytest.approx(np.sqrt(np.mean(error**2)))
    assert model.score((users, items), values) == pytest.approx(
        1 - error @ error / np.sum((values - values.mean()) ** 2)
    )
    assert model.score(([users[0]], [items[0]]), model.predict([(users[0], items[0])])) == 1.0


@pytest.mark.parametrize("duplicates", ["last", "mean"])
def test_several_ratings_of_a_pair(ratings, duplicates):
    users, items, values = (np.append(part, part[:1]) for part in ratings)
    values[-1] = 9.0
    once = ratings[2].copy()
    once[0] = 9.0 if duplicates == "last" else 0.5 * (once[0] + 9.0)
    twice = CompletionModel(RADIUS, accuracy=1e-6, duplicates=duplicates).fit((users, items, values))
    single = CompletionModel(RADIUS, accuracy=1e-6).fit((*ratings[:2], once))
    assert twice.summary()["duplicates"] == 1
    assert "duplicates" not in single.summary()
    np.testing.assert_allclose(twice.predict((users, items)), single.predict((users, items)), atol=1e-12)


def test_duplicates_are_not_dropped_silently(ratings):
    doubled = tuple(np.append(part, part[:3]) for part in ratings)
    with pytest.warns(UserWarning, match="rated again later: 3;"):
        CompletionModel(RADIUS).fit(doubled)
    with pytest.raises(InvalidInput, match="several of user"):
        CompletionModel(RADIUS, duplicates="error").fit(doubled)
    with pytest.raises(InvalidInput, match="duplicates"):
        CompletionModel(RADIUS, duplicates="first").fit(ratings)


@pytest.mark.parametrize("side", [False, True])
def test_more_ratings(ratings, side):
    users, items, values = ratings
    late = np.random.default_rng(0).random(values.size) < 0.2
    late |= (users == users[0]) | (items == items[0])
    updated = CompletionModel(RADIUS, side_information=side, accuracy=1e-5).fit(
        (users[~late], items[~late], values[~late])
    )
    assert users[0] not in updated.users_
    assert updated.partial_fit((users[late], items[late], values[late])) is updated
    whole = CompletionModel(RADIUS, side_information=side, accuracy=1e-5).fit(ratings)
    assert updated.users_.tolist() == whole.users_.tolist()
    assert updated.objective_ == pytest.approx(whole.objective_, rel=1e-3)
    np.testing.assert_allclose(updated.predict((users, items)), whole.predict((users, items)), atol=0.02)


def test_more_ratings_take_less_than_all_of_them(ratings):
    users, items, values = ratings
    late = np.arange(values.size) % 30 == 0
    updated = CompletionModel(RADIUS, accuracy=1e-5).fit((users[~late], items[~late], values[~late]))
    updated.partial_fit((users[late], items[late], values[late]))
    whole = CompletionModel(RADIUS, accuracy=1e-5).fit(ratings)
    assert updated.result_.counts.matvecs < whole.result_.counts.matvecs


def test_a_new_rating_replaces_the_old(ratings):
    model = CompletionModel(RADIUS).partial_fit(ratings)
    user, item = ratings[0][0], ratings[1][0]
    model.partial_fit(np.array([[user, item]]), np.array([1.25]))
    data = model.fit_.data.ratings()
    assert data.values[(data.users == user) & (data.items == item)].tolist() == [1.25]
    assert len(data) == ratings[2].size


def test_files(model, ratings, tmp_path):
    path = model.save(tmp_path / "model.npz")
    loaded = load_model(path)
    np.testing.assert_array_equal(loaded.predict(ratings[:2]), model.predict(ratings[:2]))
    pairs = np.column_stack(ratings[:2])
    assert loaded.score(pairs, ratings[2]) == model.score(pairs, ratings[2])
    assert loaded.rmse(ratings) == model.rmse(ratings)
    for user in (*model.users_.tolist(), 7):
        for options in ({"n": 3}, {"n": 40}, {"n": 40, "seen": True}):
            found, expected = loaded.recommend(user, **options), model.recommend(user, **options)
            np.testing.assert_array_equal(found[0], expected[0])
            np.testing.assert_array_equal(found[1], expected[1])
    assert (loaded.rank_, loaded.result_.objective) == (model.rank_, model.objective_)
    np.testing.assert_array_equal(loaded.user_factors_, model.user_factors_)
    other = unipd.solve(unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "="))
    from unipd.io import save

    save(other, tmp_path / "other.npz")
    with pytest.raises(FileFormatError, match="not the result of a completion model"):
        load_model(tmp_path / "other.npz")


@pytest.mark.parametrize("missing", ["mean", "range", "rated_starts"])
def test_files_without_a_part_of_the_model_are_refused(model, tmp_path, missing):
    from unipd.io import save

    content = model.fit_.fitted.arrays()
    del content[missing]
    path = save(model.result_, tmp_path / "part.npz", extras={"completion": content})
    with pytest.raises(FileFormatError, match=missing):
        load_model(path)


@pytest.mark.parametrize(
    "wrong",
    [{"rated_starts": np.array([0, 5])}, {"rated_columns": np.full(518, 99)}, {"rated_columns": np.zeros(518)}],
    ids=["users", "items", "reals"],
)
def test_what_was_rated_must_fit_the_model(model, tmp_path, wrong):
    from unipd.io import save

    path = save(model.result_, tmp_path / "bent.npz", extras={"completion": {**model.fit_.fitted.arrays(), **wrong}})
    with pytest.raises(FileFormatError, match="rated items do not match"):
        load_model(path)


def test_features(dataset, ratings):
    truth = dict(zip(range(100, 150), dataset.left.tolist(), strict=True))
    about = dict(enumerate(dataset.right.tolist()))
    informed = CompletionModel("auto", side_information=True).fit(ratings, user_features=truth, item_features=about)
    blind = CompletionModel("auto").fit(ratings)
    users, items = np.meshgrid(np.arange(50), np.arange(40), indexing="ij")
    everything = (users.ravel() + 100, items.ravel(), dataset.truth(users.ravel(), items.ravel()))
    assert informed.rmse(everything) < blind.rmse(everything)
    informed.partial_fit(([100], [0], [3.0]))
    with pytest.raises(InvalidInput, match="side_information=True"):
        CompletionModel().fit(ratings, user_features=truth)


def test_features_as_many_as_the_other_side_are_no_pattern(ratings):
    model = CompletionModel(RADIUS, side_information=True)
    model.fit(ratings, user_features={name: np.eye(40)[name % 40] for name in range(100, 150)})
    assert 99 in model.partial_fit(([100], [99], [3.0])).items_


def test_automatic_radius(ratings):
    model = CompletionModel().fit(ratings)
    radii = [radius for radius, _ in model.path_]
    assert min(radii) <= model.radius_ <= max(radii)
    figures = model.summary()
    assert figures["status"] == "solved"
    assert figures["search_oracle_calls"] > model.result_.counts.oracle_calls
    assert figures["total_seconds"] >= model.result_.seconds


@pytest.mark.parametrize("residual", [0.0, 0.5])
def test_without_a_radius(ratings, residual):
    model = CompletionModel(radius=None, residual=residual, clip=False, accuracy=1e-3).fit(ratings)
    assert model.result_.status is unipd.Status.SOLVED
    assert model.rmse(ratings) == pytest.approx(residual, abs=0.02)
    assert model.radius_ == pytest.approx(np.sqrt(model.objective_ * ratings[2].size))


@pytest.mark.parametrize("method", ["accunipdgrad", "frank-wolfe"])
def test_other_methods(ratings, model, method):
    other = CompletionModel(RADIUS, method=method, accuracy=5e-2).fit(ratings)
    assert other.result_.method == method
    assert other.dual_bound_ <= model.objective_ * (1 + 1e-9)
    assert other.objective_ >= model.dual_bound_ * (1 - 1e-9)


@pytest.mark.parametrize(
    "ratings",
    [([1], [1], [3.0]), ([1, 2], [1, 1], [3.0, 3.0]), ([1, 1, 1], [1, 2, 3], [1.0, 5.0, 3.0])],
    ids=["one", "constant", "one user"],
)
@pytest.mark.filterwarnings("ignore:all ratings are")
def test_next_to_nothing(ratings):
    model = CompletionModel().fit(ratings)
    assert np.isfinite(model.predict([(1, 1), (5, 5)])).all()
    assert model.result_.status is unipd.Status.SOLVED


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("radius", np.nan),
        ("radius", 0.0),
        ("radius", "big"),
        ("radius", None),
        ("residual", -1.0),
        ("residual", np.nan),
        ("user_ridge", 0.0),
        ("item_ridge", -1.0),
        ("weight_power", np.inf),
        ("user_strength", -0.1),
        ("clip", "yes"),
        ("clip", (5.0, 1.0)),
        ("clip", (1.0, np.nan)),
        ("method", "magic"),
        ("accuracy", 0.0),
        ("rank", 0),
        ("rank", 2.5),
        ("validation_fraction", 1.0),
        ("validation_fraction", 0.0),
        ("random_state", -1),
        ("max_seconds", np.nan),
    ],
)
def test_wrong_parameters_are_named(ratings, name, value):
    with pytest.raises(InvalidInput, match=name):
        CompletionModel(**{name: value}).fit(ratings)


def test_asking_too_early():
    with pytest.raises(ValueError, match="not fitted"):
        CompletionModel().predict([(1, 2)])
    assert not hasattr(CompletionModel(), "rank_")
