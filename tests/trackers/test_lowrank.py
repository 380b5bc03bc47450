"""The low-rank tracker against a dense average: exact below its limit, and within its stated error above."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd.atoms import LowRank, one_hot
from unipd.errors import InvalidInput
from unipd.trackers import LowRankTracker, compress

seeds = st.integers(0, 2**32 - 1)
DTYPES = ["float64", "complex128"]


def normal(rng, shape, dtype):
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else values).astype(dtype)


def random_atom(rng, shape, dtype, hermitian=False, rank=1):
    left = normal(rng, (shape[0], rank), dtype)
    return LowRank(left, left if hermitian else normal(rng, (shape[1], rank), dtype), rng.random(rank))


def averages(rng, atoms, steps, tracker):
    """Run a tracker and its naive twin side by side; yield both after every step."""
    dense = np.zeros(atoms[0].shape, atoms[0].dtype)
    for step in range(steps):
        atom, gamma = atoms[int(rng.integers(len(atoms)))], 1.0 if step == 0 else float(rng.random())
        tracker = tracker.mix(gamma, atom)
        dense = (1 - gamma) * dense + gamma * atom.dense()
        yield tracker, dense


@given(seeds, st.sampled_from(DTYPES), st.booleans())
@settings(max_examples=25)
def test_exact_while_the_rank_stays_within_the_limit(seed, dtype, hermitian):
    rng = np.random.default_rng(seed)
    shape = (9, 9) if hermitian else (9, 7)
    atoms = [random_atom(rng, shape, dtype, hermitian) for _ in range(3)]
    for tracker, dense in averages(rng, atoms, 15, LowRankTracker(3)):
        np.testing.assert_allclose(tracker.point().dense(), dense, atol=1e-11)
        assert tracker.columns <= 6
        assert tracker.point().hermitian == hermitian
        assert tracker.error <= tracker.nuclear_error < 1e-11


@given(seeds, st.sampled_from(DTYPES), st.booleans(), st.integers(1, 4), st.integers(0, 6))
@settings(max_examples=40)
def test_the_error_covers_what_was_dropped(seed, dtype, hermitian, limit, spare):
    rng = np.random.default_rng(seed)
    shape = (8, 8) if hermitian else (8, 6)
    atoms = [random_atom(rng, shape, dtype, hermitian, rank=int(rng.integers(1, 3))) for _ in range(12)]
    for tracker, dense in averages(rng, atoms, 20, LowRankTracker(limit, limit + spare)):
        difference = dense - tracker.point().dense()
        assert np.linalg.norm(difference) <= tracker.error + 1e-11
        assert np.linalg.norm(difference, "nuc") <= tracker.nuclear_error + 1e-11
        assert tracker.columns <= max(limit + spare, 1)


@given(seeds, st.sampled_from(DTYPES))
@settings(max_examples=15)
def test_semidefinite_atoms_give_a_semidefinite_point(seed, dtype):
    rng = np.random.default_rng(seed)
    atoms = [random_atom(rng, (6, 6), dtype, hermitian=True) for _ in range(9)]
    for tracker, _ in averages(rng, atoms, 12, LowRankTracker(2)):
        point = tracker.point()
        assert point.right is point.left
        assert point.weights.min() >= 0


def test_one_recompression_is_the_best_approximation():
    rng = np.random.default_rng(0)
    atoms = [random_atom(rng, (10, 8), "float64") for _ in range(5)]
    tracker = LowRankTracker(2, 5)
    for count, atom in enumerate(atoms, start=1):
        tracker = tracker.mix(1 / count, atom)
    sizes = np.linalg.svd(tracker.point().dense(), compute_uv=False)
    small = tracker.recompress()
    np.testing.assert_allclose(small.point().weights, sizes[:2])
    assert small.error == pytest.approx(np.linalg.norm(sizes[2:]))
    assert small.nuclear_error == pytest.approx(sizes[2:].sum())
    assert tracker.error == 0.0


def test_errors_fade_with_the_average():
    rng = np.random.default_rng(1)
    tracker = LowRankTracker(1, 1).mix(1.0, random_atom(rng, (5, 4), "float64"))
    tracker = tracker.mix(0.5, random_atom(rng, (5, 4), "float64"))
    assert tracker.error > 0
    zero = LowRank(np.zeros((5, 1)), np.zeros((4, 1)), np.zeros(1))
    assert tracker.mix(0.25, zero).error == pytest.approx(0.75 * tracker.error)
    assert tracker.mix(0.0, zero) is tracker
    assert tracker.mix(1.0, random_atom(rng, (5, 4), "float64")).error == 0.0


def test_trackers_are_immutable_and_branch():
    rng = np.random.default_rng(2)
    first, second, third = (random_atom(rng, (5, 4), "float64") for _ in range(3))
    start = LowRankTracker(2).mix(1.0, first)
    before = start.point().dense()
    one, two = start.mix(0.5, second), start.mix(0.5, third)
    np.testing.assert_array_equal(start.point().dense(), before)
    np.testing.assert_allclose(one.point().dense(), 0.5 * (first.dense() + second.dense()))
    np.testing.assert_allclose(two.point().dense(), 0.5 * (first.dense() + third.dense()))
    assert two.nbytes == 8 * 2 * (5 + 4 + 1)
    assert "rank_limit=2" in repr(two)


def test_dense_and_sparse_atoms_are_factored():
    symmetric = np.array([[2.0, 1.0], [1.0, 2.0]])
    tracker = LowRankTracker(2).mix(1.0, symmetric)
    assert tracker.point().hermitian
    np.testing.assert_allclose(tracker.point().dense(), symmetric)
    tracker = tracker.mix(0.5, np.array([[0.0, 1.0], [0.0, 0.0]])).mix(0.5, one_hot((2, 2), 3, 4.0))
    np.testing.assert_allclose(tracker.point().dense(), [[0.5, 0.5], [0.25, 2.5]], atol=1e-14)


def test_indefinite_hermitian_atoms_keep_their_signs():
    basis = np.linalg.qr(np.random.default_rng(3).standard_normal((5, 3)))[0]
    point, dropped = compress(LowRank(basis, basis, np.array([1.0, -3.0, 2.0])), 2)
    np.testing.assert_allclose(point.weights, [-3.0, 2.0])
    np.testing.assert_allclose(dropped, [1.0])


def test_single_precision_stays_single():
    rng = np.random.default_rng(4)
    tracker = LowRankTracker(2, 2)
    for step in range(6):
        tracker = tracker.mix(1 / (step + 1), random_atom(rng, (6, 5), "float32"))
    point = tracker.point()
    assert (point.left.dtype, point.right.dtype, point.weights.dtype) == (np.float32,) * 3


def test_zero_atoms_and_empty_trackers():
    zero = LowRank(np.zeros((3, 1)), np.zeros((2, 1)), np.zeros(1))
    tracker = LowRankTracker(1, 1)
    assert tracker.point() is None
    assert tracker.recompress() is tracker
    for _ in range(3):
        tracker = tracker.mix(0.5, zero)
    np.testing.assert_array_equal(tracker.recompress().point().dense(), np.zeros((3, 2)))


def test_bad_input():
    for limit in (0, 2.5, True):
        with pytest.raises(InvalidInput, match=r"^rank_limit"):
            LowRankTracker(limit)
    with pytest.raises(InvalidInput, match=r"^buffer"):
        LowRankTracker(4, 3)
    tracker = LowRankTracker(1).mix(1.0, np.eye(2))
    for atom in (np.eye(3), np.ones(2)):
        with pytest.raises(InvalidInput, match=r"^atom"):
            tracker.mix(0.5, atom)


@given(seeds, st.sampled_from(DTYPES), st.integers(1, 4))
@settings(max_examples=25)
def test_the_trace_is_kept_on_request(seed, dtype, limit):
    rng = np.random.default_rng(seed)
    atoms = [random_atom(rng, (8, 8), dtype, hermitian=True) for _ in range(12)]
    for tracker, dense in averages(rng, atoms, 20, LowRankTracker(limit, limit, trace_correction=True)):
        difference = dense - tracker.point().dense()
        assert abs(np.trace(difference)) <= 1e-11 * np.trace(dense).real
        assert tracker.point().weights.min() >= 0
        assert np.linalg.norm(difference) <= tracker.error + 1e-11
        assert np.linalg.norm(difference, "nuc") <= tracker.nuclear_error + 1e-11
