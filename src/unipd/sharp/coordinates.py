"""Sets described by coordinates: balls of weighted l1 and group norms, simplices, and boxes beside them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray, IntArray


@dataclass(frozen=True)
class Coordinates:
    """X = {N(x) <= budget, lower <= x <= upper} and f(x) = w N(x) + v N(x)^2 with N(x) = sum_g w_g ||x_g||_2.

    The groups g partition the entries of x; groups of one entry alone have bounds other than infinite ones, and the
    entries of a group with weight zero are outside the budget. A coordinate method solves over a few groups and adds
    those that the oracle's direction prices best.

    Parameters
    ----------
    members
        The entries of x, group after group.
    starts
        Where each group begins among the members, and the end of the last.
    weights
        w_g for each group.
    lower
        Lower bounds of the entries, in the order of x.
    upper
        Upper bounds of the entries, in the order of x.
    budget
        The bound on N(x); inf for none.
    is_tight
        Whether N(x) = budget holds on X (a simplex).
    linear
        w.
    quadratic
        v.

    See Also
    --------
    unipd.CoordinateDescent, L1Ball

    Examples
    --------
    >>> ball = Coordinates.of_entries(3, budget=2.0)
    >>> ball.total(np.array([1.0, -3.0, 0.0])), ball.scores(np.array([1.0, -4.0, 2.0]))
    (4.0, array([1., 4., 2.]))
    """

    members: IntArray
    starts: IntArray
    weights: FloatArray
    lower: FloatArray
    upper: FloatArray
    budget: float = math.inf
    is_tight: bool = False
    linear: float = 0.0
    quadratic: float = 0.0

    @staticmethod
    def of_entries(
        size: int,
        *,
        weight: float = 1.0,
        lower: Any = -math.inf,
        upper: Any = math.inf,
        budget: float = math.inf,
        is_tight: bool = False,
    ) -> Coordinates:
        """Return groups of one entry each, with equal weights.

        Parameters
        ----------
        size
            The number of entries.
        weight
            The weight of every entry in the budget.
        lower, upper
            Bounds on the entries, numbers or arrays.
        budget, is_tight
            As in :class:`Coordinates`.
        """
        places = np.arange(size + 1)
        low, high = (np.broadcast_to(np.asarray(bound, np.float64), (size,)) for bound in (lower, upper))
        return Coordinates(places[:-1], places, np.broadcast_to(weight, (size,)), low, high, budget, is_tight)

    @property
    def size(self) -> int:
        """Number of entries of x."""
        return self.members.size

    @property
    def has_groups(self) -> bool:
        """Whether some group has several entries."""
        return self.weights.size < self.members.size

    def restrict(self, groups: IntArray) -> Coordinates:
        """Return the same set over some groups; ``members`` still names entries of the whole x.

        Bounds are then in the order of the members.
        """
        sizes = np.diff(self.starts)[groups]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        inside = np.repeat(self.starts[groups] - starts[:-1], sizes) + np.arange(starts[-1])
        members = self.members[inside]
        bounds = {"lower": self.lower[members], "upper": self.upper[members]}
        return replace(self, members=members, starts=starts, weights=self.weights[groups].astype(float), **bounds)

    def total(self, x: FloatArray) -> float:
        """Return N(x), x given in the order of the members."""
        return float(self.weights @ self.norms(x))

    def norms(self, x: FloatArray) -> FloatArray:
        """Return ||x_g|| for each group, x in the order of the members."""
        if not self.has_groups:
            return np.abs(x)
        return np.sqrt(np.add.reduceat(x * x, self.starts[:-1]))

    def spread(self, values: Any) -> Any:
        """Return a value per group as one per entry, in the order of the members."""
        return np.repeat(values, np.diff(self.starts)) if self.has_groups else values

    def scores(self, direction: Array) -> FloatArray:
        """Return how much a unit of N(x) in each group gains along y (in the order of x); 0 outside the budget."""
        flat = direction.reshape(-1)
        ordered = flat[self.members]
        lengths = self.norms(ordered) if self.has_groups else np.where(self.lower < 0.0, np.abs(ordered), ordered)
        return np.divide(lengths, self.weights, out=np.zeros(lengths.shape), where=self.weights > 0.0)


def join_coordinates(parts: list[Coordinates | None]) -> Coordinates | None:
    """Return the coordinates of a product of sets; None unless at most one of them has a budget or a cost.

    >>> box = Coordinates.of_entries(1, weight=0.0, lower=-1.0, upper=1.0)
    >>> join_coordinates([Coordinates.of_entries(2, budget=3.0), box]).weights
    array([1., 1., 0.])
    """
    known = [part for part in parts if part is not None]
    limited = [part for part in known if part.weights.any()]
    if len(known) < len(parts) or len(limited) > 1:
        return None
    offsets = np.cumsum([0, *(part.size for part in known)])
    pairs = list(zip(known, offsets, strict=False))
    main = limited[0] if limited else known[0]
    return replace(
        main,
        members=np.concatenate([part.members + offset for part, offset in pairs]),
        starts=np.concatenate([[0], *(part.starts[1:] + offset for part, offset in pairs)]),
        weights=np.concatenate([part.weights for part in known]).astype(float),
        lower=np.concatenate([part.lower for part in known]),
        upper=np.concatenate([part.upper for part in known]),
    )
