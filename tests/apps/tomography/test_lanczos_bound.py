"""Bounds of the projected method by one long Lanczos run, against all eigenvalues."""

import dataclasses

import numpy as np
from scipy.sparse.linalg import LinearOperator

import unipd
from unipd.apps.tomography import Noise, Projected, bound_by_lanczos, is_large_operator, simulate
from unipd.couplings import LeastSquares
from unipd.maps.pauli import PauliMap
from unipd.sharp import Spectrahedron
from unipd.spectral import Certification


def noisy_problem(qubits=5, certify="probabilistic", dense_limit=8):
    """Return a noisy state of rank 2, with an oracle for which the matrices count as large."""
    data = simulate("mixed", qubits, rank=2, noise=Noise(shots=1000), seed=3).data
    oracle = Spectrahedron(1 << qubits, certify=certify, certification=Certification(dense_limit=dense_limit))
    return unipd.Problem(oracle, PauliMap(qubits, data.x, data.z, "double", 1), data.expectations, LeastSquares())


def exact_bound(problem, dual):
    """Return -G(lam) by all eigenvalues of the matrix."""
    values = np.linalg.eigvalsh(problem.map.adjoint(-dual).toarray())
    return -values[-1] - float(dual @ problem.b) - 0.5 * float(dual @ dual)


def certified_state(problem, accuracy):
    """Return a state after some steps, with the slope at its dual vector and the slope's largest eigenvalue."""
    method = Projected(rank=8)
    state = method.start(problem, None, np.zeros(problem.b.size), accuracy)
    for _ in range(12):
        state = method.step(problem, state)
    slope = problem.map.adjoint(-state.dual)
    return state, slope, float(np.linalg.eigvalsh(slope.toarray())[-1])


def without_bound(state):
    return dataclasses.replace(state, certificate=dataclasses.replace(state.certificate, dual_bound=-np.inf))


def test_the_accuracy_is_certified_with_a_bound_that_holds():
    problem = noisy_problem()
    result = unipd.solve(problem, Projected(rank=8), accuracy=1e-4)
    assert result.status.value == "solved"
    assert result.bound_kind == "probabilistic"
    assert result.objective - result.dual_bound <= 1e-4 * problem.scale(result.objective)
    exact = unipd.solve(noisy_problem(dense_limit=1000), Projected(rank=8), accuracy=1e-6)
    assert result.dual_bound <= exact.objective


def test_a_run_ends_where_its_bound_is_good_enough():
    problem = noisy_problem()
    state, slope, top = certified_state(problem, 1e-3)
    promise = state.certificate.objective - exact_bound(problem, state.dual)
    answered, excess = bound_by_lanczos(problem, without_bound(state), slope, top, promise)
    found = answered.certificate.dual_bound
    eps = 1e-3 * problem.scale(state.certificate.objective)
    assert found <= exact_bound(problem, answered.certificate.ray_scale * state.dual) + 1e-9
    assert state.certificate.objective - found <= max(1.1 * promise, eps) + 0.1 * eps
    assert excess <= 1e-9
    assert answered.counts.matvecs > state.counts.matvecs


def test_a_promise_that_does_not_hold_ends_the_run_early():
    """A Ritz value far too low: the run shows how much is missing."""
    problem = noisy_problem()
    state, slope, top = certified_state(problem, 1e-3)
    short = 0.5 * top
    whole, _ = bound_by_lanczos(problem, state, slope, top, 1e-9)
    answered, excess = bound_by_lanczos(problem, state, slope, top - short, 1e-9)
    assert 0.0 < excess <= short + 1e-9
    assert answered.counts.matvecs <= whole.counts.matvecs


def test_small_and_explicit_matrices_and_rigorous_oracles_keep_their_own_bounds():
    problem = noisy_problem()
    slope = problem.map.adjoint(np.ones(problem.b.size))
    assert is_large_operator(problem, slope)
    assert not is_large_operator(problem, slope.toarray())
    assert not is_large_operator(noisy_problem(dense_limit=32), slope)
    assert not is_large_operator(noisy_problem(certify="rigorous"), slope)
    halves = LinearOperator((32, 32), matvec=slope.matvec, dtype=complex)
    halves.hermitian = False
    assert not is_large_operator(problem, halves)


def test_an_eigenvector_that_is_missed_joins_the_basis(monkeypatch):
    problem, method = noisy_problem(), Projected(rank=8)
    state = method.start(problem, None, np.zeros(problem.b.size), 1e-4)
    plain = method.step(problem, state)
    from unipd.apps.tomography import projected

    moved, promise, top = projected.take_projected_step(problem, state)
    monkeypatch.setattr(projected, "take_projected_step", lambda *_: (moved, 1e-12 * promise, top - 1.0))
    joined = method.step(problem, state)
    assert joined.basis.shape[1] == plain.basis.shape[1] + 1
    np.testing.assert_allclose(joined.basis.conj().T @ joined.basis, np.eye(joined.basis.shape[1]), atol=1e-10)
