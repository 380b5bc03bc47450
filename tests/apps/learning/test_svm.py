"""Support vector machines: against NuSVC, its optimality conditions, and scikit-learn's own checks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from unipd.errors import InvalidInput

pytest.importorskip("sklearn")

from sklearn.datasets import load_breast_cancer, load_iris, make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import NuSVC
from sklearn.utils.estimator_checks import check_estimator

from unipd.apps.learning import SupportVectorClassifier, reduced_hulls, svm


def data(kernel: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    if kernel == "rbf":
        return make_moons(150, noise=0.2, random_state=seed)
    return make_classification(200, 6, n_informative=4, class_sep=1.5, random_state=seed)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_nusvc(kernel: str, seed: int) -> None:
    X, y = data(kernel, seed)
    ours = SupportVectorClassifier(nu=0.6, kernel=kernel).fit(X, y)
    theirs = NuSVC(nu=0.6, kernel=kernel, tol=1e-8).fit(X, y)
    result = ours.result_
    assert ours.gap_ == result.gap <= ours.suboptimality_ <= 1e-5
    assert ours.suboptimality_ == pytest.approx((result.objective - result.dual_bound) / result.objective)
    assert separation(ours) == pytest.approx(separation(theirs), rel=1e-4)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=0.05)
    assert (ours.predict(X) == theirs.predict(X)).mean() >= 0.99


def separation(model: Any) -> float:
    """Return the distance of the reduced hulls: ||w|| with weights that sum to one in each class."""
    weights = 2.0 * model.dual_coef_[0] / np.abs(model.dual_coef_).sum()
    vectors = model.support_vectors_
    gram = vectors @ vectors.T if model.kernel == "linear" else rbf_kernel(vectors, gamma=model._gamma)
    return float(np.sqrt(weights @ gram @ weights))


def test_nu_bounds_margin_errors_and_support_vectors() -> None:
    X, y = data("linear", 2)
    model = SupportVectorClassifier(nu=0.5).fit(X, y)
    signed = np.where(y == model.classes_[1], 1.0, -1.0) * model.decision_function(X)
    assert (signed < 1.0 - 1e-3).mean() <= 0.5
    assert model.support_.size / y.size >= 0.5
    np.testing.assert_allclose(model.dual_coef_ @ model.support_vectors_, model.coef_, atol=1e-9)


def test_names_of_classes_are_kept() -> None:
    X, y = data("linear", 3)
    names = np.where(y == 1, "spam", "ham")
    assert set(SupportVectorClassifier().fit(X, names).predict(X)) == {"spam", "ham"}


def test_hulls_that_meet_are_said_so_and_the_larger_class_is_predicted() -> None:
    X = np.array([[-1.0], [1.0], [0.0], [0.5], [-0.5]])
    with pytest.warns(UserWarning, match="no margin"):
        model = SupportVectorClassifier(nu=0.3).fit(X, [0, 0, 1, 1, 1])
    assert (model.predict(X) == 1).all()


def test_a_fit_that_is_cut_short_warns() -> None:
    X, y = data("linear", 4)
    with pytest.warns(ConvergenceWarning, match="gap"):
        SupportVectorClassifier(max_iterations=1).fit(X, y)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_fit_within_its_accuracy_is_solved(kernel: str) -> None:
    X, y = data(kernel, 5)
    model = SupportVectorClassifier(nu=0.3, kernel=kernel).fit(X, y)
    assert model.result_.status.success
    assert model.result_.accuracy == model.accuracy


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("nu", [0.02, 0.05])
def test_features_of_very_different_units(nu: float, form: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = SupportVectorClassifier(nu=nu).fit(form(X), y)
    assert model.result_.status.success
    assert model.suboptimality_ <= 1e-5
    weights = np.where(y[model.support_] > 0, 1.0, -1.0) * model.dual_coef_[0]
    weights /= weights[y[model.support_] > 0].sum()  # those of either hull sum to one
    assert weights.min() > 0.0
    assert weights.max() <= 2.0 / (nu * y.size) * (1.0 + 1e-9)
    apart = (np.where(y[model.support_] > 0, weights, -weights)) @ X[model.support_]
    assert 0.5 * apart @ apart == pytest.approx(model.result_.objective, rel=1e-6)
    cosine = model.coef_[0] @ apart / (np.linalg.norm(model.coef_) * np.linalg.norm(apart))
    assert cosine == pytest.approx(1.0, abs=1e-4)
    assert model.score(X, y) > 0.98


def test_interior_points_and_the_corrective_method_agree() -> None:
    X, y = data("linear", 9)
    plain = SupportVectorClassifier(nu=0.4, accuracy=1e-9).fit(X, y)
    sign = np.where(y > 0, 1.0, -1.0)
    hulls = reduced_hulls.Hulls(reduced_hulls.LinearKernel(X), sign, np.full(y.size, 2.0 / (0.4 * y.size)))
    result = reduced_hulls.solve_by_interior_points(hulls, 1e-9, 100, 0.0)
    assert (plain.result_.method, result.method) == ("corrective", "interior-point")
    assert result.status.success
    assert result.objective == pytest.approx(plain.result_.objective, rel=1e-8)
    assert 0.5 * result.x @ hulls.gradient(result.x) == pytest.approx(result.objective)


def test_touching_hulls_of_very_different_units_are_said_to_meet() -> None:
    X, y = make_classification(200, 4, flip_y=0.3, random_state=0)
    with pytest.warns(UserWarning, match="no margin"):
        SupportVectorClassifier(nu=0.1).fit(X * [1e-3, 1.0, 1e3, 1e6], y)


def test_a_shift_and_a_common_unit_change_nothing() -> None:
    X, y = data("linear", 6)
    here, there = (SupportVectorClassifier(nu=0.3, accuracy=1e-9).fit(Z, y) for Z in (X, 1e-3 * X + 50.0))
    np.testing.assert_allclose(1e-3 * there.coef_, here.coef_, rtol=1e-4)


def test_a_kernel_does_not_depend_on_where_the_samples_lie() -> None:
    X, y = data("rbf", 2)
    X = np.round(X * 2.0**20) / 2.0**20  # so that shifted samples are exact
    here = SupportVectorClassifier(nu=0.3, kernel="rbf").fit(X, y)
    there = SupportVectorClassifier(nu=0.3, kernel="rbf").fit(X + 1e8, y)
    np.testing.assert_allclose(there.decision_function(X + 1e8), here.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_several_classes_vote(kernel: str) -> None:
    X, y = load_iris(return_X_y=True)
    ours = SupportVectorClassifier(nu=0.3, kernel=kernel, accuracy=1e-8).fit(X, y)
    theirs = NuSVC(nu=0.3, kernel=kernel, tol=1e-8, break_ties=True).fit(X, y)
    assert (ours.predict(X) == theirs.predict(X)).mean() >= 0.99
    assert ours.decision_function(X).shape == (150, 3)
    assert ours.dual_coef_.shape == (3, ours.support_.size)
    assert len(ours.results_) == 3


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_samples(kernel: str) -> None:
    X, y = data(kernel, 7)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense, sparse = (SupportVectorClassifier(0.4, kernel, accuracy=1e-9).fit(Z, y) for Z in (X, sp.csr_array(X)))
    assert sparse.result_.status.success
    np.testing.assert_allclose(sparse.decision_function(sp.csr_array(X)), dense.decision_function(X), atol=1e-3)


def test_rows_of_the_kernel_that_do_not_fit_are_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_classification(700, 8, n_informative=5, random_state=4)
    plain = SupportVectorClassifier(nu=0.4, kernel="rbf").fit(X, y)
    monkeypatch.setattr(reduced_hulls, "CACHE_BYTES", 0)
    monkeypatch.setattr(reduced_hulls, "FETCH", 10)
    tight = SupportVectorClassifier(nu=0.4, kernel="rbf").fit(X, y)
    assert tight.result_.status.success
    assert tight.result_.objective == pytest.approx(plain.result_.objective, rel=1e-5)


def test_thousands_of_samples_agree_with_nusvc() -> None:
    X, y = make_classification(5000, 10, n_informative=6, class_sep=1.2, random_state=5)
    ours = SupportVectorClassifier(nu=0.2, kernel="rbf").fit(X, y)
    theirs = NuSVC(nu=0.2, kernel="rbf").fit(X, y)
    assert ours.result_.status.success
    assert ours.suboptimality_ <= 1e-5
    assert separation(ours) <= separation(theirs) * (1.0 + 1e-5)
    assert (ours.predict(X) == theirs.predict(X)).mean() >= 0.998


def test_the_bound_of_steps_on_pairs_is_below_every_point_of_the_hulls() -> None:
    rng = np.random.default_rng(0)
    X, y = make_moons(60, noise=0.3, random_state=0)
    sign, caps = np.where(y > 0, 1.0, -1.0), np.full(60, 0.05)
    hulls = reduced_hulls.Hulls(reduced_hulls.RadialKernel(X, 1.0), sign, caps)
    gram = rbf_kernel(X, gamma=1.0)
    _, gradient, result = reduced_hulls.nearest_points(hulls, 1e-8, 100)
    np.testing.assert_allclose(gradient, sign * (gram @ (sign * result.x)), atol=1e-12)
    assert result.status.success
    assert (1.0 - 1e-8) * result.objective <= result.dual_bound <= result.objective
    for _ in range(20):
        point = np.empty(60)
        for side in (-1.0, 1.0):
            point[sign == side] = reduced_hulls.fill_hull(rng.standard_normal((sign == side).sum()), caps[sign == side])
        assert 0.5 * (sign * point) @ gram @ (sign * point) >= result.dual_bound


def test_slow_steps_on_pairs_are_finished_from_the_factor_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    plain = SupportVectorClassifier(nu=0.1, kernel="rbf").fit(X, y)
    monkeypatch.setattr(svm, "PAIR_ROUNDS", 1)
    model = SupportVectorClassifier(nu=0.1, kernel="rbf").fit(X, y)
    assert (plain.result_.method, model.result_.method) == ("pairwise", "corrective")
    assert model.suboptimality_ <= 1e-5
    assert model.result_.objective == pytest.approx(plain.result_.objective, rel=2e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_probabilities_are_calibrated(kernel: str) -> None:
    X, y = make_classification(600, 6, n_informative=3, n_classes=3, n_clusters_per_class=1, flip_y=0.2, random_state=1)
    model = SupportVectorClassifier(nu=0.55, kernel=kernel, probability=True).fit(X[:400], y[:400])
    chances = model.predict_proba(X[400:])
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    shares = np.bincount(y[:400]) / 400
    assert log_loss(y[400:], chances) < 0.8 * log_loss(y[400:], np.tile(shares, (200, 1)))
    assert not hasattr(SupportVectorClassifier(), "predict_proba")


def test_a_weight_counts_like_repetition() -> None:
    X, y = data("linear", 8)
    weights = np.random.default_rng(0).integers(0, 4, y.size)
    places = np.repeat(np.arange(y.size), weights)
    weighted = SupportVectorClassifier(0.3, accuracy=1e-9).fit(X, y, sample_weight=weights)
    repeated = SupportVectorClassifier(0.3, accuracy=1e-9).fit(X[places], y[places])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)
    for kind in (np.asarray, sp.csr_array):
        weighted = SupportVectorClassifier(0.3, "rbf", accuracy=1e-9).fit(kind(X), y, sample_weight=weights)
        repeated = SupportVectorClassifier(0.3, "rbf", accuracy=1e-9).fit(X[places], y[places])
        np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"nu": 0.0}, "nu"),
        ({"nu": 0.99}, "nu"),
        ({"nu": float("nan")}, "nu"),
        ({"kernel": "cubic"}, "kernel"),
        ({"kernel": "rbf", "gamma": -1.0}, "gamma"),
        ({"accuracy": 0.0}, "accuracy"),
    ],
)
def test_bad_parameters(options: dict[str, object], argument: str) -> None:
    X, y = make_classification(60, 4, weights=[0.7], random_state=0)
    with pytest.raises(InvalidInput, match=argument):
        SupportVectorClassifier(**options).fit(X, y)  # type: ignore[arg-type]


def test_scikit_learn_accepts_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(SupportVectorClassifier(nu=0.2))
