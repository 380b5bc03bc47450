"""File formats, one per file.

``reading`` has the guard of every reader, and the lines and numbers of text formats. Then come sdpa (with the solutions
of other solvers), sedumi, cbf, graphs, ratings (and the names that its columns may have), pauli (measurements of states
and channels) and results (what ``unipd.save`` writes). All are imported on first use.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
