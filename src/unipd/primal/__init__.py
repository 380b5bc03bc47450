"""Trackers: what is kept of the primal average, so that memory is chosen and not suffered (one a file)."""

from unipd.primal.active_set import ActiveSet
from unipd.primal.atom_list import AtomList
from unipd.primal.by_block import ByBlock
from unipd.primal.dense import Dense
from unipd.primal.fixed import Fixed
from unipd.primal.image_only import ImageOnly
from unipd.primal.lowrank import LowRankTracker
from unipd.primal.sketch import SketchTracker

__all__ = ["ActiveSet", "AtomList", "ByBlock", "Dense", "Fixed", "ImageOnly", "LowRankTracker", "SketchTracker"]
