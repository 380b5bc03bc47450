"""What is asked of top eigenpairs or singular triples."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Goal(NamedTuple):
    """Residual norms and errors of values that are allowed."""

    tolerance: float
    """Largest residual norm."""
    relative: bool
    """Whether that is relative to the scale (the spread of the values, or the top singular value)."""
    value: float | Callable[[float], float] | None
    """Error allowed in the sum of the values, or that as a function of the top one; None asks for nothing."""

    def scaled(self, unit: float) -> Goal:
        """Return the same goal for an operator that was multiplied by ``unit``.

        >>> Goal(0.5, False, lambda top: 0.1 * top).scaled(2.0).tolerance
        1.0
        """
        if unit == 1.0:
            return self
        allowed, value = self.tolerance if self.relative else self.tolerance * unit, self.value
        if value is None:
            return Goal(allowed, self.relative, None)
        if callable(value):
            return Goal(allowed, self.relative, lambda top: unit * value(top / unit))
        return Goal(allowed, self.relative, value * unit)

    def share_of(self, size: float) -> float:
        """Return the residual norm to ask of SciPy's solvers as a share of the size of the operator.

        They know no error of values: a tight tolerance stands in its place.

        >>> Goal(0.5, False, None).share_of(10.0), Goal(0.1, True, 1e-9).share_of(10.0)
        (0.05, 1e-06)
        """
        share = self.tolerance if self.relative else self.tolerance / size
        return share if self.value is None else min(share, _TIGHT)


_TIGHT = 1e-6
