"""Programs in the conventions of file formats: SDPA's pair of problems, SeDuMi's cones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array
from unipd.apps.sdp.data import FREE, NONNEGATIVE, PSD, SECOND_ORDER, Block, SdpData, list_blocks
from unipd.errors import InvalidInput
from unipd.io import SdpaProblem
from unipd.maps.sdp import Entries

if TYPE_CHECKING:
    from unipd.io import SedumiProblem


def data_from_sdpa(problem: SdpaProblem) -> SdpData:
    """Return max <F_0, Y>, <F_i, Y> = b_i as min <-F_0, X>, with all blocks in one matrix.

    >>> problem = SdpaProblem([1.0], (1, -2), [0, 1], [1, 0], [1, 0], [1, 0], [2.0, 1.0])
    >>> data = data_from_sdpa(problem)
    >>> data.order, data.cost.row, data.cost.value
    (3, array([2], dtype=int32), array([-2.]))
    """
    blocks = list_blocks(problem.block_sizes)
    starts = np.array([block.start for block in blocks])
    row, col = problem.row + starts[problem.block], problem.col + starts[problem.block]
    merged, is_cost = Entries(problem.constraint, row, col, problem.value), problem.constraint == 0
    cost, rest = merged.select(is_cost), merged.select(~is_cost)
    constraints = replace(rest, constraint=rest.constraint - 1)
    order = blocks[-1].rows.stop
    return SdpData(order, replace(cost, value=-cost.value), constraints, problem.b, problem.b, blocks)


def data_from_sedumi(problem: SedumiProblem) -> SdpData:
    """Return min c^T x, A x = b, x in K with all cones as blocks of one matrix.

    >>> from unipd.io import SedumiProblem
    >>> problem = SedumiProblem([[1.0, 0.0, 2.0, 2.0, 0.0]], [1.0], [0.0, 1.0, 0.0, 0.0, 1.0], free=1, psd=(2,))
    >>> data = data_from_sedumi(problem)
    >>> [block.kind for block in data.blocks], data.constraints.row, data.constraints.col, data.constraints.value
    (['free', 'psd'], array([0, 1], dtype=int32), array([0, 2], dtype=int32), array([1., 2.]))
    """
    cones = [(problem.free, FREE), (problem.nonnegative, NONNEGATIVE)]
    cones += [(size, SECOND_ORDER) for size in problem.second_order]
    cones += [(size, PSD if size > 1 else NONNEGATIVE) for size in problem.psd]
    blocks: list[Block] = []
    for size, kind in cones:
        if size:
            blocks.append(Block(blocks[-1].rows.stop if blocks else 0, size, kind))
    if not blocks:
        raise InvalidInput("K", "at least one variable", "none")

    def convert(matrix: Any) -> Entries:
        row, col = problem.places(matrix.col)
        return Entries(matrix.row, row, col, matrix.data).select(row <= col)

    cost, constraints = convert(sp.coo_array(problem.c[None])), convert(problem.A.tocoo())
    return SdpData(blocks[-1].rows.stop, cost, constraints, problem.b, problem.b, tuple(blocks))


def to_equations(data: SdpData) -> SdpData:
    """Return the program with equations only: a slack variable per inequality, and an equation more per range.

    The slacks are one nonnegative block at the end. A range becomes <A, X> + s = u, and s + t = u - l after all others.
    """
    if data.equal.all():
        return data
    has_lower, has_upper = np.isfinite(data.lower), np.isfinite(data.upper)
    rows = np.flatnonzero(~data.equal & (has_lower | has_upper))
    ranges = np.flatnonzero(~data.equal & has_lower & has_upper)
    slacks, extra = data.order + np.arange(rows.size), data.order + rows.size + np.arange(ranges.size)
    second = data.size + np.arange(ranges.size)
    constraint = np.concatenate([rows, second, second])
    place = np.concatenate([slacks, slacks[np.searchsorted(rows, ranges)], extra])
    value = np.concatenate([np.where(has_upper[rows], 1.0, -1.0), np.ones(2 * ranges.size)])
    entries = Entries.concatenate([data.constraints, Entries(constraint, place, place, value)])
    b = np.concatenate([data.b, data.upper[ranges] - data.lower[ranges]])
    blocks = (*data.blocks, Block(data.order, rows.size + ranges.size, NONNEGATIVE))
    whole = SdpData(data.order + rows.size + ranges.size, data.cost, entries, b, b, blocks)
    kept = np.concatenate([data.equal | has_lower | has_upper, np.ones(ranges.size, bool)])
    for row in np.flatnonzero(~kept)[::-1]:  # constraints without bounds
        whole = whole.without(int(row))
    return whole


def sdpa_from_data(data: SdpData) -> SdpaProblem:
    """Return max <-C, Y>, <A_i, Y> = b_i in SDPA's convention; free variables are differences of nonnegative ones.

    The format has no second-order cones: a program with some is refused.

    >>> one = Entries.from_matrices([np.eye(2)])
    >>> sdpa_from_data(SdpData(2, one, one, np.array([-np.inf]), np.array([1.0])))
    SdpaProblem(m=1, block_sizes=(2, -1), entries=5)
    """
    program = to_equations(data)
    if any(block.kind == SECOND_ORDER for block in program.blocks):
        expected = "a program without second-order cones, which the SDPA format does not have (SeDuMi's has)"
        raise InvalidInput("problem", expected, "a second-order cone")
    merged = Entries.concatenate(
        [
            replace(program.cost, value=-program.cost.value),
            replace(program.constraints, constraint=program.constraints.constraint + 1),
        ]
    )
    owner, sizes = program.owners, np.array([block.size for block in program.blocks])
    start, is_free = np.cumsum([0, *sizes])[:-1], np.array([block.kind == FREE for block in program.blocks])
    block = owner[merged.row]
    places = [merged.constraint, block, merged.row - start[block], merged.col - start[block], merged.value]
    negative = is_free[block]
    mirrored = [part[negative] for part in places]
    mirrored[2], mirrored[3] = (part + sizes[mirrored[1]] for part in mirrored[2:4])
    mirrored[4] = -mirrored[4]
    signed = [
        block.size if block.kind == PSD else -(2 * block.size if block.kind == FREE else block.size)
        for block in program.blocks
    ]
    return SdpaProblem(program.b, signed, *(np.concatenate(pair) for pair in zip(places, mirrored, strict=True)))


class Columns:
    """The variables of a program as one vector, in SeDuMi's order: free, nonnegative, second-order, psd in full.

    Blocks that are not ``present`` have none: X is 0 there.
    """

    def __init__(self, data: SdpData, present: Array | None = None) -> None:
        self.data, self.size = data, 0
        self.is_present = np.ones(len(data.blocks), bool) if present is None else present
        self.start = np.zeros(len(data.blocks), np.int64)
        self.sizes: dict[str, list[int]] = {kind: [] for kind in (FREE, NONNEGATIVE, SECOND_ORDER, PSD)}
        for kind, sizes in self.sizes.items():
            for index, block in enumerate(data.blocks):
                if block.kind == kind and self.is_present[index]:
                    sizes.append(block.size)
                    self.start[index] = self.size
                    self.size += block.size if block.is_vector else block.size**2

    def matrix(self, entries: Entries, rows: int) -> Any:
        """Return matrices of the program as rows over the vector."""
        blocks = self.data.blocks
        entries = entries.select(self.is_present[self.data.owners[entries.row]])
        block = self.data.owners[entries.row]
        first = np.array([block.start for block in blocks])[block]
        width = np.array([0 if block.is_vector else block.size for block in blocks])[block]
        row, col, start = entries.row - first, entries.col - first, self.start[block]
        is_twice = row != col
        index = (
            np.concatenate([entries.constraint, entries.constraint[is_twice]]),
            np.concatenate([start + row + width * col, (start + col + width * row)[is_twice]]),
        )
        return sp.csr_array((np.concatenate([entries.value, entries.value[is_twice]]), index), shape=(rows, self.size))

    def join(self, parts: Sequence[Array]) -> Array:
        """Return the vector of blocks of X, all of which are present."""
        return np.concatenate([parts[index].ravel() for index in np.argsort(self.start, kind="stable")])

    def parts(self, x: Array) -> list[Array]:
        """Return the blocks of X."""
        parts: list[Array] = []
        for block, start, is_present in zip(self.data.blocks, self.start, self.is_present, strict=True):
            if block.is_vector:
                parts.append(x[start : start + block.size])
            elif not is_present:
                parts.append(np.zeros((block.size, block.size)))
            else:
                matrix = x[start : start + block.size**2].reshape(block.size, block.size)
                parts.append(0.5 * (matrix + matrix.T))
        return parts


def sedumi_from_data(data: SdpData) -> SedumiProblem:
    """Return min c^T x, A x = b, x in K in SeDuMi's convention, with blocks in its order.

    >>> one = Entries.from_matrices([np.eye(2)])
    >>> sedumi_from_data(SdpData(2, one, one, np.array([-np.inf]), np.array([1.0])))
    SedumiProblem(m=1, free=0, nonnegative=1, second_order=(), psd=(2,))
    """
    from unipd.io import SedumiProblem

    program = to_equations(data)
    columns = Columns(program)
    free, nonnegative, second_order, psd = columns.sizes.values()
    cost = columns.matrix(program.cost, 1).toarray()[0]
    matrix = columns.matrix(program.constraints, program.size)
    return SedumiProblem(matrix, program.b, cost, sum(free), sum(nonnegative), second_order, psd)
