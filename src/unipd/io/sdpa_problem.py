"""A semidefinite program as the SDPA format states it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd import validate
from unipd._typing import Array, IntArray
from unipd.errors import InvalidInput
from unipd.maps.sdp import Entries


@dataclass(frozen=True, eq=False)
class SdpaProblem:
    """A semidefinite program in SDPA's own convention.

    With symmetric block matrices F_0, ..., F_m and a vector b (the format calls it c),

        primal   min  b^T x          subject to  x_1 F_1 + ... + x_m F_m - F_0 psd,
        dual     max  <F_0, Y>       subject to  <F_i, Y> = b_i for i = 1, ..., m,  Y psd.

    Entries are kept in the upper triangle, sorted, each place once and without zeros, so two problems are
    equal exactly when their arrays are. Arrays are read-only.

    Parameters
    ----------
    b
        The m right-hand sides.
    block_sizes
        Order of each block; a negative number -d is a diagonal block of length d.
    constraint
        Matrix of each entry: 0 is F_0, i is F_i.
    block, row, col
        Place of each entry, counting from zero (in files from one); either triangle.
    value
        The number there and, by symmetry, at the mirrored place.

    Examples
    --------
    max Y_11 subject to trace Y = 1:

    >>> problem = SdpaProblem([1.0], (2,), [0, 1, 1], [0, 0, 0], [0, 0, 1], [0, 0, 1], [1.0, 1.0, 1.0])
    >>> problem
    SdpaProblem(m=1, block_sizes=(2,), entries=3)
    >>> problem.matrix(1, 0).toarray()
    array([[1., 0.],
           [0., 1.]])
    """

    b: Array
    block_sizes: tuple[int, ...]
    constraint: IntArray
    block: IntArray
    row: IntArray
    col: IntArray
    value: Array

    def __init__(self, b: Any, block_sizes: Any, constraint: Any, block: Any, row: Any, col: Any, value: Any) -> None:
        right = validate.real_array("b", b, ndim=1).astype(np.float64)
        if right.size == 0:
            raise InvalidInput("b", "at least one number", "none")
        if not all(isinstance(size, (int, np.integer)) and size != 0 for size in block_sizes) or len(block_sizes) == 0:
            raise InvalidInput("block_sizes", "whole numbers other than zero, at least one", repr(block_sizes))
        sizes = tuple(int(size) for size in block_sizes)
        entries = Entries(constraint, block, row, col, value).canonical()
        _check_places(entries, sizes, right.size)
        object.__setattr__(self, "block_sizes", sizes)
        fields = {"b": right, "value": entries.value.astype(np.float64)}
        fields |= {name: getattr(entries, name).copy() for name in ("constraint", "block", "row", "col")}
        for name, array in fields.items():
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def m(self) -> int:
        """Number of constraints."""
        return int(self.b.size)

    @property
    def order(self) -> int:
        """Order of the whole block diagonal matrix."""
        return sum(abs(size) for size in self.block_sizes)

    def matrix(self, constraint: int, block: int) -> Any:
        """Return one block of F_i as a symmetric SciPy CSR array."""
        here = (self.constraint == constraint) & (self.block == block)
        order = abs(self.block_sizes[block])
        upper: Any = sp.csr_array((self.value[here], (self.row[here], self.col[here])), shape=(order, order))
        return upper + sp.triu(upper, 1).T

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SdpaProblem):
            return NotImplemented
        names = ("b", "constraint", "block", "row", "col", "value")
        same = all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)
        return same and self.block_sizes == other.block_sizes

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        sizes = self.block_sizes if len(self.block_sizes) <= 8 else f"<{len(self.block_sizes)} blocks>"
        return f"SdpaProblem(m={self.m}, block_sizes={sizes}, entries={self.value.size})"


def _check_places(entries: Entries, sizes: tuple[int, ...], constraints: int) -> None:
    if entries.value.size == 0:
        return
    if entries.constraint.max() > constraints:
        raise InvalidInput("constraint", f"0 to {constraints}", str(entries.constraint.max()))
    if entries.block.max() >= len(sizes):
        raise InvalidInput("block", f"0 to {len(sizes) - 1}", str(entries.block.max()))
    signed = np.array(sizes, np.int64)[entries.block]
    if np.any(entries.col >= np.abs(signed)):
        raise InvalidInput("row, col", "indices below the order of their block", "a larger one")
    if np.any((signed < 0) & (entries.row != entries.col)):
        raise InvalidInput("row, col", "row == col in a diagonal block", "an entry off the diagonal")
