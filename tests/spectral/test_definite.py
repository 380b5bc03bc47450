"""Rigorous definiteness tests and cheap norm bounds against eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from spectral.matrices import DTYPES, hermitian, rectangular
from unipd.errors import InvalidInput, OracleError
from unipd.spectral import affords_rigorous, cholesky_bound, gershgorin_upper, norm_bound, rigorous_upper


def sparse_hermitian(size: int, complex_entries: bool, seed: int):
    generator = np.random.default_rng(seed)
    entries = np.where(generator.random((size, size)) < 4.0 / size, generator.standard_normal((size, size)), 0.0)
    if complex_entries:
        entries = entries * np.exp(1j * generator.random((size, size)))
    return sp.csc_array(entries + entries.conj().T)


@settings(max_examples=60)
@given(size=st.integers(1, 40), complex_entries=st.booleans(), sparse=st.booleans(), seed=st.integers(0, 9999))
def test_proves_nothing_false_and_almost_all_that_is_true(size, complex_entries, sparse, seed) -> None:
    if sparse:
        matrix = sparse_hermitian(size, complex_entries, seed)
        values = np.linalg.eigvalsh(matrix.toarray())
    else:
        dtype = np.complex128 if complex_entries else np.float64
        matrix = hermitian(np.random.default_rng(seed).standard_normal(size), dtype, seed)
        values = np.linalg.eigvalsh(matrix)
    scale = float(np.abs(values).max()) + 1e-3
    beyond = cholesky_bound(matrix, -values[0] - 1e-12 * scale)
    assert beyond is None or beyond <= values[0]
    bound = cholesky_bound(matrix, -values[0] + 1e-9 * scale)
    assert bound is not None
    assert values[0] - 2e-9 * scale <= bound <= values[0] + 1e-15 * scale
    upper = rigorous_upper(matrix, float(values[-1]))
    assert values[-1] - 1e-13 * scale <= upper <= values[-1] + 1e-5 * (scale + gershgorin_upper(matrix))
    assert gershgorin_upper(matrix) >= values[-1] - 1e-13 * scale


def test_estimate_below_the_truth_is_corrected() -> None:
    matrix = hermitian(np.linspace(0.0, 1.0, 30))
    assert 1.0 <= rigorous_upper(matrix, 0.9) <= 1.2 + gershgorin_upper(matrix)


def test_borderline_is_never_proven() -> None:
    laplacian = sp.csc_array(np.diag([1.0, 2.0, 1.0]) - np.eye(3, k=1) - np.eye(3, k=-1))
    for matrix in (laplacian, laplacian.toarray()):
        assert cholesky_bound(matrix, -1e-9) is None
        assert cholesky_bound(matrix, 1e-9) == pytest.approx(-1e-9, rel=1e-4)
    assert cholesky_bound(np.zeros((3, 3)), 0.0) is None
    assert cholesky_bound(sp.csc_array((3, 3)), 0.0) is None


def test_bad_matrices_are_refused() -> None:
    for bad in (np.ones((2, 3)), np.full((2, 2), np.nan)):
        with pytest.raises(InvalidInput):
            cholesky_bound(bad, 1.0)


@settings(max_examples=40)
@given(rows=st.integers(1, 20), columns=st.integers(1, 20), dtype=st.sampled_from(DTYPES), seed=st.integers(0, 999))
def test_norm_bound_is_above_the_norm(rows: int, columns: int, dtype: type, seed: int) -> None:
    singular = np.abs(np.random.default_rng(seed).standard_normal(min(rows, columns)))
    matrix = rectangular(rows, columns, singular, dtype, seed)
    norm = np.linalg.norm(matrix.astype(np.complex128), 2)
    frobenius = np.linalg.norm(matrix.astype(np.complex128))
    for form in (matrix, sp.csr_array(matrix)):
        bound = norm_bound(form)
        assert bound is not None
        assert norm <= bound <= 1.00001 * frobenius + 1e-30


def test_operators_offer_their_own_norm_bound() -> None:
    class Offering:
        def norm_bound(self) -> float:
            return self.answer

    offering = Offering()
    offering.answer = 3.0
    assert norm_bound(offering) == 3.0
    assert norm_bound(object()) is None
    offering.answer = float("nan")
    with pytest.raises(OracleError):
        norm_bound(offering)


def test_large_sparse_matrices_are_factorised_only_where_the_factor_is_known_to_be_small():
    generator, order = np.random.default_rng(0), 20_000
    ends = generator.integers(0, order, (2, 3 * order))
    scattered = sp.csr_array((np.ones(3 * order), (ends[0], ends[1])), shape=(order, order))
    band = sp.diags_array([1.0, 2.0, 1.0], offsets=[-2, 0, 2], shape=(order, order)).tocsr()
    mixed = generator.permutation(order)
    assert affords_rigorous(band[mixed][:, mixed], True, 1500)
    assert not affords_rigorous(scattered + scattered.T, True, 1500)
    assert affords_rigorous((scattered + scattered.T)[:2000, :2000], True, 1500)
