"""Signs of infeasibility that the certificate alone does not show."""

from __future__ import annotations

import math

import numpy as np

from unipd._typing import Array
from unipd.methods import State
from unipd.methods.factored import FactoredState
from unipd.problem import Problem
from unipd.protocols import inner, norm
from unipd.run.moment import Moment
from unipd.scaling.row_norms import squared_norm

PROBE_EVERY = 8
"""Iterations between two looks for a ray that separates b."""
NEGLIGIBLE = 0.75
"""A^* lam counts as zero when it is eps^0.75 beside ||A|| ||lam||: 2e-12 in double precision, 6e-6 in single."""
SEPARATION = 1e3
"""Multiples of that by which lam has to separate b, relative to ||lam|| ||b||."""
FIRST_PROBE = 16
"""Iteration at which a method that spares the oracle is first looked at."""
FAR = 1e-2
"""Relative infeasibility above which such a method has not asked the oracle."""


def worth_a_look(moment: Moment) -> bool:
    """Whether a separating ray should be looked for: now and then, far from feasible, where f has no maximum on X."""
    problem, state = moment.problem, moment.state
    if problem.loss is not None or state.iteration % PROBE_EVERY or problem.sharp.maximum() < math.inf:
        return False
    return state.certificate.infeasibility > FAR * max(1.0, problem.norm_b)


def is_separating(problem: Problem, dual: Array) -> bool:
    """Whether A^* lam = 0 and -<lam, b> - h(lam) > 0: then A x - b in K has no solution x at all.

    Where f has no maximum on X, no finite bound exceeds it, and such a ray is the proof. Both numbers are compared with
    what rounding makes of them, ||A|| ||lam|| and ||b|| ||lam||, so that nothing depends on the units of A, b, f or
    lam: some A within eps^0.75 ||A|| of the one given makes the proof exact. ||A|| is taken from below, by the
    length of A^* g / ||g|| for a random g.
    """
    length = norm(dual)
    if not (0.0 < length < math.inf):
        return False
    unit = dual / length
    margin = -inner(unit, problem.b) - problem.coupling.conjugate(unit)
    negligible = problem.epsilon**NEGLIGIBLE
    if not margin > SEPARATION * negligible * problem.norm_b:
        return False
    generator = np.random.default_rng(0)
    probe = generator.standard_normal(problem.dual_shape).astype(problem.dtype)
    size = squared_norm(problem.map.adjoint(probe / norm(probe)), generator)
    return squared_norm(problem.map.adjoint(unit), generator) <= negligible**2 * size


def worth_asking(problem: Problem, state: State) -> bool:
    """Whether the oracle should be asked at the present dual vector: the factored method does not while it is far.

    Asked at iterations 16, 32, 64, ...: of an infeasible problem the multipliers grow along a separating direction.
    """
    inner = getattr(state, "inner", state)
    if not isinstance(inner, FactoredState) or problem.loss is not None or state.iteration < FIRST_PROBE:
        return False
    far = state.certificate.infeasibility > FAR * max(1.0, problem.norm_b)
    return far and state.iteration & (state.iteration - 1) == 0
