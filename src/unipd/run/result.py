"""What a run returns."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from unipd._typing import Array
from unipd.methods import Counts, State
from unipd.problem import Problem
from unipd.run.history import History
from unipd.status import Status


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Outcome of a run: the point, what is proven about it, and how it was reached.

    It prints as a table and shows as HTML in notebooks.
    """

    status: Status
    """How the run ended; ``result.message`` says it in words."""
    x: Any
    """The primal point in the form kept (None with ``tracker="image"``)."""
    image: Array
    """A x."""
    dual: Array
    """The dual vector that attains ``dual_bound``."""
    objective: float
    """f(x) + phi(A x - b)."""
    infeasibility: float
    """dist(A x - b, K)."""
    relative_infeasibility: float
    """The same divided by max(1, ||b||)."""
    dual_bound: float
    """Certified lower bound of the optimal value."""
    gap: float
    """(objective - dual_bound) / scale."""
    bound_kind: str
    """How sure the bound is: "rigorous", or what the oracle's certified errors rest on."""
    tracker_error: float | None
    """Frobenius norm of what a tracker that approximates has lost of x ("lowrank": a bound, "sketch": an estimate)."""
    accuracy: float
    """The accuracy that was asked for."""
    method: str
    """Name of the method."""
    settings: dict[str, Any]
    """Its options."""
    iterations: int
    """Iterations done."""
    counts: Counts
    """Oracle calls, line-search trials and matrix-vector products."""
    seconds: float
    """Wall time."""
    peak_memory_bytes: int
    """Largest resident size of the process."""
    history: History
    """One row an iteration."""
    problem: Problem
    """The problem that was solved."""
    state: State
    """The method's last state, with the point of the result in it."""

    @property
    def message(self) -> str:
        """How the run ended, in words."""
        if self.status is not Status.STALLED or not self.tracker_error:
            return self.status.message
        tracker = type(self.state.primal).__name__
        return (
            f"{self.status.message} The point is what {tracker} kept of the average, with an error of "
            f'{self.tracker_error:.1e} or so: tracker="atoms" keeps it whole, a higher rank keeps more of it.'
        )

    def summary(self) -> dict[str, Any]:
        """Return the headline figures as plain numbers and strings (what ``--json`` prints)."""
        lost = {} if self.tracker_error is None else {"tracker_error": self.tracker_error}
        return {
            "status": self.status.value,
            "message": self.message,
            "method": self.method,
            "objective": self.objective,
            "dual_bound": self.dual_bound,
            "gap": self.gap,
            "infeasibility": self.relative_infeasibility,
            "bound_kind": self.bound_kind,
            **lost,
            "iterations": self.iterations,
            "oracle_calls": self.counts.oracle_calls,
            "line_search_trials": self.counts.trials,
            "matvecs": self.counts.matvecs,
            "seconds": self.seconds,
            "peak_memory_bytes": self.peak_memory_bytes,
        }

    def plot(self, path: str | None = None, **options: Any) -> Any:
        """Draw the convergence curves; see :func:`unipd.report.plot_convergence`."""
        from importlib import import_module

        return import_module("unipd.report").plot_convergence(self, path, **options)

    def save(self, path: Any, **options: Any) -> Any:
        """Write the result to a file that :func:`unipd.load` gives back; see :func:`unipd.save`."""
        from importlib import import_module

        return import_module("unipd.io.results").save(self, path, **options)

    def _rows(self) -> list[tuple[str, str]]:
        lost = [] if self.tracker_error is None else [("error of the tracker", f"{self.tracker_error:.2e}")]
        return [
            ("status", f"{self.status.value}: {self.message}"),
            ("objective", f"{self.objective + 0.0:.10g}"),
            ("dual bound", f"{self.dual_bound + 0.0:.10g} ({self.bound_kind})"),
            ("gap (relative)", f"{self.gap:.2e}, asked {self.accuracy:.0e}"),
            ("infeasibility", f"{self.infeasibility:.2e} ({self.relative_infeasibility:.1e} relative)"),
            *lost,
            ("method", f"{self.method}, {self.iterations} iterations"),
            ("oracle calls", f"{self.counts.oracle_calls} ({self.counts.matvecs} products)"),
            ("seconds", f"{self.seconds:.3g}"),
        ]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self._rows())
        return "\n".join(f"{name:<{width}}  {text}" for name, text in self._rows())

    def _repr_html_(self) -> str:
        cells = (
            f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>"
            for name, text in self._rows()
        )
        return f"<table>{''.join(cells)}</table>"
