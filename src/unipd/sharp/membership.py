"""Membership tests that never ask for more than the precision of the point."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np


def rounding_of(x: Any) -> float:
    """Return 64 eps of a point's dtype, below which membership cannot be told; 0 for whole numbers.

    >>> rounding_of(np.zeros(2, np.float32)) == 64 * 2.0**-23
    True
    """
    kind = getattr(x, "dtype", None)
    return 64.0 * float(np.finfo(kind).eps) if kind is not None and kind.kind in "fc" else 0.0


def _at_least_rounding(contains: Callable[..., bool]) -> Callable[..., bool]:
    """Return a membership test that never asks for more than the precision of the point."""

    @wraps(contains)
    def tolerant(self: Any, x: Any, tolerance: float = 1e-9) -> bool:
        return contains(self, x, max(tolerance, rounding_of(x)))

    return tolerant


class Membership:
    """Base that lets ``contains`` of its subclasses forgive 64 eps of the point's dtype at least."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = vars(cls).get("contains")
        if own is not None:
            type.__setattr__(cls, "contains", _at_least_rounding(own))
