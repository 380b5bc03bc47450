"""Factors with rows of fixed length: diagonal constraints that hold by construction, and how to find them.

Constraints sum_{i in g} X_ii = t_g over disjoint groups g (MaxCut's diagonal, a trace) fix the length of the rows of
R in each group. Normalising the rows enforces them exactly, and their multipliers have a closed form, lam_g = -<S R,
R>_g / t_g for the slack matrix S = C + A^*(lam) of the other constraints.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray
from unipd.atoms import LowRank, apply
from unipd.errors import InvalidInput
from unipd.problem import Problem
from unipd.sharp.spectral.factors import FactorsDefaults, Preconditioner, random_block


@dataclass(frozen=True)
class RowFactors(FactorsDefaults):
    """Positive semidefinite X = R R^T with the squared lengths of groups of rows given.

    >>> factors = RowFactors(np.array([0, 1]), np.array([1.0, 4.0]), np.array([0, 1]), np.ones(2))
    >>> np.diag(factors.point(np.array([[3.0], [3.0]])).dense())
    array([1., 4.])
    """

    groups: IntArray
    """The group of each row of R."""
    targets: FloatArray
    """The squared length t_g of each group; they add up to the trace."""
    constraints: IntArray
    """For each group, the constraint that it enforces (-1: none, the group is the rest of the trace)."""
    coefficients: FloatArray
    """For each group, the coefficient c of that constraint, c sum_{i in g} X_ii = b."""

    @property
    def rows(self) -> int:
        """Rows of R."""
        return self.groups.size

    def start(self, atom: LowRank, columns: int, seed: int) -> Array:
        """Return random columns: rows of an atom may be zero, and cannot be normalised."""
        if atom.left.dtype.kind == "c":
            raise InvalidInput("factors", "real data for factors with rows of fixed length", "complex data")
        shape = np.zeros((self.rows, 1), atom.left.dtype)
        shape[0, 0] = 1.0
        return self._normalize(random_block(shape, max(2, min(columns, self.rows)), seed))

    def point(self, factor: Array) -> LowRank:
        """Return X for a factor whose rows have any length."""
        left = self._normalize(factor)
        return LowRank(left, left, np.ones(factor.shape[1], left.dtype))

    def gradient(self, operator: Any, factor: Array) -> Array:
        """Return the gradient in R of <S, X(R)>: in each group orthogonal to R."""
        scale = self._row_scales(factor)[self.groups][:, None]
        unit = scale * factor
        slope = 2.0 * apply(operator, unit)
        return scale * (slope - self.radial(slope, unit)[self.groups][:, None] * unit)

    def preconditioner(self, factor: Array) -> Preconditioner:
        """Return the identity: rows of fixed length are balanced."""
        return lambda block: block

    def mix_atom(self, factor: Array, atom: LowRank, gamma: float) -> Array:
        """Append the atom's columns with weight gamma, and normalise the rows."""
        unit = self._normalize(factor)
        extra = atom.left * np.sqrt(gamma * np.asarray(atom.weights, np.float64)).astype(unit.dtype)
        return self._normalize(np.concatenate([math.sqrt(1.0 - gamma) * unit, extra], axis=1))

    def rank(self, factor: Array) -> int:
        """Return the number of columns."""
        return int(factor.shape[1])

    def complete_dual(self, dual: Array, descent: Any, factor: Array) -> Array:
        """Return the dual vector with the closed-form multipliers of the fixed constraints.

        ``descent`` is -S with these entries of the dual vector at zero.
        """
        unit = self._normalize(factor)
        return self.with_multipliers(dual, self.radial(apply(descent, unit), unit))

    def with_multipliers(self, dual: Array, radial: Array) -> Array:
        """Return the dual vector with the multipliers of the fixed constraints, given the radial part of -S R."""
        out = dual.copy()
        fixed = self.constraints >= 0
        out[self.constraints[fixed]] = radial[fixed] / self.coefficients[fixed]
        return out

    def zero_fixed_multipliers(self, dual: Array) -> Array:
        """Return the dual vector with zeros for the fixed constraints."""
        out = dual.copy()
        out[self.constraints[self.constraints >= 0]] = 0.0
        return out

    def fixes_all(self, constraints: int) -> bool:
        """Whether each of the constraints belongs to a group."""
        return int(np.count_nonzero(self.constraints >= 0)) == constraints

    def _row_scales(self, factor: Array) -> FloatArray:
        squares = np.bincount(self.groups, np.einsum("ij,ij->i", factor, factor), minlength=self.targets.size)
        return np.sqrt(self.targets / np.maximum(squares, np.finfo(np.float64).tiny))

    def _normalize(self, factor: Array) -> Array:
        return self._row_scales(factor)[self.groups].astype(factor.dtype, copy=False)[:, None] * factor

    def radial(self, slope: Array, unit: Array) -> FloatArray:
        """Return <V, R>_g / t_g for each group g: the component of V along R, in double precision."""
        return np.bincount(self.groups, np.einsum("ij,ij->i", slope, unit), minlength=self.targets.size) / self.targets


@dataclass(frozen=True, eq=False)
class Groups:
    """Disjoint groups of rows whose squared lengths constraints fix."""

    member: IntArray
    """The group of each row, -1 for none."""
    targets: Array
    """Sum of each group's diagonal entries."""
    constraints: IntArray
    """The constraint of each group."""
    coefficients: Array
    """c of each group's constraint."""

    @property
    def covers_all(self) -> bool:
        """Whether every row is in a group, so that the trace is fixed."""
        return bool((self.member >= 0).all())

    @property
    def trace(self) -> float:
        """Sum of the targets."""
        return float(self.targets.sum())

    def factors(self, scales: Array | None = None) -> RowFactors:
        """Return factors with these rows fixed, for constraints divided by ``scales``."""
        divisors = 1.0 if scales is None else scales[self.constraints]
        return RowFactors(self.member, self.targets, self.constraints, self.coefficients / divisors)


def find_groups(diagonals: Any, b: Array, equal: Array) -> Groups:
    """Return disjoint groups of rows, from constraints with few rows first.

    Parameters
    ----------
    diagonals
        CSR matrix with the diagonal of each A_i that is diagonal (:meth:`unipd.maps.sdp.SdpMap.diagonals`).
    b
        Right-hand sides.
    equal
        Which constraints are equations.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> groups = find_groups(sp.csr_array(np.diag([1.0, 2.0])), np.ones(2), np.ones(2, bool))
    >>> groups.covers_all, groups.trace
    (True, 1.5)
    """
    member, constraints, coefficients = _single_entries(diagonals, b, equal)
    found: list[tuple[int, float]] = []
    for row, places, coefficient in _sums_of_entries(diagonals, b, equal):
        if np.all(member[places] < 0):
            member[places] = constraints.size + len(found)
            found.append((row, coefficient))
    constraints = np.concatenate([constraints, np.array([row for row, _ in found], np.int64)])
    coefficients = np.concatenate([coefficients, np.array([coefficient for _, coefficient in found])])
    return Groups(member, b[constraints] / coefficients, constraints, coefficients)


def _single_entries(diagonals: Any, b: Array, equal: Array) -> tuple[IntArray, IntArray, Array]:
    """Return the groups of one row: each row's group (or -1), the groups' constraints c X_ii = b, and their c."""
    starts = diagonals.indptr
    rows = np.flatnonzero(equal & (np.diff(starts) == 1)).astype(np.int64)
    rows = rows[b[rows] / diagonals.data[starts[rows]] > 0.0]
    places, first = np.unique(diagonals.indices[starts[rows]], return_index=True)
    first = np.sort(first)
    rows = rows[first]
    member = np.full(diagonals.shape[1], -1, np.int64)
    member[diagonals.indices[starts[rows]]] = np.arange(places.size)
    return member, rows, diagonals.data[starts[rows]]


def _sums_of_entries(diagonals: Any, b: Array, equal: Array) -> list[tuple[int, IntArray, float]]:
    """Return (constraint, rows, c) of the equations c sum X_ii = b of several rows with b / c > 0, shortest first."""
    starts, out = diagonals.indptr, list[tuple[int, IntArray, float]]()
    for row in np.flatnonzero(equal & (np.diff(starts) > 1)):
        part = slice(starts[row], starts[row + 1])
        values = diagonals.data[part]
        if values.min() == values.max() and b[row] / values[0] > 0.0:
            out.append((int(row), diagonals.indices[part], float(values[0])))
    return sorted(out, key=lambda candidate: candidate[1].size)


def fixed_diagonal_factors(problem: Problem) -> RowFactors | None:
    """Return factors that fix the diagonal constraints of min <C, X> over a spectrahedron, if they cover the diagonal.

    >>> from unipd.maps.sdp import Entries, SdpMap
    >>> from unipd.sharp import Linear, Spectrahedron
    >>> diagonal = SdpMap((2, 2), Entries([0, 1], [0, 1], [0, 1], [1.0, 1.0]), 2)
    >>> cost = Linear(np.array([[0.0, 1.0], [1.0, 0.0]]), Spectrahedron(2, 2.0))
    >>> fixed_diagonal_factors(Problem(cost, diagonal, np.ones(2), "=")).targets
    array([1., 1.])
    """
    cost, spectral = problem.sharp.linear_cost, problem.sharp.factors()
    trace = None if spectral is None else spectral.fixed_trace
    if cost is None or trace is None or not problem.coupling.is_equality:
        return None
    plain = not hasattr(cost, "matvec") and cost.dtype == problem.dtype == np.float64  # operators may not be symmetric
    if not plain:
        return None
    diagonals = problem.map.diagonals()
    if diagonals is None:
        return None
    groups = find_groups(diagonals, problem.b, np.ones(problem.b.size, bool))
    whole = groups.covers_all and groups.targets.size > 1
    return groups.factors() if whole and math.isclose(groups.trace, trace, rel_tol=1e-12) else None
