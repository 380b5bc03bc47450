"""An oracle that answers more precisely than it is asked to."""

from __future__ import annotations

from typing import Any

from unipd import validate
from unipd.protocols import SharpAnswer, SharpOracle


class Precise:
    """A sharp oracle whose answers have an error of at most ``tolerance``, however much a method allows.

    Methods ask inexact oracles for what they need and no more, and their iterates then depend on the answers they get.
    To repeat somebody's iterates, the oracle has to be as good as theirs was.

    Examples
    --------
    >>> import numpy as np
    >>> from unipd.sharp import NuclearBall
    >>> precise = Precise(NuclearBall((2, 2)))
    >>> round(precise(np.diag([3.0, 1.0]), tolerance=10.0).value, 9)
    3.0
    """

    def __init__(self, oracle: SharpOracle, tolerance: float = 0.0) -> None:
        self.oracle = oracle
        self.tolerance = validate.nonnegative("tolerance", tolerance)

    @property
    def shape(self) -> Any:
        """Shape of x."""
        return self.oracle.shape

    @property
    def exact(self) -> bool:
        """Whether the oracle is exact."""
        return self.oracle.exact

    @property
    def degree(self) -> float | None:
        """The oracle's degree."""
        return self.oracle.degree

    @property
    def linear(self) -> bool:
        """Whether the oracle's f is linear."""
        return self.oracle.linear

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Ask the oracle, for the smaller of the two tolerances."""
        return self.oracle(direction, tolerance=min(tolerance, self.tolerance), start=start)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Ask for the oracle's maximum alone, for the smaller of the two tolerances."""
        return self.oracle.value(direction, tolerance=min(tolerance, self.tolerance), start=start)

    def objective(self, x: Any) -> float:
        """Return the oracle's f(x)."""
        return self.oracle.objective(x)

    def support(self, direction: Any) -> float:
        """Return the oracle's support function."""
        return self.oracle.support(direction)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether x lies in the oracle's set."""
        return self.oracle.contains(x, tolerance)

    def maximum(self) -> float:
        """Return the oracle's maximum of f."""
        return self.oracle.maximum()
