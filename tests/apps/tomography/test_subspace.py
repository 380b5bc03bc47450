"""Fits over the span of X and of top eigenvectors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unipd.apps.tomography import Noise, simulate
from unipd.apps.tomography.mapping import pauli_map
from unipd.apps.tomography.paulis import Paulis
from unipd.apps.tomography.problem import tomography_problem
from unipd.apps.tomography.subspace import NoisyFactored, fitted_over, projected


def projected_by_bisection(matrix, trace):
    """Return the projection with its level found by bisection."""
    values, vectors = np.linalg.eigh(matrix)
    low, high = values.min() - trace, values.max()
    for _ in range(200):
        level = 0.5 * (low + high)
        low, high = (level, high) if np.maximum(values - level, 0).sum() > trace else (low, level)
    return (vectors * np.maximum(values - low, 0)) @ vectors.conj().T


@given(st.integers(0, 1000), st.integers(1, 6), st.sampled_from([1.0, 0.2, 7.0]))
def test_projections_are_those_found_by_bisection(seed, size, trace):
    generator = np.random.default_rng(seed)
    block = generator.standard_normal((size, size)) + 1j * generator.standard_normal((size, size))
    matrix = block + block.conj().T
    found, roots = projected(matrix, trace)
    np.testing.assert_allclose(found, projected_by_bisection(matrix, trace), atol=1e-7 * trace)
    np.testing.assert_allclose(roots @ roots.conj().T, found, atol=1e-12 * trace)


@pytest.mark.parametrize("objective", ["least-squares", "weighted"])
def test_a_fit_over_the_whole_space_lowers_the_loss_and_keeps_the_trace(objective):
    data = simulate("mixed", 3, rank=2, noise=Noise(shots=1000), seed=2).data
    measured = pauli_map(Paulis(3, data.x, data.z), precision="double")
    problem = tomography_problem(measured, data, objective)
    state = NoisyFactored(rank=4).start(problem, None, np.zeros(data.size), 1e-4)
    best, products = fitted_over(problem, np.eye(8, dtype=complex), state.here.point.left, state.here.image)
    reached = state.model.evaluate(best)
    assert np.sum(np.abs(best) ** 2) == pytest.approx(1.0)
    assert reached.value < 0.5 * state.here.value
    assert products >= 16
