"""A result as read back from a file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.described import html_table, plain_table
from unipd.methods import Counts
from unipd.protocols import norm
from unipd.run.history import History
from unipd.status import Status


@dataclass(frozen=True, eq=False, repr=False)
class SavedResult:
    """A result read from a file, with the headline attributes of :class:`unipd.Result`.

    It prints as a table and shows as HTML in notebooks.
    """

    figures: dict[str, Any]
    """What ``summary()`` of the result gave: status, objective, bound, gap, counts, seconds."""
    x: Any
    """The primal point in the form it was kept."""
    dual: Array | None
    """The dual vector that attains the bound."""
    image: Array | None
    """A x."""
    history: History
    """One row an iteration."""
    facts: dict[str, Any]
    """The problem in words, whether it has a loss (and its curvature), ||b||, the scale of gaps, the method's eps, and
    the norm of the dual vector in the units of the history."""
    accuracy: float
    """The accuracy that was asked for."""
    infeasibility: float
    """dist(A x - b, K), absolute."""
    settings: dict[str, Any]
    """Options of the run, as far as they were given to :func:`save`."""
    seed: int | None
    """Seed of the run."""
    extra: dict[str, Any]
    """What an application stored besides."""
    versions: dict[str, str]
    """Versions of unipd, Python and the packages that made the result."""
    saved: str
    """When the file was written (UTC)."""

    @property
    def status(self) -> Status:
        """How the run ended."""
        return Status(self.figures["status"])

    @property
    def objective(self) -> float:
        """f(x) + phi(A x - b)."""
        return self._figure("objective")

    @property
    def dual_bound(self) -> float:
        """Certified lower bound of the optimal value."""
        return self._figure("dual_bound")

    @property
    def gap(self) -> float:
        """(objective - dual_bound) / scale."""
        return self._figure("gap")

    @property
    def relative_infeasibility(self) -> float:
        """dist(A x - b, K) / max(1, ||b||)."""
        return self._figure("infeasibility")

    @property
    def bound_kind(self) -> str:
        """How sure the bound is."""
        return str(self.figures.get("bound_kind", ""))

    @property
    def tracker_error(self) -> float | None:
        """Frobenius norm of what a tracker that approximates has lost of x."""
        return self.figures.get("tracker_error")

    @property
    def counts(self) -> Counts:
        """Oracle calls, line-search trials and products."""
        names = ("oracle_calls", "line_search_trials", "matvecs")
        return Counts(*(int(self.figures.get(name) or 0) for name in names))

    @property
    def method(self) -> str:
        """Name of the method."""
        return str(self.figures.get("method", ""))

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return int(self.figures.get("iterations", 0))

    @property
    def seconds(self) -> float:
        """Wall time."""
        return self._figure("seconds")

    def summary(self) -> dict[str, Any]:
        """Return the headline figures as plain numbers and strings."""
        return dict(self.figures)

    def plot(self, path: str | None = None, **options: Any) -> Any:
        """Draw the convergence curves; see :func:`unipd.report.plot_convergence`."""
        from importlib import import_module

        return import_module("unipd.report").plot_convergence(self, path, **options)

    def _figure(self, name: str) -> float:
        value = self.figures.get(name)
        return math.nan if value is None else float(value)

    def _rows(self) -> list[tuple[str, str]]:
        rows = [(name.replace("_", " "), value) for name, value in self.figures.items()]
        rows += [("problem", self.facts.get("problem")), ("seed", self.seed), ("saved", self.saved)]
        return [(name, _text(value)) for name, value in rows]

    def __repr__(self) -> str:
        return plain_table(self._rows())

    def _repr_html_(self) -> str:
        return html_table(self._rows())


def facts(result: Any) -> dict[str, Any]:
    """Return what a picture of a run needs to know of its problem, from a result or a saved one."""
    if isinstance(result, SavedResult):
        return result.facts
    problem = getattr(result, "problem", None)
    state, dual = getattr(result, "state", None), getattr(result, "dual", None)
    known = {
        "problem": None if problem is None else repr(problem),
        "loss": None if problem is None else problem.loss is not None,
        "norm_b": None if problem is None else float(problem.norm_b),
        "scale": None if problem is None else float(problem.scale(result.objective)),
        "curvature": None if problem is None else _curvature(problem),
        "eps": getattr(result, "eps", getattr(state, "eps", None)),
        "dual_norm": getattr(result, "dual_norm", None if dual is None else norm(dual)),
    }
    return known


def _curvature(problem: Any) -> float | None:
    """Return c with ||grad phi(r)||^2 <= 2 c (f + phi(r)), for smooth losses of a least value of 0 and f >= 0.

    The least value of f is -f^*(0), and zero for homogeneous conjugates.
    """
    loss = problem.loss
    if loss is None or problem.sharp.degree is None:
        return None
    curvature = float(loss.curvature())
    least = -float(loss.conjugate(np.zeros(problem.dual_shape, problem.dtype)))
    return curvature if math.isfinite(curvature) and least >= 0.0 else None


def _text(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
