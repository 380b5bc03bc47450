"""The maximum cut of a graph: a certified bound by semidefinite programming, and a good cut."""

from unipd.apps.maxcut.cut import MaxCut, MaxCutResult, cut_value, maxcut

__all__ = ["MaxCut", "MaxCutResult", "cut_value", "maxcut"]
