"""The backtracking line search of both universal methods (paper, Algorithms 1 and 2, step 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unipd import pulse
from unipd._typing import Array
from unipd.dual import (
    DualPoint,
    DualValue,
    asked,
    attach,
    difference_along,
    moved,
    pictured,
    proximal_step,
    stepped,
    stepped_twice,
    stretched,
    valued,
)
from unipd.problem import Problem
from unipd.protocols import inner

_REPLACEMENT_SHARE = 1e-3
"""An atom replaces another when it beats it by this share of the slack."""

_PRECISE = 1e-12
"""Unit of rounding of double precision, at most."""
_UNCANCELLED = 0.1
"""Share of its terms above which a sum after a step is trusted."""
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


def exact_search(
    problem: Problem,
    base: DualPoint,
    smoothness: float,
    slack: float,
    *,
    full_trials: bool,
    max_doublings: int,
    halved: bool = False,
) -> Search:
    """Double M until g(lam_trial) <= Q_M(lam_trial; lam) + slack, at most ``max_doublings`` times.

    Trials are judged by their values alone; the accepted one has its gradient when ``full_trials`` asks for it
    (UniPDGrad reuses it). A first trial whose M was ``halved`` is expected to fail: the next one is made beside it.
    """
    matvecs = 1 if full_trials else 0
    near = _both(problem, base, smoothness) if halved else []
    for trials in range(1, max_doublings + 2):
        dual, rise, squared, sums = _step(problem, base, smoothness, near.pop() if near else None)
        answer = asked(problem, dual, alone=not full_trials)
        matvecs += answer.matvecs or 1
        lean = valued(problem, dual, answer, sums)
        excess = lean.value - base.value - rise - slack
        accepted = excess <= 0.0 or excess <= _rounding(problem, base.value, lean.value, slack)
        if accepted or trials > max_doublings or pulse.out_of_time():
            trial = attach(problem, dual, answer, pictured(problem, answer.atom), base) if full_trials else lean
            return Search(base, trial, smoothness, trials, trials, matvecs, accepted, math.sqrt(squared))
        smoothness *= 2.0
    raise AssertionError("the search ends in its loop")


def inexact_search(
    problem: Problem,
    base: DualPoint,
    smoothness: float,
    slack: float,
    *,
    tolerance: float,
    full_trials: bool,
    max_doublings: int,
    halved: bool = False,
) -> Search:
    """Search as :func:`exact_search` does, with an oracle that errs by ``tolerance``.

    Every atom x gives g(lam) >= <lam, b - A x> - f(x), so when a trial's atom beats the answer at the base point, it
    replaces it; otherwise an underestimated g(lam) would make the condition fail for every M. Of a first trial whose M
    was ``halved``, and which is expected to fail, the atom is not looked at. From lam = 0 with a free dual variable all
    trials lie on one ray, so that one oracle call serves them all when the conjugate is homogeneous.
    """
    on_one_ray = problem.free_dual and problem.sharp.degree is not None and _is_zero(base.dual)
    calls = matvecs = 0
    first, first_smoothness = None, smoothness
    near = _both(problem, base, smoothness) if halved and not on_one_ray else []
    for trials in range(1, max_doublings + 2):
        dual, rise, squared, sums = _step(problem, base, smoothness, near.pop() if near else None)
        if first is not None and on_one_ray:
            answer, seen = None, stretched(problem, first, first_smoothness / smoothness)
        else:
            answer = asked(problem, dual, tolerance=tolerance, start=base.atom)
            seen = valued(problem, dual, answer, sums)
            calls, matvecs = calls + 1, matvecs + seen.matvecs
        excess = seen.value - base.value - rise - slack
        accepted = excess <= 0.0 or excess <= _rounding(problem, base.value, seen.value, slack)
        ended = accepted or trials > max_doublings or pulse.out_of_time()
        if halved and trials == 1 and not (ended or on_one_ray):
            smoothness *= 2.0
            continue
        if answer is not None and ended and not full_trials:
            return Search(base, seen, smoothness, trials, calls, matvecs, accepted, math.sqrt(squared))
        if isinstance(seen, DualPoint):
            trial = seen
        else:
            assert answer is not None
            trial, matvecs = attach(problem, dual, answer, pictured(problem, answer.atom), base), matvecs + 1
            first, first_smoothness = trial, smoothness
        if ended:
            return Search(base, trial, smoothness, trials, calls, matvecs, accepted, math.sqrt(squared))
        if _advantage(base, trial) > _REPLACEMENT_SHARE * slack:
            base, first = moved(problem, trial, base.dual), None
        else:
            smoothness *= 2.0
    raise AssertionError("the search ends in its loop")


def _rounding(problem: Problem, base: float, trial: float, slack: float) -> float:
    """Return what rounding may explain in the condition."""
    return 8.0 * problem.epsilon * (abs(base) + abs(trial) + _TIE * slack)


def _both(problem: Problem, base: DualPoint, smoothness: float) -> list[Array]:
    """Return the trial points at 2M and M: after the oracle's products nothing of the base would be in the caches."""
    plain = base.steepness is not None and problem.epsilon < _PRECISE
    return stepped_twice(base.dual, 1.0 / smoothness, base.gradient) if plain else []


def _step(
    problem: Problem, base: DualPoint, smoothness: float, known: Array | None = None
) -> tuple[Array, float, float, tuple[float, float] | None]:
    """Return the trial point, what the model Q_M adds to g(lam) there, <grad g, d> + M/2 ||d||^2, and ||d||^2.

    A free dual variable goes d = -grad g / M, and ||grad g||^2 tells both; in single precision rounding of the step
    itself would show. For K = {0} and least squares <lam, b> and ||lam||^2 of the trial come from sums at the base.
    """
    if base.steepness is not None and problem.epsilon < _PRECISE:
        step = 1.0 / smoothness
        length = step * base.steepness
        dual = stepped(base.dual, step, base.gradient) if known is None else known
        return dual, -0.5 * length, step * length, _sums_after(problem, base, step)
    dual = proximal_step(problem, base.dual, base.gradient, smoothness)
    way: Array = dual - base.dual
    squared = inner(way, way)
    return dual, inner(base.gradient, way) + 0.5 * smoothness * squared, squared, None


def _sums_after(problem: Problem, base: DualPoint, step: float) -> tuple[float, float] | None:
    """Return <lam, b> and ||lam||^2 after a step along -grad g, where they are at hand and do not nearly cancel.

    <lam, grad g> is itself a sum, <lam, b - A x> + inverse ||lam||^2, whose terms are far larger near the optimum: a
    very long step would multiply their rounding.
    """
    energy, steepness, inverse = base.energy, base.steepness, problem.inverse
    if base.pairings is None or energy is None or steepness is None or inverse is None:
        return None
    linear, tilt, along = base.pairings
    squared = step * step * steepness
    after = energy - 2.0 * step * along + squared
    if not after > _UNCANCELLED * max(energy, squared, step * inverse * energy):
        return None
    return linear - step * tilt, after


def _is_zero(vector: Array) -> bool:
    """Whether all entries are zero; a first one that is not saves looking at the others."""
    return vector.item(0) == 0.0 and not np.any(vector)


def _advantage(base: DualPoint, trial: DualPoint) -> float:
    """Return by how much a trial's atom beats the base point's own in the value at the base point."""
    return difference_along(base.dual, base.image, trial.image) + base.objective - trial.objective
