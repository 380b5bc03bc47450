"""Keep one point that a method computes by itself."""

from __future__ import annotations

from typing import Any


class Fixed:
    """Tracker of a point that is replaced as a whole, not averaged.

    >>> Fixed(3.0).point()
    3.0
    """

    exact_objective = False

    def __init__(self, value: Any) -> None:
        self._value = value

    def mixed(self, gamma: float, atom: Any) -> Fixed:
        """Refuse: methods that own their point replace it."""
        raise NotImplementedError("a fixed point is replaced, not mixed")

    def point(self) -> Any:
        """Return the point."""
        return self._value

    @property
    def nbytes(self) -> int:
        """Bytes of the point."""
        return int(self._value.nbytes)
