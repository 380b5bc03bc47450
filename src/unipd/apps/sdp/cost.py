"""The objective <C, X> of a semidefinite program over psd matrices of given trace."""

from __future__ import annotations

from typing import Any

from unipd.apps.sdp.oracle import SMALL_ORDER
from unipd.maps.sdp.recurrence import serves
from unipd.sharp import Linear
from unipd.sharp.spectral_trace import Spectrahedron


class SdpCost(Linear):
    """f(X) = <C, X> over such a set, for directions on the pattern that C shares with the constraints.

    Parameters
    ----------
    joint
        The program's map with its cost: ``cost``, ``slack``, ``cost_and_image`` and ``minus``.
    oracle
        The set.
    maximise, constant
        How progress is shown: values have the sign of a maximisation, and the constant is added.
    """

    def __init__(self, joint: Any, oracle: Spectrahedron, maximise: bool = False, constant: float = 0.0) -> None:
        super().__init__(joint.cost, oracle)
        self.joint, self.maximise, self.constant = joint, maximise, constant

    def shown(self, value: float) -> float:
        """Return an objective or a bound as people know it."""
        return (-value if self.maximise else value) + self.constant

    def _shifted(self, direction: Any) -> Any:
        return self.joint.minus(direction, self.cost)

    def objective(self, x: Any) -> float:
        """Return <C, X>."""
        return self.joint.cost_and_image(x)[0]

    def maximum(self) -> float:
        """Return an upper bound of <C, X>: that of Gershgorin for large sparse C, still valid if not tight."""
        if self.shape[0] <= SMALL_ORDER or not serves(self.cost):
            return super().maximum()
        trace: float = getattr(self.oracle, "trace")  # noqa: B009 - both sets have one
        return trace * float(abs(self.cost.tocsr()).sum(axis=1).max())
