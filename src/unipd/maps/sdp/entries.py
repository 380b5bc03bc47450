"""The nonzeros of symmetric block matrices, as one list of entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from unipd import validate
from unipd._typing import Array, IntArray
from unipd.errors import InvalidInput

_SYMMETRY = 1e-12
"""Largest difference between an entry and its mirror, relative to the largest entry."""


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries of A_1, ..., A_m: ``value[k]`` is A_i[row, col] of a block and, by symmetry, A_i[col, row].

    All indices count from zero. An entry may be given in either triangle but only once; a diagonal block
    has entries with ``row == col`` only.

    Examples
    --------
    The matrix [[1, 2], [2, 0]] as the only constraint:

    >>> Entries([0, 0], [0, 0], [0, 0], [0, 1], [1.0, 2.0]).value
    array([1., 2.])
    """

    constraint: IntArray
    block: IntArray
    row: IntArray
    col: IntArray
    value: Array

    def __init__(self, constraint: Any, block: Any, row: Any, col: Any, value: Any) -> None:
        values = validate.real_array("value", value, ndim=1)
        for name, given in (("constraint", constraint), ("block", block), ("row", row), ("col", col)):
            object.__setattr__(self, name, _indices(name, given, values.size))
        object.__setattr__(self, "value", values)

    @classmethod
    def from_matrices(cls, matrices: Sequence[Any], name: str = "matrices") -> Entries:
        """Return the entries of symmetric matrices (arrays or SciPy sparse), one a constraint, of one block.

        ``name`` is what errors call the list.

        >>> Entries.from_matrices([np.eye(2)]).row
        array([0, 1], dtype=int32)
        """
        if len(matrices) == 0:
            raise InvalidInput(name, "at least one symmetric matrix", "an empty list")
        parts = [_upper(f"{name}[{index}]", matrix) for index, matrix in enumerate(matrices)]
        constraint = np.repeat(np.arange(len(parts)), [part.nnz for part in parts])
        row, col, value = (np.concatenate([getattr(part, name) for part in parts]) for name in ("row", "col", "data"))
        return cls(constraint, np.zeros_like(constraint), row, col, value)

    def canonical(self) -> Entries:
        """Return the entries in the upper triangle, sorted, each place once and no zeros.

        Raises :class:`~unipd.errors.InvalidInput` when a place is given two different values.
        """
        row, col = np.minimum(self.row, self.col), np.maximum(self.row, self.col)
        kept, conflict = settle(self.constraint, self.block, row, col, self.value)
        if conflict is not None:
            place = tuple(int(part[conflict[1]]) for part in (self.constraint, self.block, row, col))
            got = f"{self.value[conflict[0]]} and {self.value[conflict[1]]}"
            raise InvalidInput(f"entry (constraint, block, row, col) = {place}", "one value", got)
        return Entries(self.constraint[kept], self.block[kept], row[kept], col[kept], self.value[kept])


def settle(
    constraint: IntArray, block: IntArray, row: IntArray, col: IntArray, value: Array
) -> tuple[IntArray, tuple[int, int] | None]:
    """Return which entries to keep, sorted by (constraint, block, row, col), and the first conflict if any.

    A place repeated with the same value is kept once, zeros are left out; a conflict is a pair of indices
    of the same place with different values.
    """
    keys = (constraint, block, row, col)
    if _increasing(keys):
        return np.flatnonzero(value), None
    order = _order(keys)
    same = np.ones(max(order.size - 1, 0), bool)
    for key in keys:
        ranked = key[order]
        same &= ranked[1:] == ranked[:-1]
    ranked = value[order]
    clash = np.flatnonzero(same & (ranked[1:] != ranked[:-1]))
    if clash.size:
        return order, (int(order[clash[0]]), int(order[clash[0] + 1]))
    first = np.concatenate([[True], ~same]) & (ranked != 0)
    return order[first], None


def _increasing(keys: tuple[IntArray, ...]) -> bool:
    """Whether the tuples of keys increase strictly."""
    above = np.zeros(max(keys[0].size - 1, 0), bool)
    for key in reversed(keys):
        above = (key[1:] > key[:-1]) | ((key[1:] == key[:-1]) & above)
    return bool(above.all())


def _order(keys: tuple[IntArray, ...]) -> IntArray:
    """Return the stable order of the tuples of keys, through one 64-bit key when they fit in it."""
    spans = [int(key.max()) + 1 for key in keys]
    if spans[0] * spans[1] * spans[2] * spans[3] >= 2**63:
        return np.lexsort(keys[::-1])
    joined = keys[0].astype(np.int64)
    for key, span in zip(keys[1:], spans[1:], strict=True):
        joined = joined * span + key
    return np.argsort(joined, kind="stable")


def _indices(name: str, given: Any, size: int) -> IntArray:
    array = np.asarray(given)
    if array.shape != (size,):
        raise InvalidInput(name, f"{size} indices, one a value", f"shape {array.shape}")
    if size == 0:
        return np.zeros(0, np.int32)
    if array.dtype.kind not in "iu":
        raise InvalidInput(name, "integers", f"dtype {array.dtype}")
    if array.min() < 0 or array.max() >= 2**31:
        raise InvalidInput(name, "indices from 0 to 2^31 - 1", f"{array.min()} to {array.max()}")
    return array.astype(np.int32, copy=False)


def _upper(name: str, matrix: Any) -> Any:
    """Return the upper triangle of a symmetric matrix in coordinate form."""
    array: Any = scipy.sparse.coo_array(
        matrix if scipy.sparse.issparse(matrix) else validate.real_array(name, matrix, ndim=2)
    )
    validate.real_array(name, array.data)
    if array.shape[0] != array.shape[1]:
        raise InvalidInput(name, "a square matrix", f"shape {array.shape}")
    array.sum_duplicates()
    gap = abs(array - array.T)
    if gap.nnz and gap.max() > _SYMMETRY * abs(array).max():
        raise InvalidInput(name, "a symmetric matrix", f"entries that differ from their mirror by {gap.max():.3g}")
    return scipy.sparse.triu(array, format="coo")
