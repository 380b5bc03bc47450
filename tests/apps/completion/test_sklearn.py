"""The estimator in scikit-learn: its checks, its tools, and the fallback without it."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import unipd
from unipd.apps.completion import PlainEstimator
from unipd.errors import InvalidInput
from unipd.reproduce import generate_ratings

sklearn = pytest.importorskip("sklearn")

IDENTIFIERS = "X holds the identifiers of users and items, two per row, not features"
EXPECTED = dict.fromkeys(
    (
        "check_fit_score_takes_y",
        "check_dont_overwrite_parameters",
        "check_n_features_in_after_fitting",
        "check_positive_only_tag_during_fit",
        "check_estimators_dtypes",
        "check_complex_data",
        "check_dtype_object",
        "check_estimators_empty_data_messages",
        "check_pipeline_consistency",
        "check_estimator_sparse_tag",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_fit2d_1sample",
        "check_fit2d_1feature",
        "check_dict_unchanged",
        "check_fit2d_predict1d",
        "check_supervised_y_2d",
        "check_regressors_int",
        "check_regressors_train",
        "check_regressors_no_decision_function",
        "check_regressor_data_not_an_array",
    ),
    IDENTIFIERS,
)
"""Checks that give X other columns than two, or numbers that are no identifiers; their topics are tested below."""

SKIPPED = {"check_array_api_input"}
"""Checks that need packages which may not be there."""


@pytest.fixture(scope="module")
def pairs():
    made = generate_ratings((30, 20), 250, rank=2, noise=0.3)
    return np.column_stack([made.users, made.items]), made.values


@pytest.fixture(scope="module")
def model(pairs):
    return unipd.MatrixCompletion(10.0).fit(*pairs)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.EstimatorCheckFailedWarning")
def test_the_checks_of_scikit_learn():
    from sklearn.utils.estimator_checks import check_estimator

    estimator = unipd.MatrixCompletion(accuracy=1e-2, duplicates="last")
    outcomes = check_estimator(estimator, expected_failed_checks=EXPECTED, on_skip=None)
    by_status: dict[str, set[str]] = {}
    for outcome in outcomes:
        by_status.setdefault(outcome["status"], set()).add(outcome["check_name"])
    known = {outcome["check_name"] for outcome in outcomes}
    assert by_status["xfail"] == EXPECTED.keys() & known
    assert by_status["passed"] == known - EXPECTED.keys() - by_status.get("skipped", set())
    assert by_status.get("skipped", set()) <= SKIPPED
    assert "check_parameters_default_constructible" in by_status["passed"]
    assert len(by_status["passed"]) >= 15


def test_it_is_an_estimator(pairs):
    from sklearn.base import BaseEstimator, clone

    estimator = unipd.MatrixCompletion(10.0, user_ridge=3.0)
    assert isinstance(estimator, BaseEstimator)
    assert clone(estimator).get_params() == estimator.get_params()
    assert estimator.set_params(radius=5.0).fit(*pairs).radius_ == 5.0
    assert "user_ridge=3.0" in repr(estimator)


def test_model_selection(pairs):
    from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

    folds = KFold(3, shuffle=True, random_state=0)
    assert cross_val_score(unipd.MatrixCompletion(10.0), *pairs, cv=folds).shape == (3,)
    search = GridSearchCV(unipd.MatrixCompletion(), {"radius": [0.01, 10.0]}, cv=folds).fit(*pairs)
    assert search.best_params_ == {"radius": 10.0}


def test_pickled(pairs, model):
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(pairs[0]), model.predict(pairs[0]))


def test_predictions_do_not_depend_on_their_company(pairs, model):
    whole = model.predict(pairs[0])
    np.testing.assert_allclose(np.concatenate([model.predict(row[None]) for row in pairs[0]]), whole, atol=1e-12)
    order = np.random.default_rng(0).permutation(len(whole))
    np.testing.assert_allclose(model.predict(pairs[0][order]), whole[order], atol=1e-12)
    before = dict(vars(model))
    model.predict(pairs[0])
    assert vars(model) == before


def test_layout_and_order_of_the_ratings_do_not_matter(pairs, model):
    fortran = np.asfortranarray(pairs[0])
    fortran.setflags(write=False)
    order = np.random.default_rng(1).permutation(len(fortran))
    other = unipd.MatrixCompletion(10.0).fit(fortran[order], pairs[1][order])
    np.testing.assert_array_equal(other.predict(pairs[0]), model.predict(pairs[0]))


def test_not_fitted():
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    with pytest.raises(NotFittedError):
        unipd.MatrixCompletion().predict([(1, 2)])
    with pytest.raises(NotFittedError):
        check_is_fitted(unipd.MatrixCompletion())


WITHOUT = """
import sys
class Refuse:
    def find_spec(self, name, *rest):
        if name.split('.')[0] == 'sklearn': raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refuse())
import unipd
model = unipd.MatrixCompletion(2.0, accuracy=1e-2).fit(([1, 1, 2], [1, 2, 1], [3.0, 4.0, 5.0]))
assert model.predict([(2, 2)]).shape == (1,)
assert model.get_params()['radius'] == 2.0
print(model)
try: unipd.MatrixCompletion().predict([(1, 2)])
except ValueError as error: print(error)
assert 'sklearn' not in sys.modules
"""


def test_without_scikit_learn():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "MatrixCompletion(radius=2.0, accuracy=0.01)",
        "this MatrixCompletion is not fitted yet: call fit first",
    ]


def test_plain_parameters():
    class Plain(PlainEstimator):
        def __init__(self, size=1, shape=(2, 3)):
            self.size, self.shape = size, shape

    plain = Plain(size=3)
    assert plain.get_params() == {"size": 3, "shape": (2, 3)}
    assert repr(plain.set_params(size=4)) == "Plain(size=4)"
    with pytest.raises(InvalidInput, match="sizes"):
        plain.set_params(sizes=5)


def test_generators_as_random_state():
    from unipd.apps.completion import check_parameters

    seeds = [check_parameters(unipd.MatrixCompletion(random_state=np.random.default_rng(3))).seed for _ in range(2)]
    assert seeds[0] == seeds[1] != check_parameters(unipd.MatrixCompletion(random_state=np.random.RandomState(3))).seed
    assert check_parameters(unipd.MatrixCompletion(random_state=None)).seed == 0


def test_regressors_can_be_combined_and_searched(pairs):
    from sklearn.base import is_regressor
    from sklearn.ensemble import VotingRegressor
    from sklearn.model_selection import GridSearchCV, KFold

    pairs, values = pairs
    parts = [(f"radius {radius:g}", unipd.MatrixCompletion(radius)) for radius in (10.0, 40.0)]
    assert all(is_regressor(part) for _, part in parts)
    vote = VotingRegressor(parts).fit(pairs, values)
    single = np.mean([part.fit(pairs, values).predict(pairs) for _, part in parts], axis=0)
    np.testing.assert_allclose(vote.predict(pairs), single)
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(unipd.MatrixCompletion(), {"radius": [1e-3, 20.0]}, cv=folds).fit(pairs, values)
    assert search.best_params_["radius"] == 20.0
