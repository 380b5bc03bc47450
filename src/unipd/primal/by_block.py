"""Keep several primal blocks, each in its own way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from unipd import atoms
from unipd.errors import InvalidInput
from unipd.protocols import Tracker


@dataclass(frozen=True, eq=False)
class ByBlock:
    """Tracker of xbar = (x_1, ..., x_m) by one tracker a block, such as a sketch for a matrix beside two vectors.

    Parameters
    ----------
    trackers
        One tracker for each block.

    Examples
    --------
    >>> import numpy as np
    >>> from unipd.primal import Dense, LowRankTracker
    >>> one = atoms.LowRank(np.ones((2, 1)), np.ones((3, 1)), np.ones(1))
    >>> tracker = ByBlock((LowRankTracker(1), Dense())).mixed(1.0, atoms.Blocks((one, np.array([1.0, 2.0]))))
    >>> tracker.point().parts[1], tracker.error
    (array([1., 2.]), 0.0)
    """

    trackers: tuple[Tracker, ...]

    def __post_init__(self) -> None:
        if not self.trackers:
            raise InvalidInput("trackers", "one tracker for each block", "none")

    @property
    def exact_objective(self) -> bool:
        """Whether every block is kept exactly."""
        return all(getattr(tracker, "exact_objective", False) for tracker in self.trackers)

    @property
    def error(self) -> float:
        """Error of the point in Frobenius norm, from the blocks' own (a bound or an estimate, as theirs are)."""
        return math.hypot(*(getattr(tracker, "error", 0.0) for tracker in self.trackers))

    @property
    def nbytes(self) -> int:
        """Bytes of all blocks."""
        return sum(tracker.nbytes for tracker in self.trackers)

    def mixed(self, gamma: float, atom: Any) -> ByBlock:
        """Return the tracker of (1 - gamma) xbar + gamma atom."""
        if not isinstance(atom, atoms.Blocks) or len(atom) != len(self.trackers):
            got = f"{len(atom)} blocks" if isinstance(atom, atoms.Blocks) else type(atom).__name__
            raise InvalidInput("atom", f"{len(self.trackers)} blocks", got)
        pairs = zip(self.trackers, atom.parts, strict=True)
        return ByBlock(tuple(tracker.mixed(gamma, part) for tracker, part in pairs))

    def point(self) -> atoms.Blocks | None:
        """Return xbar (None before the first atom, and when a block is not kept)."""
        points = tuple(tracker.point() for tracker in self.trackers)
        return None if any(point is None for point in points) else atoms.Blocks(points)
