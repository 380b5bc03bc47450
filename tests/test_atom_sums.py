"""Sums of atoms against the sums of their dense arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unipd import atoms


@pytest.mark.parametrize("longest", [5, 12_000], ids=["stacked", "one by one"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_sparse_atoms_add_up_whether_they_are_stacked_or_not(longest: int, dtype: Any) -> None:
    rng = np.random.default_rng(3)
    weights = rng.random(7)
    points = [
        atoms.SparsePoint((2, 3), rng.integers(6, size=count), (rng.standard_normal(count) * (1 + 1j)).astype(dtype))
        if np.issubdtype(dtype, np.complexfloating)
        else atoms.SparsePoint((2, 3), rng.integers(6, size=count), rng.standard_normal(count).astype(dtype))
        for count in (1, 0, 3, 1, longest, 2, 1)
    ]
    found = atoms.combination(weights.tolist(), points)
    naive = sum(weight * point.dense().astype(np.complex128) for weight, point in zip(weights, points, strict=True))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, naive, atol=2 * longest * np.finfo(dtype).eps)


def test_sparse_atoms_of_whole_numbers_add_up() -> None:
    point = atoms.SparsePoint((3,), np.array([1]), np.array([3]))
    np.testing.assert_array_equal(atoms.combination([0.5, 0.25], [point, point]), [0.0, 2.25, 0.0])


def test_a_sparse_atom_and_a_dense_one_add_up() -> None:
    found = atoms.combination([0.5, 0.25], [atoms.one_hot((3,), 1, 2.0), np.array([4.0, 0.0, 8.0])])
    np.testing.assert_array_equal(found, [1.0, 1.0, 2.0])


@pytest.mark.parametrize(
    "atom",
    [
        atoms.one_hot((3,), 1, 2.0),
        atoms.LowRank(np.eye(3)[:, :2], np.eye(3)[:, :2], np.array([1.0, 2.0])),
        atoms.Blocks((atoms.one_hot((3,), 1, 2.0), np.ones(3))),
    ],
)
def test_numpy_reads_structured_atoms(atom: Any) -> None:
    exact = np.stack([atoms.dense(part) for part in atom]) if isinstance(atom, atoms.Blocks) else atom.dense()
    np.testing.assert_array_equal(np.asarray(atom), exact)
    assert np.asarray(atom).dtype == np.float64
    assert np.asarray(atom, dtype=np.float32).dtype == np.float32
    assert np.array(atom, copy=True).shape == exact.shape
    assert float(np.sum(atom)) == exact.sum()
    with pytest.raises(ValueError, match="copy"):
        np.asarray(atom, copy=False)


def test_blocks_of_different_shapes_are_no_array() -> None:
    with pytest.raises(ValueError, match=r"dense\(\)"):
        np.asarray(atoms.Blocks((np.ones(2), np.ones(3))))
