"""Models in files and pickles: the same predictions, and the same fits to more ratings."""

import copy
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import unipd
from unipd.apps.completion import load_model
from unipd.errors import FileFormatError
from unipd.io import read_ratings, save
from unipd.reproduce import generate_ratings

MORE = ([100, 103, 777], [3, 500, 4], [2.0, 3.5, 4.0])
"""Ratings of a known pair or user, and of a new item and a new user."""


@pytest.fixture(scope="module")
def ratings():
    made = generate_ratings((30, 20), 300, rank=2, noise=0.3, seed=2)
    return made.users.astype(int) + 100, made.items.astype(int), made.values


@pytest.fixture(scope="module")
def features():
    rng = np.random.default_rng(0)
    return {
        "user_features": {name: row.tolist() for name, row in enumerate(rng.random((30, 3)), start=100)},
        "item_features": sp.csr_array(np.round(rng.random((20, 4)))),
    }


def _fit(kind, ratings, features):
    if kind == "features":
        return unipd.MatrixCompletion(20.0, side_information=True).fit(ratings, **features)
    settings = {"plain": {"clip": (0.0, 6.0), "user_ridge": 3.0}, "side": {"side_information": True}, "norm": {}}
    options = {"norm": {"radius": None, "residual": 0.4}}.get(kind, {"radius": 20.0})
    return unipd.MatrixCompletion(**settings[kind], **options).fit(ratings)


def _restore_from_file(model, folder):
    return unipd.load(model.save(folder / "model.npz"))


def _restore_from_pickle(model, folder):
    del folder
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("restore", [_restore_from_file, _restore_from_pickle])
@pytest.mark.parametrize("kind", ["plain", "side", "features", "norm"])
def test_a_restored_model_goes_on_where_it_was(kind, restore, ratings, features, tmp_path):
    model = _fit(kind, ratings, features)
    restored = restore(model, tmp_path)
    assert isinstance(restored, unipd.MatrixCompletion)
    assert restored.get_params() == model.get_params()
    for name in ("radius_", "path_", "objective_", "dual_bound_", "gap_", "n_iter_", "rank_", "range_"):
        assert getattr(restored, name) == getattr(model, name)
    np.testing.assert_array_equal(restored.predict(ratings[:2]), model.predict(ratings[:2]))
    for found, expected in zip(restored.recommend(104, 5), model.recommend(104, 5), strict=True):
        np.testing.assert_array_equal(found, expected)
    model.partial_fit(MORE)
    restored.partial_fit(MORE)
    assert restored.n_iter_ == model.n_iter_  # warm-started alike
    np.testing.assert_array_equal(restored.users_, model.users_)
    pairs = ([*ratings[0], 777], [*ratings[1], 500])
    np.testing.assert_allclose(restored.predict(pairs), model.predict(pairs), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("restore", [_restore_from_file, _restore_from_pickle])
def test_users_folded_in_are_part_of_the_restored_model(restore, ratings, tmp_path):
    model = unipd.MatrixCompletion(20.0).fit(ratings).fold_in(([900, 900], [2, 3], [4.0, 1.0]))
    restored = restore(model, tmp_path)
    assert restored.predict([(900, 5)]) == model.predict([(900, 5)])
    np.testing.assert_allclose(
        restored.partial_fit(MORE).predict([(900, 5), (101, 2)]), model.partial_fit(MORE).predict([(900, 5), (101, 2)])
    )
    assert 900 in restored.fit_.data.users.names


def test_a_pickle_has_neither_problem_nor_state_of_the_solver(ratings):
    model = unipd.MatrixCompletion(20.0).fit(ratings)
    restored = pickle.loads(pickle.dumps(model))
    assert (restored.result_.problem, restored.result_.state) == (None, None)
    assert restored.fit_.result is restored.result_
    assert restored.summary() == model.summary()
    assert model.result_.state is not None
    np.testing.assert_array_equal(copy.deepcopy(model).predict(ratings[:2]), model.predict(ratings[:2]))
    assert pickle.loads(pickle.dumps(unipd.MatrixCompletion(3.0))).radius == 3.0


@pytest.mark.skipif("UNIPD_DATA" not in os.environ, reason="needs MovieLens 100K under $UNIPD_DATA")
@pytest.mark.parametrize(("side", "radius"), [(False, 954.0), (True, 469.0)])
def test_a_pickle_of_movielens_is_small(side, radius):
    train = read_ratings(Path(os.environ["UNIPD_DATA"], "ml-100k", "ub.base"))
    model = unipd.MatrixCompletion(radius, side_information=side).fit((train.users, train.items, train.values))
    content = pickle.dumps(model)
    assert len(content) <= 6e6
    pairs = (train.users[:1000], train.items[:1000])
    np.testing.assert_array_equal(pickle.loads(content).predict(pairs), model.predict(pairs))


def test_session_settings_stay_out_of_files(ratings, tmp_path):
    generator = np.random.default_rng(1)
    model = unipd.MatrixCompletion(20.0, random_state=generator, callback=lambda info: None).fit(ratings)
    restored = unipd.load(model.save(tmp_path / "model.npz"))
    assert (restored.random_state, restored.callback, restored.verbose) == (None, None, False)


@pytest.mark.parametrize(
    ("part", "wrong", "message"),
    [
        ("columns", np.full(1, 99), "do not match the items"),
        ("values", np.array([np.nan]), "do not match the items"),
        ("counts", np.zeros(30, int), "do not match the users"),
        ("counts", np.zeros(30), "do not match the users"),
        ("radius", "large", "not a completion model"),
    ],
)
def test_ratings_that_do_not_match_are_refused(part, wrong, message, ratings, tmp_path):
    model = unipd.MatrixCompletion(20.0).fit(ratings)
    content = model.arrays()
    content["estimator"]["fit"][part] = wrong
    path = save(model.result_, tmp_path / "model.npz", extras={"completion": content})
    for read in (unipd.load, load_model):
        with pytest.raises(FileFormatError, match=message):
            read(path)
