"""Dense rank-one data matrices, kept as vectors: c v v^T costs n numbers in place of n (n + 1) / 2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unipd._typing import Array, IntArray, Shape
from unipd.maps.sdp.entries import Entries

_ROUNDINGS = 8.0
"""How many units of rounding an entry may be from c v_i v_j."""


@dataclass(frozen=True)
class RankOne:
    """The matrix c v v^T of one constraint in one block."""

    constraint: int
    block: int
    coefficient: float
    vector: Array


def split_rank_one(entries: Entries, shapes: tuple[Shape, ...]) -> tuple[Entries, list[RankOne]]:
    """Take the dense rank-one matrices out of canonical entries.

    Dense means that all n (n + 1) / 2 entries of a semidefinite block of order n >= 2 are there; the
    all-constant matrix c 11^T is the common case (theta numbers, graph partitioning).
    """
    starts = _runs(entries)
    counts = np.diff(starts)
    order = np.array([shape[0] if len(shape) == 2 else 0 for shape in shapes], np.int64)[entries.block[starts[:-1]]]
    dense = np.flatnonzero((order >= 2) & (counts == order * (order + 1) // 2))
    found: list[RankOne] = []
    keep = np.ones(entries.value.size, bool)
    for run in dense:
        part = slice(starts[run], starts[run + 1])
        factors = _factor(entries.row[part], entries.col[part], entries.value[part], int(order[run]))
        if factors is not None:
            first = starts[run]
            found.append(RankOne(int(entries.constraint[first]), int(entries.block[first]), *factors))
            keep[part] = False
    if not found:
        return entries, found
    rest = (part[keep] for part in (entries.constraint, entries.block, entries.row, entries.col, entries.value))
    return Entries(*rest), found


def _runs(entries: Entries) -> IntArray:
    """Return where each matrix (one constraint in one block) starts, and the end of the last."""
    size = entries.value.size
    if size == 0:
        return np.zeros(1, np.int64)
    new = (np.diff(entries.constraint) != 0) | (np.diff(entries.block) != 0)
    return np.concatenate([[0], np.flatnonzero(new) + 1, [size]])


def _factor(row: IntArray, col: IntArray, value: Array, order: int) -> tuple[float, Array] | None:
    """Return (c, v) with c v v^T equal to the dense matrix up to rounding, or None.

    The row through the largest diagonal entry a_pp determines both: c = a_pp, v = a_p / a_pp.
    """
    diagonal = value[row == col]
    pivot = int(np.argmax(np.abs(diagonal)))
    coefficient = diagonal[pivot]
    vector = np.empty(order, value.dtype)
    vector[row[col == pivot]] = value[col == pivot]
    vector[col[row == pivot]] = value[row == pivot]
    with np.errstate(over="ignore", invalid="ignore"):
        vector /= coefficient
        model = coefficient * vector[row] * vector[col]
        close = np.abs(model - value) <= _ROUNDINGS * np.finfo(value.dtype).eps * np.abs(value)
    return (float(coefficient), vector) if close.all() else None
