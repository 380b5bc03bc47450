"""Front doors put their figures into the extras of their one result, under its one name."""

import numpy as np
import pytest

import unipd
from unipd.apps.completion import CompletionModel
from unipd.apps.graphs import MaxCut, bisect
from unipd.apps.graphs.maxcut import maxcut
from unipd.apps.graphs.theta import theta
from unipd.apps.learning import CutFunction, kmeans, minimise
from unipd.apps.phase_retrieval import retrieve
from unipd.apps.tomography import PauliTomography, simulate
from unipd.io import Graph
from unipd.maps import CodedDiffraction

SQUARE = Graph.of(4, [0, 1, 2, 3], [1, 2, 3, 0], np.ones(4))


def saved(result, folder):
    return unipd.load(result.save(folder / "run.npz"))


def test_maxcut(tmp_path):
    found = maxcut(SQUARE)
    summary = saved(found.result, tmp_path).summary()
    assert (summary["cut_value"], summary["sdp_bound"]) == (found.cut_value, found.sdp_bound)
    assert (summary["ratio"], summary["nodes"], summary["edges"]) == (found.ratio, 4, 4)
    np.testing.assert_array_equal(found.result.extras["sides"], found.sides)
    model = MaxCut().fit(SQUARE)
    assert isinstance(model.result_, unipd.Result)
    assert model.result_.summary()["cut_value"] == model.cut_value_


def test_bisection_and_theta(tmp_path):
    found = bisect(SQUARE)
    summary = saved(found.result, tmp_path).summary()
    assert (summary["cut_value"], summary["sdp_bound"]) == (found.cut_value, found.sdp_bound) == (2.0, found.sdp_bound)
    number = theta(SQUARE)
    assert number.summary()["independence_bound"] == 2
    assert (number.extras["theta"], number.extras["theta_bound"]) == (number.objective, number.dual_bound)


def test_clustering(tmp_path):
    found = kmeans(np.array([[0.0], [0.1], [5.0], [5.2]]), 2)
    summary = saved(found.result, tmp_path).summary()
    assert (summary["cost"], summary["sdp_bound"]) == (found.cost, found.sdp_bound)
    np.testing.assert_array_equal(found.result.extras["labels"], found.labels)


def test_submodular_minimum(tmp_path):
    found = minimise(CutFunction(SQUARE, prices=[-3.0, 1.0, -2.0, 2.5]))
    summary = saved(found.result, tmp_path).summary()
    assert (summary["value"], summary["bound"], summary["is_certified"]) == (found.value, found.bound, True)
    np.testing.assert_array_equal(found.result.extras["members"], found.members)


def test_tomography(tmp_path):
    estimate = PauliTomography().fit_data(simulate("ghz", 3, seed=0).data)
    summary = saved(estimate.result_, tmp_path).summary()
    assert summary["relative_residual"] == estimate.relative_residual_
    assert (summary["rank"], summary["qubits"], summary["purity"]) == (estimate.rank_, 3, estimate.state_.purity)
    assert summary == estimate.summary()
    by_counts = PauliTomography().fit_counts(
        {"Z": {"0": 90, "1": 10}, "X": {"0": 50, "1": 50}, "Y": {"0": 50, "1": 50}}
    )
    assert by_counts.result_.extras["relative_residual"] == by_counts.relative_residual_


def test_completion(tmp_path):
    rng = np.random.default_rng(0)
    model = CompletionModel(2.0, duplicates="last")
    data = (rng.integers(0, 9, 60), rng.integers(0, 7, 60), rng.random(60))
    model.fit(data)
    summary = saved(model.result_, tmp_path).summary()
    assert summary == model.summary()
    assert (summary["radius"], summary["rank"], summary["users"]) == (2.0, model.rank_, 9)
    last = {(user, item): value for user, item, value in zip(*data, strict=True)}
    residuals = np.array(list(last.values())) - model.predict(tuple(np.array(list(last)).T))
    assert summary["rmse_train"] == pytest.approx(np.sqrt(np.mean(residuals**2)))


def test_a_relative_residual_is_squared_in_phase_retrieval_too():
    rng = np.random.default_rng(1)
    patterns = CodedDiffraction.random(8, 6)
    y = rng.random(48)
    found = retrieve(patterns, y, accuracy=1e-6)
    moduli = np.abs(np.fft.fft(patterns.codes * found.signal, axis=1, norm="ortho")).ravel() ** 2
    assert found.relative_residual == pytest.approx(np.sum((moduli - y) ** 2) / np.sum(y**2), rel=1e-9)
    assert found.result.extras["relative_residual"] == found.relative_residual
