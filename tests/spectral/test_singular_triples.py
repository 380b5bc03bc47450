"""Top singular triples against LAPACK: all dtypes, shapes, ranks, warm starts, counts."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from spectral.matrices import DTYPES, BlockOperator, CountingOperator, eps_of, rectangular
from unipd.spectral import RIGOROUS, Engine

LANCZOS = Engine(solver="lanczos")


@settings(max_examples=80)
@given(
    rows=st.integers(1, 40),
    columns=st.integers(1, 40),
    rank=st.integers(0, 40),
    flat=st.booleans(),
    dtype=st.sampled_from(DTYPES),
    count=st.integers(1, 3),
    block=st.integers(1, 4),
    seed=st.integers(0, 2**16),
)
def test_matches_lapack(rows, columns, rank, flat, dtype, count, block, seed) -> None:
    generator = np.random.default_rng(seed)
    rank, count = min(rank, rows, columns), min(count, rows, columns)
    singular = np.full(rank, 3.0) if flat else np.abs(generator.standard_normal(rank))
    matrix = rectangular(rows, columns, singular, dtype, seed)
    truth = np.linalg.svd(matrix.astype(np.result_type(dtype, np.float64)), compute_uv=False)
    found = Engine(solver="lanczos", block=block).singular_triples(matrix, count, tolerance=1e-9)
    scale = max(float(truth[0]), 1e-30)
    rounding = 100 * eps_of(dtype) * scale
    assert found.converged
    assert found.left.dtype == found.right.dtype == dtype
    np.testing.assert_allclose(found.values, truth[:count], rtol=0, atol=1e-9 * scale + rounding)
    forward = np.linalg.norm(matrix @ found.right - found.left * found.values, axis=0)
    adjoint = np.linalg.norm(matrix.conj().T @ found.left - found.right * found.values, axis=0)
    assert np.all(np.maximum(forward, adjoint) <= found.residuals + rounding)
    for vectors in (found.left, found.right):
        np.testing.assert_allclose(vectors.conj().T @ vectors, np.eye(count), atol=100 * eps_of(dtype))


@pytest.mark.parametrize("shape", [(150, 400), (400, 150)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_restarts_reach_the_top(shape: tuple[int, int], dtype: type) -> None:
    matrix = rectangular(*shape, np.linspace(0.0, 1.0, 150) ** 3, dtype)
    found = Engine(solver="lanczos", subspace=12).singular_triples(matrix, 2, tolerance=1e-5)
    assert found.converged
    assert found.matvecs > 24
    np.testing.assert_allclose(found.values, np.linalg.svd(matrix, compute_uv=False)[:2], atol=3e-6)


@pytest.mark.parametrize("operator", [CountingOperator, BlockOperator])
@pytest.mark.parametrize("block", [1, 3])
@pytest.mark.parametrize("shape", [(90, 120), (120, 90)])
def test_counts_are_the_products_made(operator: type, block: int, shape: tuple[int, int]) -> None:
    counting = operator(rectangular(*shape, np.linspace(0.0, 1.0, 90)))
    found = Engine(solver="lanczos", block=block).singular_triples(counting, 1, tolerance=1e-6)
    assert found.matvecs == counting.products > 0


@pytest.mark.parametrize("shape", [(3, 200), (200, 3)])
def test_thin_operators_are_made_dense_on_their_shorter_side(shape: tuple[int, int]) -> None:
    counting = CountingOperator(rectangular(*shape, [3.0, 2.0, 1.0], np.complex128))
    found = Engine().singular_triples(counting)
    assert (found.bound_kind, found.matvecs, counting.products) == (RIGOROUS, 3, 3)
    assert found.value == pytest.approx(3.0)


@pytest.mark.parametrize("shape", [(300, 200), (200, 300)])
def test_warm_start_saves_products(shape: tuple[int, int]) -> None:
    matrix = rectangular(*shape, np.r_[1.2, np.linspace(0.0, 1.0, 199)])
    nearby = sp.csr_array(matrix + 1e-3 * rectangular(*shape, np.linspace(0.0, 1.0, 200), seed=9))
    engine = Engine(solver="lanczos", missed_eigenvalue_guard=None, mix=1e-3)
    start = engine.singular_triples(matrix)
    cold = engine.singular_triples(nearby, tolerance=1e-3)
    warm = engine.singular_triples(nearby, start=(start.left, start.right), tolerance=1e-3)
    assert warm.matvecs < 0.7 * cold.matvecs
    assert warm.value == pytest.approx(cold.value, abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_a_start_orthogonal_to_the_answer_does_not_trap(seed: int) -> None:
    matrix = np.diag(np.r_[1.5, 1.0, np.linspace(0.0, 0.9, 298)])
    second = np.eye(300)[:, 1]
    engine = Engine(solver="lanczos", seed=seed)
    found = engine.singular_triples(matrix, start=(second, second), tolerance=0.1, value_tolerance=1e-2)
    assert found.value == pytest.approx(1.5, abs=2e-2)
    trusting = Engine(solver="lanczos", seed=seed, missed_eigenvalue_guard=None, mix=1e-3)
    trapped = trusting.singular_triples(matrix, start=(second, second), tolerance=0.1, value_tolerance=1e-2)
    assert trapped.value == pytest.approx(1.0, abs=1e-2)


def test_same_seed_same_bits() -> None:
    matrix = rectangular(200, 150, np.linspace(0.0, 1.0, 150))
    first, again = (LANCZOS.singular_triples(matrix, tolerance=1e-4) for _ in range(2))
    assert np.array_equal(first.left, again.left)
    assert np.array_equal(first.right, again.right)
