"""What is known of g at a dual vector: with its gradient and the atom, or the value alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unipd._typing import Array
from unipd.protocols import inner, norm


@dataclass(frozen=True)
class DualPoint:
    """What one oracle call at a dual vector tells."""

    dual: Array
    """lam."""
    value: float
    """g(lam) as attained by the atom: a lower bound of the true g(lam)."""
    gradient: Array
    """(Sub)gradient of g at lam: b - A x^* (+ r^* in the slack split)."""
    atom: Any
    """x^*(lam)."""
    image: Array
    """A x^*(lam)."""
    objective: float
    """f(x^*(lam))."""
    error: float
    """Certified: the true g(lam) is at most ``value + error``."""
    matvecs: int
    """Products with A, A^* or its operator that this point cost."""
    bound: str
    """Kind of the certified error: "rigorous", "probabilistic" or "residual" (see SharpAnswer)."""
    slack_conjugate: float | None = None
    """phi^*(lam) in the slack split, where it is part of the value."""
    energy: float | None = None
    """||lam||^2, where it is at hand."""
    steepness: float | None = None
    """||grad g(lam)||^2, where it is at hand."""
    pairings: tuple[float, float, float] | None = None
    """<lam, b>, <grad g(lam), b> and <lam, grad g(lam)>, where they are at hand."""
    change: float | None = None
    """||grad g(lam) - grad g(lam')|| for the point lam' that the step came from, where it is at hand."""

    @property
    def reach(self) -> float:
        """||A x^*(lam)||: the size of what cancels in the sums of a bound."""
        return norm(self.image)

    @property
    def conjugate(self) -> float:
        """Upper bound of max <-A^* lam, x> - f(x), without the terms in b and the slack."""
        return -inner(self.dual, self.image) - self.objective + self.error


@dataclass(frozen=True)
class DualValue:
    """g(lam) without its gradient."""

    dual: Array
    value: float
    conjugate: float
    """Certified upper bound of max <-A^* lam, x> - f(x)."""
    matvecs: int
    bound: str
    slack_conjugate: float | None
    """phi^*(lam) in the slack split, where it is part of the value."""
    linear: float
    """<lam, b>."""
    energy: float | None = None
    """||lam||^2, where it is at hand."""
    reach: float | None = None
    """||A x^*(lam)||, where the atom's image was looked at."""
    atom: Any = None
    """x^*(lam), where it is known."""
