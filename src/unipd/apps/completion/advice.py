"""How a fit ended, in words."""

from __future__ import annotations

from unipd.apps.completion.norm_factors import BalancedNuclearNormSquared
from unipd.run import Result
from unipd.sharp.counted import bare
from unipd.status import Status

HELP = "Without a radius, a larger residual, a lower accuracy or more columns to begin with (rank) may help."


def message(result: Result) -> str:
    """Return what the status means, and what may help where the least norm was not found in time."""
    said = result.message
    narrow = result.method == "factored" and isinstance(bare(result.problem.sharp), BalancedNuclearNormSquared)
    return f"{said} {HELP}" if narrow and result.status is Status.ITERATION_LIMIT else said
