"""Fits of noise: the rank to begin with, and white noise mixed into estimates."""

import numpy as np
import pytest

from unipd.apps.tomography import (
    DoubtfulMeasurements,
    Noise,
    PauliTomography,
    TooFewMeasurements,
    all_bases,
    ghz,
    simulate,
    simulate_counts,
)
from unipd.apps.tomography.hedge import hedged, largest_step
from unipd.apps.tomography.overfit import overfit_rank, starting_rank
from unipd.apps.tomography.state import QuantumState
from unipd.couplings import LeastSquares
from unipd.errors import InvalidInput
from unipd.maps.pauli import PauliMap
from unipd.problem import Problem
from unipd.sharp.spectral_trace import Spectrahedron


def rank_of_projected_estimate(data):
    """Return the rank of the projection of (p/n) A^*(b) on the density matrices, by its eigenvalues."""
    p = 1 << data.qubits
    matrix = PauliMap(data.qubits, data.x, data.z, "double", 1, method="dense").adjoint(data.expectations).toarray()
    values = np.linalg.eigvalsh(matrix)[::-1] * (p / data.size)
    thresholds = (np.cumsum(values) - 1.0) / np.arange(1, p + 1)
    return int(np.flatnonzero(values > thresholds)[-1]) + 1


@pytest.mark.parametrize(("state", "rank", "qubits"), [("mixed", 3, 6), ("mixed", 3, 7), ("random", None, 7)])
def test_the_predicted_rank_is_near_that_of_the_projected_estimate(state, rank, qubits):
    data = simulate(state, qubits, rank=rank, noise=Noise(shots=10_000), seed=1).data
    assert starting_rank(data, 1e-4) == pytest.approx(rank_of_projected_estimate(data), rel=0.35)


def test_little_noise_and_unknown_noise_begin_with_one_column():
    exact = simulate("mixed", 4, rank=2, seed=1).data
    noisy = simulate("mixed", 4, rank=2, noise=Noise(shots=1000), seed=1).data
    assert starting_rank(exact, 1e-4) == 1
    assert starting_rank(noisy, 1.0) == 1
    assert starting_rank(noisy, 1e-4) > 1


def test_extremes_of_the_predicted_rank():
    assert overfit_rank(1, 1, 1e-9, 1.0) == 2
    assert 1 <= overfit_rank(3, 64, 64.0, 0.0) <= 8
    assert overfit_rank(20, 10**6, 1.0, 0.5) <= 256


def test_noisy_mixed_states_are_certified():
    data = simulate("mixed", 6, rank=3, noise=Noise(shots=1000), seed=2).data
    for objective in ("least-squares", "weighted"):
        estimate = PauliTomography(objective=objective, threads=1, accuracy=1e-4).fit_data(data)
        assert estimate.result_.status.value == "solved"
        assert estimate.gap_ <= 1e-4


def test_own_options_of_the_method_win():
    data = simulate("mixed", 3, rank=2, noise=Noise(shots=1000), seed=2).data
    estimate = PauliTomography(threads=1, method="factored", method_options={"rank": 2}, accuracy=1e-3).fit_data(data)
    assert estimate.gap_ <= 1e-3


def test_the_hedge_costs_what_it_may():
    """The mixture is white noise and the estimate, and its loss is (1 + share) times as large."""
    truth = QuantumState([1, 0, 0, 1])
    labels = ["XX", "YY", "ZZ", "XI", "IZ"]
    paulis = PauliMap.from_labels(labels, "double")
    values = truth.expectations(labels) + np.array([-0.1, 0.2, -0.1, 0.1, 0.05])
    problem = Problem(Spectrahedron(4), paulis, values, LeastSquares())
    moved = hedged(problem, truth, 0.01)
    before, after = (0.5 * np.sum((state.expectations(labels) - values) ** 2) for state in (truth, moved))
    assert after == pytest.approx(1.01 * before, rel=1e-9) or moved.purity == pytest.approx(0.25)
    weight = 4.0 * float(moved.eigenvalues[-1])
    expected = (1 - weight) * truth.density_matrix() + weight * np.eye(4) / 4
    np.testing.assert_allclose(moved.density_matrix(), expected, atol=1e-12)


def test_a_hedge_without_cost_ends_at_white_noise():
    assert largest_step(-1.0, 0.25, 0.0) == 1.0
    assert largest_step(-1.0, 4.0, 0.0) == pytest.approx(0.25)


def test_the_hedged_estimate_is_certified_for_what_it_is():
    counts = simulate_counts(ghz(3), all_bases(3), 1000, noise=Noise(depolarising=0.05), seed=1)
    plain = PauliTomography(threads=1, objective="gaussian", accuracy=1e-6).fit_counts(counts)
    moved = PauliTomography(threads=1, objective="gaussian", accuracy=1e-6, hedge=1e-3).fit_counts(counts)
    assert plain.objective_ < moved.objective_ <= 1.0011 * plain.objective_
    assert moved.gap_ >= plain.gap_
    assert moved.state_.rank == 8


def test_hedges_that_cannot_be_are_refused():
    data = simulate("ghz", 3, noise=Noise(shots=1000), seed=1).data
    with pytest.raises(InvalidInput, match="hedge"):
        PauliTomography(hedge=-1.0)
    with pytest.raises(InvalidInput, match="hedge"):
        PauliTomography(objective="trace", hedge=1e-4, threads=1).fit_data(data)
    with pytest.raises(InvalidInput, match="10 qubits"):
        hedged(Problem(Spectrahedron(2), PauliMap.from_labels(["X"]), np.ones(1), LeastSquares()), ghz(11), 1e-4)


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
