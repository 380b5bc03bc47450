"""The cones of a program: how far a slack lies inside, what that proves, and the oracle of their truncated product."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array
from unipd.apps.sdp.data import (
    DENSE_ORDER,
    FREE,
    NONNEGATIVE,
    PSD,
    SECOND_ORDER,
    Block,
    SdpData,
    TraceBound,
    measure_size,
    split_blocks,
)
from unipd.apps.sdp.formulation import analyse, find_binary_lifting
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.maps.sdp import CostAndConstraintsMap, Entries
from unipd.problem import Problem
from unipd.protocols import SharpAnswer
from unipd.sharp.linear import Linear
from unipd.sharp.spectral.sdp import BoundedTrace, SdpCost
from unipd.spectral import PROBABILISTIC, RIGOROUS, smallest_eigenpair
from unipd.spectral.certify import certified_upper

LSQR_STEPS = 500
"""Most steps of the least-squares problem for a combination of the data that is positive definite."""
EPS = float(np.finfo(np.float64).eps)
ROUNDING = 8.0 * EPS
"""Relative error of a norm in floating point, generously."""
DATA_ROUNDINGS = 16
"""Further roundings of an entry of the slack than those of its sum: scaling, dense rank-one matrices as c v v^T."""
ATTEMPTS, FIRST_SHIFT, FIRST_SHARE = 6, 1e-15, 1e-3
"""How often a slack is shifted, tenfold each time, and by how much more than its margin at first: n times the first of
the two relative to the slack, or the second relative to the margin."""
TRACE_MULTIPLE = 10.0
"""Without a proof for X of any size, a dual bound holds for X of this multiple of the size of the point, or of the
least that b requires if that is more."""


def has_dense_blocks(data: SdpData) -> bool:
    """Whether psd blocks are factorised as arrays; larger ones are known by their products alone."""
    largest = max([0, *(block.size for block in data.blocks if block.kind == PSD)])
    return largest <= DENSE_ORDER or not data.is_psd


def measure_margins(blocks: Sequence[Block], operator: Any) -> Array:
    """Return for each block a proved lower bound on how far S lies inside the dual cone, negative outside.

    That is the smallest eigenvalue or entry, s_1 - ||(s_2, ..., s_k)||, and -max |s_i| for a free block, whose dual
    cone is {0}: for every X in the cone, <S, X> >= margin * size, with the size of :class:`TruncatedCone`.

    >>> blocks = (Block(0, 2, "nonnegative"), Block(2, 2, "second_order"))
    >>> measure_margins(blocks, np.diag([1.0, -2.0, 5.0, 3.0])).round(9)
    array([-2.,  2.])
    """
    pairs = zip(blocks, split_blocks(blocks, operator), strict=True)
    return np.array([measure_margin(block, part) for block, part in pairs])


def measure_margin(block: Block, part: Array) -> float:
    """Return that of one block, a matrix or a vector."""
    if block.kind == PSD:
        return smallest_eigenpair(part).lower if part.any() else 0.0
    if block.kind == SECOND_ORDER:
        length = float(np.linalg.norm(part[1:]))
        return float(part[0]) - length - ROUNDING * part.size * length
    return float(part.min()) if block.kind == NONNEGATIVE else -float(np.abs(part).max())


def choose_size(data: SdpData, x: LowRank) -> float:
    """Return the size of X up to which bounds are to hold where none holds for every X.

    That of the point alone would not do: at X = 0, with b = 0, every bound holds.
    """
    return TRACE_MULTIPLE * max(measure_size(data, x), data.natural_trace)


def move_into_cone(block: Block, part: Array) -> Array:
    """Return a block of X without what lies outside its cone; a psd one symmetric: ``SdpData.point`` makes it psd.

    >>> move_into_cone(Block(0, 2, "second_order"), np.array([1.0, -2.0]))
    array([ 2., -2.])
    """
    if block.kind == PSD:
        return 0.5 * (part + part.T)
    if block.kind == SECOND_ORDER:
        return np.concatenate([[max(float(part[0]), float(np.linalg.norm(part[1:])))], part[1:]])
    return np.maximum(part, 0.0) if block.kind == NONNEGATIVE else part


def make_admissible(data: SdpData, dual: Array, *, is_ray: bool = False) -> Array:
    """Return multipliers (of rows of unit norm) with the signs of inequalities and no slack in free variables.

    The slack there, C + A^*(lam), is zero up to rounding; for a ray it is A^*(lam). Multipliers of inequalities change
    by a share of themselves, so they keep their signs.

    >>> rows, cost = Entries([0, 1], [0, 0], [0, 0], [1.0, 2.0]), Entries([0], [0], [0], [3.0])
    >>> data = SdpData(1, cost, rows, np.array([0.0, -np.inf]), np.zeros(2), (Block(0, 1, "free"),))
    >>> make_admissible(data, np.array([-1.0, -1.0]))
    array([-3.,  0.])
    """
    out = data.clip_signs(dual)
    is_free = np.repeat([block.kind == FREE for block in data.blocks], [block.size for block in data.blocks])
    if not is_free.any():
        return out
    place, width = np.cumsum(is_free) - 1, int(is_free.sum())
    rows = data.unit_constraints.select(is_free[data.constraints.row])
    cost = data.cost.select(is_free[data.cost.row])
    target = np.bincount(place[cost.row], cost.value, minlength=width) * (0.0 if is_ray else 1.0)
    free = np.zeros((data.size, width))
    np.add.at(free, (rows.constraint, place[rows.row]), rows.value)
    is_range = np.isfinite(data.lower) & np.isfinite(data.upper)
    weights = np.where(is_range, float(np.abs(out).max()) or 1.0, np.abs(out))
    for _ in range(2):  # the second time for the rounding of the first
        out -= weights * np.linalg.lstsq((weights[:, None] * free).T, target + free.T @ out, rcond=None)[0]
    return out


def combine_to_identity(data: SdpData) -> tuple[float, Array]:
    """Return the level >= 0 and z (for rows of unit norm) for which level C + A^*(z) is nearest to the identity.

    Where that is positive definite, a multiple of it moves every slack into the cone. Blocks without constraints do
    not count: their slack is C.
    """
    size = float(np.linalg.norm(data.cost.value)) or 1.0
    scaled = data.unit_constraints
    parts = Entries.concatenate(
        [replace(scaled, constraint=scaled.constraint + 1), replace(data.cost, value=data.cost.value / size)]
    )
    parts = parts.select(data.is_used[data.owners[parts.row]])
    low, high = np.minimum(parts.row, parts.col).astype(np.int64), np.maximum(parts.row, parts.col).astype(np.int64)
    diagonal = np.flatnonzero(data.is_used[data.owners]).astype(np.int64)
    keys = np.concatenate([diagonal * (data.order + 1), low * data.order + high])
    places, index = np.unique(keys, return_inverse=True)
    value = np.where(low == high, parts.value, math.sqrt(2.0) * parts.value)
    matrix: Any = sp.csr_array((value, (index[diagonal.size :], parts.constraint)), shape=(places.size, data.size + 1))
    identity = np.ones(data.order)
    for block in data.blocks:
        if block.kind in (FREE, SECOND_ORDER):
            identity[block.start + (block.kind == SECOND_ORDER) : block.rows.stop] = 0.0
    target = np.zeros(places.size)
    target[index[: diagonal.size]] = identity[diagonal]
    from scipy.sparse.linalg import lsqr

    found = lsqr(matrix, target, atol=1e-12, btol=1e-12, iter_lim=LSQR_STEPS)[0]
    level, z = max(float(found[0]) / size, 0.0), found[1:]
    if level == 0.0:
        return level, make_admissible(data, z, is_ray=True)
    return level, level * make_admissible(data, z / level)


@dataclass(frozen=True, eq=False)
class Proof:
    """What multipliers prove: <C, X> >= value for every feasible X up to a size."""

    dual: Array
    value: float
    margin: float
    """Lower bound on how far the slack lies inside the dual cone."""
    size: float
    """inf where the bound holds for every X."""
    kind: str

    @property
    def trace(self) -> TraceBound:
        """The size as a bound on the trace, with its reason."""
        if math.isinf(self.size):
            return TraceBound(math.inf, False, "the slack matrix is psd")
        return TraceBound(self.size, False, f"{TRACE_MULTIPLE:g} times that of the point or of b")


@dataclass(frozen=True, eq=False)
class Prover:
    """Proves bounds for one program."""

    data: SdpData
    is_rounding_counted: bool
    size: float
    """Bound on the size of X for bounds that hold for no X otherwise; NaN for none."""

    def __post_init__(self) -> None:
        if self.is_rounding_counted and not has_dense_blocks(self.data):
            raise InvalidInput("rigorous", f"psd blocks of order at most {DENSE_ORDER}", f"order {self.data.order}")

    def prove(self, dual: Array, preference: float) -> Proof:
        """Return the best bound that multipliers prove; one for every X is preferred, by this much."""
        found = self.measure(make_admissible(self.data, dual * self.data.norms) / self.data.norms)
        if found.margin >= 0.0:
            return found
        candidates = [self._shift(found), self.limit(found)]
        candidates = [proof for proof in candidates if proof is not None and not math.isnan(proof.value)]
        if not candidates:
            return replace(found, value=-math.inf, size=math.inf)
        return max(candidates, key=lambda proof: proof.value + (preference if math.isinf(proof.size) else 0.0))

    def measure(self, dual: Array) -> Proof:
        """Return -b^T y with the margin of the slack: a proof if that is not negative."""
        data, used = self.data, dual != 0.0
        if has_dense_blocks(data):
            margins, kind = measure_margins(data.blocks, data.slack(dual)), RIGOROUS
        else:
            opposite = data.cost_and_constraints.adjoint(np.concatenate([[-1.0], -dual]))
            margins, kind = np.array([-certified_upper(opposite).upper]), PROBABILISTIC
        products = dual[used] * np.where(dual > 0.0, data.upper, data.lower)[used]
        value = -math.fsum(products)
        if self.is_rounding_counted:
            margins = margins - bound_rounding(data, dual)
            value -= 2.0 * EPS * math.fsum(np.abs(products))
        return Proof(dual, value, float(margins.min()), math.inf, kind)

    def limit(self, found: Proof) -> Proof:
        """Return what multipliers with a slack outside the dual cone prove: a bound for X up to the size."""
        loss = self.size * found.margin
        rounding = 2.0 * EPS * (abs(found.value) + abs(loss)) if self.is_rounding_counted else 0.0
        return replace(found, value=found.value + loss - rounding, size=self.size)

    def _shift(self, found: Proof) -> Proof | None:
        """Return multipliers whose slack is proved to lie inside the dual cone, near those found; or None."""
        combination = find_combination(self.data)
        if combination is None:
            return None
        level, z, margin = combination
        size = float(np.abs(self.data.slack(found.dual).diagonal()).max())
        extra = max(FIRST_SHIFT * self.data.order * size, -FIRST_SHARE * found.margin)
        for _ in range(ATTEMPTS):
            step = (extra - found.margin) / margin
            proof = self.measure((found.dual + step * z) / (1.0 + step * level))
            if proof.margin >= 0.0:
                return proof
            extra = 10.0 * max(extra, -proof.margin)
        return None


def bound_rounding(data: SdpData, dual: Array) -> Array:
    """Return for each block a bound on the norm of what rounding changed in C + sum y_i A_i.

    An entry with k terms is off by at most gamma_k times the same sum of moduli, and a symmetric matrix with these
    entries has at most the norm of its largest row sum.
    """
    cost, rows = (replace(part, value=np.abs(part.value)) for part in (data.cost, data.constraints))
    moduli = replace(data, cost=cost, constraints=rows).slack(np.abs(dual))
    places = np.concatenate([part.row.astype(np.int64) * data.order + part.col for part in (cost, rows)])
    terms = int(np.unique(places, return_counts=True)[1].max(initial=0)) + DATA_ROUNDINGS
    sums = 2.0 * terms * EPS * moduli.matvec(np.ones(data.order))
    return np.array(
        [sums[block.rows].sum() if block.kind == SECOND_ORDER else sums[block.rows].max() for block in data.blocks]
    )


def find_combination(data: SdpData) -> tuple[float, Array, float] | None:
    """Return (level, z, margin) with level C + sum z_i A_i inside the dual cone by a margin, level >= 0; or None.

    That is the combination which proves a bound on the trace, or the one nearest to the identity.
    """
    trace = analyse(data).trace_bound() if data.is_psd else None
    lifting = find_binary_lifting(data) if data.is_psd and trace is None else None
    trace = trace if lifting is None else lifting.trace(data.size)
    if trace is not None and trace.multipliers is not None:
        level, z = 0.0, trace.multipliers
    else:
        level, z = combine_to_identity(data)
        z = z / data.norms
    if not has_dense_blocks(data):
        return (level, z, 1.0) if trace is not None else None
    whole = data.cost_and_constraints.adjoint(np.concatenate([[level], z]))
    margin = float(measure_margins(data.blocks, whole)[data.is_bounding].min(initial=math.inf))
    return (level, z, margin) if margin > 0.0 else None


class TruncatedCone(BoundedTrace):
    """{X in a product of cones, size(X) <= a}, with the size of :func:`measure_size`; every answer is rigorous.

    >>> TruncatedCone((Block(0, 2, "second_order"),), 2.0)(np.diag([1.0, -3.0])).value
    8.0
    """

    def __init__(self, blocks: tuple[Block, ...], trace: float) -> None:
        super().__init__(blocks[-1].rows.stop, trace)
        self.blocks = blocks
        self.has_membership_test = all(block.kind in (PSD, NONNEGATIVE) for block in blocks)

    def answer(self, direction: Any, tolerance: float, start: Any, certify: str) -> SharpAnswer:
        """Return a times the best extreme ray of all blocks, or 0."""
        del tolerance, start, certify
        parts = split_blocks(self.blocks, direction)
        values = [_best_ray(block, part) for block, part in zip(self.blocks, parts, strict=True)]
        best = int(np.argmax([value for value, _ in values]))
        upper = -min(measure_margin(block, -part) for block, part in zip(self.blocks, parts, strict=True))
        top, ray = values[best]
        left, rows = np.zeros((self.shape[0], 2)), self.blocks[best].rows
        if self.blocks[best].is_vector:
            left[rows, 0], left[rows, 1] = np.sqrt(np.maximum(ray, 0.0)), np.sqrt(np.maximum(-ray, 0.0))
        else:
            left[rows, 0] = ray
        weight = self.weight(top)
        return SharpAnswer(
            atom=LowRank(left, left, np.array([weight, -weight])),
            value=self.conjugate(top),
            objective=0.0,
            error=max(self.conjugate(upper) - self.conjugate(top), 0.0),
            matvecs=self.shape[0],
            bound_kind=RIGOROUS,
        )


def _best_ray(block: Block, part: Array) -> tuple[float, Array]:
    """Return the largest <D, X> over X of size 1 in the cone of a block, and X: its diagonal, or v with X = v v^T."""
    if block.kind == PSD:
        pair = smallest_eigenpair(-part)
        return -pair.value, pair.vector
    ray = np.zeros(block.size)
    if block.kind == SECOND_ORDER:
        length = float(np.linalg.norm(part[1:]))
        ray[0], ray[1:] = 1.0, part[1:] / (length or 1.0)
        return float(part[0]) + length, ray
    place = int(np.argmax(np.abs(part) if block.kind == FREE else part))
    ray[place] = np.sign(part[place]) if block.kind == FREE else 1.0
    return float(part[place] * ray[place]), ray


class ConicCost(SdpCost):
    """f(X) = <C, X> over a truncated product of cones."""

    def maximum(self) -> float:
        """Return the support function of the set at C."""
        return Linear.maximum(self)


class ConicProblem(Problem):
    """The template over the product of cones, with rows of unit norm, for X up to a size."""

    def __init__(self, data: SdpData, size: float, maximise: bool, constant: float) -> None:
        self.data, self.maximise, self.constant = data, maximise, constant
        scales = np.concatenate([np.ones(1), 1.0 / data.norms])
        cost_map = CostAndConstraintsMap(data.cost_and_constraints.scale_rows(scales))
        cost = ConicCost(cost_map, TruncatedCone(data.blocks, size), maximise, constant)
        super().__init__(cost, cost_map, data.b / data.norms, data.coupling(data.norms))

    @cached_property
    def least_scale(self) -> float:
        """That of the program."""
        return self.data.least_scale

    def scale(self, objective: float) -> float:
        """Return max(|objective|, 1e-4 times the size of f at the least X that b requires)."""
        return self.data.gap_scale(objective)


class UnlimitedProblem(ConicProblem):
    """The template of a program whose X is bounded for form's sake only."""

    def truncate(self, size: float) -> Problem:
        """Return the problem for X up to a size."""
        return ConicProblem(self.data, size, self.maximise, self.constant)
