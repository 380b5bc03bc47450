"""File formats in and out."""

from unipd.io.graphs import Graph, as_graph, read_graph
from unipd.io.sdpa import Limits, SdpaProblem, StandardForm, read_sdpa, standard_form, write_sdpa

__all__ = [
    "Graph",
    "Limits",
    "SdpaProblem",
    "StandardForm",
    "as_graph",
    "read_graph",
    "read_sdpa",
    "standard_form",
    "write_sdpa",
]
