"""Trackers: what is kept of the primal average xbar.

dense (an array, one tracker per block, one fixed point, or nothing), atoms (a list, or a combination with weights of a
method's own), lowrank and sketch. A further one is :class:`~unipd.methods.frank_wolfe.ActiveSet`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.trackers.atoms import AtomList, Combination, vertex_key
    from unipd.trackers.dense import ByBlock, Dense, Fixed, ImageOnly
    from unipd.trackers.lowrank import LowRankTracker, compress
    from unipd.trackers.sketch import SketchTracker

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "atoms": ("AtomList", "Combination", "vertex_key"),
        "dense": ("ByBlock", "Dense", "Fixed", "ImageOnly"),
        "lowrank": ("LowRankTracker", "compress"),
        "sketch": ("SketchTracker",),
    },
)

__all__ = [
    "AtomList",
    "ByBlock",
    "Combination",
    "Dense",
    "Fixed",
    "ImageOnly",
    "LowRankTracker",
    "SketchTracker",
    "compress",
    "vertex_key",
]
