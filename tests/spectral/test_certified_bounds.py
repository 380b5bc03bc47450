"""Certified upper bounds: not below the truth, valid with the stated probability, tight where possible."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from spectral.matrices import DTYPES, CountingOperator, certified_norm, eps_of, hermitian, random_basis, rectangular
from unipd.errors import InvalidInput, OracleError
from unipd.spectral import (
    PROBABILISTIC,
    RIGOROUS,
    Certification,
    Engine,
    block_upper_bound,
    bracket_of_run,
    certified_upper,
    certify_eigenvalues,
    certify_singular_value,
    gram_norm_upper,
    weight_quantile,
)

SPECTRA = {
    "uniform": np.linspace(-1.0, 1.0, 24),
    "spike": np.r_[1.0, np.zeros(23)],
    "deep bottom": np.r_[-100.0, np.linspace(-1.0, 1.0, 23)],
    "cluster": np.r_[np.linspace(-1.0, 0.0, 21), 1 - 1e-3, 1 - 1e-6, 1.0],
    "flat top": 1.0 - np.linspace(0.0, 1.0, 24) ** 2,
    "geometric": np.r_[-np.logspace(0, -12, 23), 1e-3],
}


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("steps", [1, 3, 8, 60])
def test_upper_bound_holds(name: str, dtype: type, steps: int) -> None:
    for seed in range(3):
        matrix = hermitian(SPECTRA[name], dtype, seed)
        top = float(np.linalg.eigvalsh(matrix.astype(np.complex128))[-1])
        found = certified_upper(matrix, steps, 1e-8, seed)
        size = float(np.abs(SPECTRA[name]).max())
        assert found.upper >= top - 2 * eps_of(dtype) * size
        assert found.lower <= top + 100 * eps_of(dtype) * size
        assert found.matvecs <= steps


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_failure_probability_is_what_it_says(dtype: type) -> None:
    """With two eigenvalues the bound after one step fails exactly when the weight is below its quantile."""
    delta, runs = 0.3, 600
    matrix = np.diag([1.0, 0.0, 0.0, 0.0]).astype(dtype)
    failures = sum(certified_upper(matrix, 1, delta, seed).upper < 1.0 for seed in range(runs))
    assert stats.binomtest(failures, runs, delta).pvalue > 1e-4


@pytest.mark.parametrize("name", SPECTRA)
def test_failures_are_no_more_frequent_than_delta_over_many_steps(name: str) -> None:
    delta, runs = 0.25, 150
    matrix = np.diag(SPECTRA[name])
    top = SPECTRA[name].max()
    failures = sum(certified_upper(matrix, 5, delta, seed).upper < top for seed in range(runs))
    assert stats.binomtest(failures, runs, delta, alternative="greater").pvalue > 1e-4


@settings(max_examples=60)
@given(size=st.integers(4, 30), steps=st.integers(2, 12), seed=st.integers(0, 999), delta=st.floats(1e-12, 0.5))
def test_never_above_the_chebyshev_bound(size: int, steps: int, seed: int, delta: float) -> None:
    """The bound is at most theta_1 + (theta_1 - theta_k) sinh^2(arccosh(x^(-1/2)) / (2k - 2))."""
    matrix = hermitian(np.random.default_rng(seed).standard_normal(size))
    alpha, beta = _lanczos_coefficients(matrix, min(steps, size - 2), seed)
    weight = weight_quantile(size, delta, False)
    theta, upper = bracket_of_run(alpha, beta, weight)
    small = np.diag(alpha) + np.diag(beta[:-1], 1) + np.diag(beta[:-1], -1)
    ritz = np.linalg.eigvalsh(small)
    assert theta == pytest.approx(ritz[-1], abs=1e-9)
    reach = (ritz[-1] - ritz[0]) * math.sinh(math.acosh(weight**-0.5) / (2 * len(alpha) - 2)) ** 2
    assert theta - 1e-12 <= upper <= theta + reach + 1e-9
    total = _christoffel_sum(upper, alpha, beta) if upper - theta > 1e-9 * abs(theta) else 1.0 / weight
    assert total == pytest.approx(1.0 / weight, rel=1e-3)


def _lanczos_coefficients(matrix, steps: int, seed: int) -> tuple[list[float], list[float]]:
    """Run textbook Lanczos with full reorthogonalisation."""
    start = np.random.default_rng(seed).standard_normal(len(matrix))
    basis = [start / np.linalg.norm(start)]
    alpha, beta = [], []
    for _ in range(steps):
        image = matrix @ basis[-1]
        alpha.append(float(basis[-1] @ image))
        for _ in range(2):
            for vector in basis:
                image = image - (vector @ image) * vector
        beta.append(float(np.linalg.norm(image)))
        basis.append(image / beta[-1])
    return alpha, beta


def _christoffel_sum(point: float, alpha: list[float], beta: list[float]) -> float:
    """Return sum_j p_j(point)^2 by solving the recurrence as a linear system."""
    values = [1.0]
    for j, (diagonal, off) in enumerate(zip(alpha, beta, strict=True)):
        before = beta[j - 1] * values[j - 1] if j else 0.0
        values.append(((point - diagonal) * values[j] - before) / off)
    return float(np.sum(np.square(values)))


@pytest.mark.parametrize("is_complex", [False, True])
def test_weight_quantile_by_simulation(is_complex: bool) -> None:
    generator = np.random.default_rng(0)
    vectors = generator.standard_normal((20000, 7)) + (1j * generator.standard_normal((20000, 7)) if is_complex else 0)
    weights = np.abs(vectors[:, 0]) ** 2 / np.sum(np.abs(vectors) ** 2, axis=1)
    for delta in (0.05, 0.5):
        share = float(np.mean(weights <= weight_quantile(7, delta, is_complex)))
        assert share == pytest.approx(delta, abs=0.015)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(12, 40), (40, 12), (1, 30), (30, 1)])
def test_norm_bound_holds(dtype: type, shape: tuple[int, int]) -> None:
    for seed in range(5):
        matrix = rectangular(*shape, np.linspace(0.1, 2.0, min(shape)), dtype, seed)
        found = certified_norm(matrix, 6, 1e-8, seed)
        assert found.upper >= np.linalg.norm(matrix.astype(np.complex128), 2) * (1 - 2 * eps_of(dtype))
        assert found.lower <= found.upper


def test_bound_closes_with_steps_and_stops_when_close_enough() -> None:
    counting = CountingOperator(np.diag(np.linspace(-1.0, 1.0, 500)))
    widths = [certified_upper(counting.matrix, steps).upper - 1.0 for steps in (10, 40, 160)]
    assert widths[0] > widths[1] > widths[2] > 0.0
    assert widths[2] < 5e-3
    found = certified_upper(counting, 300, tolerance=0.05)
    assert found.matvecs == counting.products < 100
    assert found.upper - found.lower <= 0.05


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-14, 1e-13])
def test_next_to_nothing_beside_a_vector_of_complex_numbers(size: float) -> None:
    dtype = np.complex64
    matrix = size * rectangular(130, 7, np.r_[1.0, np.full(6, 1e-8)], np.complex128)
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    operator, sides = matrix.astype(dtype), (left[:, :1].astype(dtype), right[:1].conj().T.astype(dtype))
    found = certify_singular_value(operator, *sides, "probabilistic")
    assert values[0] * (1 - 1e-6) <= found.upper <= values[0] * (1 + 1e-2)


def test_zero_and_tiny_operators() -> None:
    assert certified_upper(np.zeros((5, 5))).upper == 0.0
    assert certified_upper(np.array([[-3.0]])).upper == pytest.approx(-3.0)
    assert certified_norm(np.zeros((1, 4))).upper == 0.0


def test_bad_plans_are_refused() -> None:
    for bad in (0.0, 1.0, -1.0, math.nan):
        with pytest.raises(InvalidInput):
            certified_upper(np.eye(3), delta=bad)
    with pytest.raises(InvalidInput):
        Certification(steps=0)
    with pytest.raises(InvalidInput):
        certify_eigenvalues(np.eye(3), np.eye(3)[:, :1], "residual")


@settings(max_examples=60)
@given(
    size=st.integers(1, 25),
    count=st.integers(1, 4),
    dtype=st.sampled_from(DTYPES),
    seed=st.integers(0, 999),
    noise=st.sampled_from([0.0, 1e-3, 0.3]),
    kind=st.sampled_from([PROBABILISTIC, RIGOROUS]),
    steps=st.sampled_from([3, 100]),
)
def test_sum_of_the_top_is_bracketed(size, count, dtype, seed, noise, kind, steps) -> None:
    """The bracket of the sum of the k largest eigenvalues holds around any orthonormal vectors."""
    generator = np.random.default_rng(seed)
    count = min(count, size)
    matrix = hermitian(generator.standard_normal(size), dtype, seed)
    values, vectors = np.linalg.eigh(matrix)
    wrong = vectors[:, ::-1][:, :count] + noise * random_basis(size, count, dtype, generator)
    start = np.linalg.qr(wrong)[0].astype(dtype)
    found = certify_eigenvalues(matrix, start, kind, Certification(delta=1e-8, steps=steps, seed=seed))
    truth = float(np.sort(np.linalg.eigvalsh(matrix.astype(np.complex128)))[-count:].sum())
    rounding = 20 * count * eps_of(dtype) * float(np.abs(values).max())
    assert found.upper >= truth - rounding
    assert found.lower <= truth + rounding
    assert found.bound_kind == kind


def test_certificate_is_of_second_order_in_the_residual() -> None:
    matrix = np.diag(np.r_[2.0, np.linspace(-1.0, 1.0, 199)])
    tilted = np.eye(200)[:, :1] + 1e-3 * np.eye(200)[:, 1:2]
    tilted /= np.linalg.norm(tilted)
    found = certify_eigenvalues(matrix, tilted, PROBABILISTIC)
    assert found.lower < 2.0 <= found.upper
    assert found.upper - found.lower < 1e-5
    assert block_upper_bound(np.array([[2.0]]), np.array([[0.1]]), 1.0) == pytest.approx(1.5 + math.hypot(0.5, 0.1))


def test_counts_of_certificates_are_the_products_made() -> None:
    counting = CountingOperator(hermitian(np.linspace(0.0, 1.0, 80)))
    vector = Engine(solver="lanczos").eigenpairs(counting).right
    for kind in (PROBABILISTIC, RIGOROUS):
        counting.products = 0
        assert certify_eigenvalues(counting, vector, kind).matvecs == counting.products > 0
        counting.products = 0
        assert certify_singular_value(counting, vector, vector, kind).matvecs == counting.products > 0


@pytest.mark.parametrize("kind", [PROBABILISTIC, RIGOROUS])
@pytest.mark.parametrize("shape", [(30, 50), (50, 30)])
def test_singular_value_is_bracketed(kind: str, shape: tuple[int, int]) -> None:
    matrix = rectangular(*shape, np.r_[1.5, np.linspace(0.0, 1.0, 29)], np.complex128)
    found = Engine(solver="lanczos").singular_triples(matrix, tolerance=1e-2)
    sure = certify_singular_value(matrix, found.left, found.right, kind)
    assert 1.5 - 1e-12 <= sure.upper <= 1.5 + 1e-3
    assert sure.lower <= 1.5 + 1e-12


class Bounded(CountingOperator):
    def norm_bound(self) -> float:
        return 7.0


def test_rigorous_ladder_for_large_operators() -> None:
    plan = Certification(dense_limit=10)
    diagonal = np.linspace(-1.0, 1.0, 40)
    top = np.eye(40)[:, -1:]
    for matrix in (np.diag(diagonal), sp.diags_array(diagonal).tocsc()):
        assert 1.0 <= certify_eigenvalues(matrix, top, RIGOROUS, plan).upper < 1.0 + 1e-6
    bounded = Bounded(np.diag(diagonal))
    assert certify_eigenvalues(bounded, top, RIGOROUS, plan).upper == 7.0
    assert certify_singular_value(bounded, top, top, RIGOROUS, plan).upper == 7.0
    with pytest.raises(OracleError, match="probabilistic"):
        certify_eigenvalues(CountingOperator(np.diag(diagonal)), top, RIGOROUS, plan)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (40, 25), (25, 60)])
@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
def test_bound_of_a_dense_matrix_holds_and_is_tight(dtype: type, shape: tuple[int, int], scale: float) -> None:
    rng = np.random.default_rng(7)
    matrix = (scale * (rng.standard_normal(shape) + 1j * rng.standard_normal(shape))).astype(np.complex128)
    matrix = (matrix if np.dtype(dtype).kind == "c" else matrix.real).astype(dtype)
    top = float(np.linalg.svd(matrix.astype(np.complex128), compute_uv=False)[0])
    upper = gram_norm_upper(matrix)
    assert top * (1.0 - 1e-15) <= upper <= top * (1.0 + 1e-11)


def test_bound_of_a_dense_matrix_of_equal_singular_values_or_zero() -> None:
    assert (
        2.0 <= gram_norm_upper(2.0 * np.linalg.qr(np.random.default_rng(0).standard_normal((80, 80)))[0]) < 2.0 + 1e-10
    )
    assert gram_norm_upper(np.zeros((3, 2))) == 0.0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, complex(0.0, np.nan)])
@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (5, 2)])
def test_the_norm_of_what_is_not_finite_is_refused(bad, shape) -> None:
    matrix = np.ones(shape, type(bad))
    matrix[-1, -1] = bad
    with pytest.raises(OracleError, match="NaN or infinite"):
        gram_norm_upper(matrix)
