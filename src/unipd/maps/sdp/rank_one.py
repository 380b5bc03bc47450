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

    Dense means that all k (k + 1) / 2 entries in some k >= 2 rows and columns of a semidefinite block of order n are
    there, and that they are no fewer than the n numbers of v; the all-constant matrix c 11^T is the common case
    (theta numbers, graph partitioning), perhaps with a slack variable beside it.
    """
    starts = _runs(entries)
    counts = np.diff(starts)
    order = np.array([shape[0] if len(shape) == 2 else 0 for shape in shapes], np.int64)[entries.block[starts[:-1]]]
    width = np.rint((np.sqrt(8.0 * counts + 1.0) - 1.0) / 2.0).astype(np.int64)
    dense = np.flatnonzero((width >= 2) & (counts == width * (width + 1) // 2) & (counts >= order) & (order > 0))
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
    """Return (c, v) with c v v^T equal to the matrix up to rounding, or None.

    The row through the largest diagonal entry a_pp determines both: c = a_pp, v = a_p / a_pp.
    """
    diagonal = np.flatnonzero(row == col)
    if diagonal.size * (diagonal.size + 1) // 2 != value.size:
        return None
    largest = diagonal[np.argmax(np.abs(value[diagonal]))]
    pivot, coefficient = row[largest], value[largest]
    vector = np.zeros(order, value.dtype)
    vector[row[col == pivot]] = value[col == pivot]
    vector[col[row == pivot]] = value[row == pivot]
    with np.errstate(over="ignore", invalid="ignore"):
        vector /= coefficient
        model = coefficient * vector[row] * vector[col]
        close = np.abs(model - value) <= _ROUNDINGS * np.finfo(value.dtype).eps * np.abs(value)
    whole = close.all() and np.count_nonzero(vector) == diagonal.size
    return (float(coefficient), vector) if whole else None
