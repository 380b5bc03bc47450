"""How far rounding may carry a vector: tolerances of membership in K and in the domain of h."""

from __future__ import annotations

import math

import numpy as np

from unipd._typing import Array
from unipd.protocols import norm

FEASIBILITY_ROUNDING = 1e-9
"""Relative distance to a set below which a vector counts as inside (64 eps when that is more, as in single)."""

ENTRY_ROUNDING = 8.0
"""An entry of a dual vector may leave its interval by so many relative eps and still count as inside."""


def precision(vector: Array) -> float:
    """Return the spacing of numbers at 1 (eps) in an array's dtype.

    >>> precision(np.ones(3)) == 2.0**-52
    True
    """
    return float(np.finfo(vector.dtype).eps)


def domain_rounding(dual: Array) -> float:
    """Return the distance by which rounding alone may put a dual vector outside dom h.

    The distance is 8 eps (8 + sqrt(n)) ||lam||, with eps that of the dtype. Where h is the indicator of a cone
    with a curved or thin boundary, a projected vector is on it up to rounding only, so h counts a vector this
    near as inside. The bound -G(lam) then errs by at most this distance times ||A x^* - b||, which is the size
    of the rounding in <lam, b> itself.

    >>> domain_rounding(np.ones(4)) < 1e-13
    True
    """
    spread = math.sqrt(dual.size)
    return 8.0 * precision(dual) * (8.0 + spread) * norm(dual) + spread * float(np.finfo(dual.dtype).tiny)
