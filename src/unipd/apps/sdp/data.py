"""A semidefinite program as arrays: one matrix variable, linear constraints with lower and upper bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from unipd import couplings
from unipd._typing import Array
from unipd.errors import InvalidInput
from unipd.io import SdpaProblem
from unipd.maps.sdp import Entries, SdpMap
from unipd.protocols import Coupling

LARGEST = 1e100
"""Largest size of a number in the data."""


@dataclass(frozen=True)
class Block:
    """Where a block of a block diagonal matrix lies in the whole."""

    start: int
    size: int
    diagonal: bool
    """Whether only the diagonal counts (a nonnegative vector)."""

    @property
    def rows(self) -> slice:
        """Rows of the whole that belong to the block."""
        return slice(self.start, self.start + self.size)


@dataclass(frozen=True, eq=False)
class SdpData:
    """min <C, X> subject to lower_i <= <A_i, X> <= upper_i for i = 1, ..., m, X psd of order n.

    Several blocks are one matrix: the data reads its diagonal blocks only, and those of a psd matrix are psd, so
    nothing is lost or gained. Diagonal blocks (nonnegative vectors) are read on the diagonal.

    >>> data = SdpData(2, Entries.from_matrices([np.diag([1.0, 2.0])]), Entries.from_matrices([np.eye(2)]),
    ...                np.ones(1), np.ones(1), (Block(0, 2, False),))
    >>> data.extended.image(np.eye(2))
    array([3., 2.])
    """

    order: int
    cost: Entries
    """The nonzeros of C, as constraint 0."""
    constraints: Entries
    """The nonzeros of A_1, ..., A_m, counting from zero."""
    lower: Array
    upper: Array
    blocks: tuple[Block, ...]

    def __post_init__(self) -> None:
        for name, values in (("C", self.cost.value), ("A", self.constraints.value), ("b", self.b)):
            largest = float(np.abs(values).max(initial=0.0, where=np.isfinite(values)))
            if largest > LARGEST:
                raise InvalidInput(name, f"numbers up to {LARGEST:.0e}, whose squares can be added up", f"{largest:g}")

    @property
    def size(self) -> int:
        """Number of constraints."""
        return int(self.lower.size)

    @cached_property
    def equal(self) -> Array:
        """Which constraints are equations."""
        return self.lower == self.upper

    @cached_property
    def b(self) -> Array:
        """The right-hand sides: the upper bound where it is finite, else the lower."""
        return np.where(np.isfinite(self.upper), self.upper, self.lower)

    @cached_property
    def extended(self) -> SdpMap:
        """X -> (<C, X>, A(X)) on one sparsity pattern; C + A^*(lam) is its adjoint at (1, lam)."""
        first, rest = self.cost, self.constraints
        names = ("block", "row", "col", "value")
        joined = [np.concatenate([getattr(first, name), getattr(rest, name)]) for name in names]
        entries = Entries(np.concatenate([first.constraint, rest.constraint + 1]), *joined)
        return SdpMap((self.order, self.order), entries, self.size + 1)

    @cached_property
    def diagonals(self) -> Any:
        """CSR matrix with the diagonal of each A_i that is diagonal; rows of the others are empty."""
        return self.extended.diagonals()[1:]

    @cached_property
    def norms(self) -> Array:
        """Frobenius norms of A_1, ..., A_m, 1 for a matrix that is zero."""
        norms = self.extended.frobenius_norms()[1:]
        return np.where(norms > 0.0, norms, 1.0)

    def coupling(self, scales: Array) -> Coupling:
        """Return the set of residuals A(X) - b allowed, rows divided by the scales."""
        if self.equal.all():
            return couplings.Equality()
        below = self.lower - self.b
        above = np.where(np.isfinite(self.upper), 0.0, np.inf)
        return couplings.Box(below / scales, above / scales)

    def violation(self, image: Array) -> Array:
        """Return how far each <A_i, X> is from its bounds."""
        return np.maximum(np.maximum(self.lower - image, image - self.upper), 0.0)

    def without(self, rows: Array) -> SdpData:
        """Return the program without some constraints (a mask)."""
        keep = ~rows
        number = np.cumsum(keep) - 1
        chosen = keep[self.constraints.constraint]
        old = self.constraints
        parts = (old.block[chosen], old.row[chosen], old.col[chosen], old.value[chosen])
        entries = Entries(number[old.constraint[chosen]], *parts)
        return replace(self, constraints=entries, lower=self.lower[keep], upper=self.upper[keep])


def from_sdpa(problem: SdpaProblem) -> SdpData:
    """Return max <F_0, Y>, <F_i, Y> = b_i as min <-F_0, X>, with all blocks in one matrix.

    >>> problem = SdpaProblem([1.0], (1, -2), [0, 1], [1, 0], [1, 0], [1, 0], [2.0, 1.0])
    >>> data = from_sdpa(problem)
    >>> data.order, data.cost.row, data.cost.value
    (3, array([2], dtype=int32), array([-2.]))
    """
    sizes = [abs(size) for size in problem.block_sizes]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    pairs = zip(starts, problem.block_sizes, strict=False)
    blocks = tuple(Block(int(start), abs(size), size < 0 or size == 1) for start, size in pairs)
    offset = starts[problem.block]
    cost = problem.constraint == 0

    def entries(chosen: Any, shift: int, sign: float) -> Entries:
        where = (problem.row[chosen] + offset[chosen], problem.col[chosen] + offset[chosen])
        constraint = problem.constraint[chosen] - shift
        return Entries(constraint, np.zeros_like(constraint), *where, sign * problem.value[chosen])

    return SdpData(int(starts[-1]), entries(cost, 0, -1.0), entries(~cost, 1, 1.0), problem.b, problem.b, blocks)
