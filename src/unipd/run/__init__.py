"""The one loop, what observes it and what it returns.

Read loop (``iterate`` is the loop, ``solve`` consumes it), termination (the one place where "solved", "infeasible" and
"stalled" are decided, with stopping, consistency and infeasibility), result and history (what is returned), then
checkpoint/ and progress; polishing and comparison work on finished runs.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
