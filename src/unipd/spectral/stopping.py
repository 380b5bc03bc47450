"""When a Krylov run may stop: residuals small enough, values known well enough, and no larger eigenvalue missed.

The rule exists once, as :class:`Stop`; compiled runs take its numbers (:meth:`Stop.goals`) to
:func:`unipd.spectral.kernels.may_stop`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from unipd._typing import FloatArray

ROUNDING = 8.0
"""Residuals and remainders up to this many eps times the size of the operator are rounding."""
ALLOWED = 2
"""Index, in the numbers of a rule, of the error allowed in the top value."""


@dataclass(frozen=True)
class Stop:
    """Stop when every wanted residual is at most max(absolute, relative * scale) and values are good enough.

    Residuals at the level of rounding always stop a run. A warm start near an eigenvector that is not the top one has a
    small residual at once, so a run with a guard also continues until it would have seen a larger eigenvalue.
    """

    absolute: float = 0.0
    """Residual norm allowed."""
    relative: float = 0.0
    """Residual norm allowed as a share of the scale (the spread of the Ritz values, or the top singular value)."""
    value: Callable[[float], float] | None = None
    """Error allowed in the sum of the wanted values, given the top one; None requires nothing."""
    missed_eigenvalue_guard: float | None = None
    """Share of the scale by which a missed eigenvalue would exceed the answer; None does not guard against it."""
    weight: float = 1.0
    """Weight that the starting vector is assumed to have on the missed eigenvector."""

    def is_reached(self, values: FloatArray, residuals: FloatArray, count: int, scale: float, rounding: float) -> bool:
        """Whether Ritz values (largest first) with these residual norms are good enough in their first ``count``."""
        if values.size < count:
            return False
        worst = float(residuals[:count].max())
        if worst <= rounding:
            return True
        if worst > max(self.absolute, self.relative * scale):
            return False
        return self.value is None or value_error(values, residuals, count) <= max(
            self.value(float(values[0])), rounding
        )

    def with_value_tolerance(self, value: float | Callable[[float], float] | None) -> Stop:
        """Return the rule with this error allowed in the sum of the values: a number, or a function of the top one."""
        return replace(self, value=value if value is None or callable(value) else lambda _: value)

    def goals(self, top: float | None, precision: float) -> FloatArray:
        """Return the rule as numbers, for :func:`unipd.spectral.kernels.may_stop`.

        The error allowed is that for a top value, or inf where that is not known yet; ``precision`` times the scale is
        rounding. The last four numbers are workspace of ``may_stop``.
        """
        allowed = math.inf if self.value is None or top is None else self.value(top)
        guard = -1.0 if self.missed_eigenvalue_guard is None else self.missed_eigenvalue_guard
        return np.array([self.absolute, self.relative, allowed, guard, self.weight, precision, *[0.0] * 4])

    def guard_level(self, top: float, scale: float) -> float:
        """Return the level above which every eigenvalue must have shown in the run."""
        allowed = 0.0 if self.value is None else self.value(top)
        return top + max((self.missed_eigenvalue_guard or 0.0) * scale, allowed)

    def may_miss_eigenvalue(self, ritz: FloatArray, links: list[float], level: float) -> bool:
        """Whether an eigenvalue above a level may have been missed in k single-vector Lanczos steps.

        The orthonormal polynomial p_k(z) = prod_i (z - theta_i) / prod_j beta_j of the run satisfies
        p_k(lambda)^2 <= 1 / w for every eigenvalue lambda of weight w in the start
        (:mod:`unipd.spectral.certify`), so one above the level is ruled out when p_k exceeds that there.
        """
        if self.missed_eigenvalue_guard is None or len(links) != ritz.size:
            return False
        gaps: list[float] = (level - ritz).tolist()
        if min(links) == 0.0 or min(gaps) <= 0.0:
            return min(links) > 0.0
        height = sum(map(math.log, gaps)) - sum(map(math.log, links))
        return 2.0 * height < -math.log(self.weight)


def value_error(values: FloatArray, residuals: FloatArray, count: int) -> float:
    """Estimate by how much the first ``count`` Ritz values together fall short of the eigenvalues.

    At worst by the sum of the residual norms. When j >= count Ritz values are separated from the rest by a gap
    (reduced by the residual of the next one), the shortfall is of second order, sum_{i<=j} rho_i^2 / gap: the
    smallest of these is returned. It is an estimate because eigenvalues that the run has not met are not in it.

    >>> value_error(np.array([1.0, 0.0]), np.array([0.01, 0.2]), 1)
    0.000125
    """
    first_order = float(residuals[:count].sum())
    squares = np.cumsum(residuals**2)[count - 1 : -1]
    gaps = values[count - 1 : -1] - values[count:] - residuals[count:]
    useful = gaps > np.sqrt(squares)
    second_order = (squares[useful] / gaps[useful]).min() if useful.any() else np.inf
    return float(min(first_order, second_order))
