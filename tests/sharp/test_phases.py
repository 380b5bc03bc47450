"""Signs, norms and largest entries at the numbers where plain formulas break: zeros, subnormals, huge sizes, ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd._util.arrays import phase
from unipd.atoms import SparsePoint
from unipd.sharp import GroupBall, L1Ball, L2Ball, LInfBall, LpBall, euclidean, largest, scatter_point, unit

TINY = 5e-324
examples = settings(max_examples=80)
reals = st.floats(-1e300, 1e300)
vectors = st.lists(reals, min_size=1, max_size=6).map(np.array)
complexes = st.lists(st.builds(complex, reals, reals), min_size=1, max_size=6).map(np.array)


@examples
@given(y=vectors | complexes)
def test_phases_have_modulus_one_or_zero(y: np.ndarray) -> None:
    found = phase(y)
    np.testing.assert_allclose(np.abs(found), (y != 0).astype(float), rtol=1e-14)
    usual = np.abs(y) > 1e-290
    np.testing.assert_allclose(found[usual], y[usual] / np.abs(y[usual]), rtol=1e-14, atol=1e-14)


@examples
@given(y=vectors | complexes)
def test_unit_vectors_have_norm_one_or_zero(y: np.ndarray) -> None:
    assert np.linalg.norm(unit(y)) == pytest.approx(float(y.any()), abs=1e-14)


@pytest.mark.parametrize("entry", [TINY, TINY * (1 + 1j), 1e-200, 1e300, 3e-320j])
@pytest.mark.parametrize("ball", [L1Ball(3), L2Ball(3), LInfBall(3), LpBall(3, 3.0), GroupBall([0, 0, 1])])
def test_balls_at_extreme_sizes(ball: L1Ball, entry: complex) -> None:
    y = np.array([entry, 0.0, -entry])
    point = np.asarray(getattr(ball(y).atom, "dense", lambda: ball(y).atom)())
    assert ball.norm(point) == pytest.approx(1.0, rel=1e-12)
    assert ball.contains(point)


def test_euclidean_norm_neither_overflows_nor_underflows() -> None:
    assert euclidean(np.array([3e-300, 4e-300])) == pytest.approx(5e-300)
    assert euclidean(np.array([3e300, 4e300])) == pytest.approx(5e300)
    assert euclidean(np.zeros(2, complex)) == 0.0


@examples
@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.integers(1, 9))
def test_largest_is_the_head_of_a_stable_sort(values: list[int], count: int) -> None:
    expected = sorted(sorted(range(len(values)), key=lambda i: (-values[i], i))[:count])
    assert largest(np.array(values, float), count).tolist() == expected


def test_points_are_sparse_when_few_entries_are_not_zero() -> None:
    assert isinstance(scatter_point((8,), np.array([1, 5]), np.ones(2)), SparsePoint)
    dense = scatter_point((7,), np.array([1, 5]), np.ones(2))
    assert isinstance(dense, np.ndarray)
    assert dense.tolist() == [0, 1, 0, 0, 0, 1, 0]
