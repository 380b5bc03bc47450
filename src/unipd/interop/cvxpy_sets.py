"""Sharp oracles in CVXPY's words: a variable, what holds on X, and f."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import singledispatch
from importlib import import_module
from typing import Any

import numpy as np
import scipy

from unipd import sharp


class NotDescribed(Exception):
    """A part of a problem that has no CVXPY model here."""


@dataclass(frozen=True)
class Described:
    """Variables of the blocks of x, the constraints of X, and f."""

    variables: tuple[Any, ...]
    constraints: tuple[Any, ...]
    objective: Any


def cp() -> Any:
    """Return the module cvxpy."""
    return import_module("cvxpy")


def flat(expression: Any) -> Any:
    """Return an expression as a vector, in the order in which maps read arrays."""
    return expression if expression.ndim == 1 else cp().reshape(expression, (expression.size,), order="C")


@singledispatch
def described(oracle: Any) -> Described:
    """Return the CVXPY form of an oracle, or raise :class:`NotDescribed`."""
    raise NotDescribed(f"the set {type(oracle).__name__}")


def _on(oracle: Any, *constraints: Any, variable: Any, objective: Any = 0.0) -> Described:
    return Described((variable,), constraints, objective)


def _variable(oracle: Any, **attributes: Any) -> Any:
    shape = tuple(oracle.shape)
    return cp().Variable(shape if len(shape) <= 2 else math.prod(shape), **attributes)


def _norm(ball: Any, x: Any) -> Any:
    orders: dict[type, Any] = {sharp.L1Ball: 1, sharp.L2Ball: 2, sharp.LInfBall: "inf"}
    if type(ball) is sharp.LpBall:
        return cp().pnorm(flat(x), ball.exponent)
    if type(ball) not in orders:
        raise NotDescribed(f"the norm of {type(ball).__name__}")
    return cp().norm(flat(x), orders[type(ball)])


@described.register
def _(oracle: sharp.Simplex) -> Described:
    x = _variable(oracle, nonneg=True)
    total = cp().sum(x)
    return _on(
        oracle, total <= oracle.scale if isinstance(oracle, sharp.UnitSimplex) else total == oracle.scale, variable=x
    )


@described.register
def _(oracle: sharp.NormBall) -> Described:
    x = _variable(oracle)
    return _on(oracle, _norm(oracle, x) <= oracle.radius, variable=x)


@described.register
def _(oracle: sharp.Box) -> Described:
    x = _variable(oracle)
    return _on(oracle, x >= oracle.lower, x <= oracle.upper, variable=x)


@described.register
def _(oracle: sharp.QuadraticBox) -> Described:
    x = _variable(oracle)
    cost = 0.5 * cp().sum(cp().multiply(oracle.curvature, cp().square(x))) + cp().sum(cp().multiply(oracle.cost, x))
    return _on(oracle, x >= oracle.box.lower, x <= oracle.box.upper, variable=x, objective=cost)


@described.register
def _(oracle: sharp.PowerNorm) -> Described:
    x = _variable(oracle)
    size = _norm(oracle.ball, x)
    power = cp().square(size) if oracle.power == 2.0 else cp().power(size, oracle.power)
    return _on(oracle, variable=x, objective=oracle.coefficient / oracle.power * power)


@described.register
def _(oracle: sharp.SeparablePower) -> Described:
    x = _variable(oracle)
    cost = cp().sum(cp().power(cp().abs(flat(x)), oracle.power))
    return _on(oracle, variable=x, objective=oracle.coefficient / oracle.power * cost)


@described.register
def _(oracle: sharp.NormOnBall) -> Described:
    x = _variable(oracle)
    size = _norm(oracle.ball, x)
    return _on(oracle, size <= oracle.ball.radius, variable=x, objective=oracle.weight * size)


@described.register
def _(oracle: sharp.Spectrahedron) -> Described:
    x = _variable(oracle, PSD=True)
    trace = cp().trace(x)
    return _on(
        oracle, trace <= oracle.trace if isinstance(oracle, sharp.TraceBall) else trace == oracle.trace, variable=x
    )


@described.register
def _(oracle: sharp.NuclearBall) -> Described:
    if type(oracle) is not sharp.NuclearBall:
        raise NotDescribed(f"the set {type(oracle).__name__}")
    x = _variable(oracle)
    return _on(oracle, cp().normNuc(x) <= oracle.radius, variable=x)


@described.register
def _(oracle: sharp.NuclearNormSquared) -> Described:
    x = _variable(oracle)
    return _on(oracle, variable=x, objective=oracle.scale * cp().square(cp().normNuc(x)))


@described.register
def _(oracle: sharp.Linear) -> Described:
    inside = described(oracle.oracle)
    if len(inside.variables) != 1:
        raise NotDescribed("a linear objective over several blocks")
    cost = oracle.cost.toarray() if scipy.sparse.issparse(oracle.cost) else oracle.cost
    if not isinstance(cost, np.ndarray) or cost.dtype.kind == "c":
        raise NotDescribed("a linear objective that is no real array")
    linear = cost.reshape(-1) @ flat(inside.variables[0])
    return Described(inside.variables, inside.constraints, inside.objective + linear)


@described.register
def _(oracle: sharp.Product) -> Described:
    parts = [described(part) for part in oracle.oracles]
    variables = tuple(variable for part in parts for variable in part.variables)
    constraints = tuple(constraint for part in parts for constraint in part.constraints)
    return Described(variables, constraints, sum(part.objective for part in parts))
