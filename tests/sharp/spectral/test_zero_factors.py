"""Factors without columns are the zero matrix of any size, and are never made dense."""

import numpy as np
import pytest

from unipd.atoms import LowRank
from unipd.sharp import NuclearBall, Spectrahedron
from unipd.sharp.spectral import eigenvalues, singular_values

HUGE = 10_000_000


def zero(rows, columns, dtype=np.float64):
    left = np.zeros((rows, 0), dtype)
    return LowRank(left, left if rows == columns else np.zeros((columns, 0), dtype), np.zeros(0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_singular_values_of_no_columns(dtype):
    values = singular_values(zero(HUGE, HUGE // 2, dtype), (HUGE, HUGE // 2))
    assert values is not None
    assert values.tolist() == [0.0]
    assert values.dtype.kind == "f"


def test_eigenvalues_of_no_columns():
    values = eigenvalues(zero(HUGE, HUGE), HUGE, 1e-9)
    assert values is not None
    assert values.tolist() == [0.0]


def test_membership():
    assert NuclearBall((HUGE, 3)).contains(zero(HUGE, 3))
    assert not Spectrahedron(HUGE).contains(zero(HUGE, HUGE))
