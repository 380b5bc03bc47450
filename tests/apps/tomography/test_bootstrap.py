"""Bootstrap error bars."""

import numpy as np
import pytest
from scipy import stats

from unipd.apps.tomography import (
    Bootstrap,
    Noise,
    PauliTomography,
    all_bases,
    bootstrap,
    ghz,
    random_pure,
    residual_noise,
    simulate,
    simulate_counts,
)
from unipd.errors import InvalidInput


def test_error_bars_of_a_free_qubit_are_those_of_the_binomial():
    """Well inside the Bloch ball the fit is the data, so the error of <X> is sqrt((1 - e^2) / N)."""
    estimate = PauliTomography(accuracy=1e-8).fit(["X", "Y", "Z"], [0.3, 0.2, -0.1], shots=400)
    errors = estimate.bootstrap(300, observables={"x": "X", "z": {"Z": 1.0}}, seed=1)
    assert errors.stderr("x") == pytest.approx(np.sqrt((1 - 0.09) / 400), rel=0.15)
    assert errors.stderr("z") == pytest.approx(np.sqrt((1 - 0.01) / 400), rel=0.15)
    low, high = errors.interval("x")
    assert low < 0.3 < high
    assert high - low == pytest.approx(4 * errors.stderr("x"), rel=0.3)


def test_the_spread_matches_that_of_repeated_experiments():
    state = random_pure(2, seed=3)
    truth = [
        PauliTomography().fit_data(simulate(state, noise=Noise(shots=200), seed=seed).data).expectation("XZ")
        for seed in range(60)
    ]
    estimate = PauliTomography().fit_data(simulate(state, noise=Noise(shots=200), seed=100).data)
    errors = estimate.bootstrap(60, observables={"xz": "XZ"}, seed=2)
    assert errors.stderr("xz") == pytest.approx(np.std(truth), rel=0.5)


def test_threads_and_seeds():
    estimate = PauliTomography().fit_data(simulate("random", 2, noise=Noise(shots=100), seed=1).data)
    seen = []
    one = estimate.bootstrap(6, seed=3, progress=lambda done, total: seen.append((done, total)))
    two = estimate.bootstrap(6, seed=3, threads=2)
    other = estimate.bootstrap(6, seed=4)
    np.testing.assert_array_equal(one.samples["purity"], two.samples["purity"])
    assert not np.array_equal(one.samples["purity"], other.samples["purity"])
    assert seen == [(k, 6) for k in range(1, 7)]
    assert estimate.fit_.state is estimate.state_


@pytest.mark.parametrize("shots", [50, 2000])
def test_counts_are_drawn_again_basis_by_basis(shots):
    target = ghz(3)
    estimate = PauliTomography().fit_counts(simulate_counts(target, all_bases(3), shots, seed=1))
    errors = bootstrap(estimate.fit_, 12, target=target, seed=1)
    assert errors.estimates["fidelity"] == pytest.approx(estimate.fidelity(target))
    assert 0 < errors.stderr("fidelity") < (0.1 if shots == 50 else 0.01)
    assert estimate.counts_ is not None


def test_without_known_errors_the_residual_tells_the_noise():
    experiment = simulate("random", 4, noise=Noise(gaussian=0.05), seed=1)
    estimate = PauliTomography(rank=1).fit(experiment.data.labels(), experiment.data.expectations)
    assert residual_noise(estimate.fit_) == pytest.approx(0.05, rel=0.25)
    assert estimate.bootstrap(3, seed=1).stderr("fidelity") > 0
    exact = simulate("random", 3, seed=1)
    silent = PauliTomography(accuracy=1e-10).fit(exact.data.labels(), exact.data.expectations)
    assert silent.bootstrap(3, seed=1).stderr("fidelity") < 1e-4


def test_intervals_allow_for_the_bias_and_keep_the_range():
    errors = Bootstrap(
        {"fidelity": np.linspace(0.8, 0.9, 101), "x": np.linspace(1.0, 2.0, 101)}, {"fidelity": 0.95, "x": 0.5}
    )
    assert errors.bias("x") == pytest.approx(1.0)
    half = stats.t.ppf(0.75, 100) * np.std(errors.samples["x"], ddof=1) * np.sqrt(1 + 1 / 101)
    assert errors.interval("x", 0.5) == pytest.approx((0.5 - 1.0 - half, 0.5 + half))
    assert errors.interval("fidelity", 0.9)[1] == 1.0
    assert errors.interval("fidelity", 0.9)[0] < 0.95
    high = Bootstrap({"x": np.linspace(0.0, 0.2, 11)}, {"x": 0.5})
    assert high.bias("x") == pytest.approx(-0.4)
    assert high.interval("x")[0] < 0.5 < 0.9 < high.interval("x")[1]
    assert set(errors.summary()["x"]) == {"estimate", "stderr", "bias", "low", "high"}


@pytest.mark.parametrize(
    "call",
    [
        lambda e: e.bootstrap(1),
        lambda e: e.bootstrap(2, threads=0),
        lambda e: e.bootstrap(2, seed=-1),
        lambda e: e.bootstrap(2).interval("fidelity", 1.5),
        lambda e: e.bootstrap(2).stderr("colour"),
    ],
)
def test_wrong_input_is_refused(call):
    estimate = PauliTomography().fit(["X", "Y", "Z"], [0.3, 0.2, -0.1], shots=400)
    with pytest.raises(InvalidInput):
        call(estimate)
