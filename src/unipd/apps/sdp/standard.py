"""The template of a small program as dense data with equations only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, IntArray
from unipd.apps.sdp.central_path import Dense, independent
from unipd.apps.sdp.oracle import FixedTrace
from unipd.atoms import LowRank
from unipd.couplings import Box
from unipd.problem import Problem

LARGEST_WORK = 2e9
"""Operations of a step up to which it is affordable."""
LARGEST_DATA = 2e7
"""m n^2, the entries that a step holds, up to which it is."""


@dataclass(frozen=True, eq=False)
class Standard:
    """A template as a :class:`Dense` program: slacks on the diagonal, C and X of unit size."""

    program: Dense
    kept: IntArray
    """Constraints of the template among the rows of the program, -1 for rows of its own."""
    unit: float
    """X = unit times that of the program."""
    price: float
    """Multipliers are ``price`` times those of the program."""

    def dual(self, problem: Problem, y: Array) -> Array:
        """Return lam = -y for the template, in the domain of h."""
        out = np.zeros(problem.b.size)
        own = self.kept >= 0
        out[self.kept[own]] = -self.price * y[own]
        lower, upper = _sides(problem)
        return np.clip(out, np.where(np.isinf(lower), 0.0, -np.inf), np.where(np.isinf(upper), 0.0, np.inf))

    def point(self, problem: Problem, x: Array) -> LowRank:
        """Return X as factors, of the trace that the template asks for."""
        order, oracle = problem.map.domain[0], _oracle(problem)
        values, vectors = np.linalg.eigh(self.unit * x[:order, :order])
        values = np.maximum(values, 0.0)
        share = oracle.trace / max(float(values.sum()), 1e-300)
        values = values * (share if isinstance(oracle, FixedTrace) else min(1.0, share))
        left = vectors * np.sqrt(values)
        return LowRank(left, left, np.ones(order))


def affordable(problem: Problem) -> float | None:
    """Return the operations of a step for m constraints of order n, m n^3 + m^2 n; None where they are too many.

    >>> from unipd.apps.sdp import SDP
    >>> affordable(SDP.from_matrices(np.eye(2), [np.eye(2)], [1.0]).problem())
    66.0
    """
    lower, upper = _sides(problem)
    slacks = float(np.count_nonzero(lower != upper) + np.count_nonzero(_both(lower, upper)) + 1)
    rows, order = problem.b.size + slacks, problem.map.domain[0] + slacks
    work = rows * order**3 + rows**2 * order
    return work if work <= LARGEST_WORK and rows * order**2 <= LARGEST_DATA else None


def standard_form(problem: Problem) -> Standard:
    """Return the program with equations only: a slack for each inequality and for a trace that is bounded."""
    joint: Any = problem.map
    order, size, oracle = joint.domain[0], problem.b.size, _oracle(problem)
    lower, upper = _sides(problem)
    single, double = np.flatnonzero(lower != upper), np.flatnonzero(_both(lower, upper))
    fixed = isinstance(oracle, FixedTrace)
    total = order + single.size + double.size + (not fixed)
    rows = [_padded(joint.adjoint(unit).toarray(), total) for unit in np.eye(size)]
    for place, row in enumerate(single, start=order):
        rows[row][place, place] = 1.0 if math.isfinite(upper[row]) else -1.0
    for place, row in enumerate(double, start=order + single.size):
        pair = np.zeros((total, total))
        own = order + int(np.searchsorted(single, row))
        pair[own, own] = pair[place, place] = 1.0
        rows.append(pair)
    trace = np.zeros((total, total))
    trace.flat[: order * total : total + 1] = 1.0
    trace[-1, -1] += not fixed
    rows.append(trace)
    right = np.concatenate([problem.b, upper[double] - lower[double], [oracle.trace]])
    cost = _padded(joint.cost.toarray(), total)
    return _of_unit_size(np.stack(rows).reshape(len(rows), -1), right, cost, size, oracle.trace / order)


def _of_unit_size(rows: Array, right: Array, cost: Array, size: int, unit: float) -> Standard:
    sparse = sp.csr_array(rows)
    chosen = independent(sparse)
    price = float(np.linalg.norm(cost)) or 1.0
    program = Dense(sparse[chosen], right[chosen] / unit, cost / price)
    return Standard(program, np.where(chosen < size, chosen, -1), unit, price)


def _oracle(problem: Problem) -> Any:
    """Return the set of X."""
    return problem.sharp.oracle  # type: ignore[attr-defined]


def _sides(problem: Problem) -> tuple[Array, Array]:
    """Return the bounds of the residuals."""
    coupling = problem.coupling
    if isinstance(coupling, Box):
        return np.broadcast_to(coupling.lower, problem.b.shape), np.broadcast_to(coupling.upper, problem.b.shape)
    return np.zeros(problem.b.size), np.zeros(problem.b.size)


def _both(lower: Array, upper: Array) -> Array:
    return (lower != upper) & np.isfinite(lower) & np.isfinite(upper)


def _padded(matrix: Array, total: int) -> Array:
    out = np.zeros((total, total))
    out[: matrix.shape[0], : matrix.shape[0]] = matrix
    return out
