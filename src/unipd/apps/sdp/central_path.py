"""Dense primal-dual steps along the central path of min <C, X>, <A_i, X> = b_i, X psd.

With the dual problem max b^T y, S = C - sum_i y_i A_i psd, a step solves A(X + dX) = b, dS = C - A^*(y + dy) - S and
X S + dX S + X dS = sigma mu I in the symmetrised form of Helmberg, Kojima and Monteiro,
dX = sigma mu S^{-1} - X - sym(X dS S^{-1}), twice: for sigma = 0, and with the sigma and the second-order term that the
first answer suggests (Mehrotra). One step costs O(m n^3 + m^2 n^2) for dense data, and m matrices of order n are held.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array

LEAST_STEP = 1e-4
"""Length of a step, as a share of a full one, below which rounding has the last word."""
BACK_OFF = (0.9, 0.09)
"""Share of the way to the boundary that a step goes at most: the first, and the second for a full prediction."""
DEPENDENT = 1e-12
"""Share of the largest pivot of A A^* at which a constraint counts as a combination of others."""
SHIFTS = (0.0, 1e-15, 1e-13, 1e-11)
"""Shares of the largest entry added to the diagonal of a step's equations until they factorise."""


@dataclass(frozen=True, eq=False)
class Dense:
    """The data of a small program, constraints linearly independent."""

    rows: Any
    """CSR matrix with the entries of A_i as row i."""
    b: Array
    cost: Array

    @property
    def order(self) -> int:
        """Order of X."""
        return int(self.cost.shape[0])

    def image(self, matrix: Array) -> Array:
        """Return A(X)."""
        return self.rows @ matrix.ravel()

    def adjoint(self, y: Array) -> Array:
        """Return sum_i y_i A_i."""
        return (self.rows.T @ y).reshape(self.cost.shape)


@dataclass(frozen=True, eq=False)
class Iterate:
    """X and S positive definite, and the multipliers y."""

    x: Array
    s: Array
    y: Array


def independent(rows: Any) -> Array:
    """Return the numbers of constraints of which all others are combinations.

    >>> import scipy.sparse as sp
    >>> independent(sp.csr_array(np.array([[1.0, 0.0], [2.0, 0.0], [1.0, 1.0]]))).size
    2
    """
    gram = (rows @ rows.T).toarray()
    _, pivots, rank, _ = scipy.linalg.lapack.dpstrf(gram, tol=DEPENDENT * float(gram.diagonal().max(initial=0.0)))
    return np.sort(pivots[:rank] - 1)


def first_iterate(program: Dense) -> Iterate:
    """Return multiples of the identity, large enough for data of unit size."""
    eye = np.eye(program.order)
    return Iterate(10.0 * eye, max(10.0, float(np.linalg.norm(program.cost))) * eye, np.zeros(program.b.size))


def advanced(program: Dense, here: Iterate) -> Iterate | None:
    """Return the iterate after a step of prediction and correction; None when rounding allows none.

    >>> import scipy.sparse as sp
    >>> program = Dense(sp.csr_array(np.eye(2).reshape(1, 4)), np.ones(1), np.diag([1.0, 3.0]))
    >>> here = first_iterate(program)
    >>> for _ in range(12):
    ...     here = advanced(program, here)
    >>> float(np.round(here.y[0], 6))
    1.0
    """
    try:
        roots = [np.linalg.cholesky(matrix) for matrix in (here.x, here.s)]
        system = _System(program, here)
    except np.linalg.LinAlgError:
        return None
    mu = float(np.sum(here.x * here.s)) / program.order
    dx, ds, _ = system.direction(0.0, None)
    ahead = [min(1.0, _longest(root, move)) for root, move in zip(roots, (dx, ds), strict=True)]
    left = float(np.sum((here.x + ahead[0] * dx) * (here.s + ahead[1] * ds))) / program.order
    sigma = min(1.0, max(left / mu, 0.0) ** max(1.0, 3.0 * min(ahead) ** 2))
    dx, ds, dy = system.direction(sigma * mu, dx @ ds)
    share = BACK_OFF[0] + BACK_OFF[1] * min(ahead)
    primal, dual = (min(1.0, share * _longest(root, move)) for root, move in zip(roots, (dx, ds), strict=True))
    if not max(primal, dual) > LEAST_STEP:
        return None
    return Iterate(here.x + primal * dx, here.s + dual * ds, here.y + dual * dy)


class _System:
    """The equations of a step for dy, factorised."""

    def __init__(self, program: Dense, here: Iterate) -> None:
        self.program, self.here = program, here
        self.inverse: Array = np.linalg.inv(here.s)
        order, size = program.order, program.b.size
        matrices = program.rows.toarray().reshape(size, order, order)
        products = (here.x @ matrices @ self.inverse).reshape(size, -1)
        schur = np.asarray(program.rows @ products.T)
        self.schur: Array = (schur + schur.T) / 2
        self.root = _root(self.schur)

    def direction(self, centre: float, second: Array | None) -> tuple[Array, Array, Array]:
        """Return dX, dS and dy; ``second`` is dX dS of the prediction."""
        program, here = self.program, self.here
        dual_residual = program.cost - program.adjoint(here.y) - here.s
        push = here.x @ dual_residual if second is None else here.x @ dual_residual + second
        base = centre * self.inverse - here.x - _symmetric(push @ self.inverse)
        wanted = program.b - program.image(here.x) - program.image(base)
        dy = scipy.linalg.cho_solve(self.root, wanted)
        dy = dy + scipy.linalg.cho_solve(self.root, wanted - self.schur @ dy)
        change = program.adjoint(dy)
        return base + _symmetric(here.x @ change @ self.inverse), dual_residual - change, dy


def _root(matrix: Array) -> Any:
    """Return the Cholesky factor of a matrix that is positive definite but for rounding."""
    size = float(matrix.diagonal().max())
    for share in SHIFTS[:-1]:
        with contextlib.suppress(np.linalg.LinAlgError):
            return scipy.linalg.cho_factor(matrix + share * size * np.eye(matrix.shape[0]))
    return scipy.linalg.cho_factor(matrix + SHIFTS[-1] * size * np.eye(matrix.shape[0]))


def _symmetric(matrix: Array) -> Array:
    return (matrix + matrix.T) / 2


def _longest(root: Array, move: Array) -> float:
    """Return the largest t with L L^T + t D psd."""
    half = scipy.linalg.solve_triangular(root, move, lower=True)
    inner = scipy.linalg.solve_triangular(root, half.T, lower=True)
    lowest = float(scipy.linalg.eigvalsh(_symmetric(inner), subset_by_index=[0, 0])[0])
    return -1.0 / lowest if lowest < 0.0 else np.inf
