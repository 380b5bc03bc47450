"""The two bases of a Golub-Kahan run and the small matrix between them: M V = U B, M^* U = V B^* + Q R E^*."""

from __future__ import annotations

import math

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.spectral.basis import Basis
from unipd.spectral.brief import Brief
from unipd.spectral.products import Multiplier
from unipd.spectral.stopping import ALLOWED, Stop

_STEPS_UNTESTED = 4
"""Steps done at once after a restart, when B is no longer bidiagonal and a sweep cannot see whether it may stop."""
_NO_GOALS = np.empty(0)


class Bidiagonal:
    """Bases U and V that grow by Golub-Kahan steps, one at a time or many in one call where the operator can.

    Parameters
    ----------
    products
        The operator, with at least as many rows as columns.
    start
        Starting block of right vectors; its width is the block size.
    subspace
        Columns before a restart.
    seed
        Seed of the random vectors that replace dependent ones.

    Examples
    --------
    >>> from unipd.spectral.products import Products
    >>> run = Bidiagonal(Products(np.array([[3.0], [4.0]])), np.ones((1, 1)), 1, 0)
    >>> run.advance(9, Stop(), 0.0).shape, run.known, float(run.projected[0, 0])
    ((0, 1), 1, 5.0)
    """

    def __init__(self, products: Multiplier, start: Array, subspace: int, seed: int) -> None:
        rows, columns = products.shape
        self.products = products
        self.block = start.shape[1]
        self.right = Basis(columns, subspace + self.block, products.dtype, seed)
        self.left = Basis(rows, self.right.array.shape[1], products.dtype, seed + 1)
        for column in start.T:
            self.right.append(column)
        self.room = self.right.array.shape[1]
        self.projected: Array = np.zeros((self.room,) * 2, np.result_type(products.dtype, np.float64))
        self.known = 0
        self.links: list[float] = []
        self._reached: FloatArray | None = None
        self._kept = 0
        self._stuck = self.block > 1

    def resume(self, brief: Brief) -> None:
        """Take over a run that has not come to its end.

        Its vectors are orthogonal as far as its own steps needed (:mod:`unipd.spectral.partial_kernels`); the small
        matrix is that of orthonormal ones.
        """
        from unipd.spectral.partial_kernels import orthonormalise

        orthonormalise(brief.bases[0], brief.known)
        orthonormalise(brief.bases[1], brief.known + 1)
        self.left.array, self.right.array = brief.bases[0].T, brief.bases[1].T
        self.projected, self._stuck = np.zeros((len(brief.bases[1]),) * 2), brief.stuck
        for k in range(brief.known):
            self.projected[k, k : k + 2] = brief.small[:2, k]
        self._grown(0, brief.known)

    @property
    def small(self) -> Array:
        """The projected matrix B."""
        return self.projected[: self.known, : self.known]

    @property
    def coupling(self) -> Array:
        """R after steps that were done by sweeping."""
        return self.projected[self.known - 1 : self.known, self.known : self.known + 1].copy()

    @property
    def full(self) -> bool:
        """Whether the next step needs a restart."""
        return self.right.size + self.block > self.room < self.products.shape[1] > self.right.size

    def advance(self, most: int, stop: Stop, top: float) -> Array:
        """Do a step, or several up to where the run may stop; return R, which couples the last columns to the next.

        ``most`` bounds the products in all, and ``top`` is the largest singular value known so far.
        """
        first = self.known
        if first == 0:
            top = self._first_sight(most)
        self._sweep(most, stop, top)
        if self.known > first:
            return self.coupling
        self.known = self.right.size
        coupling = self._absorbed(first)
        self.links.append(float(np.linalg.norm(coupling)) * float(abs(self.projected[self.known - 1, self.known - 1])))
        if self.block == 1 and self.known < len(self.projected):
            self.projected[self.known - 1, self.known] = coupling[0, 0]
            self._stuck = False
        return coupling

    def top_triple(self, stop: Stop) -> tuple[float, float, Array, Array] | None:
        """Return the top Ritz value, residual norm, left and right vector where a sweep has ended at its goals.

        The goals know the error allowed for the top value before the sweep; None where that for the present one is
        less, so that the rule itself has to be asked.
        """
        goals, self._reached = self._reached, None
        if goals is None:
            return None
        from unipd.spectral.tridiagonal import bands_of
        from unipd.spectral.triple_kernels import top_triple

        bases = (self.left.array.T, self.right.array.T)
        left, right = (np.empty(basis.shape[1], basis.dtype) for basis in bases)
        bands = bands_of(self.projected, self.known)
        value, residual = top_triple(bases, bands, self.known, goals, (left, right))
        good = stop.value is None or stop.value(value) >= goals[ALLOWED]
        return (value, residual, left, right) if value > 0.0 and good else None

    def restart(self, outer: Array, values: FloatArray, inner: Array) -> None:
        """Keep the best Ritz triples, as many as the factors have, and the next block."""
        kept, room = values.size, self.room
        self.right.compress(inner.conj().T, self.right.columns(self.known))
        self.left.compress(outer, self.left.columns(self.known))
        self.right.array, self.left.array = self.right.array[:, :room], self.left.array[:, :room]
        self.projected = np.zeros_like(self.projected[:room, :room])
        self.projected[range(kept), range(kept)] = values
        self.known = self._kept = kept
        self._stuck = True  # the next column of B is a full one

    def _first_sight(self, most: int) -> float:
        """Let the operator do the first step; return ||M^* u||, which is near the top value from a warm start."""
        self._swept(1, most, _NO_GOALS)
        return math.hypot(self.projected[0, 0], self.projected[0, 1]) if self.known else 0.0

    def _sweep(self, most: int, stop: Stop, top: float) -> None:
        """Let the operator go on until it seems that the run may stop."""
        if self._kept:
            self._swept(_STEPS_UNTESTED, most, _NO_GOALS)
        else:
            goals = stop.goals(top, 8.0 * float(np.finfo(self.products.dtype).eps))
            if self._swept(most, most, goals):
                self._reached = goals

    def _swept(self, steps: int, most: int, goals: FloatArray) -> bool:
        """Let the operator do steps by itself, where it can, short of the last that there is room for.

        Returns whether it has ended because the goals were reached.
        """
        first, room = self.known, (most - self.products.count) // 2 - 1
        last = min(len(self.projected) - 1, first + min(steps, room))
        if self._stuck or last <= first:
            return False
        bases = (self.left.array.T, self.right.array.T)
        done, self._stuck = self.products.sweep(bases, self.projected, first, last, goals)
        if done > 0:
            self._grown(first, done)
        return 0 < done < last - first and not self._stuck and goals.size > 0

    def _grown(self, first: int, done: int) -> None:
        """Count the vectors of so many steps that were done elsewhere."""
        diagonal = self.projected.diagonal()[first : first + done]
        self.links += (diagonal * self.projected.diagonal(1)[first : first + done]).tolist()
        self.known = self.left.size = first + done
        self.right.size = self.known + 1

    def _absorbed(self, first: int) -> Array:
        """Multiply the last block by M, then its new left vectors by M^*; fill columns of B and return R."""
        known, recent = self.known, 2 * (self.known - first)
        for index, image in enumerate(self.products.forward(self.right.columns(first)).T, start=first):
            coefficients, length = self.left.append(image, recent)
            self.projected[: coefficients.size, index] = coefficients
            self.projected[coefficients.size, index] = length
        coupling = np.zeros((known - first,) * 2, self.projected.dtype)
        for index, image in enumerate(self.products.adjoint(self.left.columns(first)).T):
            coefficients, length = self.right.append(image, recent)
            added = coefficients.size - known
            coupling[:added, index] = coefficients[known:]
            if self.right.size > known + added:
                coupling[added, index] = length
        return coupling[: self.right.size - known]
