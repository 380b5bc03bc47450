"""Random dual vectors and points of the form that an oracle answers with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, Shape

ROUNDING = 1e4
"""Relative differences up to so many eps count as rounding."""


def random_array(generator: np.random.Generator, shape: Shape, dtype: Any) -> Array:
    """Return standard normal entries of a dtype, complex ones for complex dtypes."""
    kind = np.dtype(dtype)
    entries: Array = generator.standard_normal(shape)
    if kind.kind == "c":
        entries = entries + 1j * generator.standard_normal(shape)
    return entries.astype(kind)


def random_like(generator: np.random.Generator, atom: Any) -> Any:
    """Return a random point of the form and the size of ``atom``: sparse as it is, of its rank, in its blocks.

    >>> point = random_like(np.random.default_rng(0), atoms.one_hot((5,), 1, 2.0))
    >>> point.values.size, float(np.linalg.norm(point.dense()).round(12))
    (1, 2.0)
    """
    if isinstance(atom, atoms.Blocks):
        return atoms.Blocks(tuple(random_like(generator, part) for part in atom.parts))
    if isinstance(atom, atoms.SparsePoint):
        places = generator.choice(math.prod(atom.shape), size=atom.values.size, replace=False)
        values = random_array(generator, atom.values.shape, atom.dtype)
        return atoms.SparsePoint(atom.shape, places, _resized(values, atom.values))
    if isinstance(atom, atoms.LowRank):
        left = _columns(generator, atom.left)
        right = left if atom.hermitian else _columns(generator, atom.right)
        return atoms.LowRank(left, right, atom.weights)
    array = np.asarray(atom)
    return _resized(random_array(generator, array.shape, array.dtype), array)


def rearranged(generator: np.random.Generator, atom: Any) -> list[Any]:
    """Return points that often lie in the same set: other places or signs of the same entries."""
    if isinstance(atom, atoms.SparsePoint):
        places = generator.choice(math.prod(atom.shape), size=atom.values.size, replace=False)
        return [
            atoms.SparsePoint(atom.shape, places, atom.values),
            atoms.SparsePoint(atom.shape, atom.indices, -atom.values),
            atoms.SparsePoint(atom.shape, places, -atom.values),
        ]
    if isinstance(atom, np.ndarray):
        mixed = generator.permutation(atom.reshape(-1)).reshape(atom.shape)
        return [mixed, -atom, -mixed]
    return [random_like(generator, atom), atoms.scaled(atom, -1.0)]


def tolerance(dtype: Any) -> float:
    """Return the relative difference that counts as rounding.

    >>> tolerance(np.float64) < 1e-11 < tolerance(np.float32)
    True
    """
    return ROUNDING * float(np.finfo(dtype).eps)


def is_finite(atom: Any) -> bool:
    """Whether a point has neither NaN nor infinity."""
    if isinstance(atom, atoms.Blocks):
        return all(is_finite(part) for part in atom.parts)
    if isinstance(atom, atoms.SparsePoint):
        return bool(np.isfinite(atom.values).all())
    if isinstance(atom, atoms.LowRank):
        return all(bool(np.isfinite(part).all()) for part in (atom.left, atom.right, atom.weights))
    return bool(np.isfinite(np.asarray(atom)).all())


def size_of(point: Any) -> float:
    """Return the Euclidean norm where it is cheap, else one."""
    if isinstance(point, np.ndarray):
        return float(np.linalg.norm(point.reshape(-1)))
    if isinstance(point, atoms.SparsePoint):
        return float(np.linalg.norm(point.values))
    parts = point.parts if isinstance(point, atoms.Blocks) else point if isinstance(point, tuple) else ()
    return math.sqrt(sum(size_of(part) ** 2 for part in parts)) if parts else 1.0


def precision_of(atom: Any) -> Any:
    """Return the dtype whose rounding an atom carries."""
    return atom.dtype if atom.dtype.kind in "fc" else np.float64


def all_equal(points: Sequence[Any]) -> bool:
    """Whether points are the same, number by number."""
    flat = [_flat(point) for point in points]
    return all(len(one) == len(flat[0]) and all(map(np.array_equal, one, flat[0])) for one in flat)


def _flat(atom: Any) -> list[Any]:
    """Return the arrays that an atom is made of."""
    if isinstance(atom, atoms.Blocks):
        return [array for part in atom.parts for array in _flat(part)]
    if isinstance(atom, atoms.SparsePoint):
        return [atom.indices, atom.values]
    if isinstance(atom, atoms.LowRank):
        return [atom.left, atom.right, atom.weights]
    return [atom]


def _columns(generator: np.random.Generator, factor: Array) -> Array:
    new = random_array(generator, factor.shape, factor.dtype)
    sizes, wanted = np.linalg.norm(new, axis=0), np.linalg.norm(factor, axis=0)
    return (new * (wanted / sizes)).astype(factor.dtype, copy=False)


def _resized(values: Array, model: Array) -> Array:
    """Return the values with the Euclidean norm of the model (unchanged when that is zero)."""
    wanted, size = float(np.linalg.norm(model)), float(np.linalg.norm(values))
    if wanted == 0.0 or size == 0.0:
        return values
    return (values * (wanted / size)).astype(values.dtype, copy=False)
