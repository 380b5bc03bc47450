"""File formats, one per file.

Read limits (the guard of every reader), text (lines and numbers, for all text formats), sdpa, sedumi, cbf, graphs,
ratings (with columns, the names that its columns may have), pauli (measurements of states and channels), solutions (of
other solvers) and results (what ``unipd.save`` writes). All are imported on first use.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
