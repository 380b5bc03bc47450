"""One model for each block of a product of sets: far fewer oracle calls than one model of the whole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd.couplings import LeastSquares
from unipd.dual import DualPoint
from unipd.methods.block_columns import Columns, as_complex, as_real
from unipd.methods.block_hull import BlockHull
from unipd.methods.block_master import BlockMaster, Solution, solve_block_master
from unipd.methods.block_point import BlockPoint
from unipd.methods.block_structure import SIGNS, block_image, blocks_of
from unipd.methods.master import MASTER_SHARE, Master, solve_master
from unipd.methods.simplices import block_starts
from unipd.primal.active_set import vertex_key
from unipd.problem import Problem
from unipd.protocols import inner

_FEW_STEPS, _MANY_STEPS = 4, 12
_FIRST_REACH, _LAST_REACH = 1.0, 1e12
_PRIMAL_SHARE = 0.01
_FEW_ATOMS = 500
"""Atoms up to which the master of a loss is solved exactly, by an active set."""


@dataclass(frozen=True)
class BlockBundle:
    """Atoms of every block with their images and costs: x_i = sum_j w_ij x_ij with w_i in a simplex of its own.

    The model of g is sum_i max_j { <-A_i^* lam, x_ij> - f_i(x_ij) } + <lam, b>, which one oracle call cuts in every
    block at once. f is bounded by its values at the atoms, exactly where it is linear.
    """

    blocks: IntArray
    """The block of every atom, ascending."""
    atoms: tuple[Any, ...]
    keys: tuple[bytes, ...]
    costs: FloatArray
    """f_i(x_ij)."""
    columns: Columns
    """A_i x_ij, complex numbers as pairs."""
    weights: FloatArray
    reach: float
    """tau of the master's primal proximal term; 0 until costs can tell it."""
    settled: bool = True
    """Whether the last master was solved to its tolerance."""

    @staticmethod
    def of(problem: Problem, point: DualPoint) -> BlockBundle:
        """Return the bundle of one atom a block."""
        parts = point.atom.parts
        empty = BlockBundle(np.zeros(0, np.intp), (), (), np.zeros(0), Columns.none(problem), np.zeros(0), 0.0)
        bundle = empty.joined(problem, point)
        return replace(bundle, weights=np.ones(len(parts)))

    def optimised(self, problem: Problem, centre: Array, smoothness: float, eps: float) -> tuple[BlockBundle, Array]:
        """Return the bundle at the master's weights, and the multiplier; exact for a loss while atoms are few."""
        if problem.loss is not None and (self.blocks.size <= _FEW_ATOMS or type(problem.coupling) not in SIGNS):
            return self._exactly(problem, centre, smoothness, eps)
        loss = problem.coupling if isinstance(problem.coupling, LeastSquares) else None
        prices = self.prices(centre)
        master = BlockMaster(
            columns=self.columns.matrix(),
            costs=self.costs,
            blocks=self.blocks,
            starts=self.starts,
            target=as_real(problem.b),
            centre=as_real(centre if loss is None else np.zeros_like(centre)),
            smoothness=smoothness if loss is None else 1.0 / loss.scale,
            sign=SIGNS[type(problem.coupling)],
            weights=self.weights,
            reach=self.reach or _first_reach(prices, self.starts, self.blocks),
        )
        accuracy = eps / problem.scale(self.objective())
        tolerance = _PRIMAL_SHARE * accuracy * max(1.0, problem.norm_b)
        solution = solve_block_master(master, tolerance, share=0.2 if loss is None else 0.0)
        largest = _LAST_REACH / max(float(np.abs(prices).max()), 1e-300)
        reach = min(_adapted(solution) * master.reach, largest) if self.blocks.size > self.count else 0.0
        settled = replace(self, weights=solution.weights, reach=reach, settled=solution.converged)
        return settled, as_complex(solution.dual, problem)

    def _exactly(self, problem: Problem, centre: Array, smoothness: float, eps: float) -> tuple[BlockBundle, Array]:
        """Solve the master without a proximal term in the weights."""
        images = self.columns.images(problem)
        hull = BlockHull.of(images, problem.b.astype(images.dtype), self.costs, self.blocks)
        weights, dual = solve_master(Master(problem, hull, centre, smoothness), self.weights, MASTER_SHARE * eps)
        return replace(self, weights=weights, reach=0.0, settled=True), dual.astype(problem.dtype, copy=False)

    @property
    def count(self) -> int:
        """Number of blocks."""
        return int(self.blocks[-1]) + 1

    @property
    def starts(self) -> IntArray:
        """Where the blocks begin."""
        return block_starts(self.blocks, self.count)

    def prices(self, dual: Array) -> FloatArray:
        """Return f_i(x_ij) + <lam, A_i x_ij>."""
        return self.costs + self.columns.matrix().T @ as_real(dual)

    def joined(self, problem: Problem, point: DualPoint) -> BlockBundle:
        """Return the bundle with the oracle's new atoms, of weight zero; atoms already there are not repeated."""
        oracles, maps = blocks_of(problem)
        known = set(zip(self.blocks.tolist(), self.keys, strict=True))
        keyed = [(block, vertex_key(part)) for block, part in enumerate(point.atom.parts)]
        fresh = [(block, key) for block, key in keyed if (block, key) not in known]
        parts = [point.atom.parts[block] for block, _ in fresh]
        pairs = [(block, part) for (block, _), part in zip(fresh, parts, strict=True)]
        images = [as_real(block_image(problem.map, maps[block], part)) for block, part in pairs]
        costs = [oracles[block].objective(part) for block, part in pairs]
        numbers = np.concatenate([self.blocks, np.array([block for block, _ in fresh], np.intp)])
        order = np.argsort(numbers, kind="stable")
        held, held_keys = (*self.atoms, *parts), (*self.keys, *(key for _, key in fresh))
        return BlockBundle(
            blocks=numbers[order],
            atoms=tuple(held[place] for place in order),
            keys=tuple(held_keys[place] for place in order),
            costs=np.concatenate([self.costs, costs])[order],
            columns=self.columns.with_more(images).taken(order),
            weights=np.concatenate([self.weights, np.zeros(len(fresh))])[order],
            reach=self.reach,
        )

    def image(self, problem: Problem) -> Array:
        """Return A x."""
        return as_complex(self.columns.matrix() @ self.weights, problem)

    def objective(self) -> float:
        """Return the bound of f(x) by the values at the atoms."""
        return float(self.costs @ self.weights)

    def tracker(self) -> BlockPoint:
        """Return x as a primal tracker."""
        used = np.flatnonzero(self.weights > 0)
        return BlockPoint(self.blocks[used], tuple(self.atoms[place] for place in used), self.weights[used])

    def lower_model(self, problem: Problem, dual: Array) -> float:
        """Return the cutting-plane model of g at lam."""
        return inner(dual, problem.b) - float(np.minimum.reduceat(self.prices(dual), self.starts[:-1]).sum())

    def extent(self) -> float:
        """Return the length of all columns and costs together: no less than what cancels in the model."""
        return float(np.linalg.norm(self.columns.entries) + np.linalg.norm(self.costs))


def _adapted(solution: Solution) -> float:
    """Return the factor for tau after a master: larger ones make fewer masters, smaller ones easier ones."""
    if not solution.converged:
        return 0.1
    return 2.0 if solution.steps <= _FEW_STEPS else 0.5 if solution.steps > _MANY_STEPS else 1.0


def _first_reach(prices: FloatArray, starts: IntArray, blocks: IntArray) -> float:
    """Return a tau for which typical differences of price within a block move weights by several units."""
    excess = prices - np.minimum.reduceat(prices, starts[:-1])[blocks]
    positive = excess[excess > 0]
    return _FIRST_REACH / float(positive.mean()) if positive.size else 1.0
