"""The sharp oracle and its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class SharpAnswer:
    """Answer of a sharp oracle at a direction y: a (near-)maximiser of <y, x> - f(x) over X."""

    atom: Any
    """The point x, as an array or a structured atom (see :mod:`unipd.atoms`)."""
    value: float
    """<y, x> - f(x) at the point returned: a lower bound of the maximum."""
    objective: float
    """f(x)."""
    error: float = 0.0
    """Certified: the maximum is at most ``value + error``."""
    matvecs: int = 0
    """Products with the direction that were spent (0 for oracles that read y as an array)."""
    bound: str = "rigorous"
    """Kind of the certified error, strongest first: "rigorous"; "probabilistic" (wrong with a stated small
    probability); "residual" (spectral oracles: Ritz value plus residual norm, which bounds an eigenvalue, and the top
    one unless the run has missed it)."""


class SharpOracle(Protocol):
    """A set X and an objective f, known through [y]^# = argmax over x in X of <y, x> - f(x)."""

    @property
    def shape(self) -> Any:
        """Shape of x: a tuple of ints, or a tuple of shapes for several blocks."""
        ...

    @property
    def exact(self) -> bool:
        """Whether answers are exact up to rounding (then ``error`` is 0 and ``tolerance`` is ignored)."""
        ...

    @property
    def degree(self) -> float | None:
        """d when the conjugate is positively homogeneous, f^*(t y) = t^d f^*(y) for t > 0; else None."""
        ...

    @property
    def linear(self) -> bool:
        """Whether f is linear (or zero) on X, so that averaging atoms averages f exactly."""
        ...

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return a maximiser; ``tolerance`` bounds the absolute error asked, ``start`` is a recent atom."""
        ...

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the maximum alone: an answer whose ``atom`` may be None when that is cheaper."""
        ...

    def objective(self, x: Any) -> float:
        """Return f(x) for x in X."""
        ...

    def support(self, direction: Any) -> float:
        """Return the support function of X, sup over x in X of <y, x> (inf when X is unbounded)."""
        ...

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x lies in X, up to ``tolerance`` relative to the size of X."""
        ...

    def maximum(self) -> float:
        """Return an upper bound of f over X (inf when none is known): beyond it a bound proves infeasibility."""
        ...
