"""Presolve: proofs that constraints contradict each other, the lifting of binary variables, and facial reduction.

A relaxation with a border (X_00 = t, and X_ii = k_i X_0i for every other row) is, in the variables Y with X = T Y T^T,
a program whose diagonal is fixed: the factored method holds all these constraints by construction. A constraint
<v v^T, X> = 0 on a psd X means X v = 0, so X = Q Z Q^T with Q a basis of the complement of v.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, IntArray
from unipd.apps.sdp.data import SdpData, TraceBound
from unipd.atoms import LowRank
from unipd.maps.sdp import Entries, Reflection, SymmetricOperator

LSQR_STEPS = 100
"""Most steps of the least-squares problem whose residual exposes inconsistent equations."""
LARGEST_CHECKED_DATA = 2_000_000
"""Most entries of the constraints for that check, which takes about a second here."""
ZERO_COMBINATION = 1e-11
"""Frobenius norm of a unit combination of matrices of unit norm that counts as zero."""


@dataclass(frozen=True, eq=False)
class Contradiction:
    """A proof that no X is feasible."""

    message: str
    dual: Array
    """y with sum_i y_i A_i = 0 and, for every feasible X, sum_i y_i <A_i, X> < 0."""


def find_contradiction(data: SdpData, accuracy: float) -> Contradiction | None:
    """Return a proof that the constraints contradict each other, whether X is psd or not; else None.

    >>> from unipd.apps.sdp import SDP
    >>> zero_row = SDP.from_matrices(np.eye(2), [np.eye(2), np.zeros((2, 2))], [1.0, 3.0])
    >>> find_contradiction(zero_row.data, 1e-6).message
    'No X is feasible: A_2 is zero, but constraint 2 requires <A_2, X> = 3.'
    >>> inconsistent = SDP.from_matrices(np.eye(2), [np.eye(2), 2.0 * np.eye(2)], [1.0, 3.0])
    >>> find_contradiction(inconsistent.data, 1e-6).message[:55]
    'No X is feasible: the equations contradict each other, '
    """
    return _find_zero_row(data) or _find_inconsistent_equations(data, accuracy)


def _find_zero_row(data: SdpData) -> Contradiction | None:
    """Return the proof of a constraint with A_i = 0 whose bounds exclude zero."""
    wrong = (data.cost_and_constraints.frobenius_norms()[1:] == 0.0) & ((data.lower > 0.0) | (data.upper < 0.0))
    if not wrong.any():
        return None
    row = int(np.flatnonzero(wrong)[0])
    above, name = bool(data.lower[row] > 0.0), row + 1
    sense = "=" if data.equal[row] else ">=" if above else "<="
    value = data.lower[row] if above else data.upper[row]
    message = f"No X is feasible: A_{name} is zero, but constraint {name} requires <A_{name}, X> {sense} {value:.6g}."
    return Contradiction(message, (-1.0 if above else 1.0) * np.eye(1, data.size, row)[0])


def _find_inconsistent_equations(data: SdpData, accuracy: float) -> Contradiction | None:
    """Return the proof of equations that no symmetric X meets to the accuracy.

    The residual of min ||A(X) - b|| over symmetric X gives y with A^*(y) = 0 and b^T y < 0. Every X then has
    ||A(X) - b|| >= |b^T y| / ||y||, in units in which every A_i has norm 1.
    """
    if data.constraints.value.size > LARGEST_CHECKED_DATA:
        return None
    rows, b = list_equations(data), np.where(data.equal, data.b / data.norms, 0.0)
    if rows.nnz == rows.shape[1]:  # an entry of X is in one equation at most, so each can be met by itself
        return None
    from scipy.sparse.linalg import lsqr

    rest = b - rows @ lsqr(rows, b, atol=1e-15, btol=1e-15, conlim=0.0, iter_lim=LSQR_STEPS)[0]
    size = float(np.linalg.norm(rest))
    if size == 0.0 or float(np.linalg.norm(rows.T @ rest)) > ZERO_COMBINATION * size:
        return None
    y = -rest / data.norms
    if float(rest @ b) <= accuracy * float(np.linalg.norm(b)) * size:
        return None
    message = (
        "No X is feasible: the equations contradict each other, since the dual vector returned makes sum y_i A_i zero "
        "(up to rounding) and b^T y negative."
    )
    return Contradiction(message, y)


def list_equations(data: SdpData) -> Any:
    """Return the sparse matrix with the upper triangles of the A_i, of unit norm, as rows; none for inequalities."""
    entries = data.unit_constraints
    row, col = (side(entries.row, entries.col).astype(np.int64) for side in (np.minimum, np.maximum))
    values = np.where(row == col, 1.0, np.sqrt(2.0)) * entries.value
    places, place = np.unique(row * data.order + col, return_inverse=True)
    used = np.where(data.equal[entries.constraint], values, 0.0)
    return sp.csr_array((used, (entries.constraint, place)), shape=(data.size, places.size))


@dataclass(frozen=True, eq=False)
class BinaryLifting:
    """A border, and for every other row the constraint that ties its diagonal entry to its border entry."""

    border: int
    value: float
    """t = X_00."""
    relations: IntArray
    """For each row the constraint a_i (X_ii - k_i X_0i) = 0, for the border that of its corner, a_0 X_00 = a_0 t."""
    weights: Array
    """a_i of each row."""
    halves: Array
    """k_i / 2 of each row, 1 for the border."""

    @property
    def corner(self) -> int:
        """The constraint of X_00."""
        return int(self.relations[self.border])

    def transform(self, entries: Entries) -> Entries:
        """Return the entries of T^T A T."""
        row, col = np.asarray(entries.row, np.int64), np.asarray(entries.col, np.int64)
        border, twice = np.full(row.size, self.border), row != col
        value = entries.value * self.halves[row] * self.halves[col]
        left, right = row != self.border, col != self.border
        parts = [
            Entries(entries.constraint, row, col, value).select(left | right),
            Entries(entries.constraint, border, col, value).select(left & right & twice),
            Entries(entries.constraint, row, border, value).select(left & right),
            Entries(entries.constraint, border, border, value * (1.0 + twice)).select(left | right | ~twice),
        ]
        return Entries.concatenate(parts).sum_duplicates(self.halves.size)

    def corners(self, entries: Entries, count: int) -> Array:
        """Return the entry at the corner of each matrix."""
        here = (entries.row == self.border) & (entries.col == self.border)
        return np.bincount(entries.constraint[here], entries.value[here], minlength=count)

    def data(self, data: SdpData) -> SdpData:
        """Return the program for Y."""
        is_relation = np.isin(data.constraints.constraint, self.relations)
        rest = self.transform(data.constraints.select(~is_relation))
        removed = self.corners(rest, data.size)
        rows = np.arange(data.order)
        diagonal = self.weights * self.halves**2
        inner = rest.select((rest.row != self.border) | (rest.col != self.border))
        entries = Entries.concatenate([inner, Entries(self.relations, rows, rows, diagonal)])
        shift = -self.value * removed
        shift[self.relations] = self.value * diagonal
        shift[self.corner] = 0.0
        lower, upper = data.lower + shift, data.upper + shift
        return replace(data, cost=self.transform(data.cost), constraints=entries, lower=lower, upper=upper)

    def point(self, y: LowRank) -> LowRank:
        """Return X = T Y T^T."""
        left = self.halves[:, None] * (y.left + y.left[self.border])
        left[self.border] = y.left[self.border]
        return LowRank(left, left, y.weights)

    def factor_of(self, left: Array) -> Array:
        """Return the factor of Y, given that of X."""
        out = left / self.halves[:, None] - left[self.border]
        out[self.border] = left[self.border]
        return out

    def dual(self, data: SdpData, dual: Array) -> Array:
        """Return the multipliers for X: that of the corner takes up what the constraints for Y leave out."""
        removed = self.corners(self.transform(data.constraints), data.size)
        removed[self.relations] = -self.weights * self.halves**2
        removed[self.corner] = 0.0
        out = dual.copy()
        out[self.corner] -= float(removed @ dual) / self.weights[self.border]
        return out

    def trace(self, size: int) -> TraceBound:
        """Return the bound on the trace of X: k_i^2 t + X_ii - 2 k_i X_0i >= 0 for every row."""
        y = np.zeros(size)
        y[self.relations] = 2.0 / self.weights
        squares = 1.0 + 4.0 * float((self.halves**2).sum() - 1.0)
        y[self.corner] = squares / self.weights[self.border]
        return TraceBound(squares * self.value, False, "diagonal entries are tied to those of a border", y)


def find_binary_lifting(data: SdpData) -> BinaryLifting | None:
    """Return the lifting of a program in which constraints tie every row to one border, or None.

    >>> entries = Entries([0, 1, 1], [0, 1, 0], [0, 1, 1], [1.0, 1.0, -0.5])
    >>> b = np.array([1.0, 0.0])
    >>> find_binary_lifting(SdpData(2, entries, entries, b, b)).halves
    array([1. , 0.5])
    """
    entries = data.constraints.select(data.constraints.value != 0.0)
    counts, equal = np.bincount(entries.constraint, minlength=data.size), data.equal
    pairs = entries.select(counts[entries.constraint] == 2)
    pairs = pairs.select(np.lexsort((pairs.row != pairs.col, pairs.constraint)))  # diagonal entries first
    diagonal, tie = pairs.select(slice(0, None, 2)), pairs.select(slice(1, None, 2))
    rows, own, other = diagonal.constraint, diagonal.row, tie.row + tie.col - diagonal.row
    fits = (own == diagonal.col) & (tie.row != tie.col) & ((tie.row == own) | (tie.col == own))
    fits &= equal[rows] & (data.b[rows] == 0.0)
    if data.order < 2 or np.count_nonzero(fits) < data.order - 1:
        return None
    border = int(np.bincount(other[fits], minlength=data.order).argmax())
    fits &= other == border
    is_corner = (entries.row == border) & (entries.col == border) & ((counts == 1) & equal)[entries.constraint]
    if not is_corner.any():
        return None
    corner = entries.select(np.flatnonzero(is_corner)[:1])
    value = float(data.b[corner.constraint[0]] / corner.value[0])
    relations, weights, halves = np.full(data.order, -1, np.int64), np.ones(data.order), np.ones(data.order)
    relations[own[fits]], weights[own[fits]] = rows[fits], diagonal.value[fits]
    halves[own[fits]] = -tie.value[fits] / diagonal.value[fits]
    relations[border], weights[border], halves[border] = corner.constraint[0], corner.value[0], 1.0
    is_whole = bool((relations >= 0).all()) and value > 0.0
    return BinaryLifting(border, value, relations, weights, halves) if is_whole else None


@dataclass(frozen=True, eq=False)
class Face:
    """The face of the psd cone that a constraint c <v v^T, X> = 0 defines: X v = 0."""

    constraint: int
    """Its number."""
    coefficient: float
    vector: Array

    @cached_property
    def reflection(self) -> Reflection:
        """Q, a basis of the complement of v."""
        return Reflection(self.vector)

    def multiplier(self, slack: SymmetricOperator, smallest: float, loss: float) -> float:
        """Return a multiplier of the constraint that lowers the smallest eigenvalue of Q^T S Q by ``loss`` at most.

        S + t v v^T / |v|^2 then has no eigenvalue below ``smallest - loss``.
        """
        unit = self.reflection.unit
        image = slack.matvec(unit)
        diagonal = float(unit @ image)
        side = image - diagonal * unit
        strength = float(side @ side) / loss - diagonal + smallest
        return max(strength, 0.0) / (self.coefficient * float(self.vector @ self.vector))


def find_face(data: SdpData) -> Face | None:
    """Return the face of a rank-one constraint with right-hand side zero, or None.

    >>> ones = Entries.from_matrices([np.ones((3, 3))])
    >>> data = SdpData(3, ones, ones, np.zeros(1), np.zeros(1))
    >>> find_face(data).vector
    array([1., 1., 1.])
    """
    pattern = data.cost_and_constraints.pattern
    entries = np.diff(data.cost_and_constraints.matrix.indptr)
    for column, owner in enumerate(pattern.owners):
        row = int(owner) - 1
        is_alone = row >= 0 and entries[owner] == 0
        if is_alone and data.equal[row] and data.b[row] == 0.0:
            return Face(row, float(pattern.coefficients[column]), pattern.vectors[:, column])
    return None
