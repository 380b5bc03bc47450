"""Every vector oracle of the library with its definition written a second time.

``vertices`` lists all extreme points of a polytope by brute force; ``model`` states f and X in CVXPY. Neither uses the
library's code.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from unipd import sharp

from .cases import ANY, REAL, Case
from .models import (
    ball,
    bases,
    box,
    capped_simplex,
    capped_vertices,
    greedy_vertices,
    groups,
    hull,
    k_support,
    l1,
    l2,
    linf,
    owl,
    owl_vertices,
    paths,
    permutations,
    power_of,
    signed_supports,
    simplex,
    uneven,
    with_objective,
)

_RNG = np.random.default_rng(7)
_LOWER = np.array([-1.0, 0.0, -2.0, 0.5, -3.0])
_UPPER = np.array([1.0, 2.0, -1.0, 0.5, 4.0])
_CORNERS = np.array(list(itertools.product(*zip(_LOWER, _UPPER, strict=True))))
_LABELS, _WEIGHTS = [4, 2, 4, 9, 2], {2: 1.0, 4: 2.0, 9: 0.5}
_OWL = np.array([3.0, 2.0, 2.0, 0.5, 0.0])
_TAILS, _HEADS = [0, 0, 1, 1, 2, 2, 3, 0, 4, 5, 1], [1, 2, 2, 3, 3, 4, 4, 1, 6, 0, 6]
_POINTS = _RNG.standard_normal((9, 3))
_COMPLEX_POINTS = _RNG.standard_normal((7, 3)) + 1j * _RNG.standard_normal((7, 3))
_COST = np.array([0.3, -1.0, 0.8, 0.0, 2.0])
_COMPLEX_COST = _COST + 1j * _COST[::-1]
_CURVED = np.array([0.0, 1.0, 2.0, 0.0, 0.5])


def _cost(cp: Any, x: Any) -> Any:
    product = cp.sum(cp.multiply(_COST, x))
    return cp.real(product) if x.is_complex() else product


def _quadratic(cp: Any, x: Any) -> Any:
    return cp.sum(cp.multiply(0.5 * _CURVED, cp.square(x)) + cp.multiply(_COST, x))


_CAPS = np.array([0.3, 0.05, 0.2, 0.4])

SETS = [
    Case("simplex", sharp.Simplex(5, 2.0), REAL, simplex(2.0), 2.0 * np.eye(5)),
    Case("simplex-matrix", sharp.Simplex((2, 3), 0.1), REAL, simplex(0.1), 0.1 * np.eye(6)),
    Case(
        "unit-simplex",
        sharp.UnitSimplex(4, 0.5),
        REAL,
        lambda cp, x: (0.0, [x >= 0, cp.sum(x) <= 0.5]),
        np.vstack([np.zeros(4), 0.5 * np.eye(4)]),
    ),
    Case(
        "capped-simplex",
        sharp.CappedSimplex(5, 0.4),
        REAL,
        capped_simplex(0.4, 1.0),
        capped_vertices(np.full(5, 0.4), 1.0),
    ),
    Case(
        "capped-thirds",
        sharp.CappedSimplex(4, 0.2 / 3, 0.2),
        REAL,
        capped_simplex(0.2 / 3, 0.2),
        capped_vertices(np.full(4, 0.2 / 3), 0.2),
    ),
    Case(
        "capped-by-entry",
        sharp.CappedSimplex(4, _CAPS, 0.5),
        REAL,
        capped_simplex(_CAPS, 0.5),
        capped_vertices(_CAPS, 0.5),
    ),
    Case("base-polytope", sharp.BasePolytope(uneven, 4), REAL, bases(uneven, 4), greedy_vertices(uneven, 4)),
    Case("box", sharp.Box(_LOWER, _UPPER), REAL, box(_LOWER, _UPPER), _CORNERS),
    Case("l1-ball", sharp.L1Ball(5, 1.5), ANY, ball(l1, 1.5), 1.5 * signed_supports(5, 1)),
    Case("l1-ball-matrix", sharp.L1Ball((2, 3), 0.1), ANY, ball(l1, 0.1), 0.1 * signed_supports(6, 1)),
    Case("l2-ball", sharp.L2Ball(5, 2.0), ANY, ball(l2, 2.0)),
    Case("linf-ball", sharp.LInfBall(5, 0.7), ANY, ball(linf, 0.7), 0.7 * signed_supports(5, 5)),
    Case("l1.5-ball", sharp.LpBall(5, 1.5), ANY, ball(lambda cp, t: cp.pnorm(t, 1.5), 1.0)),
    Case("l4-ball", sharp.LpBall((2, 2), 4, 2.0), ANY, ball(lambda cp, t: cp.pnorm(t, 4), 2.0)),
    Case("1-support-ball", sharp.KSupportBall(4, 1, 2.0), ANY, k_support(1, 2.0), 2.0 * signed_supports(4, 1)),
    Case("2-support-ball", sharp.KSupportBall(5, 2, 1.5), ANY, k_support(2, 1.5)),
    Case("3-support-ball", sharp.KSupportBall(4, 3), ANY, k_support(3, 1.0)),
    Case("group-ball", sharp.GroupBall(_LABELS, 2.0, [1.0, 2.0, 0.5]), ANY, ball(groups(_LABELS, _WEIGHTS), 2.0)),
    Case(
        "k-sparse",
        sharp.KSparsePolytope(5, 2, 1.5),
        ANY,
        ball(lambda cp, t: cp.maximum(cp.norm_inf(t), cp.norm1(t) / 2), 1.5),
        1.5 * signed_supports(5, 2),
    ),
    Case("owl-ball", sharp.OWLBall(_OWL, 2.0), ANY, ball(owl(_OWL), 2.0), owl_vertices(_OWL, 2.0)),
    Case(
        "birkhoff",
        sharp.Birkhoff(3),
        REAL,
        lambda cp, x: (0.0, [x >= 0, cp.sum(x, axis=0) == 1, cp.sum(x, axis=1) == 1]),
        permutations(3),
    ),
    Case(
        "flow",
        sharp.FlowPolytope(_TAILS, _HEADS, source=0, sink=4),
        REAL,
        hull(paths(_TAILS, _HEADS, 0, 4)),
        paths(_TAILS, _HEADS, 0, 4),
    ),
    Case("convex-hull", sharp.ConvexHull(_POINTS), REAL, hull(_POINTS), _POINTS),
    Case(
        "convex-hull-complex",
        sharp.ConvexHull(_COMPLEX_POINTS),
        ANY,
        hull(_COMPLEX_POINTS),
        _COMPLEX_POINTS,
        complex_values=True,
    ),
    Case(
        "from-callable",
        sharp.from_callable(np.sign, 4, real_only=True, contains=lambda x: bool(np.abs(x).max() <= 1.0 + 1e-5)),
        REAL,
        ball(linf, 1.0),
        signed_supports(4, 4),
    ),
    Case("counted", sharp.Counted(sharp.Simplex(3)), REAL, simplex(1.0), np.eye(3)),
]

OBJECTIVES = [
    Case("linear-l1-ball", sharp.Linear(_COST, sharp.L1Ball(5, 1.5)), ANY, with_objective(_cost, ball(l1, 1.5))),
    Case("linear-zero", sharp.Linear(np.zeros(3), sharp.Simplex(3)), REAL, simplex(1.0), np.eye(3)),
    Case(
        "linear-complex",
        sharp.Linear(_COMPLEX_COST, sharp.L2Ball(5, 2.0)),
        ANY,
        with_objective(lambda cp, x: cp.real(cp.sum(cp.multiply(_COMPLEX_COST.conj(), x))), ball(l2, 2.0)),
        complex_values=True,
    ),
    Case(
        "linear-on-square",
        sharp.Linear(_COST, sharp.L2NormSquared(5, 0.5)),
        ANY,
        with_objective(_cost, power_of(l2, 0.5, 2)),
    ),
    Case("l1-squared", sharp.L1NormSquared(5, 0.7), ANY, power_of(l1, 0.7, 2)),
    Case("l2-squared", sharp.L2NormSquared((2, 3), 2.0), ANY, power_of(l2, 2.0, 2)),
    Case("linf-squared", sharp.LInfNormSquared(4), ANY, power_of(linf, 1.0, 2)),
    Case(
        "group-squared",
        sharp.NormSquared(sharp.GroupBall([0, 0, 1], 3.0)),
        ANY,
        power_of(groups([0, 0, 1], {0: 1, 1: 1}), 1, 2),
    ),
    Case("l1-cubed", sharp.PowerNorm(sharp.L1Ball(4, 2.0), 3.0, 1.5), ANY, power_of(l1, 0.5, 3)),
    Case("euclidean-power", sharp.EuclideanPower(4, 2.5, 2.0), ANY, power_of(l2, 0.8, 2.5)),
    Case(
        "separable-power",
        sharp.SeparablePower(4, 3.0, 1.5),
        ANY,
        with_objective(lambda cp, x: 0.5 * cp.sum(cp.power(cp.abs(x), 3))),
    ),
    Case(
        "entropy",
        sharp.Entropy(5, 2.0),
        REAL,
        with_objective(lambda cp, x: -cp.sum(cp.entr(x)) - np.log(2.0) * cp.sum(x), simplex(2.0)),
    ),
    Case(
        "quadratic-box",
        sharp.QuadraticBox(_CURVED, _COST, _LOWER, _UPPER),
        REAL,
        with_objective(_quadratic, box(_LOWER, _UPPER)),
    ),
    Case("quadratic-zero", sharp.QuadraticBox(0.0, 0.0, _LOWER, _UPPER), REAL, box(_LOWER, _UPPER), _CORNERS),
    Case(
        "quadratic-linear",
        sharp.QuadraticBox(0.0, _COST, _LOWER, _UPPER),
        REAL,
        with_objective(_cost, box(_LOWER, _UPPER)),
    ),
    Case(
        "l1-on-ball",
        sharp.L1NormOnBall(5, 2.0),
        ANY,
        with_objective(lambda cp, x: cp.sum(cp.abs(x)), ball(l1, 2.0)),
    ),
    Case(
        "l2-on-ball",
        sharp.NormOnBall(sharp.L2Ball(4, 2.0), 0.5),
        ANY,
        with_objective(lambda cp, x: 0.5 * cp.norm(x, 2), ball(l2, 2.0)),
    ),
]


def _no_model(cp: Any, x: Any) -> tuple[Any, list[Any]]:
    raise NotImplementedError("a product is tested through its blocks")


PRODUCTS = [
    Case("product-sets", sharp.Product([sharp.L1Ball(3), sharp.L2Ball((2, 2), 2.0)]), ANY, _no_model),
    Case(
        "product-squares",
        sharp.Product([sharp.L1NormSquared(3), sharp.L2NormSquared(2, 3.0)], threads=2),
        ANY,
        _no_model,
    ),
    Case(
        "product-mixed",
        sharp.Product([sharp.Simplex(3), sharp.Entropy(4), sharp.L2NormSquared(2)], threads=2),
        REAL,
        _no_model,
    ),
]

CASES = SETS + OBJECTIVES + PRODUCTS
