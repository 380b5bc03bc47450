"""Signs of infeasibility that the certificate alone does not show."""

from __future__ import annotations

import math

from unipd.methods import State
from unipd.methods.factored import FactoredState
from unipd.problem import Problem
from unipd.run.moment import Moment

UNREACHABLE = 1e16
"""A bound this many times above all that the run has seen of the objective leaves no feasible point."""
FIRST_PROBE = 16
"""Iteration at which a method that spares the oracle is first looked at."""
FAR = 1e-2
"""Relative infeasibility above which such a method has not asked the oracle."""


def is_unreachable(moment: Moment) -> bool:
    """Whether the bound has left every scale of the objective behind, f being unbounded above on X.

    Where f has no maximum, no finite bound exceeds it: a dual ray with A^* lam = 0 that separates b only drives the
    bound up for ever. It counts as proof when every feasible point would have an f that is 1e16 times the
    objective reached and the first positive bound, i.e. when A^* lam vanishes to rounding beside <lam, b>.
    """
    problem, certificate = moment.problem, moment.state.certificate
    if problem.loss is not None or not certificate.dual_bound > UNREACHABLE or problem.sharp.maximum() < math.inf:
        return False
    if certificate.infeasibility <= FAR * max(1.0, problem.norm_b):
        return False
    bounds = moment.history["dual_bound"]
    first = float(bounds[bounds > 0.0][0]) if (bounds > 0.0).any() else certificate.dual_bound
    return certificate.dual_bound > UNREACHABLE * max(1.0, first)


def worth_asking(problem: Problem, state: State) -> bool:
    """Whether the oracle should be asked at the present dual vector: the factored method does not while it is far.

    Asked at iterations 16, 32, 64, ...: of an infeasible problem the multipliers grow along a separating direction.
    """
    inner = getattr(state, "inner", state)
    if not isinstance(inner, FactoredState) or problem.loss is not None or state.iteration < FIRST_PROBE:
        return False
    far = state.certificate.infeasibility > FAR * max(1.0, problem.norm_b)
    return far and state.iteration & (state.iteration - 1) == 0
