"""The set K, or the loss in its place."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from unipd._typing import Array


@runtime_checkable
class Coupling(Protocol):
    """The set K of the inclusion A x - b in K, or a loss phi(A x - b); sets are losses that are 0 or infinite."""

    @property
    def is_loss(self) -> bool:
        """Whether this is a finite loss (then every x in X is feasible)."""
        ...

    @property
    def conjugate_degree(self) -> float | None:
        """d when h(t lam) = t^d h(lam) for t > 0; else None. Sets have 1."""
        ...

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise :class:`~unipd.errors.InvalidInput` when vectors of this shape and dtype do not fit."""
        ...

    def value(self, residual: Array) -> float:
        """Return phi(r); for a set 0 when r is in it (up to rounding) and inf otherwise."""
        ...

    def distance(self, residual: Array) -> float:
        """Return dist(r, K); 0 for a loss."""
        ...

    def prox(self, vector: Array, step: float) -> Array:
        """Return argmin_r phi(r) + ||r - v||^2 / (2 step); for a set the projection, whatever the step."""
        ...

    def conjugate(self, dual: Array) -> float:
        """Return h(lam) = sup_r <lam, r> - phi(r): the support function for a set; inf outside its domain."""
        ...

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return prox of ``step * h`` at v; by Moreau v - step * prox(v / step, 1 / step)."""
        ...


@runtime_checkable
class Loss(Coupling, Protocol):
    """A finite convex loss phi; what the slack split and Frank-Wolfe ask on top of :class:`Coupling`."""

    @property
    def splittable(self) -> bool:
        """Whether :meth:`slack` has a finite answer everywhere (a slack radius is known where needed)."""
        ...

    def gradient(self, residual: Array) -> Array:
        """Return a (sub)gradient of phi at r."""
        ...

    def curvature(self) -> float:
        """Return a Lipschitz constant of the gradient of phi (inf when nonsmooth)."""
        ...

    def slack(self, dual: Array) -> tuple[Array, float]:
        """Return (r, value): the maximiser of <lam, r> - phi(r) over the slack block and the maximum."""
        ...
