"""The nonzeros of symmetric matrices as one list of entries, with dense rank-one matrices split off as vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array, IntArray
from unipd._util import validate
from unipd.errors import InvalidInput

_RANK_ONE_ULPS = 8.0
"""An entry may differ from c v_i v_j by this many units in the last place, the rounding of three products."""


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries of A_1, ..., A_m: ``value[k]`` is A_i[row, col] and, by symmetry, A_i[col, row].

    Indices count from zero. An entry may be given in either triangle, but only once.

    Parameters
    ----------
    constraint, row, col
        Indices of each entry.
    value
        The numbers.

    See Also
    --------
    SdpMap, unipd.SDP

    Examples
    --------
    The matrix [[1, 2], [2, 0]] as the only constraint:

    >>> Entries([0, 0], [0, 0], [0, 1], [1.0, 2.0]).value
    array([1., 2.])
    """

    constraint: IntArray
    row: IntArray
    col: IntArray
    value: Array

    def __init__(self, constraint: Any, row: Any, col: Any, value: Any) -> None:
        values = validate.real_array("value", value, ndim=1)
        for name, given in (("constraint", constraint), ("row", row), ("col", col)):
            object.__setattr__(self, name, index_array(name, given, values.size))
        object.__setattr__(self, "value", values)

    @classmethod
    def from_matrices(cls, matrices: Sequence[Any], name: str = "matrices") -> Entries:
        """Return the entries of symmetric matrices (arrays or SciPy sparse), one matrix per constraint.

        ``name`` names the list in error messages.

        >>> Entries.from_matrices([np.eye(2)]).row
        array([0, 1], dtype=int32)
        """
        if len(matrices) == 0:
            raise InvalidInput(name, "at least one symmetric matrix", "an empty list")
        parts = [_upper_triangle(f"{name}[{index}]", matrix) for index, matrix in enumerate(matrices)]
        constraint = np.repeat(np.arange(len(parts)), [part.nnz for part in parts])
        row, col, value = (np.concatenate(part) for part in zip(*((p.row, p.col, p.data) for p in parts), strict=True))
        return cls(constraint, row, col, value)

    @classmethod
    def concatenate(cls, parts: Sequence[Entries]) -> Entries:
        """Return the entries of all parts as one list."""
        columns = zip(*((part.constraint, part.row, part.col, part.value) for part in parts), strict=True)
        return cls(*(np.concatenate(column) for column in columns))

    def select(self, chosen: Any) -> Entries:
        """Return the entries of a mask or of indices."""
        return Entries(self.constraint[chosen], self.row[chosen], self.col[chosen], self.value[chosen])

    def canonical(self) -> Entries:
        """Return the entries in the upper triangle, sorted, each place once and no zeros.

        Raises :class:`~unipd.errors.InvalidInput` when a place is given two different values.
        """
        row, col = np.minimum(self.row, self.col), np.maximum(self.row, self.col)
        chosen, conflict = deduplicate_entries((self.constraint, row, col), self.value)
        if conflict is not None:
            place = tuple(int(part[conflict[1]]) for part in (self.constraint, row, col))
            got = f"{self.value[conflict[0]]} and {self.value[conflict[1]]}"
            raise InvalidInput(f"entry (constraint, row, col) = {place}", "one value", got)
        return Entries(self.constraint, row, col, self.value).select(chosen)

    def sum_duplicates(self, order: int) -> Entries:
        """Return the entries in the upper triangle of order n, sorted, those at the same place added up and no zeros.

        >>> Entries([0, 0], [0, 1], [1, 0], [1.0, 2.0]).sum_duplicates(2).value
        array([3.])
        """
        low, high = np.minimum(self.row, self.col), np.maximum(self.row, self.col)
        keys, inverse = np.unique((self.constraint.astype(np.int64) * order + low) * order + high, return_inverse=True)
        total = np.bincount(inverse, self.value, minlength=keys.size)
        constraint, place = np.divmod(keys, order * order)
        return Entries(constraint, *np.divmod(place, order), total).select(total != 0.0)


def deduplicate_entries(keys: tuple[IntArray, ...], value: Array) -> tuple[IntArray, tuple[int, int] | None]:
    """Return the indices of distinct nonzero entries, sorted by the keys, and the first conflict if any.

    An entry repeated with the same value counts once; a conflict is a pair of indices with the same keys and
    different values.
    """
    order = _sort_order(keys)
    is_new = np.zeros(order.size, bool)
    is_new[:1] = True
    for key in keys:
        ranked = key[order]
        is_new[1:] |= ranked[1:] != ranked[:-1]
    ranked = value[order]
    clash = np.flatnonzero(~is_new[1:] & (ranked[1:] != ranked[:-1]))
    if clash.size:
        return order, (int(order[clash[0]]), int(order[clash[0] + 1]))
    return order[is_new & (ranked != 0)], None


def _sort_order(keys: tuple[IntArray, ...]) -> IntArray:
    """Return the stable order of the tuples of keys, through one 64-bit key (much faster) when they fit in it."""
    spans = [int(key.max(initial=0)) + 1 for key in keys]
    if math.prod(spans) >= 2**63:
        return np.lexsort(keys[::-1])
    joint = keys[0].astype(np.int64)
    for key, span in zip(keys[1:], spans[1:], strict=True):
        joint = joint * span + key
    return np.argsort(joint, kind="stable")


def index_array(name: str, given: Any, size: int) -> IntArray:
    """Return ``size`` nonnegative indices as 32-bit integers, or raise."""
    array = np.asarray(given)
    if array.shape != (size,):
        raise InvalidInput(name, f"{size} indices, one per value", f"shape {array.shape}")
    if size == 0:
        return np.zeros(0, np.int32)
    if array.dtype.kind not in "iu":
        raise InvalidInput(name, "integers", f"dtype {array.dtype}")
    if array.min() < 0 or array.max() >= 2**31:
        raise InvalidInput(name, "indices from 0 to 2^31 - 1", f"{array.min()} to {array.max()}")
    return array.astype(np.int32, copy=False)


def _upper_triangle(name: str, matrix: Any) -> Any:
    """Return the upper triangle of a symmetric matrix in coordinate form."""
    explicit = matrix if scipy.sparse.issparse(matrix) else validate.real_array(name, matrix, ndim=2)
    array: Any = scipy.sparse.coo_array(explicit)
    validate.real_array(name, array.data)
    if array.shape[0] != array.shape[1]:
        raise InvalidInput(name, "a square matrix", f"shape {array.shape}")
    array.sum_duplicates()
    gap = abs(array - array.T)
    if gap.nnz and gap.max() > validate.SYMMETRY * abs(array).max():
        raise InvalidInput(name, "a symmetric matrix", f"entries that differ from their mirror by {gap.max():.3g}")
    return scipy.sparse.triu(array, format="coo")


def split_rank_one(entries: Entries, order: int) -> tuple[Entries, IntArray, Array, Array]:
    """Split the dense rank-one matrices c v v^T of order n off canonical entries.

    Dense means that all k (k + 1) / 2 entries in some k >= 2 rows and columns are given, and that they are at least as
    many as the n numbers of v. The constant matrix c 11^T is the common case (theta numbers, graph partitioning).
    Returns the other entries and, for each of these matrices, its constraint, c, and v as a column.
    """
    starts = np.flatnonzero(np.diff(entries.constraint, prepend=-1, append=-1))
    counts = np.diff(starts)
    width = np.rint((np.sqrt(8.0 * counts + 1.0) - 1.0) / 2.0).astype(np.int64)
    owners: list[int] = []
    coefficients: list[float] = []
    vectors = [np.zeros((order, 0), entries.value.dtype)]
    rest = np.ones(entries.value.size, bool)
    for run in np.flatnonzero((width >= 2) & (counts == width * (width + 1) // 2) & (counts >= order)):
        part = slice(starts[run], starts[run + 1])
        factors = _rank_one_factors(entries.row[part], entries.col[part], entries.value[part], order)
        if factors is not None:
            owners.append(int(entries.constraint[starts[run]]))
            coefficients.append(factors[0])
            vectors.append(factors[1][:, None])
            rest[part] = False
    columns = np.concatenate(vectors, axis=1)
    return entries.select(rest), np.array(owners, np.intp), np.array(coefficients, columns.dtype), columns


def _rank_one_factors(row: IntArray, col: IntArray, value: Array, order: int) -> tuple[float, Array] | None:
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
        is_close = np.abs(model - value) <= _RANK_ONE_ULPS * np.finfo(value.dtype).eps * np.abs(value)
    is_whole = is_close.all() and np.count_nonzero(vector) == diagonal.size
    return (float(coefficient), vector) if is_whole else None
