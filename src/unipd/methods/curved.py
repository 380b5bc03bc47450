"""Oracles whose maximisers move smoothly with the direction: there the dual is smooth and acceleration pays."""

from __future__ import annotations

from typing import Any

from unipd.problem import Problem
from unipd.sharp import Entropy, L2Ball, Linear, LpBall, QuadraticBox


def has_smooth_dual(problem: Problem) -> bool:
    """Whether X is bounded and f or X strictly convex: x^*(lam) is a point that depends continuously on lam.

    Such a set has no few vertices that make up the solution: a corrective method has to add atoms for ever, while
    the accelerated method, restarted, converges linearly where the constraints are well conditioned.

    >>> import numpy as np, unipd
    >>> oracle = unipd.sharp.Linear(np.ones(2), unipd.sharp.L2Ball(2))
    >>> has_smooth_dual(unipd.Problem(oracle, np.eye(2), [0.1, 0.2], "="))
    True
    """
    oracle: Any = problem.sharp.oracle if isinstance(problem.sharp, Linear) else problem.sharp
    if isinstance(oracle, QuadraticBox):
        return float(oracle.curvature.min()) > 0.0
    round_set = type(oracle) in (L2Ball, LpBall) and isinstance(problem.sharp, Linear)
    return round_set or isinstance(oracle, Entropy)
