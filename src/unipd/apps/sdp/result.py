"""What solving a semidefinite program returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.apps.sdp.data import Block
from unipd.apps.sdp.trace import TraceBound
from unipd.run import History
from unipd.status import Status

RANK_SHARE = 1e-6
"""Eigenvalues of X below this share of the largest do not count for the rank."""


@dataclass(frozen=True)
class SdpResult:
    """A point X = R R^T of a semidefinite program, a bound of the optimal value, and how sure it is.

    For a minimisation ``objective`` is <C, X> and ``dual_bound`` a lower bound of the optimal value; for a
    maximisation (SDPA files are: max <F_0, Y>) ``dual_bound`` is an upper bound.
    """

    status: Status
    message: str
    """What happened, for people."""
    objective: float
    dual_bound: float
    gap: float
    """|objective - dual_bound| with its sign, divided by max(1, |objective|); positive unless X is infeasible."""
    infeasibility: float
    """||violations of the constraints|| / (1 + ||b||), in the units of the data."""
    bound_kind: str
    """"rigorous", or "probabilistic" (wrong with probability 1e-9)."""
    x: Any
    """X as factors; ``x.left`` is R."""
    dual: Array
    """The multipliers y of the constraints: C + sum y_i A_i is psd up to the gap (-C for a maximisation); for SDPA
    files this is the vector x of the format's primal problem."""
    slack: Any
    """The matrix S = +-C + sum y_i A_i as an operator with matvec, matmat, toarray and tocsr."""
    dimacs_errors: tuple[float, ...]
    """The six error measures of the DIMACS challenge."""
    trace_bound: TraceBound | None
    """The trace that the bound rests on."""
    blocks: tuple[Block, ...]
    accuracy: float
    method: str
    iterations: int
    """Of both parts where interior points went on from the factored method, as ``counts`` and ``seconds``."""
    counts: Any
    seconds: float
    peak_memory_bytes: int
    history: History = field(repr=False)
    problem: Any = field(repr=False)
    image: Array = field(repr=False)
    """A(X)."""
    eps: float | None = field(default=None, repr=False)
    """The accuracy that a universal method works with."""
    dual_norm: float | None = field(default=None, repr=False)
    """Norm of the dual vector in the units of the history."""

    @property
    def rank(self) -> int:
        """Number of eigenvalues of X above 1e-6 of the largest."""
        if self.x is None:
            return 0
        squares = np.linalg.svd(self.x.left, compute_uv=False) ** 2
        return int(np.count_nonzero(squares > RANK_SHARE * squares[0])) if squares[0] > 0.0 else 0

    @property
    def worst(self) -> float:
        """The larger of gap and infeasibility; inf where one is not known."""
        both = max(abs(self.gap), self.infeasibility)
        return both if both == both else float("inf")

    def block(self, index: int) -> Array:
        """Return one block of X: an array, for a diagonal block its diagonal."""
        block = self.blocks[index]
        rows = self.x.left[block.rows] * np.sqrt(self.x.weights)
        return np.einsum("ij,ij->i", rows, rows) if block.diagonal else rows @ rows.T

    def summary(self) -> dict[str, Any]:
        """Return the headline figures as plain numbers and strings (what ``--json`` prints)."""
        counts = self.counts
        return {
            "status": self.status.value,
            "message": self.message,
            "method": self.method,
            "objective": self.objective,
            "dual_bound": self.dual_bound,
            "gap": self.gap,
            "infeasibility": self.infeasibility,
            "bound_kind": self.bound_kind,
            "iterations": self.iterations,
            "oracle_calls": counts.oracle_calls,
            "line_search_trials": counts.trials,
            "matvecs": counts.matvecs,
            "seconds": self.seconds,
            "peak_memory_bytes": self.peak_memory_bytes,
            "rank": self.rank,
            "dimacs_errors": list(self.dimacs_errors),
            "trace_bound": None if self.trace_bound is None else self.trace_bound.value,
            "trace_bound_reason": None if self.trace_bound is None else self.trace_bound.reason,
        }

    def __str__(self) -> str:
        rows = [
            ("status", f"{self.status.value}: {self.message}"),
            ("objective", f"{self.objective:.10g}"),
            ("dual bound", f"{self.dual_bound:.10g} ({self.bound_kind})"),
            ("gap (relative)", f"{self.gap:.2e}, asked {self.accuracy:.0e}"),
            ("infeasibility", f"{self.infeasibility:.2e}"),
            ("rank", str(self.rank)),
            ("method", f"{self.method}, {self.iterations} iterations"),
            ("seconds", f"{self.seconds:.3g}"),
        ]
        return "\n".join(f"{name:<14}  {text}" for name, text in rows)


def dimacs_errors(
    b: Array, largest_cost: float, violation: Array, slack_bottom: float, values: Sequence[float]
) -> tuple[float, ...]:
    """Return the six DIMACS error measures of a point X = R R^T and a dual vector with its exact slack matrix.

    (1) ||A(X) - b|| / (1 + max |b|); (2) how negative X is; (3) how far the slack is from C - A^*(y); (4) how
    negative the slack is, over 1 + max |C|; (5) the gap and (6) <X, S>, both over 1 + |primal| + |dual|. X is psd
    and the slack is computed from y, so (2) and (3) are zero by construction.

    Parameters
    ----------
    b
        Right-hand sides.
    largest_cost
        Largest entry of C in modulus.
    violation
        Violations of the constraints.
    slack_bottom
        (A lower bound of) the smallest eigenvalue of S.
    values
        <C, X>, b^T y of the minimisation and <X, S>.

    Examples
    --------
    >>> dimacs_errors(np.ones(1), 1.0, np.zeros(1), 0.5, (2.0, 2.0, 0.0))
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    """
    primal, dual, product = values
    size = 1.0 + abs(primal) + abs(dual)
    first = float(np.linalg.norm(violation)) / (1.0 + float(np.abs(b).max()))
    fourth = max(0.0, -slack_bottom) / (1.0 + largest_cost)
    return (first, 0.0, 0.0, fourth, (primal - dual) / size, product / size)
