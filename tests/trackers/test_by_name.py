"""Trackers chosen by a keyword."""

import numpy as np
import pytest

import unipd
from unipd import couplings, maps, sharp
from unipd.memory import as_tracker
from unipd.trackers import (
    AtomList,
    Dense,
    ImageOnly,
    LowRankTracker,
    SketchTracker,
)


@pytest.fixture
def matrix_problem() -> unipd.Problem:
    random = np.random.default_rng(0)
    rows, cols = np.divmod(np.arange(30), 5)
    return unipd.Problem(
        sharp.NuclearBall((6, 5), 3.0),
        maps.Sampling(rows, cols, (6, 5)),
        random.standard_normal(30),
        couplings.LeastSquares(),
    )


def test_matrices_choose_among_all(matrix_problem: unipd.Problem) -> None:
    kinds = {"image": ImageOnly, "atoms": AtomList, "dense": Dense, "lowrank": LowRankTracker, "sketch": SketchTracker}
    for name, kind in kinds.items():
        assert isinstance(as_tracker(name, matrix_problem), kind)
    assert isinstance(as_tracker("auto", matrix_problem), AtomList)


@pytest.mark.parametrize("name", ["atoms", "dense", "lowrank", "sketch"])
def test_each_gives_the_same_point(matrix_problem: unipd.Problem, name: str) -> None:
    stop = unipd.MaxIterations(30)
    reference = unipd.solve(matrix_problem, "accunipdgrad", tracker="dense", stop=stop)
    result = unipd.solve(matrix_problem, "accunipdgrad", tracker=name, stop=stop)
    x = result.x if isinstance(result.x, np.ndarray) else result.x.dense()
    np.testing.assert_allclose(x, reference.x, atol=1e-8)


def test_vectors_have_no_rank() -> None:
    problem = unipd.Problem(sharp.Simplex(3), np.eye(3), np.zeros(3), "=")
    with pytest.raises(unipd.errors.InvalidInput, match="tracker"):
        as_tracker("sketch", problem)
