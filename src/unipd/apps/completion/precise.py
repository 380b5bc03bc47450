"""An engine whose vectors are precise, for iterates that can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unipd import validate
from unipd.spectral import Engine, SingularTriples

PRECISION = 1e-6
"""Relative residual at which early iterates agree with those of an exact oracle to five digits."""


@dataclass(frozen=True)
class PreciseEngine(Engine):
    """Lanczos whose singular vectors have at most a given residual, however little a method asks for.

    Methods ask an inexact oracle for a value within a share of eps. In the first iterations from lam = 0 the values
    of g are of the order of eps themselves, so that answers with vectors far from the singular ones will do: the
    method is as good, but its iterates depend on them. To repeat somebody's iterates the vectors have to be precise.

    Examples
    --------
    >>> import numpy as np
    >>> PreciseEngine(precision=1e-6).singular_triples(np.diag([3.0, 1.0]), tolerance=1.0).value.__round__(6)
    3.0
    """

    precision: float = PRECISION
    """Largest residual, relative to the singular value."""

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.positive("precision", self.precision)

    def singular_triples(
        self, operator: Any, count: int = 1, *, tolerance: float = 1e-8, relative: bool = True, **options: Any
    ) -> SingularTriples:
        """Return the largest singular triples; a relative tolerance is at most the precision."""
        allowed = min(tolerance, self.precision) if relative else tolerance
        return super().singular_triples(operator, count, tolerance=allowed, relative=relative, **options)


def engine_for(precision: float | None) -> Engine | None:
    """Return the engine of a precision; None leaves the choice to the oracle.

    >>> engine_for(None) is None, engine_for(1e-6).precision
    (True, 1e-06)
    """
    return None if precision is None else PreciseEngine(precision=precision)
