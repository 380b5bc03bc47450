"""When a Krylov run may stop: residuals small enough, values known well enough, and no larger ones overlooked."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from unipd._typing import FloatArray

ALLOWED = 2
"""Where the numbers of a rule have the error allowed in the top value."""


@dataclass(frozen=True)
class Stop:
    """Stop when every wanted residual is at most max(absolute, relative * scale) and values are good enough.

    Residuals that rounding alone explains always stop a run. A warm start near an eigenvector that is not the top
    one has a small residual at once, so a run with a lookout also goes on until it would have seen a larger value.
    """

    absolute: float = 0.0
    """Residual norm allowed."""
    relative: float = 0.0
    """Residual norm allowed as a share of the scale (the spread of the Ritz values, or the top singular value)."""
    value: Callable[[float], float] | None = None
    """Error allowed in the sum of the wanted values, given the top one; None asks for nothing."""
    lookout: float | None = None
    """Share of the scale by which a value must exceed the answer to be looked for; None looks for nothing."""
    weight: float = 1.0
    """Weight that the starting vector is taken to have on the vector looked for."""

    def reached(self, values: FloatArray, residuals: FloatArray, count: int, scale: float, rounding: float) -> bool:
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

    def allowing(self, value: float | Callable[[float], float] | None) -> Stop:
        """Return the rule with this error allowed in the sum of the values: a number, or a function of the top one."""
        return replace(self, value=value if value is None or callable(value) else lambda _: value)

    def goals(self, top: float | None, precision: float) -> FloatArray:
        """Return the rule as numbers, for :func:`unipd.spectral.ritz_kernels.may_stop`.

        The error allowed is that for a top value, or none (inf) where that is not known yet; ``precision`` times the
        scale is rounding. The last four numbers are room for notes of ``may_stop``.
        """
        allowed = math.inf if self.value is None or top is None else self.value(top)
        lookout = -1.0 if self.lookout is None else self.lookout
        return np.array([self.absolute, self.relative, allowed, lookout, self.weight, precision, *[0.0] * 4])

    def horizon(self, top: float, scale: float) -> float:
        """Return the value from which on a larger one must have shown."""
        allowed = 0.0 if self.value is None else self.value(top)
        return top + max((self.lookout or 0.0) * scale, allowed)

    def overlooks(self, ritz: FloatArray, links: list[float], horizon: float) -> bool:
        """Whether an eigenvalue above the horizon may have gone unseen in k single-vector Lanczos steps.

        The orthonormal polynomial p_k(z) = prod_i (z - theta_i) / prod_j beta_j of the run satisfies
        p_k(lambda)^2 <= 1 / w for every eigenvalue lambda of weight w in the start
        (:mod:`unipd.spectral.polynomial_bound`), so one above the horizon is ruled out when p_k exceeds that there.
        """
        if self.lookout is None or len(links) != ritz.size:
            return False
        gaps: list[float] = (horizon - ritz).tolist()
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
