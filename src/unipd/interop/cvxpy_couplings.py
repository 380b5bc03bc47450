"""Couplings in CVXPY's words: constraints on A x - b, or a term of the objective."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from unipd import couplings
from unipd.interop.cvxpy_sets import NotDescribed, cp


@dataclass(frozen=True)
class Coupled:
    """What a coupling adds to a model."""

    constraints: tuple[Any, ...] = ()
    objective: Any = 0.0


@singledispatch
def coupled(coupling: Any, residual: Any) -> Coupled:
    """Return the CVXPY form of a coupling at r = A x - b (flat), or raise :class:`NotDescribed`."""
    raise NotDescribed(f"the coupling {type(coupling).__name__}")


@coupled.register
def _(coupling: couplings.Equality, residual: Any) -> Coupled:
    return Coupled((residual == 0,))


@coupled.register
def _(coupling: couplings.AtLeast, residual: Any) -> Coupled:
    return Coupled((residual >= 0,))


@coupled.register
def _(coupling: couplings.AtMost, residual: Any) -> Coupled:
    return Coupled((residual <= 0,))


@coupled.register
def _(coupling: couplings.Box, residual: Any) -> Coupled:
    lower = np.broadcast_to(coupling.lower, coupling.lower.shape or (residual.size,)).reshape(-1)
    upper = np.broadcast_to(coupling.upper, coupling.upper.shape or (residual.size,)).reshape(-1)
    below, above = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))
    constraints = [residual[below] >= lower[below]] if below.size else []
    constraints += [residual[above] <= upper[above]] if above.size else []
    return Coupled(tuple(constraints))


@coupled.register
def _(coupling: couplings.HalfSpace, residual: Any) -> Coupled:
    return Coupled((np.asarray(coupling.normal).reshape(-1) @ residual <= coupling.offset,))


@coupled.register
def _(coupling: couplings.L1Ball, residual: Any) -> Coupled:
    return Coupled((cp().norm(residual, 1) <= coupling.radius,))


@coupled.register
def _(coupling: couplings.L2Ball, residual: Any) -> Coupled:
    return Coupled((cp().norm(residual, 2) <= coupling.radius,))


@coupled.register
def _(coupling: couplings.LInfBall, residual: Any) -> Coupled:
    return Coupled((cp().norm(residual, "inf") <= coupling.radius,))


@coupled.register
def _(coupling: couplings.SecondOrderCone, residual: Any) -> Coupled:
    return Coupled((cp().norm(residual[1:], 2) <= residual[0],))


@coupled.register
def _(coupling: couplings.PSDCone, residual: Any) -> Coupled:
    matrix = cp().reshape(residual, (coupling.size, coupling.size), order="C")
    return Coupled((matrix == matrix.T, 0.5 * (matrix + matrix.T) >> 0))


@coupled.register
def _(coupling: couplings.Product, residual: Any) -> Coupled:
    ends = np.cumsum(coupling.sizes)
    pieces = [residual[int(end - size) : int(end)] for end, size in zip(ends, coupling.sizes, strict=True)]
    parts = [coupled(part, piece) for part, piece in zip(coupling.parts, pieces, strict=True)]
    return Coupled(tuple(constraint for part in parts for constraint in part.constraints))


@coupled.register
def _(coupling: couplings.Translated, residual: Any) -> Coupled:
    return coupled(coupling.part, residual - np.asarray(coupling.shift).reshape(-1))


@coupled.register
def _(coupling: couplings.Scaled, residual: Any) -> Coupled:
    return coupled(coupling.part, residual / coupling.factor)


@coupled.register
def _(coupling: couplings.LeastSquares, residual: Any) -> Coupled:
    return Coupled(objective=0.5 * coupling.scale * cp().sum_squares(residual))


@coupled.register
def _(coupling: couplings.WeightedLeastSquares, residual: Any) -> Coupled:
    roots = np.sqrt(coupling.weights).reshape(-1)
    return Coupled(objective=0.5 * cp().sum_squares(cp().multiply(roots, residual)))


@coupled.register
def _(coupling: couplings.Huber, residual: Any) -> Coupled:
    return Coupled(objective=0.5 * cp().sum(cp().huber(residual, coupling.delta)))


@coupled.register
def _(coupling: couplings.Absolute, residual: Any) -> Coupled:
    return Coupled(objective=cp().norm(residual, 1))


@coupled.register
def _(coupling: couplings.Logistic, residual: Any) -> Coupled:
    return Coupled(objective=cp().sum(cp().logistic(-residual)))
