"""Implicit feedback: against dense references, and as a recommender."""

import numpy as np
import pytest
import scipy.sparse as sp

import unipd
from unipd.apps.completion import index_interactions, load_model
from unipd.errors import InvalidInput


@pytest.fixture(scope="module")
def seen():
    """Return pairs of four groups of users, each with items of its own, and a few others."""
    rng = np.random.default_rng(0)
    group = np.arange(60)[:, None] % 4 == np.arange(40) % 4
    users, items = np.nonzero(np.where(group, rng.random(group.shape) < 0.5, rng.random(group.shape) < 0.03))
    return users, items


@pytest.fixture(scope="module")
def model(seen):
    return unipd.ImplicitCompletion(2.0, accuracy=1e-4, max_iterations=200).fit(seen)


def dense(model):
    return (model.user_factors_ * model.singular_values_) @ model.item_factors_.T


def test_the_certificate_is_that_of_the_dense_problem(model, seen):
    X, zero = dense(model), model.unseen_weight
    pattern = np.zeros(X.shape)
    pattern[seen] = 1.0
    weights = np.where(pattern > 0, 1.0, zero)
    loss = 0.5 * np.sum(weights * (pattern - X) ** 2)
    sizes = [pattern.sum(axis=1) + zero * 40, pattern.sum(axis=0) + zero * 60]
    scales = [np.sqrt((size / size.mean()) ** model.weight_power) for size in sizes]
    gradient = weights * (X - pattern)
    radius = np.linalg.svd(scales[0][:, None] * X * scales[1], compute_uv=False).sum()
    norm = np.linalg.norm(gradient / scales[0][:, None] / scales[1], 2)
    assert model.result_.objective == pytest.approx(loss)
    assert model.radius_ == pytest.approx(radius)
    assert model.result_.dual_bound == pytest.approx(loss - np.sum(gradient * X) - radius * norm, abs=1e-6)
    assert norm == pytest.approx(model.penalty_, rel=1e-2)
    assert model.result_.status.success
    assert model.gap_ <= 1e-4
    assert model.result_.bound_kind == "rigorous"


def test_sweeps_end_at_a_small_gap_although_top_singular_values_are_a_cluster():
    rng = np.random.default_rng(0)
    chances = 1.0 / (1.0 + np.exp(2.0 - 1.5 * rng.standard_normal((120, 3)) @ rng.standard_normal((3, 90))))
    users, items = np.nonzero(rng.random((120, 90)) < chances)
    counts = 1.0 + rng.poisson(2.0, users.size)
    model = unipd.ImplicitCompletion(3.0, accuracy=1e-6, max_iterations=300).fit((users, items, counts))
    assert model.result_.status.success
    assert model.n_iter_ < 200
    assert 1e-7 < model.gap_ <= 1e-6


def test_groups_are_recommended_their_items(model, seen):
    items, scores = model.recommend(np.arange(60), 2)
    assert items.shape == scores.shape == (60, 2)
    assert (items % 4 == np.arange(60)[:, None] % 4).mean() > 0.95
    pairs = set(zip(*map(np.ndarray.tolist, seen), strict=True))
    assert not any((user, item) in pairs for user, row in enumerate(items.tolist()) for item in row)


def test_the_penalty_is_chosen_by_validation(seen):
    model = unipd.ImplicitCompletion().fit(seen)
    assert model.penalty_ == max(model.path_, key=lambda trial: trial[1])[0]
    assert len(model.path_) >= 3
    with pytest.raises(InvalidInput, match="penalty"):
        unipd.ImplicitCompletion().fit([(1, 1)])


def test_forms_of_input(model, seen):
    matrix = sp.csr_array((np.ones(seen[0].size), seen), shape=(60, 40))
    for given in (matrix, matrix.toarray(), np.column_stack(seen), (*seen, np.full(seen[0].size, 3.0))):
        again = unipd.ImplicitCompletion(2.0, accuracy=1e-4, max_iterations=200).fit(given)
        np.testing.assert_allclose(dense(again), dense(model), atol=1e-10)
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"item": [5, 5, 6], "user": ["a", "b", "a"]})
    assert index_interactions(table).users.names.tolist() == ["a", "b"]
    assert index_interactions(([1, 1], [2, 2], [3.0, 4.0])).values.tolist() == [7.0]
    for wrong in (([1], [1], [-1.0]), ([1], [1], [0.0])):
        with pytest.raises(InvalidInput, match="X"):
            unipd.ImplicitCompletion(1.0).fit(wrong)


def test_a_twin_of_a_user_or_item_gets_the_same_row(model, seen, tmp_path):
    users, items = seen
    loaded = load_model(model.save(tmp_path / "model.npz"))
    loaded.fold_in((np.full((users == 3).sum(), 103), items[users == 3], np.ones((users == 3).sum())))
    twins = (loaded.predict((np.full(40, name), np.arange(40))) for name in (103, 3))
    np.testing.assert_allclose(*twins, atol=5e-3)
    fresh = load_model(tmp_path / "model.npz")
    fresh.fold_in((users[items == 5], np.full((items == 5).sum(), 105), np.ones((items == 5).sum())))
    twins = (fresh.predict((np.arange(60), np.full(60, name))) for name in (105, 5))
    np.testing.assert_allclose(*twins, atol=5e-3)


def test_a_rank_that_limits_is_reported(seen):
    model = unipd.ImplicitCompletion(0.5, rank=1, accuracy=1e-3, max_iterations=20).fit(seen)
    assert model.result_.status is unipd.Status.ITERATION_LIMIT
    assert "rank" in model.result_.message
    assert model.gap_ > 1e-3


def naive_metrics(model, ratings, relevant, top):
    """Return NDCG, recall and average precision user by user, with loops."""
    ndcg, recall, precision = [], [], []
    for user in np.unique(ratings[0]):
        wanted = {i for u, i, r in zip(*ratings, strict=True) if u == user and r >= relevant}
        if not wanted:
            continue
        hits = [item in wanted for item in model.recommend(user, top)[0].tolist()]
        best = min(top, len(wanted))
        ndcg.append(sum(h / np.log2(k + 2) for k, h in enumerate(hits)) / sum(1 / np.log2(k + 2) for k in range(best)))
        recall.append(sum(hits) / len(wanted))
        precision.append(sum(sum(hits[: k + 1]) / (k + 1) for k, h in enumerate(hits) if h) / best)
    return {"ndcg": np.mean(ndcg), "recall": np.mean(recall), "map": np.mean(precision)}


def test_metrics_against_loops(model):
    rng = np.random.default_rng(1)
    ratings = rng.integers(0, 63, 300), rng.integers(0, 43, 300), rng.integers(1, 6, 300).astype(float)
    pairs = np.unique(np.column_stack(ratings[:2]), axis=0, return_index=True)[1]
    test = tuple(part[pairs] for part in ratings)
    found = model.evaluate(test, relevant=4.0, top=5)
    expected = naive_metrics(model, test, 4.0, 5)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value), name
    assert set(found) == set(expected), "scores of implicit feedback are no ratings"
    rated = unipd.MatrixCompletion(5.0, user_ridge=1.0).fit(test)
    for each, found in ((model, model.evaluate(test, metrics="rmse,mae")), (rated, rated.evaluate(test))):
        error = each.predict(test[:2]) - test[2]
        assert found["rmse"] == pytest.approx(np.sqrt(np.mean(error**2)))
        assert found["mae"] == pytest.approx(np.abs(error).mean())
    assert set(model.evaluate(test, metrics="map")) == {"map"}
    with pytest.raises(InvalidInput, match="metrics"):
        model.evaluate(test, metrics="auc")
    with pytest.raises(InvalidInput, match="relevant"):
        model.evaluate(test, relevant=9.0)


def test_it_is_an_estimator():
    sklearn = pytest.importorskip("sklearn")
    estimator = unipd.ImplicitCompletion(3.0, rank=7)
    assert sklearn.base.clone(estimator).get_params() == estimator.get_params()


def test_pairs_without_weights_have_the_mean_weight(seen, tmp_path):
    counts = 1.0 + np.random.default_rng(1).integers(0, 5, seen[0].size)
    model = unipd.ImplicitCompletion(2.0).fit((*seen, counts))
    path, pairs = model.save(tmp_path / "model.npz"), [(99, 3), (99, 7)]
    plain = load_model(path).fold_in(pairs)
    weighted = load_model(path).fold_in([(*pair, counts.mean()) for pair in pairs])
    np.testing.assert_array_equal(plain.predict([(99, 11)]), weighted.predict([(99, 11)]))
    assert plain.predict([(99, 11)])[0] > plain.predict([(99, 12)])[0]
    assert model.evaluate(pairs) == model.evaluate([(*pair, 1.0) for pair in pairs])


def test_the_zero_matrix_of_a_huge_penalty_is_a_solution(seen):
    model = unipd.ImplicitCompletion(1e200).fit(seen)
    assert (model.result_.status.success, model.radius_, model.rank_, model.gap_) == (True, 0.0, 0, 0.0)
