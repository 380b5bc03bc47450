"""More than one atom from one question: the next best points of sets made of coordinates or groups of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array
from unipd.dual import DualPoint, attach
from unipd.maps import DenseMatrix, SparseMatrix
from unipd.problem import Problem
from unipd.protocols import SharpAnswer, inner
from unipd.scaling import RowScaled
from unipd.sharp import GroupBall, L1Ball, L1NormOnBall, L1NormSquared, Linear, NormSquared, Simplex, UnitSimplex
from unipd.sharp.counted import bare
from unipd.sharp.phases import phase, unit

_SIMPLICES = (Simplex, UnitSimplex)
_BALLS = (L1Ball, L1NormOnBall, L1NormSquared)


def has_candidates(problem: Problem) -> bool:
    """Whether next best vertices cost little: a simplex, an l1 or a group ball, and a matrix with their images.

    >>> import unipd
    >>> has_candidates(unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "="))
    True
    """
    inside: Any = problem.map.inner if isinstance(problem.map, RowScaled) else problem.map
    oracle = bare(problem.sharp)
    while type(oracle) is Linear:
        oracle = bare(oracle.oracle)
    known = type(oracle) in (*_SIMPLICES, *_BALLS) or _groups(oracle) is not None
    return type(inside) in (DenseMatrix, SparseMatrix) and known


def candidates(
    problem: Problem, dual: Array, direction: Array, count: int, above: float = -math.inf
) -> list[DualPoint]:
    """Return the ``count`` best vertices for the direction -A^* lam, best first, each with its image and f.

    Every one is a point of X and hence a valid cut <lam, b - A x> - f(x) <= g(lam); their certified errors are unknown.
    Only vertices whose cut at lam is higher than ``above`` are returned.

    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), np.zeros(3), "=")
    >>> lam = np.array([2.0, 1.0, 3.0])
    >>> [point.value for point in candidates(problem, lam, -lam, 3, above=-2.5)]
    [-1.0, -2.0]
    """
    points: list[DualPoint] = []
    for atom in _vertices(bare(problem.sharp), direction, count, above - inner(dual, problem.b)):
        answer = SharpAnswer(atom, 0.0, problem.sharp.objective(atom), math.inf)
        image = np.asarray(problem.map.image(atom)).astype(problem.dtype, copy=False)
        points.append(attach(problem, dual, answer, image))
    return points


def _vertices(oracle: Any, direction: Array, count: int, above: float) -> list[Any]:
    """Return the vertices with the largest <y, x> - f(x), as far as that exceeds ``above``."""
    if type(oracle) is Linear:
        return _vertices(bare(oracle.oracle), direction - oracle.cost, count, above)
    flat = direction.reshape(-1)
    if type(oracle) in _SIMPLICES:
        places = _largest(flat, count, above / oracle.scale)
        return [atoms.one_hot(oracle.shape, int(place), oracle.scale, flat.dtype) for place in places]
    radius, least = _radius_and_least(oracle, above)
    ball = _groups(oracle)
    if ball is not None:
        best = _largest(ball.group_norms(direction) / ball.weights, count, least)
        return [_group_atom(ball, flat, int(group), radius) for group in best]
    places = _largest(np.abs(flat), count, least)
    return [atoms.SparsePoint(oracle.shape, place, radius * phase(flat[place])) for place in places[:, None]]


def _groups(oracle: Any) -> GroupBall | None:
    """Return the ball of groups that an oracle is made of, or None."""
    if type(oracle) is NormSquared and type(oracle.ball) is GroupBall:
        return oracle.ball
    return oracle if type(oracle) is GroupBall else None


def _group_atom(ball: GroupBall, flat: Array, group: int, radius: float) -> atoms.SparsePoint:
    """Return the best point of the ball with nonzeros in one group alone."""
    members = ball.members(group)
    height = radius / float(ball.weights[group])
    return atoms.SparsePoint(ball.shape, members, height * unit(flat[members]))


def _radius_and_least(oracle: Any, above: float) -> tuple[float, float]:
    """Return the size of a vertex of the l1 ball, and the |y_i| at which its cut reaches ``above``."""
    if type(oracle) in (L1Ball, GroupBall):
        return oracle.radius, above / oracle.radius
    if type(oracle) is L1NormOnBall:
        return oracle.ball.radius, above / oracle.ball.radius + oracle.weight
    return 1.0, math.sqrt(max(0.0, 2.0 * oracle.coefficient * above))


def _largest(scores: Array, count: int, least: float) -> Array:
    """Return the places of the largest entries above ``least`` in descending order, the first among equals first."""
    places = np.flatnonzero(scores > least)
    if count < places.size:
        chosen = np.argpartition(-scores[places], count - 1)[:count]
        places = np.sort(places[chosen])
    return places[np.argsort(-scores[places], kind="stable")]
