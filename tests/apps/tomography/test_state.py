"""Quantum states by eigenvalues and eigenvectors."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd.apps.tomography import STATES, QuantumState, as_state, ghz, make_state, product, random_mixed, w_state
from unipd.atoms import LowRank
from unipd.errors import InvalidInput, MemoryForecastError

from . import naive

states = st.builds(random_mixed, qubits=st.integers(1, 3), rank=st.integers(1, 2), seed=st.integers(0, 100))


@given(states)
@settings(max_examples=30)
def test_a_state_is_a_density_matrix(state):
    rho = naive.density(state)
    assert abs(math.fsum(state.eigenvalues) - 1.0) <= 2.3e-16
    assert state.eigenvalues.min() > 0
    np.testing.assert_allclose(state.eigenvectors.conj().T @ state.eigenvectors, np.eye(state.rank), atol=1e-12)
    np.testing.assert_allclose(state.density_matrix(), rho, atol=1e-14)
    assert state.purity == pytest.approx(np.trace(rho @ rho).real)
    spectrum = np.linalg.eigvalsh(rho)
    expected = -sum(e * math.log2(e) for e in spectrum if e > 1e-13)
    assert state.entropy == pytest.approx(expected, abs=1e-9)


@given(st.integers(1, 3), st.integers(1, 2), st.integers(1, 2), st.integers(0, 50))
@settings(max_examples=30)
def test_fidelity_is_the_squared_form(qubits, rank, other_rank, seed):
    one, two = random_mixed(qubits, rank, seed), random_mixed(qubits, other_rank, seed + 1)
    expected = naive.fidelity(naive.density(one), naive.density(two))
    assert one.fidelity(two) == pytest.approx(expected, abs=1e-7)
    assert two.fidelity(one) == pytest.approx(one.fidelity(two), abs=1e-12)
    assert one.fidelity(one) == pytest.approx(1.0, abs=1e-12)
    assert one.fidelity(naive.density(two)) == pytest.approx(one.fidelity(two), abs=1e-7)


@given(states, st.integers(0, 1000))
@settings(max_examples=30)
def test_expectations_match_kronecker_products(state, seed):
    rng = np.random.default_rng(seed)
    labels = ["".join(rng.choice(list("IXYZ"), state.qubits)) for _ in range(4)]
    rho = naive.density(state)
    expected = [np.trace(naive.pauli(label) @ rho).real for label in labels]
    np.testing.assert_allclose(state.expectations(labels), expected, atol=1e-12)
    coefficients = rng.standard_normal(4)
    total = state.expectation(list(zip(labels, coefficients, strict=True)))
    assert total == pytest.approx(float(coefficients @ expected))


def test_complex_coefficients_give_complex_expectations():
    value = QuantumState([1, 0]).expectation({"Z": 1j, "X": 2.0})
    assert value == pytest.approx(1j)


def test_mixtures_of_vectors_that_are_not_orthogonal():
    vectors = np.array([[1.0, 1.0], [0.0, 1.0]])
    state = QuantumState(vectors, [0.25, 0.75])
    expected = 0.25 * np.diag([1.0, 0.0]) + 0.75 * np.full((2, 2), 0.5)
    np.testing.assert_allclose(state.density_matrix(), expected, atol=1e-14)


def test_factors_of_any_length_give_a_normalised_state():
    left = np.array([[2.0, 0.0], [0.0, 1.0]], np.complex64)
    state = QuantumState.from_low_rank(LowRank(left, left, np.array([1.0, 1.0])))
    np.testing.assert_allclose(state.eigenvalues, [0.8, 0.2], atol=1e-7)
    assert state.eigenvectors.dtype == np.complex128


def test_truncation_keeps_the_largest_eigenvalues():
    state = QuantumState(np.eye(4), [0.1, 0.5, 0.3, 0.1])
    cut = state.truncate(2)
    np.testing.assert_allclose(cut.eigenvalues, [0.625, 0.375])
    assert np.abs(cut.eigenvectors).argmax(axis=0).tolist() == [1, 2]
    assert state.effective_rank(0.2) == 2


def test_known_states():
    assert ghz(3).expectations(["XXX", "ZZI", "XYY", "ZII"]) == pytest.approx([1, 1, -1, 0])
    assert w_state(3).fidelity([0, 1, 1, 0, 1, 0, 0, 0]) == pytest.approx(1)
    vector = product(3, seed=4).eigenvectors[:, 0].reshape(2, 4)
    assert np.linalg.svd(vector, compute_uv=False)[1] < 1e-12


@pytest.mark.parametrize("name", STATES)
def test_states_are_seeded(name):
    one, two = make_state(name, 3, seed=7), make_state(name, 3, seed=7)
    np.testing.assert_array_equal(one.eigenvectors, two.eigenvectors)
    assert one.rank == (3 if name == "mixed" else 1)
    assert make_state(name, 1).rank == (2 if name == "mixed" else 1)


def test_a_large_density_matrix_is_refused():
    state = QuantumState(np.eye(1 << 13, 1)[:, 0])
    with pytest.raises(MemoryForecastError, match=r"13 qubits needs 1.07 GB.*max_qubits=13"):
        state.density_matrix()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: QuantumState([1, 2, 3]), "length 2"),
        (lambda: QuantumState([1]), "length 2"),
        (lambda: QuantumState([0, 0]), "nonzero"),
        (lambda: QuantumState([np.nan, 0]), "finite"),
        (lambda: QuantumState(np.eye(2), [1.0, -1.0]), "weights"),
        (lambda: QuantumState(np.eye(2), [1.0]), "weights"),
        (lambda: QuantumState(np.zeros((2, 0))), "vectors"),
        (lambda: as_state(np.eye(2)), "trace"),
        (lambda: as_state(np.diag([1.5, -0.5])), "density matrix"),
        (lambda: as_state(np.zeros((2, 3))), "square"),
        (lambda: ghz(2).fidelity(ghz(3)), "2 qubits"),
        (lambda: ghz(2).fidelity("ghz"), r"by name make_state\(.*, got 'ghz'"),
        (lambda: ghz(2).expectation("XXX"), "2 qubits"),
        (lambda: ghz(2).expectation("XQ"), "letters"),
        (lambda: ghz(2).expectation({"XX": np.nan}), "finite"),
        (lambda: ghz(0), "integer >= 1"),
        (lambda: ghz(40), "at most"),
        (lambda: make_state("cat", 2), "one of"),
        (lambda: make_state("ghz", 2, rank=2), "pure"),
        (lambda: random_mixed(1, 3), "at most"),
        (lambda: ghz(2).truncate(0), "rank"),
    ],
)
def test_wrong_states_are_refused(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()


def test_numpy_reads_a_state_as_its_density_matrix() -> None:
    state = ghz(2)
    np.testing.assert_array_equal(np.asarray(state), state.density_matrix())
    assert np.array(state, dtype=np.complex64).dtype == np.complex64
