"""Matrices as low-rank factors: from arrays, and from many columns to few."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array
from unipd.errors import InvalidInput

ONE_MATRIX = "one matrix (for several blocks: unipd.primal.ByBlock, one tracker a block)"


def as_factors(atom: Any) -> atoms.LowRank:
    """Return an atom as factors: low-rank atoms as they are, arrays by their spectrum.

    >>> as_factors(np.diag([2.0, 0.0])).rank
    1
    """
    if isinstance(atom, atoms.LowRank):
        return atom
    if isinstance(atom, atoms.Blocks):
        raise InvalidInput("atom", ONE_MATRIX, f"{len(atom)} blocks")
    if len(atom.shape) != 2:
        raise InvalidInput("atom", "a matrix, best as factors (LowRank)", type(atom).__name__)
    array = np.asarray(atoms.dense(atom))
    one = np.ones(array.shape[1], np.finfo(array.dtype).dtype)
    if array.shape[0] == array.shape[1] and np.array_equal(array, array.conj().T):
        spectrum, vectors = np.linalg.eigh(array)
        return compress(atoms.LowRank(vectors, vectors, spectrum), one.size)[0]
    return compress(atoms.LowRank(array, np.eye(one.size, dtype=array.dtype), one), one.size)[0]


def compress(point: atoms.LowRank, limit: int) -> tuple[atoms.LowRank, Array]:
    """Return the best approximation of a factored matrix by ``limit`` terms, and the sizes of the terms left out.

    The factors returned are orthonormal. Terms of the size of rounding are left out too.

    >>> twice = np.array([[1.0, 1.0], [0.0, 0.0]])
    >>> compress(atoms.LowRank(twice, twice, np.ones(2)), 2)[0].weights
    array([2.])
    """
    weights = point.weights.astype(np.finfo(point.dtype).dtype)
    left, core = np.linalg.qr(point.left)
    if point.hermitian:
        spectrum, inner = _eigenpairs((core * weights) @ core.conj().T, bool(np.all(weights >= 0)))
        first = second = left @ inner
    else:
        right, other = np.linalg.qr(point.right)
        inner, spectrum, outer = np.linalg.svd((core * weights) @ other.conj().T, full_matrices=False)
        first, second = left @ inner, right @ outer.conj().T
    rounding = point.rank * np.finfo(spectrum.dtype).eps * abs(spectrum[0])
    rank = min(limit, max(1, int(np.count_nonzero(np.abs(spectrum) > rounding))))
    kept = np.ascontiguousarray(first[:, :rank])
    other_side = kept if second is first else np.ascontiguousarray(second[:, :rank])
    return atoms.LowRank(kept, other_side, spectrum[:rank]), spectrum[rank:]


def _eigenpairs(core: Array, semidefinite: bool) -> tuple[Array, Array]:
    """Return eigenvalues of largest modulus first, with rounding below zero removed where there can be none."""
    spectrum, vectors = np.linalg.eigh(core)
    if semidefinite:
        spectrum = np.maximum(spectrum, 0)
    order = np.argsort(-np.abs(spectrum), kind="stable")
    return spectrum[order], vectors[:, order]
