"""Solve a completion problem by the factored method, with room for the rank to grow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from unipd.apps.completion.blas import modest_blas
from unipd.apps.completion.design import Design, Start, split_blocks
from unipd.apps.completion.joining import joined_results
from unipd.methods.factored import Factored
from unipd.run import MaxIterations, MaxSeconds, Result, StoppingRule, solve
from unipd.status import Status

FIRST_RANK = 64
"""Columns to begin with."""
INNER_STEPS = 20
"""Quasi-Newton steps between two calls of the oracle."""
CROWDED = 4
"""Atoms that may join before the factors are widened."""
WIDENING = 1.5
"""Factor by which they are."""
MOST_ITERATIONS = 200


@dataclass(frozen=True)
class Plan:
    """How a problem is to be solved.

    >>> Plan(accuracy=1e-4).rank
    64
    """

    accuracy: float = 1e-3
    rank: int = FIRST_RANK
    widen: bool = True
    """Whether the rank may grow."""
    iterations: int = MOST_ITERATIONS
    """Iterations at most; over a ball, between two widenings."""
    seconds: float | None = None
    """Time limit."""
    callback: Callable[[Any], bool | None] | None = None
    verbose: bool = False

    def stop(self, spent: float = 0.0) -> StoppingRule:
        """Return the limits as a rule, after so many seconds."""
        rule: StoppingRule = MaxIterations(self.iterations)
        return rule if self.seconds is None else rule | MaxSeconds(max(self.seconds - spent, 0.0))


def solve_design(design: Design, radius: float, plan: Plan, start: Start | None = None) -> Result:
    """Return the result of the factored method on ``design.problem(radius)``.

    The rank grows in stages: when several atoms had to join, the factors are too narrow; they get random columns
    and the method goes on from where it is. A first short stage finds the multiplier of the radius. A target of zeros
    is met by the zero to start from.

    Examples
    --------
    >>> import numpy as np
    >>> from unipd.apps.completion.design import Settings
    >>> users, items = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    >>> design = Design(users, items, np.arange(12.0) % 5, (4, 3), Settings())
    >>> solve_design(design, 2.0, Plan(accuracy=1e-6)).status.value
    'solved'
    """
    with modest_blas(sum(design.inner_shape)):
        return _in_stages(design, radius, plan, start)


def _in_stages(design: Design, radius: float, plan: Plan, start: Start | None) -> Result:
    problem, rank = design.problem(radius), plan.rank
    if not design.target.any():
        start, rank = design.zero(radius), 1
    result: Result | None = None
    while True:
        rank = min(rank, *design.inner_shape)
        watch = _Watch(rank if plan.widen else None, plan.callback, first=start is None)
        stage = solve(
            problem,
            Factored(rank=rank, inner_steps=INNER_STEPS, factors=design.factors(radius, rank, start)),
            accuracy=plan.accuracy,
            stop=plan.stop(0.0 if result is None else result.seconds),
            callback=watch,
            verbose=plan.verbose,
        )
        result = stage if result is None else joined_results(result, stage)
        if stage.status is not Status.STOPPED or not watch.again:
            return result
        start = start_of(design, radius, result)
        rank = round(WIDENING * rank) if watch.crowded else rank


def start_of(design: Design, radius: float, result: Result) -> Start:
    """Return where another run can start from: the point and the multiplier of its radius."""
    state: Any = result.state
    return Start(result.x, design.multiplier(result.x, state.here.dual, radius))


class _Watch:
    """Callback that ends a stage: the first one soon, others when the factors are crowded."""

    def __init__(self, rank: int | None, callback: Callable[[Any], bool | None] | None, *, first: bool) -> None:
        self._rank, self._callback, self._first = rank, callback, first
        self.crowded = self.again = False

    def __call__(self, moment: Any) -> bool:
        wants_stop = bool(self._callback is not None and self._callback(moment))
        columns = split_blocks(moment.state.primal.point())[0].rank
        self.crowded = self._rank is not None and columns >= self._rank + CROWDED
        self.again = not wants_stop and (self._first or self.crowded)
        return wants_stop or self.again


def quiet(plan: Plan) -> Plan:
    """Return the plan without callback and progress."""
    return replace(plan, callback=None, verbose=False)
