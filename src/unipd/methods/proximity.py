"""How far a corrective method may go from its centre: the weight M of the dual proximal term."""

from __future__ import annotations

import math

from unipd.methods.base import Certificate
from unipd.methods.block_bundle import BlockBundle
from unipd.methods.bundle import Bundle
from unipd.problem import Problem

DESCENT_SHARE = 0.1
"""A step is serious when the dual falls by this share of what the model promised."""
_SMALL_SHARE = 0.1
"""Share of the accuracy asked for below which a change of G is small, and A x - b of several blocks near enough."""
_FEASIBLE_SHARE = 0.5
"""Share of the accuracy asked for that is near enough for A x - b."""
_STRAIGHT_SHARE = 0.9
"""Where G falls by this share of the promise, the model holds all along the step."""
_PATIENCE = 40
"""Null steps after which M is doubled."""
_ROUNDING = 1e-14


def adapted(
    problem: Problem,
    bundle: Bundle | BlockBundle,
    smoothness: float,
    *,
    promised: float,
    fallen: float,
    null_steps: int,
    eps: float,
    certificate: Certificate,
) -> float:
    """Return the next M after a step for which the model promised that G falls by ``promised``.

    With one model of the whole x, M falls by what a parabola through G and its slope along the step says, a factor of
    2 to 10, when at least half of the promise was kept, and is doubled after every forty null steps; so too for a loss
    with kinks. Where there are constraints, a model a block learns much from a call: M is halved after every promise
    kept, and doubled when G rose by as much. In both cases M stays when A x - b is well within the accuracy asked
    for, since a smaller one would only let lam run; unless the gap is open and the model held all along the step, as
    where no multiplier is large enough (no Slater point). Where the promise is far below the accuracy asked for, M is
    halved for what is left.
    """
    scale = problem.scale(certificate.objective)
    small = _SMALL_SHARE * eps
    share = _SMALL_SHARE if isinstance(bundle, BlockBundle) else _FEASIBLE_SHARE
    lags = certificate.infeasibility > share * eps / scale * max(1.0, problem.norm_b)
    if isinstance(bundle, BlockBundle) and problem.loss is None:
        harmless, harmful = fallen >= 0.5 * promised - small, fallen < -max(promised, small)
        return smoothness * (0.5 if harmless and lags and bundle.settled else 2.0 if harmful else 1.0)
    short = lags or (abs(certificate.gap) > eps and fallen >= _STRAIGHT_SHARE * promised)
    if abs(promised) <= small and fallen >= -small:
        return smoothness * (0.5 if short and promised > _ROUNDING * scale else 1.0)
    if promised > 0.0 and fallen >= 0.5 * promised:
        parabola = max(_least_factor(problem), 2.0 * (1.0 - fallen / promised))
        return smoothness * (min(0.5, parabola) if short else 1.0)
    failed = fallen < DESCENT_SHARE * promised and null_steps > 0 and null_steps % _PATIENCE == 0
    return smoothness * (2.0 if failed else 1.0)


def _least_factor(problem: Problem) -> float:
    """Return the least factor of M: where G may fall for ever, as for an infeasible problem, haste ends in overflow."""
    return 0.5 if math.isinf(problem.sharp.maximum()) and problem.sharp.degree != 2.0 else 0.1
