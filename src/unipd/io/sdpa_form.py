"""From SDPA's convention to the one solved here: min <C, X> subject to A(X) = b."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.io.sdpa_problem import SdpaProblem
from unipd.maps.sdp import Entries, SdpMap


@dataclass(frozen=True, eq=False)
class StandardForm:
    """min <C, X> subject to <A_i, X> = b_i, X psd (nonnegative in diagonal blocks).

    C = -F_0, A_i = F_i and b is SDPA's c, so X is SDPA's dual variable Y and the optimal value here is MINUS the
    value that SDPA files (SDPLIB's tables) publish.
    """

    domain: Any
    """Shape of X: (n, n) or (d,) for a single block, else a tuple of them."""
    cost_entries: Entries
    """The nonzeros of C, as constraint 0."""
    constraint_entries: Entries
    """The nonzeros of A_1, ..., A_m, counting from zero."""
    b: Array
    """The right-hand sides."""

    @cached_property
    def map(self) -> SdpMap:
        """X -> A(X), with m rows."""
        return SdpMap(self.domain, self.constraint_entries, self.b.size)

    @cached_property
    def cost(self) -> SdpMap:
        """X -> <C, X>, with one row; C itself is ``cost.adjoint(np.ones(1))``."""
        return SdpMap(self.domain, self.cost_entries, 1)

    @cached_property
    def extended(self) -> SdpMap:
        """X -> (<C, X>, A(X)), with m + 1 rows on one pattern; C + A^*(lam) is its adjoint at (1, lam)."""
        first, rest = self.cost_entries, self.constraint_entries
        joined = [
            np.concatenate([getattr(first, name), getattr(rest, name)]) for name in ("block", "row", "col", "value")
        ]
        constraint = np.concatenate([first.constraint, rest.constraint + 1])
        return SdpMap(self.domain, Entries(constraint, *joined), self.b.size + 1)


def standard_form(problem: SdpaProblem) -> StandardForm:
    """Return min <C, X>, <A_i, X> = b_i, X psd, with C = -F_0, A_i = F_i.

    A semidefinite block of order 1 becomes a diagonal block of length 1. A single block gives a plain domain
    (n, n), several give a tuple of shapes.

    Examples
    --------
    The largest eigenvalue of diag(1, 3) as max <F_0, Y>, trace Y = 1:

    >>> problem = SdpaProblem(
    ...     [1.0], (2,), [0, 0, 1, 1], [0] * 4, [0, 1, 0, 1], [0, 1, 0, 1], [1.0, 3.0, 1.0, 1.0]
    ... )
    >>> form = standard_form(problem)
    >>> form.domain, form.extended.image(np.diag([0.0, 1.0]))
    ((2, 2), array([-3.,  1.]))
    """
    shapes = tuple((size, size) if size > 1 else (abs(size),) for size in problem.block_sizes)
    cost = _entries(problem, problem.constraint == 0, 0, -1.0)
    data = _entries(problem, problem.constraint > 0, -1, 1.0)
    return StandardForm(shapes[0] if len(shapes) == 1 else shapes, cost, data, problem.b)


def _entries(problem: SdpaProblem, chosen: Array, shift: int, sign: float) -> Entries:
    """Return the chosen entries, constraints renumbered and values times a sign."""
    place = (problem.block[chosen], problem.row[chosen], problem.col[chosen])
    return Entries(problem.constraint[chosen] + shift, place[0], place[1], place[2], sign * problem.value[chosen])
