"""Squares of norms whose dual is the top value of the spectrum: what they have in common."""

from __future__ import annotations

import math

from unipd.sharp.spectral_rank_one import RankOneSharp


class SquaredSharp(RankOneSharp):
    """Base: f = w ||X||^2 with conjugate s^2 / (4w) in s = max(top value, 0), attained by the weight s / (2w)."""

    scale: float
    """The factor w > 0."""

    @property
    def degree(self) -> float | None:
        """The conjugate is quadratic."""
        return 2.0

    @property
    def linear(self) -> bool:
        """The objective is not linear."""
        return False

    def weight(self, top: float) -> float:
        """Return s / (2w)."""
        return max(top, 0.0) / (2.0 * self.scale)

    def conjugate(self, top: float) -> float:
        """Return s^2 / (4w)."""
        length = max(top, 0.0)
        return length * length / (4.0 * self.scale)

    def allowed(self, top: float, tolerance: float) -> float:
        """Return d with ((s + d)^2 - s^2) / (4w) = tolerance, in a form that does not cancel."""
        room, length = 4.0 * self.scale * tolerance, max(top, 0.0)
        return room / (length + math.sqrt(length * length + room)) if room > 0.0 else 0.0

    def maximum(self) -> float:
        """Return inf: f is unbounded."""
        return math.inf
