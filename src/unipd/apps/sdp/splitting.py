"""Splitting: alternating directions on the dual, with a projection onto the cones in every step.

For programs with more constraints than interior points can factorise, whose solutions have a high rank, such as theta
numbers: a step costs an eigenvalue decomposition of every psd block and a solve with the sparse matrix A A^*. Points,
bounds and proofs are those of :mod:`unipd.apps.sdp.interior_point`.

J. Povh, F. Rendl, A. Wiegele, A boundary point method to solve semidefinite programs, Computing 78 (2006).
Z. Wen, D. Goldfarb, W. Yin, Alternating direction augmented Lagrangian methods for semidefinite programming,
Mathematical Programming Computation 2 (2010).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array
from unipd._util.arrays import norm
from unipd.apps.sdp.data import FREE, NONNEGATIVE, SECOND_ORDER, SdpData
from unipd.apps.sdp.embedding import ConicForm
from unipd.apps.sdp.interior_point import InteriorPoint
from unipd.couplings import SecondOrderCone

STEPS = 20
"""Steps between two certificates, which cost about as much as three."""
MOST_CERTIFICATES = 200
"""Certificates before a run has stalled; usually 10 to 30 do."""
RELAXATION = 1.6
"""Share of the way that X moves; up to (1 + sqrt 5) / 2 converges."""
PENALTY_FACTOR = 1.6
"""Factor by which the penalty changes after ..."""
PATIENCE = ((20, 5), (100, 20), (np.inf, 50))
"""... this many steps in which the same infeasibility, primal or dual, is the larger: (up to step, number)."""
SHIFT = 1e-14
"""Share of the largest diagonal entry added to A A^*, which redundant constraints make singular."""


class Alternation:
    """A :class:`Stepper`: iterates (X, S, y) of one program in units in which cost and right-hand side have norm 1."""

    def __init__(self, data: SdpData, is_equilibrated: bool = False) -> None:
        self.form = form = ConicForm(data, is_equilibrated)
        self.cost_unit, self.size_unit = norm(form.cost) or 1.0, norm(form.right_hand_side) or 1.0
        self._cost, self._right = form.cost / self.cost_unit, form.right_hand_side / self.size_unit
        self._rows, self._columns = form.matrix, form.matrix.T.tocsr()
        self._solve = _factorise(self._rows @ self._columns)
        size = form.columns.size
        self._ends = np.cumsum([size, size, size, form.right_hand_side.size])
        self.vector = np.concatenate([np.zeros(3 * size + form.right_hand_side.size), [0.0, 0.0, 1.0, 0.0]])
        """X relaxed, X in the cone, S, y, steps and the sign that has lasted so long, the penalty, steps in all."""

    small_steps = 0
    has_point = True

    def restore(self, vector: Array, iteration: int, small_steps: int) -> None:
        """Go to an earlier iterate."""
        del iteration, small_steps
        self.vector = vector

    def step(self) -> bool:
        """Take some steps; return whether more are useful."""
        x, point, slack, y, (lasting, sign, penalty, count) = np.split(self.vector, self._ends)
        for _ in range(STEPS):
            y = -self._solve(penalty * (self._rows @ x - self._right) + self._rows @ (slack - self._cost))
            dual_slack = self._cost - self._columns @ y
            shifted = dual_slack - penalty * x
            slack = self._project(shifted)
            point = (slack - shifted) / penalty
            x = x + RELAXATION * (point - x)
            balance = 1.0 if norm(self._rows @ point - self._right) >= norm(dual_slack - slack) else -1.0
            count, lasting, sign = count + 1, lasting + 1 if balance == sign else 1, balance
            if lasting >= next(most for steps, most in PATIENCE if count <= steps):
                penalty, lasting = penalty * PENALTY_FACTOR**balance, 0
        self.vector = np.concatenate([x, point, slack, y, [lasting, sign, penalty, count]])
        return count < STEPS * MOST_CERTIFICATES

    def _project(self, vector: Array) -> Array:
        """Return the nearest slack in the dual cone."""
        columns = self.form.columns
        parts: list[Array] = []
        for block, part in zip(columns.data.blocks, columns.parts(vector), strict=True):
            if block.kind == FREE:
                parts.append(np.zeros(block.size))
            elif block.kind == NONNEGATIVE:
                parts.append(np.maximum(part, 0.0))
            elif block.kind == SECOND_ORDER:
                parts.append(SecondOrderCone().project(part))
            else:
                parts.append(_project_psd(part))
        return columns.join(parts)

    def mix(self, vector: Array, other: Array, share: float) -> Array:
        """Return the iterate itself: X is on the boundary of the cone in any case."""
        del other, share
        return vector

    def correct(self, vector: Array) -> None:
        """Return None: X comes nearer to the constraints by itself."""
        del vector

    def decode(self, vector: Array) -> tuple[list[Array], Array]:
        """Return the blocks of X and the multipliers of an iterate, rows of unit norm and lam = -y."""
        _, point, _, y, _ = np.split(vector, self._ends)
        parts = self.form.columns.parts(self.size_unit * point)
        data = self.form.data
        return parts[: len(data.blocks)], -self.cost_unit * self.form.multipliers(y)


class Splitting(InteriorPoint):
    """Alternating directions, with the certificates of interior points."""

    name = "splitting"
    stepper = Alternation


def _factorise(gram: Any) -> Any:
    """Return the function that solves with a sparse psd matrix."""
    from scipy.sparse.linalg import splu

    diagonal = gram.diagonal()
    shift = SHIFT * diagonal.max()
    if gram.nnz <= np.count_nonzero(diagonal):
        return lambda right: right / (diagonal + shift)
    return splu(sp.csc_matrix(gram + shift * sp.eye_array(diagonal.size))).solve


def _project_psd(part: Array) -> Array:
    """Return the nearest psd matrix, from the fewer of its eigenvectors of either sign."""
    values, vectors = np.linalg.eigh(part)
    is_positive = values > 0.0
    is_few = 2 * np.count_nonzero(is_positive) <= values.size
    chosen = is_positive == is_few
    factor = vectors[:, chosen] * np.sqrt(np.abs(values[chosen]))
    product = factor @ factor.T
    return product if is_few else part + product
