"""From a list of entries to the sparse form of a semidefinite map, once, when the map is made."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy

from unipd._typing import Array, IntArray, Shape
from unipd.errors import InvalidInput
from unipd.maps.sdp.blocks import DiagonalBlock, PsdBlock
from unipd.maps.sdp.entries import Entries
from unipd.maps.sdp.rank_one import RankOne, split_rank_one

Block: TypeAlias = PsdBlock | DiagonalBlock


def build(shapes: tuple[Shape, ...], entries: Entries, constraints: int) -> tuple[Any, tuple[Block, ...]]:
    """Return (M, blocks): M is the CSR matrix with A(X) = M x, x the entries of X on the union pattern.

    Off the diagonal M holds 2 A_i[row, col], since X has that entry twice.
    """
    _check_ranges(shapes, entries, constraints)
    canonical = entries.canonical()
    sparse, terms = split_rank_one(canonical, shapes)
    sizes = np.array([shape[0] for shape in shapes], np.int64)
    origin = np.concatenate([[0], np.cumsum(sizes**2)])
    places = origin[sparse.block] + sparse.row * sizes[sparse.block] + sparse.col
    union, pair = np.unique(places, return_inverse=True)
    doubled = np.where(sparse.row == sparse.col, 1, 2).astype(sparse.value.dtype) * sparse.value
    matrix = scipy.sparse.csr_array((doubled, (sparse.constraint, pair)), shape=(constraints, union.size))
    bounds = np.searchsorted(union, origin)
    blocks: list[Block] = []
    by_block: dict[int, list[RankOne]] = {}
    for term in terms:
        by_block.setdefault(term.block, []).append(term)
    for index, shape in enumerate(shapes):
        pairs = slice(int(bounds[index]), int(bounds[index + 1]))
        rows, cols = np.divmod(union[pairs] - origin[index], sizes[index])
        rows, cols = rows.astype(np.int32), cols.astype(np.int32)
        if len(shape) == 1:
            empty = np.zeros(0, sparse.value.dtype)
            blocks.append(DiagonalBlock(shape, pairs, rows, np.zeros(0, np.intp), empty))
        else:
            blocks.append(_psd_block(shape, pairs, rows, cols, by_block.get(index, []), sparse.value.dtype))
    return matrix, tuple(blocks)


def _psd_block(
    shape: Shape, pairs: slice, rows: IntArray, cols: IntArray, terms: list[RankOne], dtype: np.dtype[Any]
) -> PsdBlock:
    starts, indices, source = _symmetric_csr(shape[0], rows, cols)
    vectors = np.zeros((shape[0], len(terms)), dtype)
    for column, term in enumerate(terms):
        vectors[:, column] = term.vector
    owners = np.array([term.constraint for term in terms], np.intp)
    coefficients = np.array([term.coefficient for term in terms], dtype)
    return PsdBlock(shape, pairs, rows, cols, starts, indices, source, owners, coefficients, vectors)


def _symmetric_csr(order: int, rows: IntArray, cols: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return (starts, indices, source): both triangles by rows, and the pair each place takes its value from."""
    off = np.flatnonzero(rows != cols)
    full_rows = np.concatenate([rows, cols[off]])
    full_cols = np.concatenate([cols, rows[off]])
    source = np.concatenate([np.arange(rows.size), off])
    by_row = np.argsort(full_rows.astype(np.int64) * order + full_cols, kind="stable")
    starts = np.zeros(order + 1, np.int64)
    np.cumsum(np.bincount(full_rows, minlength=order), out=starts[1:])
    return starts, full_cols[by_row], source[by_row]


def weights(blocks: tuple[Block, ...], dtype: np.dtype[Any]) -> Array:
    """Return 1 for each pair on the diagonal and 1/2 for each off it: what undoes the doubling in M."""
    parts = [
        np.ones(block.places.size, dtype)
        if isinstance(block, DiagonalBlock)
        else np.where(block.rows == block.cols, 1.0, 0.5).astype(dtype)
        for block in blocks
    ]
    return np.concatenate(parts)


def _check_ranges(shapes: tuple[Shape, ...], entries: Entries, constraints: int) -> None:
    sizes = np.array([shape[0] for shape in shapes], np.int64)
    if sizes.sum() >= 2**31:
        raise InvalidInput("domain", "blocks of total order below 2^31", f"{sizes.sum()}")
    if entries.value.size == 0:
        return
    for name, index, bound in (("constraint", entries.constraint, constraints), ("block", entries.block, len(shapes))):
        if index.max() >= bound:
            raise InvalidInput(name, f"indices below {bound}", f"{index.max()}")
    for name, index in (("row", entries.row), ("col", entries.col)):
        outside = np.flatnonzero(index >= sizes[entries.block])
        if outside.size:
            worst = int(outside[0])
            bound = sizes[entries.block[worst]]
            raise InvalidInput(name, f"indices below {bound} in block {entries.block[worst]}", f"{index[worst]}")
    diagonal = np.array([len(shape) == 1 for shape in shapes])[entries.block]
    if np.any(diagonal & (entries.row != entries.col)):
        raise InvalidInput("entries", "row == col in a diagonal block", "an entry off the diagonal")
