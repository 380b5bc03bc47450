"""Bootstrap error bars."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from unipd.apps.tomography import (
    RESAMPLING,
    Noise,
    PauliTomography,
    QuantumState,
    QuasiCounts,
    UndeterminedState,
    all_bases,
    as_state,
    bootstrap,
    ghz,
    interval_of,
    random_mixed,
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
    assert estimate.bootstrap(3, seed=1, observables={"x": "XXII"}).stderr("x") > 0
    exact = simulate("random", 3, seed=1)
    silent = PauliTomography(accuracy=1e-10).fit(exact.data.labels(), exact.data.expectations)
    assert silent.bootstrap(3, seed=1).stderr("purity") < 1e-4


def test_intervals_allow_for_the_bias_and_keep_the_range():
    values = np.linspace(1.0, 2.0, 101)
    half = stats.t.ppf(0.75, 100) * np.std(values, ddof=1) * np.sqrt(1 + 1 / 101)
    assert interval_of(values, 0.5, 0.5) == pytest.approx((0.5 - 1.0 - half, 0.5 + half))
    low, high = interval_of(np.linspace(0.0, 0.2, 11), 0.5, 0.95)
    assert low < 0.5 < 0.9 < high
    assert interval_of(np.linspace(0.8, 0.9, 101), 0.95, 0.9, (0.0, 1.0))[1] == 1.0
    pure = PauliTomography().fit_counts(simulate_counts(ghz(2), all_bases(2), 50, seed=1))
    errors = pure.bootstrap(10, target=ghz(2), observables={"xx": "XX"}, seed=1)
    for name in ("fidelity", "purity", "eigenvalue_1", "xx"):
        assert errors.interval(name, 0.999)[1] <= 1.0
    assert errors.interval("entropy", 0.999)[0] >= 0.0
    assert set(errors.summary()["xx"]) == {"estimate", "stderr", "bias", "low", "high"}


def test_without_a_target_there_is_no_fidelity():
    estimate = PauliTomography().fit_counts(simulate_counts(ghz(2), all_bases(2), 100, seed=1))
    errors = estimate.bootstrap(3, seed=1)
    assert "fidelity" not in errors.figures
    assert {"purity", "entropy", "eigenvalue_1", "eigenvalue_4"} <= set(errors.summary())
    with pytest.raises(InvalidInput, match="figure"):
        errors.interval("fidelity")
    assert "fidelity" in estimate.bootstrap(3, target=ghz(2)).summary()


def test_any_function_of_the_state_has_an_interval():
    counts = simulate_counts(ghz(2), all_bases(2), 400, noise=Noise(depolarizing=0.2), seed=1)
    errors = PauliTomography().fit_counts(counts).bootstrap(20, seed=1)
    assert len(errors.states) == errors.replicates == 20
    low, high = errors.interval(lambda state: state.negativity([0]))
    truth = QuantumState(np.eye(4), [0.25] * 4)
    mixed = as_state(0.8 * ghz(2).density_matrix() + 0.2 * truth.density_matrix())
    assert low < mixed.negativity([0]) < high < low + 0.2
    same = errors.interval(lambda state: state.purity)
    assert same == pytest.approx(errors.interval("purity"))


def test_shots_are_drawn_again_from_those_of_each_basis():
    counts = {"X": {"0": 60, "1": 40}, "Y": {"0": 45, "1": 55}, "Z": {"0": 50, "1": 50}}
    estimate = PauliTomography(accuracy=1e-8).fit_counts(counts)
    errors = estimate.bootstrap(300, resample="basis", observables={"x": "X"}, seed=2)
    assert errors.stderr("x") == pytest.approx(np.sqrt((1 - 0.04) / 100), rel=0.15)
    truth = QuantumState(np.eye(2))  # a pure estimate of the mixed state: the data vary about themselves, not about it
    pure = PauliTomography(rank=1).fit(["X", "Y", "Z"], truth.expectations(["X", "Y", "Z"]), stderr=1e-3)
    drawn = {way: pure.bootstrap(20, resample=way, observables={"y": "Y"}, seed=1).stderr("y") for way in RESAMPLING}
    assert drawn["parametric"] < 0.01 < 0.1 < drawn["basis"]
    quasi = {**counts, "X": {"0": 60.5, "1": 39.5}}
    with pytest.warns(QuasiCounts):
        corrected = PauliTomography().fit_counts(quasi)
    with pytest.raises(InvalidInput, match="quasi-counts"):
        corrected.bootstrap(2, resample="basis")


def test_figures_that_the_data_do_not_determine_are_refused_or_get_their_range():
    """44 of 63 strings of a state of full rank: an unmeasured string has the certified range, purity has none."""
    labels = ["".join(letters) for letters in product("IXYZ", repeat=3)][1:]
    rng, truth = np.random.default_rng(0), random_mixed(3, 8, seed=0)
    kept = [labels[place] for place in sorted(rng.permutation(63)[:44])]
    missing = next(label for label in labels if label not in kept)
    values = 2 * rng.binomial(10_000, 0.5 * (1 + truth.expectations(kept))) / 10_000 - 1
    with pytest.warns(UndeterminedState):
        estimate = PauliTomography().fit(kept, values, shots=10_000)
    errors = estimate.bootstrap(5, observables={"seen": kept[0], "unseen": missing}, target=random_pure(3, 1))
    assert errors.range_figures == ("unseen", "fidelity")
    assert {"purity", "entropy", "eigenvalue_1"} <= set(errors.undetermined_figures)
    assert "purity" not in errors.summary()
    with pytest.raises(InvalidInput, match="determine"):
        errors.interval("purity")
    with pytest.raises(InvalidInput, match="determine"):
        errors.interval(lambda state: state.entropy)
    low, high = errors.interval("unseen")
    assert low < truth.expectation(missing) < high
    assert high - low > 10 * errors.stderr("seen")


@pytest.mark.parametrize(
    "call",
    [
        lambda e: e.bootstrap(1),
        lambda e: e.bootstrap(2, threads=0),
        lambda e: e.bootstrap(2, seed=-1),
        lambda e: e.bootstrap(2).interval("purity", 1.5),
        lambda e: e.bootstrap(2).stderr("colour"),
        lambda e: e.bootstrap(2, resample="twice"),
        lambda e: e.bootstrap(2, observables={"x": "XX"}),
    ],
)
def test_wrong_input_is_refused(call):
    estimate = PauliTomography().fit(["X", "Y", "Z"], [0.3, 0.2, -0.1], shots=400)
    with pytest.raises(InvalidInput):
        call(estimate)
