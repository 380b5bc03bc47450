"""Losses whose conjugate is infinite somewhere: the slack split needs a bounded slack block."""

from __future__ import annotations

from abc import abstractmethod

from unipd import validate
from unipd._typing import Array
from unipd.couplings.base import ConvexLoss
from unipd.errors import InvalidInput
from unipd.protocols import inner


class BoundedSlackLoss(ConvexLoss):
    """A separable loss phi(r) = sum_i phi_i(r_i) with a slack block {|r_i| <= slack_radius}.

    phi^* is infinite outside a bounded set, so it cannot join g as it stands. Over the bounded block

        max over |r_i| <= R of <lam, r> - phi(r)

    is finite for every lam, attained (phi being separable and convex) at the unrestricted maximiser cut down to
    R entry by entry, and equal to phi^*(lam) exactly where that maximiser fits. Weak duality then bounds the
    problem with |A x - b| <= R, which is the original one as soon as an optimal residual fits: choose R no less
    than the largest |A x - b| that matters, for instance its maximum over X.

    Parameters
    ----------
    slack_radius
        R > 0, or None when the loss will be used in its prox form only.

    Examples
    --------
    >>> import numpy as np
    >>> from unipd.couplings import Absolute
    >>> Absolute(slack_radius=2.0).slack(np.array([0.5, 3.0]))
    (array([0., 2.]), 4.0)
    """

    def __init__(self, slack_radius: float | None) -> None:
        self.slack_radius = None if slack_radius is None else validate.positive("slack_radius", slack_radius)

    @property
    def splittable(self) -> bool:
        """Whether a slack radius was given."""
        return self.slack_radius is not None

    def slack(self, dual: Array) -> tuple[Array, float]:
        """Return the maximiser r of <lam, r> - phi(r) over |r_i| <= R and the maximum."""
        if self.slack_radius is None:
            raise InvalidInput("slack_radius", "a number above zero for the slack split", "None")
        maximiser = self._maximiser(dual, self.slack_radius)
        return maximiser, inner(dual, maximiser) - self.value(maximiser)

    @abstractmethod
    def _maximiser(self, dual: Array, radius: float) -> Array:
        """Return the maximiser of <lam, r> - phi(r) over |r_i| <= radius."""
