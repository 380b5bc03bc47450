"""Shared behaviour of the sharp oracles: most only define the maximiser, f and membership."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, Shape
from unipd.errors import InvalidInput
from unipd.protocols import SharpAnswer


class Sharp(ABC):
    """Base of the sharp oracles over arrays; a subclass gives :meth:`maximiser`, the set and f.

    Defaults describe an exact oracle of a bounded set with f = 0, so that a set needs three methods.
    """

    def __init__(self, shape: int | Shape) -> None:
        self._shape: Shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(shape)
        if any(size < 1 for size in self._shape):
            raise InvalidInput("shape", "positive sizes", repr(self._shape))

    @property
    def shape(self) -> Shape:
        """Shape of x."""
        return self._shape

    @property
    def exact(self) -> bool:
        """Exact up to rounding."""
        return True

    @property
    def degree(self) -> float | None:
        """Degree of homogeneity of the conjugate: 1 for a set with f = 0."""
        return 1.0

    @property
    def linear(self) -> bool:
        """Whether f is linear on X."""
        return True

    @abstractmethod
    def maximiser(self, direction: Array) -> Any:
        """Return an atom x maximising <y, x> - f(x) over X."""

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return a maximiser of <y, x> - f(x) with its value and f."""
        y = self._checked(direction)
        atom = self.maximiser(y)
        cost = self.objective(atom)
        return SharpAnswer(atom, atoms.inner(y, atom) - cost, cost)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the maximum (with the maximiser, unless a subclass knows something cheaper)."""
        return self(direction, tolerance=tolerance, start=start)

    def objective(self, x: Any) -> float:
        """Return f(x): zero for a bare set."""
        return 0.0

    def support(self, direction: Any) -> float:
        """Return sup over X of <y, x>; for f = 0 this is the oracle's own value."""
        return self.value(direction).value

    @abstractmethod
    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x lies in X."""

    def maximum(self) -> float:
        """Return an upper bound of f over X: zero for a bare set."""
        return 0.0

    def _checked(self, direction: Any) -> Array:
        y = np.asarray(direction)
        if y.shape != self._shape:
            raise InvalidInput("direction", f"shape {self._shape}", f"shape {y.shape}")
        return y


class SharpFunction(Sharp):
    """Base of oracles whose f is neither zero nor linear on X; support and maximum default to unbounded."""

    @property
    def degree(self) -> float | None:
        """Not homogeneous unless a subclass knows better."""
        return None

    @property
    def linear(self) -> bool:
        """F is not linear."""
        return False

    @abstractmethod
    def objective(self, x: Any) -> float:
        """Return f(x)."""

    def support(self, direction: Any) -> float:
        """Return the support function of the whole space: 0 at 0 and inf elsewhere."""
        return math.inf if np.any(self._checked(direction)) else 0.0

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x has the right shape and is finite: X is the whole space."""
        point = np.asarray(atoms.dense(x))
        return point.shape == self._shape and bool(np.isfinite(point).all())

    def maximum(self) -> float:
        """Return inf: f is unbounded on the whole space."""
        return math.inf
