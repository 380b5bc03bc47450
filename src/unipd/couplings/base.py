"""Shared behaviour of couplings: a set needs its projection and support, a loss its prox and conjugate.

Arrays that a coupling returns have the dtype of the array it was given, and may share its memory: treat
both as read-only. Sums over entries (values, conjugates) are plain Python floats. Vectors are not searched for NaN,
which would cost a pass in every iteration: NaN goes in and NaN comes out.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.couplings.rounding import FEASIBILITY_ROUNDING, precision
from unipd.described import Described
from unipd.errors import InvalidInput
from unipd.protocols import Coupling, norm


class ConvexSet(Described, ABC):
    """A closed convex set K: the template's inclusion A x - b in K.

    ``project`` and ``conjugate`` (the support function) define it; the rest follows, the prox of the
    support function by Moreau: prox of ``t h`` at v is v - t P_K(v / t).

    Examples
    --------
    A set of one's own, the line {r : r_1 = r_2 = ...}:

    >>> from unipd.couplings.rounding import domain_rounding
    >>> class Diagonal(ConvexSet):
    ...     def project(self, vector):
    ...         return np.full_like(vector, vector.mean())
    ...     def conjugate(self, dual):
    ...         return 0.0 if abs(dual.sum()) <= domain_rounding(dual) else np.inf
    >>> Diagonal().prox_conjugate(np.array([1.0, 3.0]), 0.5)
    array([-1.,  1.])
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
        relative = max(FEASIBILITY_ROUNDING, 64.0 * precision(residual))
        return 0.0 if self.distance(residual) <= relative * max(1.0, norm(residual)) else math.inf

    def prox(self, vector: Array, step: float) -> Array:
        """Return the projection, whatever the step."""
        return self.project(vector)

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return prox of ``step * h`` by Moreau's identity."""
        scale = float(step)
        return vector - scale * self.project(vector / scale)


class ConvexLoss(Described, ABC):
    """A finite convex loss phi, used through its prox form or the paper's slack split.

    Examples
    --------
    A loss of one's own, phi(r) = ||r||^2 / 2 + <r, 1>; the rest follows by Moreau:

    >>> class Tilted(ConvexLoss):
    ...     def value(self, residual):
    ...         return float(np.sum(residual**2 / 2 + residual))
    ...     def gradient(self, residual):
    ...         return residual + 1
    ...     def curvature(self):
    ...         return 1.0
    ...     def conjugate(self, dual):
    ...         return float(np.sum((dual - 1) ** 2) / 2)
    ...     def slack(self, dual):
    ...         return dual - 1, self.conjugate(dual)
    ...     def prox(self, vector, step):
    ...         return (vector - step) / (1 + step)
    >>> Tilted().prox_conjugate(np.array([3.0]), 1.0)
    array([2.])
    """

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
        scale = float(step)
        return vector - scale * self.prox(vector / scale, 1.0 / scale)

    def distance(self, residual: Array) -> float:
        """Return 0: a loss excludes nothing."""
        return 0.0


def require_real(name: str, dtype: np.dtype[Any]) -> None:
    """Raise when a coupling that orders numbers is given complex ones.

    >>> require_real("a box", np.dtype(float))
    """
    if dtype.kind == "c":
        raise InvalidInput("b", f"real data with {name}", f"dtype {dtype}")


def require_like(name: str, array: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise unless an array that a coupling holds can be added to vectors of this shape and dtype.

    >>> require_like("shift", np.ones(2), (2,), np.dtype(float))
    """
    if array.shape != shape:
        raise InvalidInput(name, f"shape {shape}", f"shape {array.shape}")
    if array.dtype.kind == "c" and dtype.kind != "c":
        raise InvalidInput(name, "real numbers (the data is real)", "complex numbers")


def require_shape(name: str, vector: Array, shape: tuple[int, ...]) -> None:
    """Raise unless a vector has the shape that a coupling holds numbers for; a comparison of tuples, no pass.

    >>> require_shape("vector", np.ones(2), (2,))
    """
    if vector.shape != shape:
        raise InvalidInput(name, f"shape {shape}", f"shape {vector.shape}")


def require_set(name: str, part: Coupling) -> Coupling:
    """Return ``part`` when it is a set, and raise for a loss or anything else.

    >>> from unipd.couplings import Equality
    >>> require_set("part", Equality()).conjugate_degree
    1.0
    """
    if not isinstance(part, Coupling) or part.is_loss:
        raise InvalidInput(name, "a set K of unipd.couplings (not a loss)", type(part).__name__)
    return part
