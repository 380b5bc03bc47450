"""Small problems of every coupling with optimal values from CVXPY (interior point, to high accuracy)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from support.oracles import EuclideanPower
from unipd import Problem
from unipd import couplings as cpl
from unipd.sharp import Box, L1Ball, Linear, Simplex

ROWS, COLUMNS = 6, 10
WEIGHTS = np.array([1.0, 2.0, 0.5, 3.0, 1.0, 0.7])
NORMAL = np.array([1.0, -1.0, 2.0, 0.5, 0.0, 1.0])


@dataclass(frozen=True)
class Data:
    """The data that all cases share."""

    A: Any
    b: Any
    c: Any
    inside: Any


@cache
def data() -> Data:
    random = np.random.default_rng(11)
    A, c = random.standard_normal((ROWS, COLUMNS)), random.standard_normal(COLUMNS)
    inside = random.dirichlet(np.ones(COLUMNS))
    return Data(A, A @ inside, c, inside)


SETS: dict[str, tuple[Any, Callable[[Any, Any], list[Any]]]] = {
    "equality": (cpl.Equality(), lambda cp, r: [r == 0]),
    "at most": (cpl.AtMost(), lambda cp, r: [r <= 0]),
    "at least": (cpl.AtLeast(), lambda cp, r: [r >= 0]),
    "box": (cpl.Box(-0.1, 0.2), lambda cp, r: [r >= -0.1, r <= 0.2]),
    "l1 ball": (cpl.L1Ball(0.3), lambda cp, r: [cp.norm1(r) <= 0.3]),
    "l2 ball": (cpl.L2Ball(0.3), lambda cp, r: [cp.norm2(r) <= 0.3]),
    "linf ball": (cpl.LInfBall(0.1), lambda cp, r: [cp.norm_inf(r) <= 0.1]),
    "half-space": (cpl.HalfSpace(-NORMAL, -0.2), lambda cp, r: [NORMAL @ r >= 0.2]),
    "product": (
        cpl.Product([cpl.Equality(), cpl.L2Ball(0.2), cpl.AtMost()], [2, 2, 2]),
        lambda cp, r: [r[:2] == 0, cp.norm2(r[2:4]) <= 0.2, r[4:] <= 0],
    ),
}
"""Couplings K by name, with the same constraint written for CVXPY."""

LOSSES: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
    "least squares": (cpl.LeastSquares(), lambda cp, r: 0.5 * cp.sum_squares(r)),
    "scaled least squares": (cpl.LeastSquares(3.0), lambda cp, r: 1.5 * cp.sum_squares(r)),
    "weighted least squares": (
        cpl.WeightedLeastSquares(WEIGHTS),
        lambda cp, r: 0.5 * cp.sum(cp.multiply(WEIGHTS, cp.square(r))),
    ),
    "huber": (cpl.Huber(0.3), lambda cp, r: 0.5 * cp.sum(cp.huber(r, 0.3))),
    "absolute": (cpl.Absolute(), lambda cp, r: cp.norm1(r)),
    "logistic": (cpl.Logistic(), lambda cp, r: cp.sum(cp.logistic(-r))),
}
"""Losses phi by name, with the same loss written for CVXPY."""

BOUNDED: dict[str, Any] = {
    "huber": cpl.Huber(0.3, slack_radius=2.0),
    "absolute": cpl.Absolute(slack_radius=2.0),
    "logistic": cpl.Logistic(slack_radius=2.0),
}
"""The losses whose slack block needs a radius to be split, with one that no residual here reaches."""

POINTS: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], tuple[Any, list[Any]]]]] = {
    "linear on the simplex": (
        lambda: Linear(data().c, Simplex(COLUMNS)),
        lambda cp, x: (data().c @ x, [x >= 0, cp.sum(x) == 1]),
    ),
    "squared norm": (lambda: EuclideanPower(COLUMNS, 2.0), lambda cp, x: (0.5 * cp.sum_squares(x), [])),
    "simplex": (lambda: Simplex(COLUMNS), lambda cp, x: (0, [x >= 0, cp.sum(x) == 1])),
    "l1 ball": (lambda: L1Ball(COLUMNS, 0.4), lambda cp, x: (0, [cp.norm1(x) <= 0.4])),
    "box": (lambda: Box(-0.05, 0.2, COLUMNS), lambda cp, x: (0, [x >= -0.05, x <= 0.2])),
}
"""Objectives f with their sets X by name, with the same written for CVXPY."""


@cache
def constrained_reference(point: str, coupling: str) -> tuple[Problem, float]:
    """Return min f over X with A x - b in K, and its optimal value."""
    import cvxpy as cp

    x = cp.Variable(COLUMNS)
    objective, constraints = POINTS[point][1](cp, x)
    model, written = SETS[coupling]
    solved = cp.Problem(cp.Minimize(objective), [*constraints, *written(cp, data().A @ x - data().b)])
    optimum = solved.solve(solver=cp.CLARABEL)
    return Problem(POINTS[point][0](), data().A, data().b, model), float(optimum)


@cache
def loss_reference(point: str, loss: str, split: bool | None = None) -> tuple[Problem, float]:
    """Return min f over X plus phi(A x - b), shifted so that the optimum is not 0, and its optimal value."""
    import cvxpy as cp

    x = cp.Variable(COLUMNS)
    objective, constraints = POINTS[point][1](cp, x)
    model, written = LOSSES[loss]
    model = BOUNDED.get(loss, model) if split else model
    b = data().b + 0.5 * np.sign(NORMAL)
    solved = cp.Problem(cp.Minimize(objective + written(cp, data().A @ x - b)), constraints)
    optimum = solved.solve(solver=cp.CLARABEL)
    return Problem(POINTS[point][0](), data().A, b, model, split=split), float(optimum)
