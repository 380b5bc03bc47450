"""The master of a linear program: solved exactly over the entries of x that the atoms use, by SciPy's HiGHS.

Where every set is {x_i >= 0 : E_i x_i = e_i} (:meth:`~unipd.protocols.OracleDefaults.equations`), f is linear and A
gives its columns, the hull of the atoms is replaced by the larger set of all points of X on their supports,

    min over x >= 0, s, t >= 0   <c, x> + <p, s + t>   subject to   A x + s - t = b,  E x = e,

where s and t are slacks: free of charge on the side that K allows, elsewhere at the price of a penalty, which limits
the multipliers as the proximal term does elsewhere. Paths share edges: over a few supports there are exponentially many
of them, so that far fewer oracle calls are needed than with one weight per atom. The multipliers of A x = b are lam;
the oracle certifies them as those of any other master.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array, FloatArray, IntArray
from unipd._util.arrays import TINY
from unipd.atoms import Blocks, SparsePoint, dense
from unipd.dual import DualPoint
from unipd.methods.corrective.model import KnownAtom, known_atoms
from unipd.problem import Problem

MANY_ROWS = 200
"""Rows from which the linear master is used where it applies; with fewer, one with a proximal term takes less time."""
EARLY, LATE = 3, 50
"""Iterations before the first linear master: a few, for multipliers of the right size, where atoms share entries, so
that supports have many more points than the hull, or one block has sparse columns, of which a Gram matrix knows
nothing; else as many as masters with a proximal term may well take in all."""
_TOLERANCE = 1e-9
"""Feasibility tolerance of HiGHS, in units of the largest entries of A and b, and of the cost."""
_PENALTY_GROWTH = 10.0
"""The penalty is this multiple of the largest multiplier met, and grows by it where slacks remain at the optimum."""


@dataclass(frozen=True)
class LinearModel:
    """The linear program over some entries of x."""

    support: IntArray = field(default_factory=lambda: np.zeros(0, np.intp))
    """Flat entries of x, block after block, ascending."""
    first_iteration: int = LATE
    """Iterations before the first master."""
    penalty: float = 0.0
    """p; 0 until the first master."""
    is_exact: bool = False
    """Whether more entries bring nothing: the next masters have a proximal term again."""

    @staticmethod
    def of(problem: Problem, point: DualPoint) -> LinearModel | None:
        """Return the model of an atom; None unless K is given by signs, f is linear, X by equations, A by columns."""
        signs, rows = problem.coupling.dual_signs, problem.b.size
        if signs is None or rows < MANY_ROWS or problem.dtype != np.float64 or not problem.sharp.linear:
            return None
        none = np.zeros(0, np.intp)
        has_equations = all(oracle.equations(none) is not None for oracle in _blocks(problem))
        columns = problem.map.columns(none) if has_equations else None
        if columns is None:
            return None
        blocks = _blocks(problem)
        is_early = any(oracle.atom_entries != 1 for oracle in blocks) or (
            len(blocks) == 1 and scipy.sparse.issparse(columns)
        )
        return LinearModel(first_iteration=EARLY if is_early else LATE).with_atoms(problem, point)

    def with_atoms(self, problem: Problem, *points: DualPoint | KnownAtom) -> LinearModel:
        """Return the model with the entries that these atoms use."""
        used, starts = [self.support], _starts(problem)
        for point in points:
            parts = point.atom.parts if problem.sharp.block_oracles else (point.atom,)
            used += [start + _support(part) for start, part in zip(starts, parts, strict=False)]
        return replace(self, support=np.unique(np.concatenate(used)))

    def after(self, earlier: LinearModel) -> LinearModel:
        """Return the model with the entries of another run, whose master comes at once if that run had one."""
        if earlier.penalty == 0.0:
            return self
        return LinearModel(np.union1d(self.support, earlier.support), 0, earlier.penalty)

    def with_penalty(self, problem: Problem, dual: Array, objective: float) -> LinearModel:
        """Return the model with a penalty well above the multipliers met so far."""
        largest = float(np.abs(dual).max())
        price = problem.scale(objective) / (float(np.abs(problem.b).max()) or 1.0) / problem.b.size
        return replace(self, penalty=_PENALTY_GROWTH * max(largest, price))

    def advance(self, problem: Problem, is_infeasible: bool, *points: DualPoint | KnownAtom) -> LinearModel:
        """Return the model with more atoms; where they bring nothing new, with a larger penalty, or as exact."""
        larger = self.with_atoms(problem, *points)
        if self.penalty == 0.0 or self.is_exact or larger.support.size > self.support.size:
            return larger
        return replace(self, penalty=_PENALTY_GROWTH * self.penalty) if is_infeasible else replace(self, is_exact=True)

    def solve(self, problem: Problem) -> tuple[KnownAtom, Array] | None:
        """Return x as an atom, and lam; None where HiGHS finds no solution."""
        solution = self._minimize(problem)
        if solution is None:
            return None
        x, dual = solution
        points: list[SparsePoint] = []
        for oracle, inside, places in self._split(problem):
            entries = x[inside]
            points.append(SparsePoint(oracle.shape, places[entries > 0.0], entries[entries > 0.0]))
        atom = Blocks(tuple(points)) if problem.sharp.block_oracles else points[0]
        return known_atoms(problem, [atom])[0], dual

    def _split(self, problem: Problem) -> Iterator[tuple[Any, slice, IntArray]]:
        """Yield the oracle of every block, where its entries are in the support, and which of its entries they are."""
        starts = _starts(problem)
        ends = np.searchsorted(self.support, starts)
        for block, oracle in enumerate(_blocks(problem)):
            inside = slice(ends[block], ends[block + 1])
            yield oracle, inside, self.support[inside] - starts[block]

    def _minimize(self, problem: Problem) -> tuple[FloatArray, Array] | None:
        """Return x over the support, and lam."""
        from scipy.optimize import linprog

        signs = np.broadcast_to(problem.coupling.dual_signs, problem.dual_shape).reshape(-1)
        rows, b = problem.b.size, problem.b.reshape(-1)
        images = scipy.sparse.csc_array(problem.map.columns(self.support))
        costs, equations, right = self._sets(problem)
        unit = max(float(np.abs(b).max()), float(np.abs(images).max()))
        cost_unit = max(float(np.abs(costs).max()), TINY)
        slack, price = scipy.sparse.eye_array(rows), self.penalty * unit / cost_unit
        prices = [costs / cost_unit, np.where(signs > 0, 0.0, price), np.where(signs < 0, 0.0, price)]
        found = linprog(
            np.concatenate(prices),
            A_eq=scipy.sparse.block_array([[images / unit, slack, -slack], [equations, None, None]], format="csc"),
            b_eq=np.concatenate([b / unit, right]),
            method="highs-ipm",
            options={"primal_feasibility_tolerance": _TOLERANCE, "dual_feasibility_tolerance": _TOLERANCE},
        )
        if found.status != 0:
            return None
        dual = -(cost_unit / unit) * found.eqlin.marginals[:rows]
        dual = np.where(signs > 0, np.maximum(dual, 0.0), np.where(signs < 0, np.minimum(dual, 0.0), dual))
        return np.maximum(found.x[: costs.size], 0.0), dual.reshape(problem.dual_shape)

    def _sets(self, problem: Problem) -> tuple[FloatArray, Any, FloatArray]:
        """Return the costs, E and e of all blocks."""
        costs, matrices, right = [], [], []
        for oracle, _, places in self._split(problem):
            cost = oracle.linear_cost
            costs.append(np.zeros(places.size) if cost is None else np.asarray(cost, np.float64).reshape(-1)[places])
            entries, positions, sums = oracle.equations(places)
            matrices.append(scipy.sparse.coo_array((entries, positions), shape=(sums.size, places.size)))
            right.append(sums)
        return np.concatenate(costs), scipy.sparse.block_diag(matrices), np.concatenate(right)


def _blocks(problem: Problem) -> tuple[Any, ...]:
    return problem.sharp.block_oracles or (problem.sharp,)


def _starts(problem: Problem) -> IntArray:
    """Return where the blocks begin among the entries of x, and their end."""
    return np.cumsum([0, *(math.prod(oracle.shape) for oracle in _blocks(problem))])


def _support(atom: Any) -> IntArray:
    return atom.indices if isinstance(atom, SparsePoint) else np.flatnonzero(dense(atom))
