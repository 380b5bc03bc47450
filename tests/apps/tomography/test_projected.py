"""Projected steps over the spectrahedron against dense projected gradients and projections by bisection."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unipd
from unipd.apps.tomography import Projected, Projection, compress_points, orthonormalize_against
from unipd.atoms import LowRank
from unipd.couplings import LeastSquares, Logistic, WeightedLeastSquares
from unipd.errors import InvalidInput
from unipd.maps import DenseMatrix
from unipd.methods.corrective import project_simplex
from unipd.sharp import Spectrahedron, TraceBall


def project_by_bisection(matrix, trace):
    """Return the projection with its level found by bisection."""
    values, vectors = np.linalg.eigh(matrix)
    low, high = values.min() - trace, values.max()
    for _ in range(200):
        level = 0.5 * (low + high)
        low, high = (level, high) if np.maximum(values - level, 0).sum() > trace else (low, level)
    return (vectors * np.maximum(values - low, 0)) @ vectors.conj().T


def point_of(*terms):
    """Return sum_i c_i F_i F_i^* for pairs (c_i, F_i)."""
    factors = np.concatenate([factor for _, factor in terms], axis=1)
    return LowRank(factors, factors, np.concatenate([np.full(factor.shape[1], share) for share, factor in terms]))


def hermitian(generator, size):
    block = generator.standard_normal((size, size)) + 1j * generator.standard_normal((size, size))
    return block + block.conj().T


@given(st.integers(0, 1000), st.integers(1, 6), st.sampled_from([1.0, 0.2, 7.0]), st.sampled_from([0.5, 3.0]))
def test_projections_from_a_whole_basis_are_those_found_by_bisection(seed, size, trace, curvature):
    generator = np.random.default_rng(seed)
    slope, factor = hermitian(generator, size), hermitian(generator, size)
    basis = np.linalg.qr(hermitian(generator, size))[0]
    model = Projection(basis, slope @ basis, point_of((1.5, factor), (-0.5, basis[:, :1])), trace)
    matrix = 1.5 * factor @ factor.conj().T - 0.5 * basis[:, :1] @ basis[:, :1].conj().T + slope / curvature
    roots, leading = model.project(curvature)
    np.testing.assert_allclose(roots @ roots.conj().T, project_by_bisection(matrix, trace), atol=1e-6)
    np.testing.assert_allclose(leading.conj().T @ leading, np.eye(leading.shape[1]), atol=1e-10)
    assert model.top == pytest.approx(np.linalg.eigvalsh(slope)[-1])


@given(st.integers(0, 1000))
def test_refined_bases_are_orthonormal_and_hold_more(seed):
    generator = np.random.default_rng(seed)
    slope = hermitian(generator, 9)
    basis = np.linalg.qr(hermitian(generator, 9)[:, :3])[0]
    model = Projection(basis, slope @ basis, point_of((0.0, basis)), 1.0)
    finer = model.refine(1.0, lambda block: slope @ block)
    np.testing.assert_allclose(finer.basis.conj().T @ finer.basis, np.eye(6), atol=1e-10)
    np.testing.assert_allclose(finer.products, slope @ finer.basis, atol=1e-10)
    assert model.top <= finer.top + 1e-12 <= np.linalg.eigvalsh(slope)[-1] + 1e-9


@given(st.integers(0, 1000), st.floats(0.1, 5.0))
def test_points_of_the_simplex_are_nearest(seed, total):
    values = np.sort(np.random.default_rng(seed).standard_normal(5))
    nearest = project_simplex(values, total)
    assert nearest.sum() == pytest.approx(total)
    assert np.all(nearest >= 0.0)
    for corner in total * np.eye(5):
        assert np.dot(values - nearest, corner - nearest) <= 1e-9


def test_products_of_matrices_given_by_factors():
    generator = np.random.default_rng(1)
    first, second = hermitian(generator, 4)[:, :2], hermitian(generator, 4)[:, :3]
    one, other = point_of((2.0, first), (-1.0, second)), point_of((0.5, second))
    matrices = [2.0 * first @ first.conj().T - second @ second.conj().T, 0.5 * second @ second.conj().T]
    small = compress_points(one, other)
    assert np.vdot(small[0], small[1]) == pytest.approx(np.vdot(*matrices))
    assert np.linalg.norm(small[0] - small[1]) == pytest.approx(np.linalg.norm(matrices[0] - matrices[1]))


def test_differences_of_nearby_matrices_keep_their_digits():
    first = np.random.default_rng(2).standard_normal((30, 2))
    second = first * (1.0 + 1e-10)
    one, other = compress_points(point_of((1.0, second)), point_of((1.0, first)))
    assert np.linalg.norm(one - other) == pytest.approx(2e-10 * np.linalg.norm(first @ first.T), rel=1e-4)


def test_columns_that_join_are_orthogonal_to_the_basis_whatever_their_scale():
    basis = np.eye(6)[:, :2]
    block = orthonormalize_against(basis, np.array([[1.0, 1e-12], [0, 0], [1e-14, 0], [0, 1e-20], [0, 0], [0, 0]]))
    np.testing.assert_allclose(np.concatenate([basis, block], axis=1).T @ block, np.eye(4)[:, 2:], atol=1e-12)


def noisy_problem(loss, size=12, rows=80, seed=0, trace=1.0):
    """Return random real measurements of a matrix of rank 2, with noise."""
    generator = np.random.default_rng(seed)
    matrices = generator.standard_normal((rows, size, size))
    matrices += matrices.transpose(0, 2, 1)
    factor = generator.standard_normal((size, 2))
    factor *= np.sqrt(trace) / np.linalg.norm(factor)
    values = matrices.reshape(rows, -1) @ (factor @ factor.T).ravel()
    b = values + 0.1 * generator.standard_normal(rows)
    return unipd.Problem(
        Spectrahedron(size, trace), DenseMatrix(matrices.reshape(rows, -1), domain=(size, size)), b, loss
    )


def exact_gap(problem, x, weights):
    """Return a lambda_max(G) - <G, X> for the negative gradient G: how far X is from optimal at most."""
    matrix, size = problem.map.image, problem.sharp.shape[0]
    lam = weights * (problem.b - matrix(x))
    slope = np.asarray(problem.map.adjoint(lam))
    slope = 0.5 * (slope + slope.T)
    assert slope.shape == (size, size)
    return problem.sharp.trace * np.linalg.eigvalsh(slope)[-1] - float(np.sum(slope * x))


@pytest.mark.parametrize("trace", [1.0, 3.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_point_is_optimal_by_all_eigenvalues_of_its_gradient(weighted, trace):
    weights = np.linspace(0.5, 2.0, 80) if weighted else np.ones(80)
    problem = noisy_problem(WeightedLeastSquares(weights) if weighted else LeastSquares(), trace=trace)
    result = unipd.solve(problem, Projected(rank=3), accuracy=1e-8)
    x = result.x.dense()
    assert result.status.value == "solved"
    assert np.trace(x) == pytest.approx(trace)
    assert 0.0 <= exact_gap(problem, x, weights) + 1e-12 <= 1e-6 * problem.scale(0.0)
    objective = 0.5 * float(np.sum(weights * (problem.map.image(x) - problem.b) ** 2))
    assert result.objective == pytest.approx(objective)


@settings(max_examples=10)
@given(st.integers(0, 100), st.integers(1, 12))
def test_bounds_hold_and_meet_whatever_the_rank_to_begin_with(seed, rank):
    problem = noisy_problem(LeastSquares(), seed=seed)
    method = Projected(rank=rank, seed=seed)
    result = unipd.solve(problem, method, accuracy=1e-5)
    exact = unipd.solve(problem, "factored", accuracy=1e-9)
    assert result.status.value == "solved"
    assert result.dual_bound <= exact.objective + 1e-9 * problem.scale(0.0)


def test_other_smooth_losses_are_fitted_too():
    problem = noisy_problem(Logistic())
    result = unipd.solve(problem, Projected(), accuracy=1e-4)
    exact = unipd.solve(problem, "factored", accuracy=1e-6)
    assert result.status.value == "solved"
    assert result.objective == pytest.approx(exact.objective, abs=2e-4 * problem.scale(0.0))


def test_steps_are_pure():
    problem, method = noisy_problem(LeastSquares()), Projected(rank=3)
    state = method.step(problem, method.start(problem, None, np.zeros(80), 1e-6))
    once, again = method.step(problem, state), method.step(problem, state)
    np.testing.assert_array_equal(once.factor, again.factor)
    assert once.counts == again.counts
    assert dataclasses.replace(once).certificate.objective < state.certificate.objective


def test_other_sets_and_constraints_are_refused():
    ball = unipd.Problem(TraceBall(2), DenseMatrix(np.eye(4), domain=(2, 2)), np.ones(4), LeastSquares())
    with pytest.raises(InvalidInput, match="spectrahedron"):
        unipd.solve(ball, Projected())
    constrained = unipd.Problem(Spectrahedron(2), DenseMatrix(np.eye(4), domain=(2, 2)), np.ones(4), "=")
    with pytest.raises(InvalidInput, match="smooth loss"):
        unipd.solve(constrained, Projected())
    with pytest.raises(InvalidInput, match="rank"):
        Projected(rank=0)


@pytest.mark.parametrize("loss", [LeastSquares(), WeightedLeastSquares([9.0, 4.0])])
def test_a_first_atom_that_the_map_does_not_see(loss):
    off_diagonal = np.array([[0.0, 1.0, 1.0, 0.0], [0.0, 0.5, 0.5, 0.0]])
    problem = unipd.Problem(Spectrahedron(2), DenseMatrix(off_diagonal, domain=(2, 2)), np.zeros(2), loss)
    result = unipd.solve(problem, Projected(rank=2), accuracy=1e-6)
    assert result.status.success
    assert result.objective <= 1e-6
