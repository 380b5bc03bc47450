"""Keep xbar as an array, by one tracker per block, as a point that the method replaces, or only by its image A xbar."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd import atoms
from unipd.errors import InvalidInput
from unipd.protocols import Tracker, TrackerDefaults


@dataclass(frozen=True, eq=False)
class Dense:
    """Tracker of xbar as a NumPy array (for several blocks: one per block).

    Parameters
    ----------
    value
        The point to begin with.

    See Also
    --------
    ImageOnly, AtomList, ByBlock

    Examples
    --------
    >>> tracker = Dense().mix(1.0, np.array([1.0, 0.0])).mix(0.5, atoms.one_hot((2,), 1, 1.0))
    >>> tracker.point()
    array([0.5, 0.5])
    """

    value: Any = None

    exact_objective = True
    error = None
    has_shared_atoms = False

    def mix(self, gamma: float, atom: Any) -> Dense | ByBlock:
        """Return the tracker of (1 - gamma) xbar + gamma atom."""
        if isinstance(atom, atoms.Blocks):
            return ByBlock((Dense(),) * len(atom)).mix(gamma, atom)
        if self.value is None or gamma == 1.0:
            return Dense(np.array(atoms.dense(atom) * gamma, order="C"))
        if gamma == 0.0:
            return self
        mixed = (1.0 - gamma) * self.value
        atoms.add_to(mixed, gamma, atom)
        return Dense(mixed)

    def point(self) -> Any:
        """Return xbar."""
        return self.value

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return 0 if self.value is None else self.value.nbytes


@dataclass(frozen=True, eq=False)
class ByBlock:
    """Tracker of xbar = (x_1, ..., x_m) by one tracker per block, such as a sketch of a matrix and an array.

    Parameters
    ----------
    trackers
        One tracker for each block.

    Raises
    ------
    InvalidInput
        ``trackers``: expected one tracker for each block.

    See Also
    --------
    Dense, unipd.sharp.Product

    Examples
    --------
    >>> from unipd.trackers import LowRankTracker
    >>> one = atoms.LowRank(np.ones((2, 1)), np.ones((3, 1)), np.ones(1))
    >>> tracker = ByBlock((LowRankTracker(1), Dense())).mix(1.0, atoms.Blocks((one, np.array([1.0, 2.0]))))
    >>> tracker.point().parts[1], tracker.error
    (array([1., 2.]), 0.0)
    """

    trackers: tuple[Tracker, ...]

    has_shared_atoms = False

    def __post_init__(self) -> None:
        if not self.trackers:
            raise InvalidInput("trackers", "one tracker for each block", "none")

    @property
    def exact_objective(self) -> bool:
        """Whether every block is kept exactly."""
        return all(tracker.exact_objective for tracker in self.trackers)

    @property
    def error(self) -> float | None:
        """Error of the point in Frobenius norm, from the blocks' own (a bound or an estimate, as theirs are)."""
        errors = [tracker.error for tracker in self.trackers if tracker.error is not None]
        return math.hypot(*errors) if errors else None

    @property
    def nbytes(self) -> int:
        """Bytes of all blocks."""
        return sum(tracker.nbytes for tracker in self.trackers)

    def mix(self, gamma: float, atom: Any) -> ByBlock:
        """Return the tracker of (1 - gamma) xbar + gamma atom."""
        if not isinstance(atom, atoms.Blocks) or len(atom) != len(self.trackers):
            got = f"{len(atom)} blocks" if isinstance(atom, atoms.Blocks) else type(atom).__name__
            raise InvalidInput("atom", f"{len(self.trackers)} blocks", got)
        pairs = zip(self.trackers, atom.parts, strict=True)
        return ByBlock(tuple(tracker.mix(gamma, part) for tracker, part in pairs))

    def point(self) -> atoms.Blocks | None:
        """Return xbar (None before the first atom, and when a block is not kept)."""
        points = tuple(tracker.point() for tracker in self.trackers)
        return None if any(point is None for point in points) else atoms.Blocks(points)


@dataclass(frozen=True, eq=False)
class ImageOnly(TrackerDefaults):
    """Tracker without memory; the result then has ``x = None``.

    See Also
    --------
    Dense, SketchTracker

    Examples
    --------
    >>> ImageOnly().mix(0.5, [1.0]).point() is None
    True
    """

    def mix(self, gamma: float, atom: Any) -> ImageOnly:
        """Return itself."""
        return self

    def point(self) -> Any:
        """Return None."""
        return None


@dataclass(frozen=True, eq=False)
class Fixed:
    """Tracker of a point that is replaced as a whole, not averaged.

    Parameters
    ----------
    value
        The point.

    See Also
    --------
    Dense, Combination

    Examples
    --------
    >>> Fixed(3.0).point()
    3.0
    """

    value: Any

    exact_objective = False
    error = None
    has_shared_atoms = False

    def mix(self, gamma: float, atom: Any) -> Fixed:
        """Refuse: methods that own their point replace it."""
        raise NotImplementedError("a fixed point is replaced, not mixed")

    def point(self) -> Any:
        """Return the point."""
        return self.value

    @property
    def nbytes(self) -> int:
        """Bytes of the point."""
        return int(self.value.nbytes)
