"""AccUniPDGrad: accelerated universal primal-dual gradient method (paper, Algorithm 2, Theorem 4.2).

Iteration k of Algorithm 2, from lam_0 = lambda-hat_0 and t_0 = 1, and where each line is computed:

1. x^*(lambda-hat_k) in [-A^* lambda-hat_k]^#                                               ``DualSpace.evaluate``
2. grad g(lambda-hat_k) = b - A x^*(lambda-hat_k)                                           ``DualSpace.evaluate``
3. M from M_{k-1}, doubled until lam = prox_{h/M}(lambda-hat_k - grad g(lambda-hat_k) / M)
   satisfies g(lam) <= Q_M(lam; lambda-hat_k) + eps / (2 t_k)                               ``search_smoothness``
4. lam_{k+1} = lam, M_k = M; w_k = t_k / M_k, S_k = S_{k-1} + w_k, gamma_k = w_k / S_k      ``averaging_weight``
5. t_{k+1} = (1 + sqrt(1 + 4 t_k^2)) / 2 and
   lambda-hat_{k+1} = lam_{k+1} + (t_k - 1) / t_{k+1} (lam_{k+1} - lam_k)                   ``DualSpace.extrapolate``
6. xbar_k = (1 - gamma_k) xbar_{k-1} + gamma_k x^*(lambda-hat_k)                            ``UniversalMethod.advance``
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from unipd._typing import Array
from unipd._util import validate
from unipd._util.context import out_of_time
from unipd.dual import DualPoint, DualSpace, DualValue, dual_space
from unipd.errors import InvalidInput
from unipd.methods.base import Counts, fast_replace
from unipd.methods.universal.common import (
    SLACK_SHARE,
    Search,
    UniversalMethod,
    UniversalState,
    averaging_weight,
    search_smoothness,
)
from unipd.problem import Problem
from unipd.protocols import Tracker


@dataclass(frozen=True)
class AccUniPDGradState(UniversalState):
    """State of AccUniPDGrad."""

    dual_previous: Array
    """lam_{k-1}."""
    extrapolation: float
    """(t_{k-1} - 1) / t_k: lambda-hat_k = lam_k + extrapolation (lam_k - lam_{k-1})."""
    t: float
    """t_k."""
    last_base: DualValue | None
    """The oracle's answer at lambda-hat_{k-1}, for estimating nu; None where images are not kept."""

    def clear_history(self, dual: Array) -> AccUniPDGradState:
        """Return the state at a dual vector without averages or momentum."""
        cleared = super().clear_history(dual)
        return fast_replace(cleared, dual_previous=dual, extrapolation=0.0, t=1.0, last_base=None)


@dataclass(frozen=True)
class AccUniPDGrad(UniversalMethod):
    """Accelerated universal method; optimal O(eps^(-2/(1+3 nu))) oracle calls for every nu (Theorem 4.2).

    The line search starts at M_{k-1} (M never decreases) with slack eps/(2 t_k), the weights are t_k/M_k, and
    xbar averages x^*(lambda-hat_k): one oracle call there and one per trial. With ``step_rule="analytic"`` M may
    decrease although t_k takes no account of it, a case that no theorem covers.

    Parameters
    ----------
    eps
        The accuracy eps of the paper, absolute. Default: the relative accuracy times the size of the objective.
    smoothness
        M_{-1}; default: estimated by the analytic step or by probing.
    step_rule
        "search" backtracks (the paper's line search), "analytic" takes the closed-form step of quadratic
        losses, "fixed" uses M_bar of the known Hölder pair ``holder``.
    holder
        Known exponents and constants {nu: M_nu} for ``step_rule="fixed"``.
    weights
        "theory" for the theorems' averages, "greedy" for a line search on gamma_k, often faster under constraints
        but without the theorems' bounds.
    max_doublings
        The line search fails after this many doublings of M.
    monotone
        False lets M decrease: the search starts at M_{k-1}/2, and t_k and lambda-hat_k are recomputed for each trial
        (t_k^2 - t_k = t_{k-1}^2 M_k / M_{k-1}), at one more oracle call per trial. The estimates of Theorem 4.2
        in terms of S_k = t_k^2 / M_k hold, and so does its rate, since no M_k exceeds twice the largest one needed.

    Raises
    ------
    InvalidInput
        ``monotone``: expected True unless step_rule="search".

    See Also
    --------
    UniPDGrad, QuasiNewton, Restarts, unipd.theory.accunipdgrad_iterations

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    >>> unipd.solve(problem, unipd.AccUniPDGrad(weights="greedy"), accuracy=1e-2).status.value
    'solved'
    """

    name = "accunipdgrad"

    monotone: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not validate.flag("monotone", self.monotone) and self.step_rule != "search":
            raise InvalidInput("monotone", 'True unless step_rule="search"', repr(self.monotone))

    def start(
        self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float, point: DualPoint | None = None
    ) -> AccUniPDGradState:
        """Return the state at lam_0 = lambda-hat_0, with t_0 = 1.

        Parameters
        ----------
        problem, tracker, dual, accuracy
            As in :meth:`unipd.methods.Method.start`.
        point
            The oracle's answer at lam_0, if known.
        """
        first = self.first_state(problem, tracker, dual, accuracy, point)
        assert first.point is not None
        return AccUniPDGradState(
            **vars(fast_replace(first, warm_start=first.point.atom)),
            dual_previous=dual,
            extrapolation=0.0,
            t=1.0,
            last_base=None,
        )

    def step(self, problem: Problem, state: AccUniPDGradState) -> AccUniPDGradState:
        """Do one iteration of Algorithm 2; the numbers are its lines."""
        space = dual_space(problem)
        if self.monotone:
            t, slack = state.t, 0.5 * state.eps / state.t
            # 1-2: x^*(lambda-hat_k) and grad g(lambda-hat_k); known at the start, where lambda-hat_0 = lam_0
            base, work = state.point, Counts()
            if base is None:
                dual = space.extrapolate(state.dual, state.dual_previous, state.extrapolation)
                base = space.evaluate(dual, tolerance=SLACK_SHARE * slack, start=state.warm_start)
                work = Counts(1, 0, base.matvecs)
            # 3: line search from M_{k-1}: g(trial) <= Q_M(trial; lambda-hat_k) + eps / (2 t_k)
            search = self.search(space, base, state.smoothness, slack, complete=False).add_work(work)
        else:
            search, t = self._nonmonotone_search(space, state)
        # 4: lam_{k+1} and M_k are those of the search; w_k and gamma_k
        weight = t / search.smoothness
        gamma = averaging_weight(state, weight)
        # 5: t_{k+1}; lambda-hat_{k+1} is formed at the next iteration
        t_next = next_t(t)
        # 6: xbar_k = (1 - gamma_k) xbar_{k-1} + gamma_k x^*(lambda-hat_k)
        base, last = search.base, state.last_base
        return self.advance(
            space,
            state,
            search,
            weight,
            gamma,
            point=None,
            dual_previous=state.dual,
            extrapolation=(t - 1.0) / t_next,
            t=t_next,
            warm_start=base.atom if search.trial.atom is None else search.trial.atom,
            dual_step=math.nan if last is None else space.distance(base.dual, last.dual),
            gradient_change=math.nan if last is None else space.gradient_change(last, base),
            last_base=base if space.keeps_images else None,
        )

    def _nonmonotone_search(self, space: DualSpace, state: AccUniPDGradState) -> tuple[Search, float]:
        """Search M upwards from M_{k-1}/2, every trial with its own t_k and lambda-hat_k; return the t_k accepted too.

        The proof of Theorem 4.2 needs t_k (t_k - 1) / M_k <= t_{k-1}^2 / M_{k-1} and the line-search condition at the
        lambda-hat_k of that t_k. Both hold here, so the estimates in terms of S_k = sum t_i / M_i = t_k^2 / M_k
        hold, and a smaller M only increases S_k.
        """
        previous_t_sq = state.t * (state.t - 1.0)
        momentum: Array = state.t * state.extrapolation * (state.dual - state.dual_previous)  # t_k cancels
        smoothness, base = 0.5 * state.smoothness, state.point
        work = Counts()
        for attempt in range(self.max_doublings + 1):
            t = next_t(math.sqrt(previous_t_sq), smoothness / state.smoothness)
            slack = 0.5 * state.eps / t
            tolerance = SLACK_SHARE * slack
            if base is None:
                base = space.evaluate(state.dual + momentum / t, tolerance=tolerance, start=state.warm_start)
                work += Counts(1, 0, base.matvecs)
            search = search_smoothness(
                space, base, smoothness, slack, tolerance=tolerance, complete=False, max_doublings=0
            )
            work += search.work
            if search.accepted or attempt == self.max_doublings or out_of_time():
                return replace(search, work=work), t
            smoothness *= 2.0
            base = None if previous_t_sq > 0.0 else search.base
        raise AssertionError("the search ends in its loop")


def next_t(t: float, ratio: float = 1.0) -> float:
    """Return t_{k+1} with t_{k+1}^2 - t_{k+1} = ratio t_k^2, for ratio = M_{k+1} / M_k: then S_k = t_k^2 / M_k.

    >>> next_t(1.0) == 0.5 * (1 + 5**0.5)
    True
    """
    return 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * ratio * t * t))
