"""How f and X are curved: where the dual is smooth, so that acceleration pays, and where f is quadratic."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import FloatArray
from unipd.problem import Problem
from unipd.sharp import Entropy, L2Ball, Linear, LpBall, PowerNorm, QuadraticBox, SeparablePower
from unipd.sharp.counted import bare
from unipd.sharp.wrapper import Wrapper


def has_smooth_dual(problem: Problem) -> bool:
    """Whether X is bounded, f or X strictly convex, and f not quadratic: x^*(lam) depends continuously on lam.

    Such a set has no few vertices that make up the solution: a corrective method has to add atoms for ever, while
    the accelerated method, restarted, converges linearly where the constraints are well conditioned. Over a quadratic
    f the corrective method's model is exact, and needs fewer calls.

    >>> import numpy as np, unipd
    >>> oracle = unipd.sharp.Linear(np.ones(2), unipd.sharp.L2Ball(2))
    >>> has_smooth_dual(unipd.Problem(oracle, np.eye(2), [0.1, 0.2], "="))
    True
    """
    sharp = bare(problem.sharp)
    oracle = bare(sharp.oracle) if isinstance(sharp, Linear) else sharp
    round_set = type(oracle) in (L2Ball, LpBall) and isinstance(sharp, Linear)
    return round_set or isinstance(oracle, Entropy)


def curvature_of(oracle: Any) -> FloatArray | None:
    """Return the diagonal D with f(x) = <x, D x>/2 + a linear function on X, or None when f is not of that form.

    >>> import unipd
    >>> curvature_of(unipd.sharp.QuadraticBox([1.0, 0.0], 0.5, -1.0, 1.0, 2))
    array([1., 0.])
    """
    if isinstance(oracle, (Linear, Wrapper)):
        return curvature_of(oracle.oracle)
    if isinstance(oracle, QuadraticBox):
        return None if oracle.linear else np.asarray(oracle.curvature, np.float64)
    square = isinstance(oracle, SeparablePower) or (isinstance(oracle, PowerNorm) and isinstance(oracle.ball, L2Ball))
    return np.full(oracle.shape, oracle.coefficient) if square and oracle.power == 2.0 else None
