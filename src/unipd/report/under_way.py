"""Runs under way, seen as results: what is known after the last whole iteration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from unipd._typing import Array
from unipd.methods import Counts
from unipd.run.history import History
from unipd.run.moment import Moment
from unipd.status import Status

KEPT = 12
"""Runs that a page shows at most, the last ones."""


@dataclass(frozen=True)
class UnderWay(Moment):
    """A run after an iteration, with the attributes of a result that a report reads; its status is None."""

    method: str
    accuracy: float
    status: Status | None = None
    settings: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def bound_kind(self) -> str:
        """How sure the bound is."""
        return self.state.certificate.kind

    @property
    def dual(self) -> Array:
        """The dual vector of the bound."""
        return self.state.certificate.dual

    def summary(self) -> dict[str, Any]:
        """Return the headline figures."""
        counts: Counts = self.state.counts
        figures = {
            "objective": self.objective,
            "dual_bound": self.dual_bound,
            "gap": self.gap,
            "infeasibility": self.infeasibility,
            "bound_kind": self.bound_kind,
            "method": self.method,
            "iterations": self.iteration,
            "oracle_calls": counts.oracle_calls,
            "line_search_trials": counts.trials,
            "matvecs": counts.matvecs,
            "seconds": self.seconds,
        }
        return {key: value for key, value in figures.items() if not isinstance(value, float) or math.isfinite(value)}


class _Seen(NamedTuple):
    """The last iteration of a run."""

    method: str
    accuracy: float
    moment: Moment

    def under_way(self) -> UnderWay:
        """Return the run as a report reads it, without the iterations that have come since."""
        method, accuracy, moment = self
        rows = moment.history.table
        rows = rows[rows[:, 0] <= moment.state.iteration]
        return UnderWay(moment.problem, moment.state, moment.seconds, History(rows), method, accuracy)


class Journal:
    """Collects runs as they go: a watcher for :func:`unipd.run.watching.watching`, and the source of a live page.

    An iteration costs it one assignment; everything else happens when a page asks, in the page's thread.
    """

    def __init__(self) -> None:
        self._runs: dict[str, _Seen | Any] = {}
        self._begun = 0

    def __call__(self, method: str, accuracy: float) -> Any:
        """Begin a run; return what takes its moments."""
        self._begun += 1
        name = method if self._begun == 1 else f"{method} #{self._begun}"

        def note(moment: Moment) -> None:
            self._runs[name] = _Seen(method, accuracy, moment)

        return note

    def finish(self, name: str, result: Any) -> None:
        """Put a result in the place of the last run."""
        last = next(reversed(self._runs), None)
        self._runs = {
            (name if key == last else key): (result if key == last else run) for key, run in self._runs.items()
        }

    def runs(self) -> Mapping[str, Any]:
        """Return the last runs by name, as of now."""
        known = list(self._runs.items())[-KEPT:]
        return {name: run.under_way() if isinstance(run, _Seen) else run for name, run in known}
