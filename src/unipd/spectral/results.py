"""What spectral runs return: triples with residuals, bound and products, and the kinds of bounds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from unipd._typing import Array, FloatArray

RIGOROUS = "rigorous"
"""Holds always, up to the rounding allowance that is part of it."""
PROBABILISTIC = "probabilistic"
"""Holds except with a stated small probability over the random starting vector."""
RESIDUAL = "residual"
"""Ritz value plus residual norm: bounds an eigenvalue, and the top one unless the run has missed it."""
STATED = "stated"
"""As stated by a user-supplied oracle, map or coupling: holds if these are right, which their answers do not prove."""
CONDITIONAL = "conditional"
"""Holds for points up to a size only, a guess or what a user has given, which the constraints do not imply."""
BOUND_KINDS = (RIGOROUS, PROBABILISTIC, CONDITIONAL, STATED, RESIDUAL)
"""Kinds of certified error, strongest first; any other counts as weaker."""
CLAIMED = (RIGOROUS, CONDITIONAL, STATED)
"""Kinds that claim to hold always, for points of the size of a condition: a point that contradicts such a bound shows
that a part of the problem is wrong."""


def weakest_bound(kinds: Iterable[str]) -> str:
    """Return the weakest of several kinds of certified error.

    Parameters
    ----------
    kinds
        Kinds of bounds, such as "rigorous".

    See Also
    --------
    Certified

    Examples
    --------
    >>> weakest_bound(["rigorous", "residual"])
    'residual'
    """
    return max(sorted(kinds), key=lambda kind: BOUND_KINDS.index(kind) if kind in BOUND_KINDS else len(BOUND_KINDS))


@dataclass(frozen=True)
class Triples:
    """The largest singular values of an operator, or eigenvalues of a Hermitian one, largest first."""

    values: FloatArray
    """Values found: lower bounds on the true ones, up to rounding."""
    left: Array
    """Unit left singular vectors as columns; for eigenvalues the same array as ``right``."""
    right: Array
    """Unit right singular vectors (eigenvectors) as columns."""
    residuals: FloatArray
    """Residual norms: the larger of ||M v - value u|| and ||M^* u - value v||."""
    matvecs: int
    """Products with M and M^* spent."""
    bound_kind: str
    """Kind of the bound ``upper``: "rigorous" from LAPACK, "residual" from a Krylov run."""
    converged: bool
    """Whether the requested accuracy was reached."""

    @property
    def value(self) -> float:
        """The largest value found."""
        return float(self.values[0])

    @property
    def residual(self) -> float:
        """Its residual norm."""
        return float(self.residuals[0])

    @property
    def upper(self) -> float:
        """Upper bound on the largest value."""
        return self.value + self.residual

    def swap_sides(self) -> Triples:
        """Return the triples of the adjoint."""
        rest = (self.residuals, self.matvecs, self.bound_kind, self.converged)
        return Triples(self.values, self.right, self.left, *rest)
