"""Shared behaviour of couplings: a set needs its projection and support, a loss its prox and conjugate."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.errors import InvalidInput
from unipd.protocols import norm

FEASIBILITY_ROUNDING = 1e-9
"""Relative distance to a set below which a vector counts as inside."""


class ConvexSet(ABC):
    """A closed convex set K: the template's inclusion A x - b in K.

    ``project`` and ``conjugate`` (the support function) define it; the rest follows, the prox of the
    support function by Moreau: prox of ``t h`` at v is v - t P_K(v / t).
    """

    @property
    def is_loss(self) -> bool:
        """A set constrains; it is not a finite loss."""
        return False

    @property
    def conjugate_degree(self) -> float | None:
        """Support functions are positively homogeneous of degree 1."""
        return 1.0

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise when vectors of this shape and dtype do not fit; the default accepts all."""
        return

    @abstractmethod
    def project(self, vector: Array) -> Array:
        """Return the nearest point of K."""

    @abstractmethod
    def conjugate(self, dual: Array) -> float:
        """Return h(lam) = sup over r in K of <lam, r>."""

    def distance(self, residual: Array) -> float:
        """Return dist(r, K)."""
        return norm(residual - self.project(residual))

    def value(self, residual: Array) -> float:
        """Return 0 inside K (up to rounding), inf outside."""
        close = FEASIBILITY_ROUNDING * max(1.0, norm(residual))
        return 0.0 if self.distance(residual) <= close else math.inf

    def prox(self, vector: Array, step: float) -> Array:
        """Return the projection, whatever the step."""
        return self.project(vector)

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return prox of ``step * h`` by Moreau's identity."""
        return vector - step * self.project(vector / step)


class ConvexLoss(ABC):
    """A finite convex loss phi, used through its prox form or the paper's slack split."""

    @property
    def is_loss(self) -> bool:
        """Every x in X is feasible."""
        return True

    @property
    def conjugate_degree(self) -> float | None:
        """Not homogeneous unless a subclass knows better."""
        return None

    @property
    def splittable(self) -> bool:
        """Whether the slack block is bounded enough for a finite answer everywhere."""
        return True

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise when vectors of this shape and dtype do not fit; the default accepts all."""
        return

    @abstractmethod
    def value(self, residual: Array) -> float:
        """Return phi(r)."""

    @abstractmethod
    def gradient(self, residual: Array) -> Array:
        """Return a (sub)gradient of phi at r."""

    @abstractmethod
    def curvature(self) -> float:
        """Return a Lipschitz constant of the gradient (inf when nonsmooth)."""

    @abstractmethod
    def conjugate(self, dual: Array) -> float:
        """Return phi^*(lam)."""

    @abstractmethod
    def slack(self, dual: Array) -> tuple[Array, float]:
        """Return the maximiser r of <lam, r> - phi(r) over the slack block and the maximum."""

    @abstractmethod
    def prox(self, vector: Array, step: float) -> Array:
        """Return argmin_r phi(r) + ||r - v||^2 / (2 step)."""

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return prox of ``step * phi^*`` by Moreau's identity."""
        return vector - step * self.prox(vector / step, 1.0 / step)

    def distance(self, residual: Array) -> float:
        """Return 0: a loss excludes nothing."""
        return 0.0


def require_real(name: str, dtype: np.dtype[Any]) -> None:
    """Raise when a coupling that orders numbers is given complex ones."""
    if dtype.kind == "c":
        raise InvalidInput("b", f"real data with {name}", f"dtype {dtype}")
