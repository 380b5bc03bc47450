"""The one loop, what observes it and what it returns.

Read loop (``iterate`` is the loop, ``solve`` consumes it), termination (the one place where "solved", "infeasible" and
"stalled" are decided, with stopping, consistency and infeasibility), result and history (what is returned), then
checkpoint/, progress and interruption; polish and compare work on finished runs.
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports
from unipd.run.compare import Comparison, Truth, compare
from unipd.run.loop import Run, iterate, solve
from unipd.run.polish import polish

if TYPE_CHECKING:
    from unipd.run.checkpoint import Checkpoint, CheckpointWarning
    from unipd.run.history import COLUMNS, History, Incumbent, IterationInfo
    from unipd.run.infeasibility import is_separating, nearest_ray
    from unipd.run.progress import Heartbeat, remaining_seconds, watch_runs, write_progress_to
    from unipd.run.result import ProblemFacts, Result, problem_facts, tracker_error
    from unipd.run.stopping import (
        Accuracy,
        MaxCpuSeconds,
        MaxIterations,
        MaxOracleCalls,
        MaxSeconds,
        RemainingBudget,
        Stall,
        StoppingRule,
        When,
    )
    from unipd.run.termination import Termination, downgrade, recheck

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "checkpoint": ("Checkpoint", "CheckpointWarning"),
        "history": ("COLUMNS", "History", "Incumbent", "IterationInfo"),
        "infeasibility": ("is_separating", "nearest_ray"),
        "progress": ("Heartbeat", "remaining_seconds", "watch_runs", "write_progress_to"),
        "result": ("ProblemFacts", "Result", "problem_facts", "tracker_error"),
        "stopping": (
            "Accuracy",
            "MaxCpuSeconds",
            "MaxIterations",
            "MaxOracleCalls",
            "MaxSeconds",
            "RemainingBudget",
            "Stall",
            "StoppingRule",
            "When",
        ),
        "termination": ("Termination", "downgrade", "recheck"),
    },
)

__all__ = [
    "COLUMNS",
    "Accuracy",
    "Checkpoint",
    "CheckpointWarning",
    "Comparison",
    "Heartbeat",
    "History",
    "Incumbent",
    "IterationInfo",
    "MaxCpuSeconds",
    "MaxIterations",
    "MaxOracleCalls",
    "MaxSeconds",
    "ProblemFacts",
    "RemainingBudget",
    "Result",
    "Run",
    "Stall",
    "StoppingRule",
    "Termination",
    "Truth",
    "When",
    "compare",
    "downgrade",
    "is_separating",
    "iterate",
    "nearest_ray",
    "polish",
    "problem_facts",
    "recheck",
    "remaining_seconds",
    "solve",
    "tracker_error",
    "watch_runs",
    "write_progress_to",
]
