"""File formats, one per file.

Read limits (the guard of every reader), text (lines and numbers, for all text formats), sdpa, sedumi, graphs, ratings
(with columns, the names that its columns may have), pauli and process (data), solutions (of other solvers) and results
(what ``unipd.save`` writes). All are imported on first use.
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.io.graphs import Graph, as_graph, read_graph
    from unipd.io.limits import Limits
    from unipd.io.pauli import PauliData, read_pauli_data, write_pauli_data
    from unipd.io.process import ProcessExpectations, read_process_data, write_process_counts
    from unipd.io.ratings import Ratings, read_ratings, read_titles
    from unipd.io.results import load, save
    from unipd.io.sdpa import SdpaProblem, read_sdpa, write_sdpa
    from unipd.io.sedumi import SedumiProblem, read_sedumi, write_sedumi
    from unipd.io.solutions import Solution, read_solution

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "graphs": ("Graph", "as_graph", "read_graph"),
        "limits": ("Limits",),
        "pauli": ("PauliData", "read_pauli_data", "write_pauli_data"),
        "process": ("ProcessExpectations", "read_process_data", "write_process_counts"),
        "ratings": ("Ratings", "read_ratings", "read_titles"),
        "results": ("load", "save"),
        "sdpa": ("SdpaProblem", "read_sdpa", "write_sdpa"),
        "sedumi": ("SedumiProblem", "read_sedumi", "write_sedumi"),
        "solutions": ("Solution", "read_solution"),
    },
)

__all__ = [
    "Graph",
    "Limits",
    "PauliData",
    "ProcessExpectations",
    "Ratings",
    "SdpaProblem",
    "SedumiProblem",
    "Solution",
    "as_graph",
    "load",
    "read_graph",
    "read_pauli_data",
    "read_process_data",
    "read_ratings",
    "read_sdpa",
    "read_sedumi",
    "read_solution",
    "read_titles",
    "save",
    "write_pauli_data",
    "write_process_counts",
    "write_sdpa",
    "write_sedumi",
]
