"""Certificates of semidefiniteness against exact eigenvalues."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd.errors import InvalidInput
from unipd.maps import Entries, SdpMap, SymmetricOperator
from unipd.spectral import cholesky_bound, smallest_eigenpair


def operator_of(matrix: np.ndarray) -> SymmetricOperator:
    return SdpMap(matrix.shape, Entries.from_matrices([matrix]), 1).adjoint(np.ones(1))


def symmetric(order: int, rank: int, seed: int, scale: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((order, rank))
    return scale * (factor * rng.standard_normal(rank)) @ factor.T


matrices = st.builds(
    lambda n, r, s, scale: (lambda m: (m + m.T) / 2)(symmetric(n, r, s, scale)),
    st.integers(1, 12),
    st.integers(0, 12),
    st.integers(0, 2**32),
    st.sampled_from([1e-100, 1.0, 1e8]),
)


def exactly_psd(matrix: np.ndarray, shift: float) -> bool:
    """Whether matrix + shift I is psd, by an LDL^T elimination in rational arithmetic."""
    rows = [[Fraction(float(x)) for x in row] for row in matrix]
    for k in range(len(rows)):
        rows[k][k] += Fraction(shift)
    for k in range(len(rows)):
        pivot = rows[k][k]
        if pivot < 0 or (pivot == 0 and any(rows[k][k:])):
            return False
        for i in range(k + 1, len(rows)):
            if pivot:
                ratio = rows[i][k] / pivot
                rows[i] = [a - ratio * b for a, b in zip(rows[i], rows[k], strict=True)]
    return True


@settings(max_examples=25)
@given(matrices)
def test_the_bound_is_a_proof_and_tight(matrix: np.ndarray) -> None:
    pair = smallest_eigenpair(operator_of(matrix))
    assert exactly_psd(matrix, -pair.lower)
    size = np.abs(matrix).max()
    assert pair.value - pair.lower <= 1e-11 * size + 1e-280
    np.testing.assert_allclose(np.linalg.norm(pair.vector), 1.0, rtol=1e-12)
    np.testing.assert_allclose(matrix @ pair.vector, pair.value * pair.vector, atol=1e-12 * size + 1e-300)


@settings(max_examples=40)
@given(matrices, st.floats(-3.0, 3.0))
def test_a_cholesky_factor_proves_and_its_absence_does_not(matrix: np.ndarray, relative: float) -> None:
    size = max(np.abs(matrix).max(), 1e-200)
    shift = relative * size * matrix.shape[0]
    bound = cholesky_bound(operator_of(matrix), shift)
    smallest = np.linalg.eigvalsh(matrix)[0]
    if bound is None:
        assert smallest + shift <= 1e-12 * (size + abs(shift)) * matrix.shape[0]
    else:
        assert bound < -shift
        assert exactly_psd(matrix, -bound)


def test_the_zero_matrix_and_single_precision() -> None:
    assert smallest_eigenpair(operator_of(np.zeros((3, 3)))).lower == pytest.approx(0.0, abs=1e-250)
    pair = smallest_eigenpair(operator_of(np.diag(np.array([1.0, -2.0], np.float32))))
    assert pair.lower == pytest.approx(-2.0)


def test_a_shift_must_be_finite() -> None:
    with pytest.raises(InvalidInput, match="shift"):
        cholesky_bound(operator_of(np.eye(2)), np.nan)
