"""Trackers: what is kept of the primal average, so that memory is chosen and not suffered (one a file)."""

from unipd.primal.atom_list import AtomList
from unipd.primal.dense import Dense
from unipd.primal.image_only import ImageOnly

__all__ = ["AtomList", "Dense", "ImageOnly"]
