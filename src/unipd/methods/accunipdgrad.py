"""AccUniPDGrad, the accelerated universal primal-dual gradient method (paper, Algorithm 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from unipd import validate
from unipd._typing import Array
from unipd.dual import DualPoint, between, evaluate
from unipd.errors import InvalidInput
from unipd.methods import streamed
from unipd.methods.base import measured
from unipd.methods.line_search import Search
from unipd.methods.nonmonotone import falling_search
from unipd.methods.streamed import StreamedSearch, Streams, is_streamed, streamed_search
from unipd.methods.streamed_start import streamed_first_state
from unipd.methods.universal import ORACLE_SHARE, UniversalState, averaged, first_state, holder_pair, search
from unipd.methods.universal_settings import UniversalSettings
from unipd.problem import Problem
from unipd.protocols import SharpAnswer, Tracker
from unipd.records import changed
from unipd.status import Status


@dataclass(frozen=True)
class AccUniPDGradState(UniversalState):
    """State of AccUniPDGrad."""

    previous: Array
    """lam_{k-1}."""
    pull: float
    """(t_{k-1} - 1) / t_k, how far lambda-hat_k is from lam_k."""
    momentum: float
    """t_k of the FISTA scheme."""
    recent_atom: Any
    """The last atom, from which an iterative oracle starts."""
    last_base: DualPoint | None
    """The oracle's answer at the previous lambda-hat, for estimating nu (None where vectors are too long to keep)."""

    @property
    def ahead(self) -> Array:
        """The extrapolated dual vector lambda-hat_k = lam_k + pull (lam_k - lam_{k-1}), made when asked for."""
        if self.pull == 0.0:
            return self.dual
        return between(self.dual, -self.pull, self.previous)


@dataclass(frozen=True)
class AccUniPDGrad(UniversalSettings):
    """Accelerated universal method; optimal O(eps^(-2/(1+3 nu))) oracle calls for every nu (Theorem 4.2).

    The line search starts at M_{k-1} (M never decreases) with slack eps/(2 t_k), the weights are t_k/M_k, and
    xbar averages x^*(lambda-hat_k): one oracle call there and one a trial. ``step_rule="analytic"`` makes M
    non-monotone, for which there is no theorem.

    Parameters
    ----------
    monotone
        False lets M fall again: the search starts at M_{k-1}/2, and t_k and lambda-hat_k are made anew for each trial
        (t_k^2 - t_k = t_{k-1}^2 M_k / M_{k-1}), which costs an oracle call more a trial. The estimates of Theorem 4.2
        in terms of S_k = t_k^2 / M_k stand, and so does its rate, since no M_k exceeds twice the largest one needed.

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    >>> unipd.solve(problem, unipd.AccUniPDGrad(weights="greedy"), accuracy=1e-2).status.value
    'solved'
    """

    monotone: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not validate.flag("monotone", self.monotone) and self.step_rule != "search":
            raise InvalidInput("monotone", 'True unless step_rule="search"', repr(self.monotone))

    @property
    def name(self) -> str:
        """Name on the command line."""
        return "accunipdgrad"

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> AccUniPDGradState:
        """Return the state at lam_0."""
        first = streamed_first_state if self._is_streamed(problem) else first_state
        state = first(self, problem, tracker, dual, accuracy)
        assert state.point is not None
        recent = state.point.atom
        return AccUniPDGradState(
            **vars(state), previous=dual, pull=0.0, momentum=1.0, recent_atom=recent, last_base=None
        )

    def step(self, problem: Problem, state: AccUniPDGradState) -> AccUniPDGradState:
        """Do one iteration of Algorithm 2."""
        if problem.b.size >= streamed.LONG and self._is_streamed(problem):
            return self._streamed_step(problem, state)
        found, t = self._rising_search(problem, state) if self.monotone else falling_search(self, problem, state)
        trial, next_t = found.trial, 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
        dual_step, change = holder_pair(state.last_base, found.base)
        return averaged(
            self,
            problem,
            state,
            found,
            t / found.smoothness,
            dual_step=dual_step,
            gradient_change=change,
            point=None,
            previous=state.dual,
            pull=(t - 1.0) / next_t,
            momentum=next_t,
            recent_atom=found.base.atom if trial.atom is None else trial.atom,
            last_base=found.base,
        )

    def _rising_search(self, problem: Problem, state: AccUniPDGradState) -> tuple[Search, float]:
        """Search M from M_{k-1} upwards at lambda-hat_k, as in Algorithm 2."""
        base, delta = state.point, state.eps / state.momentum
        if base is None:
            base = evaluate(problem, state.ahead, tolerance=0.5 * ORACLE_SHARE * delta, start=state.recent_atom)
        found = search(self, problem, base, state.smoothness, delta, full_trials=False)
        if base is not state.point:
            found.oracle_calls += 1
            found.matvecs += base.matvecs
        return found, state.momentum

    def _is_streamed(self, problem: Problem) -> bool:
        return is_streamed(problem) and self.monotone and self.step_rule == "search" and self.weights == "theory"

    def _streamed_step(self, problem: Problem, state: AccUniPDGradState) -> AccUniPDGradState:
        """Do one iteration with images made part by part; the vectors for estimating nu are not kept."""
        streams, t, delta = Streams(problem), state.momentum, state.eps / state.momentum
        found = self._streamed_search(streams, state, 0.5 * delta)
        trial, answer, weight = found.trial, found.answer, t / found.smoothness
        total = state.weight_sum + weight
        gamma = weight / total
        primal = state.primal.mixed(gamma, answer.atom)
        image, squared = streams.mixed(state.image, gamma, answer.atom)
        mean_objective = (1.0 - gamma) * state.mean_objective + gamma * answer.objective
        measures = measured(problem, primal, image, mean_objective, squared)
        next_t = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
        return changed(
            state,
            iteration=state.iteration + 1,
            dual=trial.dual,
            primal=primal,
            image=image,
            mean_objective=mean_objective,
            certificate=state.certificate.renewed(problem, measures, trial),
            counts=state.counts.plus(found.oracle_calls, found.trials, found.matvecs + 1),
            smoothness=found.smoothness,
            failure=None if found.accepted else Status.LINE_SEARCH_FAILED,
            point=None,
            weight_sum=total,
            previous=state.dual,
            pull=(t - 1.0) / next_t,
            momentum=next_t,
            recent_atom=trial.atom,
        )

    def _streamed_search(self, streams: Streams, state: AccUniPDGradState, slack: float) -> StreamedSearch:
        ahead, known = streams.ahead(state.dual, state.previous, state.pull), state.point
        tolerance = ORACLE_SHARE * slack
        calls = matvecs = 0
        if known is None:
            answer = streams.asked(ahead, tolerance, state.recent_atom)
            calls, matvecs = 1, max(answer.matvecs, 1)
        else:
            answer = SharpAnswer(known.atom, 0.0, known.objective, known.error, 0, known.bound)
        found = streamed_search(
            streams, ahead, answer, state.smoothness, slack, tolerance, max_doublings=self.max_doublings
        )
        return changed(found, oracle_calls=found.oracle_calls + calls, matvecs=found.matvecs + matvecs)
