"""Coordinate descent over working sets: for balls of l1 and group norms, simplices and boxes.

In the order to read it: :mod:`unipd.sharp.coordinates` (such a set by its coordinates), ``coordinate`` (the method:
solve over a working set, price the other coordinates with the oracle), ``restricted`` (the problem over a working set:
coordinate passes and Newton steps on the support), ``kernels`` (the compiled passes).
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.methods.coordinate.coordinate import CoordinateDescent, CoordinateState, has_coordinates
    from unipd.methods.coordinate.restricted import Restricted, minimize_restricted

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "coordinate": ("CoordinateDescent", "CoordinateState", "has_coordinates"),
        "restricted": ("Restricted", "minimize_restricted"),
    },
)

__all__ = [
    "CoordinateDescent",
    "CoordinateState",
    "Restricted",
    "has_coordinates",
    "minimize_restricted",
]
