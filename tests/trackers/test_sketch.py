"""The sketch tracker: sketches of averages are averages of sketches, low ranks come back exactly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd.atoms import LowRank, one_hot
from unipd.errors import InvalidInput
from unipd.trackers import SketchTracker

seeds = st.integers(0, 2**32 - 1)
DTYPES = ["float64", "complex128"]


def normal(rng, shape, dtype):
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else values).astype(dtype)


def random_atom(rng, shape, dtype, hermitian, rank=1):
    left = normal(rng, (shape[0], rank), dtype)
    return LowRank(left, left if hermitian else normal(rng, (shape[1], rank), dtype), rng.random(rank))


def shape_of(hermitian):
    return (14, 14) if hermitian else (14, 11)


def run(rng, tracker, atoms, steps):
    dense = np.zeros(tracker.shape, tracker.dtype)
    for step in range(steps):
        atom, gamma = atoms[step % len(atoms)], 1.0 if step == 0 else float(rng.random())
        tracker = tracker.mix(gamma, atom)
        dense = (1 - gamma) * dense + gamma * atom.dense()
    return tracker, dense


@given(seeds, st.sampled_from(DTYPES), st.booleans())
@settings(max_examples=30)
def test_low_rank_averages_come_back(seed, dtype, hermitian):
    rng = np.random.default_rng(seed)
    shape = shape_of(hermitian)
    atoms = [random_atom(rng, shape, dtype, hermitian) for _ in range(2)]
    tracker = SketchTracker(shape, 2, seed, hermitian=hermitian, dtype=dtype)
    tracker, dense = run(rng, tracker, atoms, 7)
    scale = np.linalg.norm(dense)
    np.testing.assert_allclose(tracker.point().dense(), dense, atol=1e-8 * scale)
    assert tracker.error <= 1e-8 * scale


@given(seeds, st.sampled_from(DTYPES))
@settings(max_examples=20)
def test_semidefinite_reconstruction(seed, dtype):
    rng = np.random.default_rng(seed)
    atoms = [random_atom(rng, (12, 12), dtype, True, rank=2) for _ in range(5)]
    plain = SketchTracker((12, 12), 3, hermitian=True, dtype=dtype)
    corrected = SketchTracker((12, 12), 3, hermitian=True, dtype=dtype, trace_correction=True)
    plain, dense = run(np.random.default_rng(seed), plain, atoms, 8)
    corrected, _ = run(np.random.default_rng(seed), corrected, atoms, 8)
    trace = float(np.trace(dense).real)
    for tracker in (plain, corrected):
        point = tracker.point()
        assert point.right is point.left
        assert point.weights.min() >= 0
        assert tracker.trace == pytest.approx(trace)
    assert float(plain.point().weights.sum()) <= trace * (1 + 1e-9)
    assert float(corrected.point().weights.sum()) == pytest.approx(trace)


@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reconstruction_is_near_the_best_and_the_error_estimate_tells(dtype, hermitian):
    shape = (40, 40) if hermitian else (40, 30)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        atoms = [random_atom(rng, shape, dtype, hermitian) for _ in range(10)]
        tracker, dense = run(rng, SketchTracker(shape, 4, seed, hermitian=hermitian, dtype=dtype), atoms, 20)
        point, estimate = tracker.estimate()
        error = np.linalg.norm(dense - point.dense())
        best = np.linalg.norm(np.linalg.svd(dense, compute_uv=False)[4:])
        assert point.rank == 4
        assert best * (1 - 1e-9) <= error <= 4 * best
        assert error / 2 <= estimate <= 2 * error


def test_every_kind_of_atom_gives_the_same_sketch():
    rng = np.random.default_rng(0)
    factors = random_atom(rng, (9, 7), "float64", False, rank=3)
    start = SketchTracker((9, 7), 3)
    first, second = start.mix(1.0, factors), start.mix(1.0, factors.dense())
    np.testing.assert_allclose(first.point().dense(), second.point().dense(), atol=1e-12)
    spike = one_hot((9, 7), 12, 2.0)
    first, second = start.mix(1.0, spike), start.mix(1.0, spike.dense())
    np.testing.assert_allclose(first.point().dense(), second.point().dense(), atol=1e-12)
    square = SketchTracker((3, 3), 1, hermitian=True)
    assert square.mix(1.0, one_hot((3, 3), 4, 2.0)).trace == square.mix(1.0, np.diag([0.0, 2.0, 0.0])).trace == 2.0


def test_same_seed_same_answer_and_nothing_is_overwritten():
    rng = np.random.default_rng(1)
    atoms = [random_atom(rng, (9, 7), "float64", False) for _ in range(8)]
    one, _ = run(np.random.default_rng(2), SketchTracker((9, 7), 2, seed=5), atoms, 8)
    two, _ = run(np.random.default_rng(2), SketchTracker((9, 7), 2, seed=5), atoms, 8)
    other, _ = run(np.random.default_rng(2), SketchTracker((9, 7), 2, seed=6), atoms, 8)
    before = one.point().dense()
    np.testing.assert_array_equal(before, two.point().dense())
    assert not np.allclose(before, other.point().dense())
    one.mix(0.5, atoms[0])
    np.testing.assert_array_equal(before, one.point().dense())


def test_memory_grows_with_rank_and_sides_only():
    start = SketchTracker((1000, 500), 3)
    assert start.nbytes <= 8 * (1000 + 500) * (2 * (4 * 3 + 3) + 10)
    later = start.mix(1.0, random_atom(np.random.default_rng(0), (1000, 500), "float64", False))
    assert later.nbytes == start.nbytes


@pytest.mark.parametrize("hermitian", [False, True])
def test_precision_zero_and_empty(hermitian):
    shape = shape_of(hermitian)
    start = SketchTracker(shape, 2, hermitian=hermitian, dtype=np.float32)
    assert start.point() is None
    assert start.error == 0.0
    zero = start.mix(1.0, np.zeros(shape, np.float32))
    np.testing.assert_array_equal(zero.point().dense(), np.zeros(shape))
    assert zero.error == 0.0
    atom = random_atom(np.random.default_rng(3), shape, "float32", hermitian)
    point = start.mix(1.0, atom).point()
    assert (point.left.dtype, point.right.dtype, point.weights.dtype) == (np.float32,) * 3
    np.testing.assert_allclose(point.dense(), atom.dense(), atol=1e-3)


def test_ranks_beyond_the_matrix_are_cut():
    rng = np.random.default_rng(4)
    for hermitian in (False, True):
        shape = (4, 4) if hermitian else (4, 3)
        atom = random_atom(rng, shape, "float64", hermitian, rank=2)
        tracker = SketchTracker(shape, 50, hermitian=hermitian).mix(1.0, atom)
        np.testing.assert_allclose(tracker.point().dense(), atom.dense(), atol=1e-8)


def test_a_matrix_that_is_not_semidefinite_does_not_hang():
    point = SketchTracker((3, 3), 1, hermitian=True).mix(1.0, -np.eye(3)).point()
    assert point.weights.min() >= 0


def test_bad_input():
    for shape in [(3,), (0, 2), (2, 3, 4)]:
        with pytest.raises(InvalidInput, match=r"^shape"):
            SketchTracker(shape, 1)
    with pytest.raises(InvalidInput, match=r"^shape"):
        SketchTracker((2, 3), 1, hermitian=True)
    for name, value in [("rank", 0), ("seed", -1)]:
        with pytest.raises(InvalidInput, match=rf"^{name}"):
            SketchTracker(**{"shape": (3, 3), "rank": 1, "seed": 0} | {name: value})
    with pytest.raises(InvalidInput, match=r"^trace_correction"):
        SketchTracker((3, 3), 1, trace_correction=True)
    with pytest.raises(InvalidInput, match=r"^atom"):
        SketchTracker((3, 3), 1).mix(1.0, np.eye(2))
