"""How a run ended, in a word for programs and a sentence for people."""

from enum import Enum


class Status(str, Enum):
    """Outcome of a run. ``Status.SOLVED`` is the only success, and is given only after a check.

    >>> Status.SOLVED.value
    'solved'
    >>> Status.INFEASIBLE.success
    False
    """

    SOLVED = "solved"
    STOPPED = "stopped"
    ITERATION_LIMIT = "iteration_limit"
    ORACLE_LIMIT = "oracle_limit"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    STALLED = "stalled"
    INTERRUPTED = "interrupted"
    LINE_SEARCH_FAILED = "line_search_failed"
    INFEASIBLE = "infeasible"

    @property
    def success(self) -> bool:
        """Whether the asked accuracy was reached and verified."""
        return self is Status.SOLVED

    @property
    def message(self) -> str:
        """What the status means, for people."""
        return _MESSAGES[self]


_MESSAGES = {
    Status.SOLVED: "The asked accuracy was reached: feasibility and certified gap were both checked.",
    Status.STOPPED: "A stopping rule or a callback ended the run before the asked accuracy was certified.",
    Status.ITERATION_LIMIT: "The iteration limit was reached before the asked accuracy was certified.",
    Status.ORACLE_LIMIT: "The limit on oracle calls was reached before the asked accuracy was certified.",
    Status.TIME_LIMIT: "The time limit was reached before the asked accuracy was certified.",
    Status.MEMORY_LIMIT: "The memory limit was reached before the asked accuracy was certified.",
    Status.STALLED: (
        "Progress stalled: the gap and the feasibility no longer improve, or the point, measured anew at the end, "
        "fell short of the accuracy that the run had claimed or lay outside of X."
    ),
    Status.INTERRUPTED: "The run was interrupted; the best point so far is returned.",
    Status.LINE_SEARCH_FAILED: (
        "The line search could not satisfy its condition: the accuracy asked of the method (eps) is "
        "below what the oracle's precision allows."
    ),
    Status.INFEASIBLE: "The problem is infeasible: the dual bound exceeds every value f takes on X.",
}
