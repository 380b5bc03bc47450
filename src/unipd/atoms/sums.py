"""Multiples, zeros and sums of atoms, in the form they come in where that can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from unipd._typing import Array
from unipd.atoms.kinds import Blocks, LowRank, SparsePoint, dense

_SMALL = 10_000
"""Entries up to which dense and sparse atoms are stacked for their sum: one product instead of a loop."""


def scaled(atom: Any, factor: float) -> Any:
    """Return ``factor * atom`` in the same form."""
    if isinstance(atom, np.ndarray):
        return cast("Array", factor * atom).astype(atom.dtype, copy=False)
    if isinstance(atom, SparsePoint):
        values = (factor * atom.values).astype(atom.dtype, copy=False)
        return SparsePoint(atom.shape, atom.indices, values)
    if isinstance(atom, LowRank):
        return LowRank(atom.left, atom.right, factor * atom.weights)
    return Blocks(tuple(scaled(part, factor) for part in atom.parts))


def zero_like(atom: Any) -> Any:
    """Return the zero of the atom's space in the atom's form.

    >>> from unipd.atoms import one_hot
    >>> zero_like(one_hot((2,), 1, 1.0)).dense()
    array([0., 0.])
    """
    if isinstance(atom, np.ndarray):
        return np.zeros_like(atom)
    if isinstance(atom, SparsePoint):
        return SparsePoint(atom.shape, atom.indices[:0], atom.values[:0])
    if isinstance(atom, LowRank):
        left = atom.left[:, :0]
        return LowRank(left, left if atom.hermitian else atom.right[:, :0], atom.weights[:0])
    return Blocks(tuple(zero_like(part) for part in atom.parts))


def combination(weights: Sequence[float], atoms: Sequence[Any]) -> Any:
    """Return sum_i weights[i] * atoms[i] as an array, or as a :class:`LowRank` when all atoms are.

    >>> from unipd.atoms import one_hot
    >>> combination([0.5, 0.5], [one_hot((2,), 0, 1.0), one_hot((2,), 1, 1.0)])
    array([0.5, 0.5])
    """
    first = atoms[0]
    if isinstance(first, Blocks):
        columns = zip(*(atom.parts for atom in atoms), strict=True)
        return Blocks(tuple(combination(weights, column) for column in columns))
    if all(isinstance(atom, LowRank) for atom in atoms):
        return _stack_low_rank(weights, atoms)
    if all(type(atom) is np.ndarray for atom in atoms) and first.size <= _SMALL:
        stacked = np.stack(atoms)
        return np.tensordot(np.asarray(weights, np.real(stacked).dtype), stacked, axes=1)
    if all(type(atom) is SparsePoint and atom.indices.size <= _SMALL for atom in atoms):
        return dense(_stack_sparse(weights, atoms))
    out = np.zeros(first.shape, np.result_type(*(atom.dtype for atom in atoms)))
    for weight, atom in zip(weights, atoms, strict=True):
        add_to(out, weight, atom)
    return out


def add_to(out: Array, weight: float, atom: Any) -> None:
    """Add ``weight * atom`` to the array ``out`` in place."""
    if isinstance(atom, SparsePoint):
        np.add.at(out.reshape(-1), atom.indices, weight * atom.values)
    else:
        out += weight * dense(atom)


def _stack_sparse(weights: Sequence[float], atoms: Sequence[SparsePoint]) -> SparsePoint:
    values = np.concatenate([atom.values for atom in atoms])
    kind = np.result_type(np.real(values), np.float16)  # whole numbers have no fractions
    scale = np.repeat(np.asarray(weights, kind), [atom.indices.size for atom in atoms])
    return SparsePoint(atoms[0].shape, np.concatenate([atom.indices for atom in atoms]), scale * values)


def _stack_low_rank(weights: Sequence[float], atoms: Sequence[LowRank]) -> LowRank:
    left = np.concatenate([atom.left for atom in atoms], axis=1)
    same = all(atom.hermitian for atom in atoms)
    right = left if same else np.concatenate([atom.right for atom in atoms], axis=1)
    scale = np.concatenate([w * atom.weights for w, atom in zip(weights, atoms, strict=True)])
    return LowRank(left, right, scale)
