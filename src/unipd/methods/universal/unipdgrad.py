"""UniPDGrad: universal primal-dual gradient method (paper, Algorithm 1, Theorem 4.1).

Iteration k of Algorithm 1, and where each line is computed:

1. x^*(lam_k) in [-A^* lam_k]^#                                                  ``DualSpace.evaluate``
2. grad g(lam_k) = b - A x^*(lam_k)                                              ``DualSpace.evaluate``
3. M from M_{k-1} / 2, doubled until lam = prox_{h/M}(lam_k - grad g(lam_k) / M)
   satisfies g(lam) <= Q_M(lam; lam_k) + eps / 2                                 ``search_smoothness``
4. lam_{k+1} = lam, M_k = M; w_k = 1 / M_k, S_k = S_{k-1} + w_k,
   gamma_k = w_k / S_k                                                           ``averaging_weight``
5. xbar_k = (1 - gamma_k) xbar_{k-1} + gamma_k x^*(lam_k)                        ``UniversalMethod.advance``
"""

from __future__ import annotations

from dataclasses import dataclass

from unipd._typing import Array
from unipd.dual import dual_space
from unipd.methods.base import Counts, fast_replace
from unipd.methods.universal.common import SLACK_SHARE, UniversalMethod, UniversalState, averaging_weight, longest_step
from unipd.problem import Problem
from unipd.protocols import Tracker


@dataclass(frozen=True)
class UniPDGradState(UniversalState):
    """State of UniPDGrad, with the averaged dual sequence of the supplement."""

    average_dual: Array
    """lambda-bar_k = (1/S_k) sum_i lam_{i+1} / M_i."""
    average_dual_value: float
    """G-bar_k = (1/S_k) sum_i G(lam_{i+1}) / M_i, an upper bound on G(lambda-bar_k)."""

    def clear_history(self, dual: Array) -> UniPDGradState:
        """Return the state at a dual vector without averages."""
        return fast_replace(super().clear_history(dual), average_dual=0 * dual, average_dual_value=0.0)


@dataclass(frozen=True)
class UniPDGrad(UniversalMethod):
    """Universal primal-dual gradient method; O(1/eps^2) oracle calls at nu = 0, O(1/eps) at nu = 1 (Theorem 4.1).

    The line search starts at M_{k-1}/2 with slack eps/2, the weights are 1/M_k, and the accepted trial is
    the next iteration's oracle answer, so that an iteration costs two oracle calls on average.

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
        "theory" for the theorems' averages, "greedy" for a line search on gamma_k, usually faster in practice
        but without the theorems' bounds.
    max_doublings
        The line search fails after this many doublings of M.

    See Also
    --------
    AccUniPDGrad, Restarts, unipd.theory.unipdgrad_iterations

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    >>> result = unipd.solve(problem, unipd.UniPDGrad(), accuracy=1e-2)
    >>> result.status.value
    'solved'
    """

    name = "unipdgrad"

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> UniPDGradState:
        """Return the state at lam_0."""
        first = self.first_state(problem, tracker, dual, accuracy)
        return UniPDGradState(**vars(first), average_dual=0 * dual, average_dual_value=0.0)

    def step(self, problem: Problem, state: UniPDGradState) -> UniPDGradState:
        """Do one iteration of Algorithm 1; the numbers are its lines."""
        space, base, work = dual_space(problem), state.point, Counts()
        # 1-2: x^*(lam_k) and grad g(lam_k) come with the last accepted trial, except after a restart
        if base is None:
            base = space.evaluate(state.dual, tolerance=0.5 * SLACK_SHARE * state.eps, start=state.warm_start)
            work = Counts(1, 0, base.matvecs)
        # 3: line search from M_{k-1} / 2: g(trial) <= Q_M(trial; lam_k) + eps / 2
        smoothness = state.smoothness if state.dual_step > longest_step(problem) else 0.5 * state.smoothness
        search = self.search(space, base, smoothness, 0.5 * state.eps, complete=True).add_work(work)
        # 4: lam_{k+1} and M_k; w_k = 1 / M_k and gamma_k; the dual average of the supplement
        trial, weight = search.trial, 1.0 / search.smoothness
        gamma = averaging_weight(state, weight)
        h = 0.0 if problem.split else problem.coupling.conjugate(trial.dual)
        # 5: xbar_k = (1 - gamma_k) xbar_{k-1} + gamma_k x^*(lam_k)
        return self.advance(
            space,
            state,
            search,
            weight,
            gamma,
            dual_step=search.dual_step,
            gradient_change=space.gradient_change(search.base, trial),
            point=trial,
            average_dual=space.lincomb(state.average_dual, gamma, trial.dual),
            average_dual_value=(1.0 - gamma) * state.average_dual_value + gamma * (trial.value + trial.error + h),
        )
