"""AccUniPDGrad with an M that may fall again: momentum and extrapolation follow each trial."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from unipd import pulse
from unipd._typing import Array
from unipd.dual import DualPoint, evaluate
from unipd.methods.line_search import Search, exact_search, inexact_search
from unipd.methods.universal import ORACLE_SHARE
from unipd.problem import Problem

if TYPE_CHECKING:
    from unipd.methods.accunipdgrad import AccUniPDGrad, AccUniPDGradState


def momentum_for(previous: float, ratio: float) -> float:
    """Return t with t^2 - t = ratio * t_{k-1}^2 for ratio = M_k / M_{k-1}: then S_k = t_k^2 / M_k for every M_k.

    >>> momentum_for(1.0, 1.0) == 0.5 * (1 + 5**0.5)
    True
    """
    return 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * ratio * previous * previous))


def falling_search(method: AccUniPDGrad, problem: Problem, state: AccUniPDGradState) -> tuple[Search, float]:
    """Search M from M_{k-1}/2 upwards; every trial has its own t_k, its own lambda-hat_k and an oracle call there.

    Returned are the search and the t_k that goes with its M.

    The proof of Theorem 4.2 needs t_k (t_k - 1) / M_k <= t_{k-1}^2 / M_{k-1} and the line-search condition at the
    lambda-hat_k made with that t_k. Both hold here, so the estimates in terms of S_k = sum t_i / M_i = t_k^2 / M_k
    stand, and S_k only grows when an M is smaller.
    """
    before = state.momentum * (state.momentum - 1.0)
    pull: Array = state.momentum * (state.ahead - state.dual)
    smoothness, base = 0.5 * state.smoothness, state.point
    calls = trials = matvecs = 0
    for attempt in range(method.max_doublings + 1):
        t = momentum_for(math.sqrt(before), smoothness / state.smoothness)
        if base is None:
            base = _ahead(problem, state, state.dual + pull / t, state.eps / t)
            calls, matvecs = calls + 1, matvecs + base.matvecs
        slack = 0.5 * state.eps / t
        if problem.exact:
            found = exact_search(problem, base, smoothness, slack, full_trials=False, max_doublings=0)
        else:
            tolerance = ORACLE_SHARE * slack
            found = inexact_search(
                problem, base, smoothness, slack, tolerance=tolerance, full_trials=False, max_doublings=0
            )
        calls, trials, matvecs = calls + found.oracle_calls, trials + found.trials, matvecs + found.matvecs
        if found.accepted or attempt == method.max_doublings or pulse.out_of_time():
            found.oracle_calls, found.trials, found.matvecs = calls, trials, matvecs
            return found, t
        smoothness *= 2.0
        base = None if before > 0.0 else found.base
    raise AssertionError("the search ends in its loop")


def _ahead(problem: Problem, state: AccUniPDGradState, dual: Array, delta: float) -> DualPoint:
    return evaluate(problem, dual, tolerance=0.5 * ORACLE_SHARE * delta, start=state.recent_atom)
