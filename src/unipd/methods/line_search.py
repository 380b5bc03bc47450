"""The backtracking line search of both universal methods (paper, Algorithms 1 and 2, step 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unipd import pulse
from unipd._typing import Array
from unipd.dual import DualPoint, DualValue, evaluate, moved, proximal_step, stretched, value_only
from unipd.problem import Problem
from unipd.protocols import inner

_REPLACEMENT_SHARE = 1e-3
"""An atom replaces another when it beats it by this share of the slack."""

_TIE = 8.0
"""Weight of the slack in what rounding may explain: the analytic step meets the condition with equality."""


@dataclass
class Search:
    """Outcome of a line search; whoever asks for it adds the work done around it."""

    base: DualPoint
    """The point the step starts from: the one given, or a better answer found on the way."""
    trial: DualPoint | DualValue
    """The accepted trial point (the last one tried when none was accepted)."""
    smoothness: float
    """M accepted."""
    trials: int
    """Trial points looked at."""
    oracle_calls: int
    """Oracle calls spent."""
    matvecs: int
    """Products spent."""
    accepted: bool
    """Whether the condition was met."""
    dual_step: float
    """||lam_trial - lam||."""


def backtrack(
    problem: Problem,
    base: DualPoint,
    smoothness: float,
    slack: float,
    *,
    full_trials: bool,
    tolerance: float,
    max_doublings: int,
) -> Search:
    """Double M until g(lam_trial) <= Q_M(lam_trial; lam) + slack, at most ``max_doublings`` times.

    Trials have their gradient when ``full_trials`` asks for it (UniPDGrad reuses the accepted one); ``tolerance`` is
    the absolute error allowed to an inexact oracle.

    Two things are done for inexact oracles. Every atom x gives g(lam) >= <lam, b - A x> - f(x), so when a
    trial's atom beats the answer at the base point, it replaces it; otherwise an underestimated g(lam) would
    make the condition fail for every M. And from lam = 0 with a free dual variable all trials lie on one
    ray, so that one oracle call serves them all when the conjugate is homogeneous.
    """
    exact = problem.sharp.exact
    on_one_ray = not exact and problem.free_dual and problem.sharp.degree is not None and _is_zero(base.dual)
    trials = calls = matvecs = doublings = 0
    first, first_smoothness = None, smoothness
    while True:
        dual = proximal_step(problem, base.dual, base.gradient, smoothness)
        if first is not None and on_one_ray:
            trial = stretched(problem, first, first_smoothness / smoothness)
        elif full_trials or not exact:
            trial = evaluate(problem, dual, tolerance=tolerance, start=base.atom)
            first, first_smoothness = trial, smoothness
            calls += 1
        else:
            trial = value_only(problem, dual)
            calls += 1
        trials += 1
        matvecs += trial.matvecs
        step: Array = trial.dual - base.dual
        squared = inner(step, step)
        model = base.value + inner(base.gradient, step) + 0.5 * smoothness * squared
        rounding = 8.0 * problem.epsilon * (abs(base.value) + abs(trial.value) + _TIE * slack)
        accepted = trial.value <= model + slack + rounding
        doubtful = not (accepted or exact or pulse.out_of_time())
        if doubtful and isinstance(trial, DualPoint) and _advantage(base, trial) > _REPLACEMENT_SHARE * slack:
            base, first = moved(problem, trial, base.dual), None
            doublings += 1
            continue
        if accepted or doublings >= max_doublings or pulse.out_of_time():
            return Search(base, trial, smoothness, trials, calls, matvecs, accepted, math.sqrt(squared))
        smoothness *= 2.0
        doublings += 1


def _is_zero(vector: Array) -> bool:
    """Whether all entries are zero; a first one that is not saves looking at the others."""
    return vector.item(0) == 0.0 and not np.any(vector)


def _advantage(base: DualPoint, trial: DualPoint) -> float:
    """Return by how much a trial's atom beats the base point's own in the value at the base point."""
    return inner(base.dual, base.image - trial.image) + base.objective - trial.objective
