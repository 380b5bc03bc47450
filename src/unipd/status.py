"""How a run ended: a word for programs, a sentence for people."""

from enum import Enum


class Status(str, Enum):
    """Outcome of a run. ``Status.SOLVED`` is the only success, and is given only after a check.

    ``Status.LOCAL`` is how a fit of prescribed rank ends as it should when its point is not proven optimal.

    See Also
    --------
    Result, unipd.errors.UnipdError

    Examples
    --------
    >>> Status.SOLVED.value
    'solved'
    >>> Status.INFEASIBLE.success
    False
    """

    SOLVED = "solved"
    LOCAL = "local"
    STOPPED = "stopped"
    ITERATION_LIMIT = "iteration_limit"
    ORACLE_LIMIT = "oracle_limit"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    STALLED = "stalled"
    INTERRUPTED = "interrupted"
    LINE_SEARCH_FAILED = "line_search_failed"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    RUNNING = "running"

    @property
    def success(self) -> bool:
        """Whether the requested accuracy was reached and verified."""
        return self is Status.SOLVED

    @property
    def is_conclusive(self) -> bool:
        """Whether the question is settled: solved, proven infeasible, or unbounded."""
        return self in (Status.SOLVED, Status.INFEASIBLE, Status.UNBOUNDED)

    @property
    def message(self) -> str:
        """The meaning of the status in a sentence."""
        return _MESSAGES[self]


_MESSAGES = {
    Status.SOLVED: "Solved to the requested accuracy (feasibility and duality gap verified).",
    Status.LOCAL: (
        "Local optimum at the prescribed rank: no small change at this rank improves the objective. The dual bound is "
        "that of points of any rank."
    ),
    Status.STOPPED: "Stopped by a stopping rule or a callback before the requested accuracy was verified.",
    Status.ITERATION_LIMIT: "Iteration limit reached before the requested accuracy was verified.",
    Status.ORACLE_LIMIT: "Limit on oracle calls reached before the requested accuracy was verified.",
    Status.TIME_LIMIT: "Time limit reached before the requested accuracy was verified.",
    Status.MEMORY_LIMIT: "Memory limit reached before the requested accuracy was verified.",
    Status.STALLED: (
        "Stalled: gap and infeasibility no longer improve, or the final point, measured again, misses the requested "
        "accuracy or lies outside X. Likely causes: an accuracy below what the precision allows, a method that "
        "converges slowly on such problems, or a tracker that approximates."
    ),
    Status.INTERRUPTED: "Interrupted; the best point so far is returned.",
    Status.LINE_SEARCH_FAILED: (
        "Line search failed: the method's accuracy (eps) is below what the precision of the oracle allows. "
        "Request a lower accuracy or a more precise oracle."
    ),
    Status.INFEASIBLE: "Infeasible: the dual bound exceeds every value of the objective on X.",
    Status.UNBOUNDED: (
        "Unbounded: along the ray returned as x, which keeps feasible points feasible, the objective improves forever."
    ),
    Status.RUNNING: "Still running; the figures are those of the last completed iteration.",
}
