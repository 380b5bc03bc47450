"""The compiled Lanczos recurrence against dense eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd.errors import OracleError
from unipd.maps import Entries, SdpMap, SymmetricOperator
from unipd.spectral import has_compiled_lanczos, top_eigenvalue


def _operator(order: int, seed: int, density: float = 0.3) -> SymmetricOperator:
    matrix = sp.random(order, order, density, random_state=seed, format="csr")
    symmetric = (matrix + matrix.T + sp.diags(np.random.default_rng(seed).standard_normal(order))).tocoo()
    return SdpMap((order, order), Entries.from_matrices([symmetric.toarray()]), 1).adjoint(np.ones(1))


@settings(max_examples=40)
@given(st.integers(2, 60), st.integers(0, 10_000))
def test_the_bracket_holds_the_top_eigenvalue(order: int, seed: int) -> None:
    operator = _operator(order, seed)
    dense = operator.toarray()
    top, size = np.linalg.eigvalsh(dense)[-1], np.abs(dense).sum(axis=1).max()
    found = top_eigenvalue(operator, 1e-7 * size, 1e-9, 500, [seed], vector=True)
    assert found.lower - 1e-12 * size <= top <= found.upper
    assert found.vector is not None
    assert np.linalg.norm(found.vector) == pytest.approx(1.0)
    assert found.vector @ dense @ found.vector == pytest.approx(top, abs=1e-5 * size)


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_few_steps_give_a_wide_but_valid_bracket(steps: int) -> None:
    operator = _operator(80, 3)
    top = np.linalg.eigvalsh(operator.toarray())[-1]
    found = top_eigenvalue(operator, 0.0, 1e-9, steps, [0])
    assert found.lower <= top <= found.upper
    assert found.matvecs <= steps


def test_a_multiple_of_the_identity_ends_the_run_at_once() -> None:
    operator = SdpMap((30, 30), Entries.from_matrices([2.5 * np.eye(30)]), 1).adjoint(np.ones(1))
    found = top_eigenvalue(operator, 0.0, 1e-9, 100, [0], vector=True)
    assert found.lower == pytest.approx(2.5)
    assert found.upper == pytest.approx(2.5, abs=1e-10)


def test_rank_one_terms_and_single_precision_are_left_to_others() -> None:
    plain = _operator(20, 0)
    assert has_compiled_lanczos(plain)
    assert not has_compiled_lanczos(SdpMap((5, 5), Entries.from_matrices([np.ones((5, 5))]), 1).adjoint(np.ones(1)))
    assert not has_compiled_lanczos(np.eye(3))


def test_entries_that_are_not_finite_are_reported() -> None:
    operator = _operator(20, 0)
    operator.data[3] = np.nan
    with pytest.raises(OracleError, match="NaN"):
        top_eigenvalue(operator, 1e-6, 1e-9, 50, [0])


def test_the_diagonal_counts_rank_one_terms() -> None:
    matrices = [np.diag(np.arange(5.0)), np.outer(np.arange(1.0, 6.0), np.arange(1.0, 6.0))]
    operator = SdpMap((5, 5), Entries.from_matrices(matrices), 2).adjoint(np.array([1.0, -2.0]))
    np.testing.assert_allclose(operator.diagonal(), np.diag(operator.toarray()))
