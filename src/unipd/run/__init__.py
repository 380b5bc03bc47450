"""The one loop and what observes it."""

from unipd.run.checkpoint import Checkpoint, CheckpointWarning
from unipd.run.combining import StoppingRule
from unipd.run.compare import Comparison, compare
from unipd.run.history import History
from unipd.run.loop import iterate, solve
from unipd.run.moment import Moment
from unipd.run.polish import polish
from unipd.run.result import Result
from unipd.run.stopping import (
    Accuracy,
    MaxIterations,
    MaxOracleCalls,
    MaxSeconds,
    Stall,
)

__all__ = [
    "Accuracy",
    "Checkpoint",
    "CheckpointWarning",
    "Comparison",
    "History",
    "MaxIterations",
    "MaxOracleCalls",
    "MaxSeconds",
    "Moment",
    "Result",
    "Stall",
    "StoppingRule",
    "compare",
    "iterate",
    "polish",
    "solve",
]
