"""Weighted undirected graphs: rudy (G-set) files, edge lists, and what other libraries hold."""

from unipd.io.graphs_convert import as_graph
from unipd.io.graphs_model import Graph
from unipd.io.graphs_read import read_graph

__all__ = ["Graph", "as_graph", "read_graph"]
