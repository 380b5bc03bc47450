"""Noise: detecting noisy data, and depolarized estimates."""

import itertools
import warnings

import numpy as np
import pytest

from unipd import Problem
from unipd.apps.tomography import (
    DoubtfulMeasurements,
    Noise,
    PauliTomography,
    QuantumState,
    TooFewMeasurements,
    UndeterminedState,
    all_bases,
    depolarize,
    ghz,
    is_noisy,
    largest_step,
    simulate,
    simulate_counts,
)
from unipd.couplings import LeastSquares
from unipd.errors import InvalidInput
from unipd.maps.pauli import PauliMap
from unipd.sharp import Spectrahedron


def test_little_noise_and_unknown_noise_are_no_noise():
    exact = simulate("mixed", 4, rank=2, seed=1).data
    noisy = simulate("mixed", 4, rank=2, noise=Noise(shots=1000), seed=1).data
    assert not is_noisy(exact, 1e-4)
    assert not is_noisy(noisy, 1.0)
    assert is_noisy(noisy, 1e-4)


def test_noisy_mixed_states_are_certified():
    data = simulate("mixed", 6, rank=3, noise=Noise(shots=1000), seed=2).data
    for objective in ("least-squares", "weighted"):
        estimate = PauliTomography(objective=objective, threads=1, accuracy=1e-4).fit_data(data)
        assert estimate.result_.status.value == "solved"
        assert estimate.gap_ <= 1e-4


@pytest.mark.parametrize("shots", [1e4, 1e6, 1e7])
def test_the_default_accuracy_is_below_the_noise_with_any_number_of_shots(shots):
    data = simulate("ghz", 3, measurements=64, noise=Noise(shots=int(shots), depolarizing=0.05), seed=1).data
    estimate = PauliTomography().fit_data(data)
    assert estimate.result_.status.value == "solved"
    assert estimate.result_.absolute_gap <= 0.1
    assert abs(estimate.fidelity(ghz(3)) - (1 - 0.05 * 7 / 8)) <= 2.0 / np.sqrt(shots)


def test_weights_of_outcomes_are_fitted_below_the_noise():
    counts = simulate_counts(ghz(2), all_bases(2), 1_000_000, noise=Noise(depolarizing=0.05), seed=1)
    for objective in ("gaussian", "outcomes"):
        assert PauliTomography(objective=objective).fit_counts(counts).result_.absolute_gap <= 0.011


def test_an_error_of_zero_does_not_hide_the_other_values():
    with pytest.warns(DoubtfulMeasurements, match="standard error of Y is 0, less than.*fitted as 0.0001"):
        estimate = PauliTomography().fit(["X", "Y", "Z"], [0.1, 0.2, 0.9], stderr=[0.01, 0.0, 0.01])
    np.testing.assert_allclose(estimate.state_.expectations(["X", "Y", "Z"]), [0.1, 0.2, 0.9], atol=0.003)


def test_errors_of_zero_are_named():
    labels, values = ["".join(pair) for pair in itertools.product("IXYZ", repeat=2)], np.eye(1, 16)[0]
    stderr = np.where(np.arange(16) < 8, 0.0, 0.1)
    with pytest.warns(DoubtfulMeasurements, match="standard error of IX, IY, IZ, XI, XX and 2 other strings is 0"):
        PauliTomography().fit(labels, values, stderr=stderr)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PauliTomography().fit(labels, values, stderr=np.where(np.arange(16) == 0, 0.0, 0.1))  # the identity is exact
        PauliTomography().fit(labels, values, stderr=0.0)


def test_own_options_of_the_method_win():
    data = simulate("mixed", 3, rank=2, noise=Noise(shots=1000), seed=2).data
    estimate = PauliTomography(threads=1, method="factored", method_options={"rank": 2}, accuracy=1e-3).fit_data(data)
    assert estimate.gap_ <= 1e-3


def test_factored_method_starts_with_many_columns_on_noisy_data():
    """From one column, the rank grows by one per oracle call."""
    data = simulate("mixed", 7, rank=3, noise=Noise(shots=1000), seed=1).data
    with pytest.warns(UndeterminedState):
        estimate = PauliTomography(threads=1, method="factored").fit_data(data)
    assert estimate.result_.status.value == "solved"
    assert estimate.rank_ > 12
    assert estimate.result_.counts.oracle_calls <= 16


def test_depolarization_costs_the_allowed_share():
    """The mixture is white noise and the estimate, and its loss is (1 + share) times as large."""
    truth = QuantumState([1, 0, 0, 1])
    labels = ["XX", "YY", "ZZ", "XI", "IZ"]
    paulis = PauliMap.from_labels(labels, "double")
    values = truth.expectations(labels) + np.array([-0.1, 0.2, -0.1, 0.1, 0.05])
    problem = Problem(Spectrahedron(4), paulis, values, LeastSquares())
    moved = depolarize(problem, truth, 0.01)
    before, after = (0.5 * np.sum((state.expectations(labels) - values) ** 2) for state in (truth, moved))
    assert after == pytest.approx(1.01 * before, rel=1e-9) or moved.purity == pytest.approx(0.25)
    weight = 4.0 * float(moved.eigenvalues[-1])
    expected = (1 - weight) * truth.density_matrix() + weight * np.eye(4) / 4
    np.testing.assert_allclose(moved.density_matrix(), expected, atol=1e-12)


def test_depolarization_without_cost_ends_at_white_noise():
    assert largest_step(lambda t: -t + 0.25 * t**2, 0.0) == 1.0
    assert largest_step(lambda t: -t + 4.0 * t**2, 0.0) == pytest.approx(0.25)


def test_the_depolarized_estimate_is_certified():
    counts = simulate_counts(ghz(3), all_bases(3), 1000, noise=Noise(depolarizing=0.05), seed=1)
    plain = PauliTomography(threads=1, objective="gaussian", accuracy=1e-6).fit_counts(counts)
    moved = PauliTomography(threads=1, objective="gaussian", accuracy=1e-6, depolarize=1e-3).fit_counts(counts)
    assert plain.objective_ < moved.objective_ <= 1.0011 * plain.objective_
    assert moved.gap_ >= plain.gap_
    assert moved.state_.rank == 8


def test_depolarizing_may_cost_its_share_beside_the_absolute_tolerance():
    counts = simulate_counts(ghz(3), all_bases(3), 1000, noise=Noise(depolarizing=0.05), seed=1)

    def fit(atol, depolarize):
        options = {"objective": "gaussian", "accuracy": 1e-13, "solver_options": {"atol": atol}}
        return PauliTomography(threads=1, depolarize=depolarize, **options).fit_counts(counts).result_

    plain = fit(0.1, 0.0)
    moved = fit(1.0001 * plain.absolute_gap, 1e-6)
    assert plain.status.success
    assert moved.status.success
    assert 1.0001 * plain.absolute_gap < moved.absolute_gap <= moved.atol


def test_impossible_depolarization_is_refused():
    data = simulate("ghz", 3, noise=Noise(shots=1000), seed=1).data
    with pytest.raises(InvalidInput, match="depolarize"):
        PauliTomography(depolarize=-1.0)
    with pytest.raises(InvalidInput, match="depolarize"):
        PauliTomography(objective="trace", depolarize=1e-4, threads=1).fit_data(data)
    with pytest.raises(InvalidInput, match="10 qubits"):
        depolarize(Problem(Spectrahedron(2), PauliMap.from_labels(["X"]), np.ones(1), LeastSquares()), ghz(11), 1e-4)


@pytest.mark.parametrize(
    ("labels", "values", "noise", "said"),
    [
        (["XX", "ZZ", "XX"], [1.0, 0.2, -1.0], {}, "values from -1 to 1 of the same string XX"),
        (["XX", "II"], [0.1, 0.3], {}, "the value 0.3 of the identity II"),
        (["XX", "XX"], [0.1, 0.4], {"stderr": 0.02}, "the same string XX"),
        (["XX", "XX"], [0.1, 0.4], {"shots": 10_000}, "the same string XX"),
    ],
)
def test_values_that_contradict_each_other_are_named(labels, values, noise, said):
    with pytest.warns(DoubtfulMeasurements, match=said), pytest.warns(TooFewMeasurements):
        PauliTomography(threads=1).fit(labels, values, **noise)


@pytest.mark.parametrize("noise", [{}, {"stderr": 0.1}, {"shots": 100}])
def test_repeated_values_within_noise_are_fine(noise):
    labels = ["X", "Y", "Z", "X", "I"]
    PauliTomography(threads=1).fit(labels, [0.5, 0.1, 0.2, 0.4, 0.95], **noise)
