"""Products of atoms with the Gaussian matrices of a sketch, averaged into it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from unipd import atoms, serial
from unipd._typing import Array
from unipd.maps.chunks import available_threads, run_chunks

_PIECE = 1 << 16
"""Entries of a sketch that are averaged at a time, in the processor's cache."""
_MANY = 1 << 20
"""Entries of a sketch from which threads share the work."""


def averaged(old: Array, gamma: float, left: Array, right: Array | None) -> Array:
    """Return (1 - gamma) old + gamma left right (no right: the identity) without another array of that size."""
    mean = np.empty_like(old)
    share, rest = old.dtype.type(gamma), old.dtype.type(1.0 - gamma)
    step = max(1, _PIECE // old.shape[1])

    def average(number: int) -> None:
        rows = slice(number * step, (number + 1) * step)
        piece = left[rows] if right is None else serial.product(left[rows], right)
        np.multiply(old[rows], rest, out=mean[rows])
        mean[rows] += share * piece.astype(old.dtype, copy=False)

    run_chunks(average, -(-len(old) // step), available_threads(None) if old.size >= _MANY else 1)
    return mean


def times(atom: Any, block: Array) -> Array:
    """Return X B."""
    left, right = factored(atom, block)
    return left if right is None else left @ right


def factored(atom: Any, block: Array) -> tuple[Array, Array | None]:
    """Return X B as a product of two (or as one array)."""
    if isinstance(atom, atoms.LowRank):
        return atom.left * atom.weights, serial.product(atom.right.conj().T, block)
    return _explicit(atom) @ block, None


def factored_left(block: Array, atom: Any) -> tuple[Array, Array | None]:
    """Return B X as a product of two (or as one array)."""
    if isinstance(atom, atoms.LowRank):
        return serial.product(block, atom.left) * atom.weights, atom.right.conj().T
    return (_explicit(atom).T @ block.T).T, None


def trace(atom: Any) -> float:
    """Return the trace of a square atom."""
    if isinstance(atom, atoms.LowRank):
        return float(np.sum(atom.weights * np.einsum("ij,ij->j", atom.right.conj(), atom.left).real))
    return float(_explicit(atom).diagonal().sum().real)


def _explicit(atom: Any) -> Any:
    if isinstance(atom, atoms.SparsePoint):
        return scipy.sparse.coo_array((atom.values, np.unravel_index(atom.indices, atom.shape)), shape=atom.shape)
    return np.asarray(atom)
