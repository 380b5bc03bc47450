"""What is kept of x."""

from __future__ import annotations

from typing import Any, Protocol


class Tracker(Protocol):
    """What is kept of the primal average xbar; immutable, ``mixed`` returns a new one."""

    def mixed(self, gamma: float, atom: Any) -> Tracker:
        """Return the tracker of (1 - gamma) xbar + gamma atom."""
        ...

    def point(self) -> Any:
        """Return xbar in the form kept, or None when only the image is kept."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        ...
