"""Golub-Kahan steps in one compiled call: the answers of single steps and of LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectral.matrices import StepByStep, bands_of, eps_of, sampled_operator
from unipd._util.context import subscribe
from unipd.errors import OracleError
from unipd.maps import SampledMatrix, Sampling
from unipd.spectral import Bidiagonal, Engine, Limits, Products, Stop, may_stop, top_triple

LANCZOS = Engine(solver="lanczos")


@settings(max_examples=80)
@given(
    rows=st.integers(1, 40),
    columns=st.integers(1, 40),
    entries=st.integers(1, 300),
    dtype=st.sampled_from([np.float32, np.float64]),
    by_columns=st.booleans(),
    scale=st.sampled_from([0.0, 1e-20, 1.0, 1e12]),
    tolerance=st.sampled_from([1e-9, 1e-3]),
    seed=st.integers(0, 2**16),
)
def test_matches_lapack(rows, columns, entries, dtype, by_columns, scale, tolerance, seed) -> None:
    """Matrices of every shape and rank, zero and tiny ones among them."""
    matrix = sampled_operator(rows, columns, entries, dtype, seed, by_columns)
    matrix = SampledMatrix(matrix.pattern, matrix.values * dtype(scale))
    dense = matrix.toarray().astype(np.float64)
    values = np.linalg.svd(dense, compute_uv=False)
    truth = float(values[0])
    found = LANCZOS.singular_triples(matrix, tolerance=tolerance)
    # Left vectors are orthogonal to 1e3 eps only (below); entries of a place add up.
    rounding = eps_of(dtype) * (1000 * truth + float(np.abs(matrix.values).sum())) + 1e-37
    assert found.converged
    assert found.left.dtype == found.right.dtype == dtype
    assert found.value <= truth + rounding
    # A residual shows that a singular value is near, not which: a rough run may stop at another than the top one.
    assert np.abs(values - found.value).min() <= found.residual + rounding
    if tolerance < 1e-6:
        assert found.value == pytest.approx(truth, abs=1e-9 * truth + rounding)
    forward = np.linalg.norm(dense @ found.right - found.left * found.value)
    adjoint = np.linalg.norm(dense.T @ found.left - found.right * found.value)
    assert max(forward, adjoint) <= found.residual + rounding
    for vectors in (found.left, found.right):
        assert np.linalg.norm(vectors) == pytest.approx(1.0, abs=100 * eps_of(dtype))


@pytest.mark.parametrize("shape", [(150, 230), (230, 150)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tolerance", [1e-1, 1e-4])
@pytest.mark.parametrize("warm", [False, True])
def test_stops_where_steps_one_by_one_do(shape, dtype, tolerance, warm) -> None:
    """The same number of products, up to a step either way, and the same triple."""
    matrix = sampled_operator(*shape, 5000, dtype)
    ends = [np.random.default_rng(3).standard_normal((size, 1)) for size in shape]
    start = tuple(ends) if warm else None
    options = {"start": start, "tolerance": tolerance, "value_tolerance": lambda top: 1e-2 * tolerance * top}
    compiled, plain = (LANCZOS.singular_triples(form, **options) for form in (matrix, StepByStep(matrix)))
    assert compiled.converged
    assert abs(compiled.matvecs - plain.matvecs) <= 2
    assert compiled.value == pytest.approx(plain.value, rel=1e-2 * tolerance + 100 * eps_of(dtype))
    assert abs((compiled.right * plain.right).sum()) == pytest.approx(1.0, abs=4 * tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ritz_triple_is_that_of_the_small_matrix(dtype: type) -> None:
    generator = np.random.default_rng(2)
    size = 7
    projected = np.diag(generator.uniform(0.1, 1.0, size + 1)) + np.diag(generator.uniform(0.1, 1.0, size), 1)
    left, right = (np.linalg.qr(generator.standard_normal((30, size + 1)))[0].T.astype(dtype) for _ in range(2))
    goals = Stop(relative=np.inf).goals(0.0)
    bands = bands_of(projected, size)
    assert may_stop(bands, size, goals)
    u, v = np.empty(30, dtype), np.empty(30, dtype)
    value, residual = top_triple((left, right), bands, size, goals, (u, v))
    outer, values, inner = np.linalg.svd(projected[:size, :size])
    assert value == pytest.approx(values[0], rel=1e-12)
    assert residual == pytest.approx(abs(projected[size - 1, size] * outer[-1, 0]), rel=1e-9, abs=20 * eps_of(dtype))
    for vector, expected in ((u, outer[:, 0] @ left[:size]), (v, inner[0] @ right[:size])):
        assert abs(vector @ expected) == pytest.approx(1.0, rel=20 * eps_of(dtype))
    assert (u @ (left[:size].T @ projected[:size, :size] @ right[:size]) @ v) == pytest.approx(values[0], rel=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_restarts_reach_the_top(dtype: type) -> None:
    matrix = sampled_operator(200, 150, 6000, dtype)
    found = Engine(solver="lanczos", subspace=12).singular_triples(matrix, 2, tolerance=1e-4)
    assert found.converged
    assert found.matvecs > 30
    np.testing.assert_allclose(found.values, np.linalg.svd(matrix.toarray(), compute_uv=False)[:2], rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_bases_stay_orthonormal_and_hold_the_relations(dtype) -> None:
    """M V = U B and M^* U = V B^* + beta q e^*, with left vectors orthogonalised against one neighbour only."""
    matrix = sampled_operator(300, 200, 6000, dtype)
    run = Bidiagonal(Products(matrix), np.ones((200, 1), dtype), Limits(30, 60), 0)
    for _ in range(30):
        coupling = run.advance()
    known = run.known
    assert known == 30
    left, right, dense = run.left.columns(), run.right.columns(), matrix.toarray()
    for basis in (left, right):
        np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e3 * eps_of(dtype))
    accuracy = 1e2 * eps_of(dtype) * np.linalg.norm(dense, 2)
    np.testing.assert_allclose(dense @ right[:, :known], left @ run.small, atol=accuracy)
    rest = np.zeros_like(dense.T @ left)
    rest[:, -1] = coupling[0, 0] * right[:, -1]
    np.testing.assert_allclose(dense.T @ left, right[:, :known] @ run.small.T + rest, atol=accuracy)


def test_products_are_counted_heard_of_and_limited() -> None:
    matrix, heard = sampled_operator(200, 150, 3000), []
    with subscribe(lambda _, made: heard.append(made)):
        found = LANCZOS.singular_triples(matrix, tolerance=1e-6)
    assert sum(heard) == found.matvecs > len(heard)
    for most in (1, 7, 20):
        limited = Engine(solver="lanczos", max_products=most).singular_triples(matrix, tolerance=1e-12)
        assert not limited.converged
        assert limited.matvecs <= max(most, 2)


@pytest.mark.parametrize("form", [lambda matrix: matrix, StepByStep], ids=["compiled", "steps"])
def test_low_rank_and_what_is_not_finite_are_left_to_single_steps(form) -> None:
    """A matrix of rank 2 ends the compiled run; a NaN raises the error that single steps raise."""
    rows, columns = np.divmod(np.arange(100 * 90), 90)
    values = np.outer(np.arange(1.0, 101.0), np.cos(np.arange(90.0))) + np.outer(np.ones(100), np.ones(90))
    matrix = Sampling(rows, columns, (100, 90)).adjoint(values.reshape(-1))
    found = LANCZOS.singular_triples(form(matrix), tolerance=1e-13)
    assert found.converged
    assert found.value == pytest.approx(np.linalg.norm(values, 2), rel=1e-12)
    matrix.values[7] = np.nan
    with pytest.raises(OracleError):
        LANCZOS.singular_triples(form(matrix))
