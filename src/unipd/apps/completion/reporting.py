"""The result of a fit: that of its solver, with what the search for a radius took beside it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from unipd.apps.completion.norm_factors import BalancedNuclearNormSquared
from unipd.apps.completion.trials import Chosen, Work
from unipd.run import Result
from unipd.sharp.counted import bare
from unipd.spectral import RIGOROUS
from unipd.status import Status

SEARCH_CUT = "The time limit ended the choice of the radius; the best one so far was used."
MORE_COLUMNS = "Without a radius, a larger residual, a lower accuracy or more columns to begin with (rank) may help."


@dataclass(frozen=True, eq=False, repr=False)
class FitResult(Result):
    """The result of the final fit; the work of the search for its radius is counted apart from its own."""

    search: Work
    """What the search took."""
    search_cut: bool
    """Whether the time limit ended it."""
    total_seconds: float
    """Wall time of the search, the final fit and what is between them, in this process."""

    @property
    def message(self) -> str:
        """How the fit ended, in words, and what may help where the least norm was not found in time."""
        if self.search_cut and self.status is Status.TIME_LIMIT:
            return SEARCH_CUT
        least_norm = self.method == "factored" and isinstance(bare(self.problem.sharp), BalancedNuclearNormSquared)
        limited = least_norm and self.status is Status.ITERATION_LIMIT
        return f"{super().message} {MORE_COLUMNS}" if limited else super().message

    def summary(self) -> dict[str, Any]:
        """Return the headline figures: those of the final fit, then those of the search."""
        return {
            **super().summary(),
            "search_iterations": self.search.iterations,
            "search_oracle_calls": self.search.counts.oracle_calls,
            "search_matvecs": self.search.counts.matvecs,
            "search_seconds": self.search.seconds,
            "total_seconds": self.total_seconds,
        }


def reported(result: Result, chosen: Chosen | None, total_seconds: float) -> FitResult:
    """Return the result of the final fit with the search beside it; after a search that was cut it is no success."""
    work, cut = (Work(), False) if chosen is None else (chosen.work, chosen.cut)
    result = with_trivial_bound(result)
    own: Any = {field.name: getattr(result, field.name) for field in fields(Result)}
    found = FitResult(**own, search=work, search_cut=cut, total_seconds=total_seconds)
    return replace(found, status=Status.TIME_LIMIT) if cut and found.status is Status.SOLVED else found


def with_trivial_bound(result: Result) -> Result:
    """Return the result with the bound 0 of lam = 0 where its own is lower: objectives are sums of squares."""
    if result.dual_bound >= 0.0:
        return result
    gap = result.objective / result.problem.scale(result.objective)
    return replace(result, dual_bound=0.0, dual=np.zeros_like(result.dual), bound_kind=RIGOROUS, gap=gap)
