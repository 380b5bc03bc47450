"""An oracle that answers more precisely than it is asked to."""

from __future__ import annotations

from typing import Any

from unipd import validate
from unipd.protocols import SharpAnswer, SharpOracle
from unipd.sharp.wrapper import Wrapper


class Precise(Wrapper):
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
        super().__init__(oracle)
        self.tolerance = validate.nonnegative("tolerance", tolerance)

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Ask the oracle, for the smaller of the two tolerances."""
        return super().__call__(direction, tolerance=min(tolerance, self.tolerance), start=start)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Ask for the oracle's maximum alone, for the smaller of the two tolerances."""
        return super().value(direction, tolerance=min(tolerance, self.tolerance), start=start)
