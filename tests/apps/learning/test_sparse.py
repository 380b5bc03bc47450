"""Sparse recovery and regression in a ball: against CVXPY and scikit-learn's own checks."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from unipd import sharp
from unipd.errors import InvalidInput

pytest.importorskip("sklearn")
pytest.importorskip("cvxpy")

import cvxpy as cp
from sklearn.utils.estimator_checks import check_estimator

from unipd.apps.learning import (
    NormConstrainedRegressor,
    NormConstrainedRegressorCV,
    SupportVectorClassifier,
    basis_pursuit,
)

LOSSES = {"squared": lambda r: 0.5 * cp.sum_squares(r), "huber": lambda r: 0.5 * cp.sum(cp.huber(r))}


def sample(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 20))
    return X, X[:, :3] @ [2.0, -1.0, 0.5] + 3.0 + 0.1 * rng.standard_t(2, 80)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("norm", "p"), [("l1", 1), ("l2", 2), ("linf", "inf")])
@pytest.mark.parametrize("intercept", [True, False])
def test_optimal_value(loss: str, norm: str, p: Any, intercept: bool) -> None:
    X, y = sample(0)
    model = NormConstrainedRegressor(1.5, norm, loss, intercept).fit(X, y)
    w, c = cp.Variable(20), cp.Variable()
    free = [] if intercept else [c == 0]
    truth = cp.Problem(cp.Minimize(LOSSES[loss](X @ w + c - y)), [cp.norm(w, p) <= 1.5, *free])
    truth.solve(solver=cp.CLARABEL)
    assert model.result_.status.success
    assert model.result_.objective == pytest.approx(truth.value, rel=1e-3)
    fitted = LOSSES[loss](model.predict(X) - y).value
    assert fitted == pytest.approx(model.result_.objective, rel=1e-6)
    assert np.linalg.norm(model.coef_, np.inf if p == "inf" else p) <= 1.5 + 1e-6


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("offset", [2e3, 1e6])
def test_a_shift_of_y_changes_only_the_intercept(loss: str, offset: float) -> None:
    X, y = sample(4)
    here, there = (NormConstrainedRegressor(1.5, loss=loss, accuracy=1e-9).fit(X, z) for z in (y, y + offset))
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-4)
    assert there.intercept_ - offset == pytest.approx(here.intercept_, abs=1e-4)
    assert there.result_.objective == pytest.approx(here.result_.objective, rel=1e-6)


def test_a_constant_target_is_its_intercept() -> None:
    model = NormConstrainedRegressor().fit(sample(0)[0], np.full(80, 0.1))
    assert not model.coef_.any()
    assert model.intercept_ == pytest.approx(0.1)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_sparse_samples(loss: str, norm: str) -> None:
    X, y = sample(5)
    X = np.where(np.abs(X) < 1.0, 0.0, X)
    dense, sparse = (NormConstrainedRegressor(1.5, norm, loss, accuracy=1e-8).fit(Z, y) for Z in (X, sp.csr_array(X)))
    assert sparse.result_.status.success
    np.testing.assert_allclose(sparse.predict(sp.csr_array(X)), dense.predict(X), atol=1e-2)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_weight_counts_like_repetition(sparse: bool) -> None:
    X, y = sample(6)
    weights = np.random.default_rng(0).integers(0, 4, y.size)
    places = np.repeat(np.arange(y.size), weights)
    samples = sp.csr_array(X) if sparse else X
    weighted = NormConstrainedRegressor(1.5, accuracy=1e-9).fit(samples, y, sample_weight=weights)
    repeated = NormConstrainedRegressor(1.5, accuracy=1e-9).fit(X[places], y[places])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)
    with pytest.raises(InvalidInput, match="sample_weight"):
        NormConstrainedRegressor(loss="huber").fit(X, y, sample_weight=weights)


def test_any_oracle_takes_the_place_of_the_norm() -> None:
    X, y = sample(1)
    model = NormConstrainedRegressor(norm=sharp.KSparsePolytope(20, 3, 2.0)).fit(X, y)
    assert model.result_.status.success
    assert np.abs(model.coef_).max() <= 2.0 + 1e-9


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("sparse", [False, True])
def test_basis_pursuit_recovers(noise: float, sparse: bool) -> None:
    rng = np.random.default_rng(2)
    A, truth = rng.standard_normal((60, 120)), np.zeros(120)
    truth[[3, 50, 99]] = 1.0, -2.0, 0.5
    error = rng.standard_normal(60)
    b = A @ truth + noise * error / np.linalg.norm(error)
    result = basis_pursuit(sp.csr_array(A) if sparse else A, b, noise)
    assert result.status.success
    np.testing.assert_allclose(result.x, truth, atol=1e-4 + noise)


def test_bad_input() -> None:
    X, y = sample(3)
    with pytest.raises(InvalidInput, match="noise"):
        basis_pursuit(X, y, -1.0)
    with pytest.raises(InvalidInput, match="A"):
        basis_pursuit(y, y)
    for options, argument in [
        ({"norm": "l7"}, "norm"),
        ({"norm": sharp.L1Ball(3)}, "norm"),
        ({"loss": "cubic"}, "loss"),
        ({"radius": -1.0}, "radius"),
        ({"accuracy": 0.0}, "accuracy"),
    ]:
        with pytest.raises(InvalidInput, match=argument):
            NormConstrainedRegressor(**options).fit(X, y)


def test_scikit_learn_accepts_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(NormConstrainedRegressor(accuracy=1e-4))


@pytest.mark.parametrize("sparse", [False, True])
def test_cross_validation_finds_the_radius_that_scikit_learn_finds(sparse: bool) -> None:
    from sklearn.model_selection import GridSearchCV, KFold

    X, y = sample(1)
    folds, data = KFold(4, shuffle=True, random_state=0), sp.csr_array(X) if sparse else X
    model = NormConstrainedRegressorCV(6, cv=folds, accuracy=1e-5).fit(data, y)
    search = GridSearchCV(
        NormConstrainedRegressor(accuracy=1e-5),
        {"radius": model.radii_.tolist()},
        cv=folds,
        scoring="neg_mean_squared_error",
    ).fit(data, y)
    np.testing.assert_allclose(-search.cv_results_["mean_test_score"], model.mse_path_.mean(axis=1), rtol=1e-6)
    assert model.radius_ == search.best_params_["radius"]
    np.testing.assert_allclose(model.coef_, search.best_estimator_.coef_)
    assert model.score(data, y) > 0.9


@pytest.mark.parametrize("model", [NormConstrainedRegressor(2.0), SupportVectorClassifier(0.1)])
def test_fitted_models_do_not_keep_the_samples(model: Any) -> None:
    X = np.random.default_rng(0).standard_normal((2000, 20))
    fitted = model.fit(X, X[:, 0] > 0.0)
    assert len(pickle.dumps(fitted)) < 0.4 * X.nbytes
    assert "gap" in str(fitted.result_)


def test_radii_of_the_path() -> None:
    X, y = sample(1)
    given = NormConstrainedRegressorCV([3.0, 1.0], cv=2).fit(X, y, np.ones(80))
    assert given.radii_.tolist() == [1.0, 3.0]
    largest = NormConstrainedRegressorCV(2, cv=2).fit(X, y).radii_[-1]
    centred = X - X.mean(axis=0)
    assert largest == pytest.approx(np.abs(np.linalg.lstsq(centred, y - y.mean(), rcond=None)[0]).sum(), rel=1e-4)
    for wrong in ({"radii": [0.0, 1.0]}, {"radii": 0}, {"norm": sharp.L1Ball(20)}):
        with pytest.raises(InvalidInput, match=next(iter(wrong))):
            NormConstrainedRegressorCV(**wrong).fit(X, y)


def test_scikit_learn_accepts_the_path() -> None:
    checks = check_estimator(NormConstrainedRegressorCV(2, cv=2, accuracy=1e-3), on_fail=None, on_skip=None)
    assert not [check for check in checks if check["status"] == "failed"]
