"""Several blocks, each with its own tracker, against plain averages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unipd
from unipd import atoms
from unipd.apps.completion import CompletionProblem, ModelSettings
from unipd.errors import InvalidInput
from unipd.trackers import ByBlock, Dense, ImageOnly, LowRankTracker, SketchTracker


def blocks(rng):
    left, right = rng.standard_normal((6, 1)), rng.standard_normal((5, 1))
    return atoms.Blocks((atoms.LowRank(left, right, rng.random(1)), rng.standard_normal(4)))


@settings(max_examples=25)
@given(gammas=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=4), seed=st.integers(0, 99))
def test_averages_block_by_block(gammas, seed):
    rng = np.random.default_rng(seed)
    sketched = ByBlock((SketchTracker((6, 5), 5), Dense()))
    low_rank = ByBlock((LowRankTracker(5), Dense()))
    matrix, vector = np.zeros((6, 5)), np.zeros(4)
    for gamma in [1.0, *gammas]:
        atom = blocks(rng)
        sketched, low_rank = (tracker.mix(gamma, atom) for tracker in (sketched, low_rank))
        matrix = (1 - gamma) * matrix + gamma * atom.parts[0].dense()
        vector = (1 - gamma) * vector + gamma * atom.parts[1]
    for tracker in (sketched, low_rank):
        first, second = tracker.point().parts
        np.testing.assert_allclose(first.dense(), matrix, atol=1e-7)
        np.testing.assert_allclose(second, vector)
        assert tracker.error < 1e-6
        assert not tracker.exact_objective


def test_errors_and_bytes_add_up():
    rng = np.random.default_rng(0)
    tracker = ByBlock((LowRankTracker(1, buffer=1), Dense()))
    assert tracker.point() is None
    for gamma in (1.0, 0.5):
        tracker = tracker.mix(gamma, blocks(rng))
    assert tracker.error == tracker.trackers[0].error > 0
    assert tracker.nbytes == sum(part.nbytes for part in tracker.trackers)
    assert ByBlock((Dense(), Dense())).exact_objective
    assert ByBlock((Dense(), ImageOnly())).mix(1.0, atoms.Blocks((np.ones(2), np.ones(2)))).point() is None


@pytest.mark.parametrize("tracker", [LowRankTracker(2), SketchTracker((6, 5), 2)])
def test_one_matrix_alone_names_the_tracker_of_several_blocks(tracker):
    with pytest.raises(InvalidInput, match="ByBlock"):
        tracker.mix(1.0, blocks(np.random.default_rng(0)))


def test_wrong_numbers_of_blocks():
    tracker = ByBlock((Dense(), Dense()))
    with pytest.raises(InvalidInput, match="2 blocks"):
        tracker.mix(1.0, atoms.Blocks((np.ones(2),)))
    with pytest.raises(InvalidInput, match="ndarray"):
        tracker.mix(1.0, np.ones(2))
    with pytest.raises(InvalidInput, match="one tracker"):
        ByBlock(())


@pytest.mark.parametrize("name", ["lowrank", "sketch"])
def test_the_completion_model_by_name(name, tmp_path):
    rng = np.random.default_rng(1)
    users, items = np.divmod(rng.choice(12 * 9, 60, replace=False), 9)
    problem = CompletionProblem(users, items, rng.standard_normal(60), (12, 9), ModelSettings()).problem(3.0)
    stop = unipd.MaxIterations(25)
    reference = unipd.solve(problem, "accunipdgrad", tracker="dense", stop=stop)
    file = tmp_path / "run.ckpt"
    half = unipd.solve(problem, "accunipdgrad", tracker=name, stop=unipd.MaxIterations(10), checkpoint=file)
    assert half.iterations == 10
    result = unipd.solve(problem, "accunipdgrad", tracker=name, stop=stop, checkpoint=file, resume=True)
    for found, expected in zip(result.x.parts, reference.x.parts, strict=True):
        np.testing.assert_allclose(found.dense() if hasattr(found, "dense") else found, expected, atol=1e-7)
    plain = unipd.Problem(unipd.sharp.Product([unipd.sharp.Simplex(2)] * 2), [np.eye(2), np.eye(2)], np.ones(2))
    with pytest.raises(InvalidInput, match="spectral"):
        unipd.solve(plain, "accunipdgrad", tracker=name)
