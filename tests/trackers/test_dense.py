"""The dense tracker: its point is the average of dense and sparse atoms."""

from __future__ import annotations

import numpy as np
import pytest

from unipd import atoms
from unipd.trackers import Dense


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("shape", [(700,), (30, 40), (7,)])
def test_many_sparse_atoms_are_averaged(dtype: type, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    size = int(np.prod(shape))
    tracker = Dense().mix(1.0, np.asfortranarray(rng.standard_normal(shape)).astype(dtype))
    naive = np.array(tracker.point(), np.complex128)
    for step in range(384):
        indices = rng.integers(0, size, 2)
        atom = atoms.SparsePoint(shape, indices, rng.standard_normal(2).astype(dtype))
        gamma = (0.0, 0.3, 0.999, 0.05, 1.0)[step % 5] if step % 7 else 0.01
        tracker = tracker.mix(gamma, atom)
        naive = (1.0 - gamma) * naive + gamma * atom.dense()
        point = tracker.point()
        assert point.dtype == dtype
        np.testing.assert_allclose(point, naive, atol=1e-5 if dtype == np.float32 else 1e-12)


def test_earlier_trackers_keep_their_points() -> None:
    size = 256
    first = Dense().mix(1.0, np.eye(size)[0])
    second = first.mix(0.5, atoms.one_hot((size,), 1, 1.0))
    third = second.mix(0.5, atoms.one_hot((size,), 2, 1.0))
    branch = second.mix(0.5, atoms.one_hot((size,), 0, 1.0))
    for tracker, expected in (
        (first, [1.0, 0.0, 0.0]),
        (second, [0.5, 0.5, 0.0]),
        (third, [0.25, 0.25, 0.5]),
        (branch, [0.75, 0.25, 0.0]),
    ):
        np.testing.assert_allclose(tracker.point()[:3], expected)
        assert not tracker.point()[3:].any()
