"""Test states and simulated experiments."""

import math

import numpy as np
import pytest

from unipd.apps.tomography import (
    Noise,
    QuantumState,
    as_paulis,
    choose_paulis,
    ghz,
    identifying_count,
    measurement_count,
    random_mixed,
    shot_variance,
    simulate,
    standard_errors,
)
from unipd.errors import InvalidInput, MemoryForecastError
from unipd.io import PauliData
from unipd.memory import estimate_state_bytes

from . import naive


def test_the_default_number_of_measurements():
    assert measurement_count(14) == 138_099
    assert measurement_count(16) == math.ceil(2 * 2**16 * math.log10(2**16))
    assert [measurement_count(q) for q in (1, 2, 3)] == [4, 16, 64]
    for qubits in range(5, 14):
        assert measurement_count(qubits) / 2**qubits == pytest.approx(8.43, abs=0.04)
    assert measurement_count(6, rank=100) == 4**6


def test_exact_values_match_the_density_matrix():
    experiment = simulate("mixed", 3, rank=2, measurements=20, seed=3)
    rho = naive.density(experiment.state)
    expected = [np.trace(naive.pauli(label) @ rho).real for label in experiment.data.labels()]
    np.testing.assert_allclose(experiment.data.expectations, expected, atol=1e-14)
    assert experiment.data.shots is None
    assert experiment.data.stderr is None


def test_matrix_free_values_match_the_dense_ones():
    experiment = simulate("random", 8, measurements=30, seed=3)
    rho = naive.density(experiment.state)
    expected = [np.trace(naive.pauli(label) @ rho).real for label in experiment.data.labels()]
    np.testing.assert_allclose(experiment.data.expectations, expected, atol=1e-14)


def test_experiments_are_seeded():
    one, two = (simulate("random", 4, noise=Noise(shots=100), seed=5) for _ in range(2))
    np.testing.assert_array_equal(one.data.expectations, two.data.expectations)
    other = simulate("random", 4, noise=Noise(shots=100), seed=6)
    assert one.state.fidelity(other.state) < 0.9
    assert not np.array_equal(one.data.expectations, other.data.expectations)


def test_a_given_state_and_given_strings_are_used():
    experiment = simulate([1, 0, 0, 1], paulis=["XX", "ZZ", "YY"])
    np.testing.assert_allclose(experiment.data.expectations, [1, 1, -1], atol=1e-6)
    with pytest.raises(InvalidInput, match="2 qubits"):
        simulate([1, 0, 0, 1], paulis=["XXX"])


STRINGS = as_paulis(["III", "XII", "XYI", "ZZZ"])
VALUES = np.array([1.0, 0.8, -0.5, 0.25])


def test_depolarizing_and_readout_damp_by_weight():
    noise = Noise(depolarizing=0.1, readout=0.05)
    expected = [1.0, 0.9 * 0.9 * 0.8, -0.9 * 0.9**2 * 0.5, 0.9 * 0.9**3 * 0.25]
    np.testing.assert_allclose(noise.sample(STRINGS, VALUES, np.random.default_rng(0)), expected)
    assert noise.stderr(VALUES) is None


def test_shot_noise_has_the_binomial_mean_and_variance():
    rng = np.random.default_rng(1)
    samples = np.array([Noise(shots=50).sample(STRINGS, VALUES, rng) for _ in range(4000)])
    np.testing.assert_allclose(samples.mean(axis=0), VALUES, atol=0.01)
    np.testing.assert_allclose(samples.var(axis=0), (1 - VALUES**2) / 50, atol=1e-3)
    assert np.all(samples[:, 0] == 1.0)
    assert np.abs(samples).max() <= 1.0


def test_gaussian_noise_leaves_the_identity_alone():
    rng = np.random.default_rng(1)
    samples = np.array([Noise(gaussian=0.1).sample(STRINGS, VALUES, rng) for _ in range(4000)])
    assert np.all(samples[:, 0] == 1.0)
    np.testing.assert_allclose(samples[:, 1:].std(axis=0), 0.1, rtol=0.05)


def test_data_carry_their_errors():
    shot = simulate("ghz", 3, noise=Noise(shots=100), seed=1).data
    assert set(shot.shots) == {100.0}
    assert shot.stderr is None
    added = simulate("ghz", 3, noise=Noise(gaussian=0.02), seed=1).data
    np.testing.assert_allclose(added.stderr, 0.02)
    both = simulate("ghz", 3, noise=Noise(gaussian=0.02, shots=100), seed=1).data
    assert np.all(both.stderr >= 0.02)


def test_variances_are_never_zero():
    assert np.all(shot_variance(np.array([-1.0, 0.0, 1.0, 1.01]), 10) > 0)
    assert shot_variance(np.array([0.0]), 400)[0] == pytest.approx(1 / 400)
    strings = np.arange(3), np.zeros(3, int), np.zeros(3)
    assert standard_errors(PauliData(2, *strings, stderr=np.zeros(3))) is None
    assert standard_errors(PauliData(2, *strings, stderr=np.array([0.0, 1.0, 2.0]))).min() > 0


@pytest.mark.parametrize(
    "bad", [{"shots": 0}, {"shots": 1.5}, {"depolarizing": 1.5}, {"readout": 0.5}, {"gaussian": -1}, {"readout": -0.1}]
)
def test_wrong_noise_is_refused(bad):
    with pytest.raises(InvalidInput):
        Noise(**bad)


def test_memory_is_forecast_before_anything_is_made(monkeypatch):
    with pytest.raises(MemoryForecastError, match="60 qubits needs about"):
        simulate("random", 60)
    monkeypatch.setattr("unipd.memory.available_memory", lambda: 10**6)
    with pytest.raises(MemoryForecastError, match="1 MB are available"):
        simulate("random", 14)
    assert simulate("random", 3).state.qubits == 3
    assert (
        estimate_state_bytes(14, 138_099, double=True)
        > estimate_state_bytes(14, 138_099)
        > estimate_state_bytes(13, 138_099)
    )


@pytest.mark.parametrize("qubits", [0, -1, 1.5, None, 10**6])
def test_wrong_numbers_of_qubits_are_refused(qubits):
    with pytest.raises(InvalidInput, match="qubits"):
        simulate("random", qubits)


def test_too_many_measurements_are_refused():
    with pytest.raises(InvalidInput, match="at most 4"):
        simulate("random", 2, measurements=17)


def test_the_number_that_identifies_a_state():
    assert identifying_count(1) == 3
    assert identifying_count(5) == 123
    assert identifying_count(10) < measurement_count(10)


def test_strings_are_distinct():
    paulis = choose_paulis(4, 200, seed=2)
    assert len(set(zip(paulis.x.tolist(), paulis.z.tolist(), strict=True))) == 200


def test_states_pass_through():
    state = random_mixed(2, 2, seed=1)
    assert simulate(state).state is state
    assert isinstance(simulate(ghz(2)).state, QuantumState)
