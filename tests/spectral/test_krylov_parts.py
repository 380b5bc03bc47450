"""Components of the Krylov methods: bases, stopping rules and starting blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectral.matrices import DTYPES, eps_of, hermitian
from unipd._util.arrays import draw_normal
from unipd.errors import OracleError
from unipd.spectral import Basis, Stop, certified_upper, length_of, starting_block, value_error


@settings(max_examples=60)
@given(
    rows=st.integers(1, 12),
    columns=st.integers(1, 15),
    rank=st.integers(0, 12),
    dtype=st.sampled_from(DTYPES),
    recent=st.integers(0, 3),
    scale=st.sampled_from([1e-25, 1e-12, 1.0, 1e12, 1e25]),
    seed=st.integers(0, 999),
)
def test_basis_stays_orthonormal_and_its_coefficients_rebuild_the_vectors(
    rows, columns, rank, dtype, recent, scale, seed
) -> None:
    """Vectors of any rank and size, nearly dependent ones among them, wherever they are expected to lie."""
    generator = np.random.default_rng(seed)
    rank = min(rank, rows, columns)
    vectors = draw_normal(generator, (rows, rank), dtype) @ draw_normal(generator, (rank, columns), dtype)
    vectors[:, columns // 2] = vectors[:, 0] * (1 + 1e-3)
    vectors = (scale * vectors).astype(dtype)
    basis = Basis(rows, columns, dtype, generator)
    for vector in vectors.T:
        before = basis.size
        coefficients, length = basis.append(vector, recent)
        rebuilt = basis.columns(0, before) @ coefficients
        if length > 0:
            rebuilt = rebuilt + length * basis.columns()[:, -1]
        size = float(np.linalg.norm(vector.astype(np.result_type(dtype, np.float64)))) + 1e-30
        np.testing.assert_allclose(rebuilt, vector, atol=100 * eps_of(dtype) * size)
        assert basis.size == min(before + 1, rows)
    gram = basis.columns().conj().T @ basis.columns()
    np.testing.assert_allclose(gram, np.eye(basis.size), atol=50 * eps_of(dtype))


def test_basis_refuses_what_is_not_finite() -> None:
    with pytest.raises(OracleError):
        Basis(2, 2, np.float64, np.random.default_rng(0)).append(np.array([np.nan, 1.0]))


@settings(max_examples=60)
@given(size=st.integers(3, 12), width=st.integers(2, 6), count=st.integers(1, 3), seed=st.integers(0, 999))
def test_value_error_bounds_the_shortfall_when_the_top_is_among_the_found(size, width, count, seed) -> None:
    """Around slightly wrong top eigenvectors the estimate is an upper bound on the values' shortfall."""
    generator = np.random.default_rng(seed)
    width, count = min(width, size), min(count, width)
    matrix = hermitian(np.sort(generator.standard_normal(size))[::-1], seed=seed)
    vectors = np.linalg.eigh(matrix)[1][:, ::-1]
    span = np.linalg.qr(vectors[:, :width] + 0.02 * generator.standard_normal((size, width)))[0]
    small, rotation = np.linalg.eigh(span.T @ matrix @ span)
    values, basis = small[::-1], span @ rotation[:, ::-1]
    residuals = np.linalg.norm(matrix @ basis - basis * values, axis=0)
    shortfall = float(np.sort(np.linalg.eigvalsh(matrix))[::-1][:count].sum() - values[:count].sum())
    estimate = value_error(values, residuals, count)
    assert estimate <= residuals[:count].sum() + 1e-15
    assert shortfall <= 3.0 * estimate + 1e-12


def test_stop_rules() -> None:
    values, residuals = np.array([1.0, 0.0]), np.array([1e-3, 0.5])
    assert Stop(absolute=1e-2).is_reached(values, residuals, 1, 1.0, 0.0)
    assert not Stop(absolute=1e-4).is_reached(values, residuals, 1, 1.0, 0.0)
    assert Stop(relative=1e-3).is_reached(values, residuals, 1, 1.0, 0.0)
    assert not Stop(absolute=1.0).is_reached(values, residuals, 3, 1.0, 0.0)
    assert Stop().is_reached(values, residuals, 1, 1.0, 1e-3)
    assert Stop(absolute=1.0, value=lambda top: 2.1e-6 * top).is_reached(values, residuals, 1, 1.0, 0.0)
    assert not Stop(absolute=1.0, value=lambda top: 1.9e-6 * top).is_reached(values, residuals, 1, 1.0, 0.0)


def test_the_guard_rules_out_what_the_polynomial_rules_out() -> None:
    """One step from a unit vector with mean 0 and deviation 1: weight w at z needs z^2 <= 1 / w."""
    stop = Stop(missed_eigenvalue_guard=0.5, weight=0.01)
    assert stop.may_miss_eigenvalue(np.array([0.0]), [1.0], 9.9)
    assert not stop.may_miss_eigenvalue(np.array([0.0]), [1.0], 10.1)
    assert not Stop(weight=0.01).may_miss_eigenvalue(np.array([0.0]), [1.0], 0.1)
    assert not stop.may_miss_eigenvalue(np.array([0.0]), [1.0, 1.0], 0.1)
    assert stop.guard_level(2.0, 4.0) == 4.0
    assert Stop(missed_eigenvalue_guard=0.5, value=lambda _: 3.0).guard_level(2.0, 4.0) == 5.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_starting_blocks(dtype: type) -> None:
    block = starting_block(None, 50, 3, dtype, 7, 0.1)
    np.testing.assert_allclose(np.linalg.norm(block, axis=0), 1.0, rtol=1e-5)
    given_start = np.eye(50)[:, :2] * np.array([5.0, 0.0])
    warm = starting_block(given_start, 50, 3, dtype, 7, 0.1)
    assert warm.dtype == dtype
    aligned = block[:, 0] * np.conj(block[0, 0]) / np.abs(block[0, 0])
    np.testing.assert_allclose(warm[:, 0] - np.eye(50)[:, 0], 0.1 * aligned, atol=1e-6)
    np.testing.assert_array_equal(warm[:, 1:], block[:, 1:])
    np.testing.assert_array_equal(starting_block(given_start, 50, 3, dtype, 7, 0.1), warm)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_warm_start_counts_whatever_its_phase(dtype: type) -> None:
    """Rounding decides the sign of an eigenvector; the block from -v must span what the block from v spans."""
    vector = draw_normal(np.random.default_rng(3), (40, 1), np.dtype(dtype))
    turn = dtype(np.exp(2.0j)) if np.dtype(dtype).kind == "c" else dtype(-1.0)
    plain, turned = (starting_block(v, 40, 1, dtype, 5, 0.3) for v in (vector, turn * vector))
    np.testing.assert_allclose(turned, turn * plain, atol=50 * eps_of(dtype))


@pytest.mark.parametrize("scale", [1e-160, 1e-30, 1e30, 1e110])
def test_lengths_of_all_sizes(scale: float) -> None:
    dtype = np.float32 if scale in (1e-30, 1e30) else np.float64
    assert length_of(np.array([3.0 * scale, 0.0, 4.0 * scale], dtype)) == pytest.approx(5.0 * scale, rel=1e-6)
    assert length_of(np.zeros(3, dtype)) == 0.0


@pytest.mark.parametrize("steps", [60, 100, 300])
@pytest.mark.parametrize("kind", [float, complex])
def test_deflated_bounds_stay_outside_the_known_vectors(steps: int, kind: type) -> None:
    """A run of more steps than there are dimensions must not find its way back."""
    rng = np.random.default_rng(0)
    known = np.linalg.qr(draw_normal(rng, (50, 3), kind))[0]
    matrix = np.diag(np.arange(50.0)).astype(kind)
    rest = np.eye(50) - known @ known.conj().T
    truth = float(np.linalg.eigvalsh(rest @ matrix @ rest)[-1])
    found = certified_upper(matrix, steps=steps, deflate=known)
    assert found.lower <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= found.upper <= truth * (1 + 1e-6)
