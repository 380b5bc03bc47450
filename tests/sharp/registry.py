"""Every vector oracle of the library with its definition written a second time, in the plainest way.

``vertices`` lists all extreme points of a polytope by brute force; ``model`` states f and X in CVXPY. Neither uses the
library's code.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd import sharp
from unipd.atoms import Blocks

REAL = (np.float64, np.float32)
ANY = (np.float64, np.float32, np.complex128, np.complex64)

Model = Callable[[Any, Any], tuple[Any, list[Any]]]
"""Takes the module cvxpy and the variable x, returns f(x) and the constraints that define X."""


@dataclass(frozen=True)
class Case:
    """An oracle, the dtypes it takes and its naive twins."""

    name: str
    oracle: Any
    dtypes: tuple[Any, ...]
    model: Model
    vertices: np.ndarray | None = None
    complex_values: bool = False
    """Whether atoms are complex even at real directions."""

    @property
    def polyhedral(self) -> bool:
        return self.vertices is not None


def names(cases: list[Case]) -> list[str]:
    """Return the test ids."""
    return [case.name for case in cases]


def numbers(rng: np.random.Generator, shape: Any, dtype: Any, scale: float = 1.0, special: float = 0.0) -> Any:
    """Return normal numbers, a share of them replaced by zeros, ties and tiny ones; blocks as a tuple."""
    if isinstance(shape[0], tuple):
        return tuple(numbers(rng, part, dtype, scale, special) for part in shape)

    def real() -> np.ndarray:
        tied = rng.choice([0.0, 1.0, -1.0, 0.5, 1e-40], size=shape)
        return scale * np.where(rng.uniform(size=shape) < special, tied, rng.standard_normal(shape))

    drawn = real() + 1j * real() if np.dtype(dtype).kind == "c" else real()
    return drawn.astype(dtype)


def zeros(shape: Any, dtype: Any) -> Any:
    """Return the zero direction; blocks as a tuple."""
    if isinstance(shape[0], tuple):
        return tuple(zeros(part, dtype) for part in shape)
    return np.zeros(shape, dtype)


def flat(point: Any) -> np.ndarray:
    """Return a direction or an atom as one vector."""
    if isinstance(point, Blocks):
        point = point.parts
    if isinstance(point, tuple):
        return np.concatenate([flat(part) for part in point])
    return np.asarray(point.dense() if hasattr(point, "dense") else point).reshape(-1)


def _signed_supports(size: int, count: int) -> np.ndarray:
    """Return all vectors with ``count`` entries that are 1 or -1 and zeros elsewhere."""
    rows = []
    for support in itertools.combinations(range(size), count):
        for signs in itertools.product([-1.0, 1.0], repeat=count):
            row = np.zeros(size)
            row[list(support)] = signs
            rows.append(row)
    return np.array(rows)


def _owl_vertices(weights: np.ndarray, radius: float) -> np.ndarray:
    size = weights.size
    return np.concatenate(
        [_signed_supports(size, count) * radius / weights[:count].sum() for count in range(1, size + 1)]
    )


def _permutations(order: int) -> np.ndarray:
    return np.array([np.eye(order)[list(choice)].reshape(-1) for choice in itertools.permutations(range(order))])


def paths(tails: Any, heads: Any, source: int, sink: int) -> np.ndarray:
    """Return the indicators of all paths from source to sink, by recursion."""
    found: list[np.ndarray] = []

    def walk(node: int, used: list[int]) -> None:
        if node == sink:
            row = np.zeros(len(tails))
            row[used] = 1.0
            found.append(row)
            return
        for edge, tail in enumerate(tails):
            if tail == node:
                walk(heads[edge], [*used, edge])

    walk(source, [])
    return np.array(found)


def ball(measure: Callable[[Any, Any], Any], radius: float) -> Model:
    """Return the model of {measure(|x|) <= radius} with f = 0; the moduli are a vector."""

    def model(cp: Any, x: Any) -> tuple[Any, list[Any]]:
        moduli, tie = _moduli(cp, x)
        return 0.0, [*tie, measure(cp, moduli) <= radius]

    return model


def _moduli(cp: Any, x: Any) -> tuple[Any, list[Any]]:
    bound = cp.Variable(x.size)
    return bound, [cp.abs(cp.vec(x, order="C")) <= bound]


def _with_objective(objective: Callable[[Any, Any], Any], base: Model | None = None) -> Model:
    """Return the model of objective(x) plus that of a base; the whole space by default."""

    def model(cp: Any, x: Any) -> tuple[Any, list[Any]]:
        cost, constraints = base(cp, x) if base else (0.0, [])
        return cost + objective(cp, x), constraints

    return model


def _power_of(measure: Callable[[Any, Any], Any], weight: float, power: float) -> Model:
    def model(cp: Any, x: Any) -> tuple[Any, list[Any]]:
        length = cp.Variable()
        moduli, tie = _moduli(cp, x)
        return weight * cp.power(length, power), [*tie, measure(cp, moduli) <= length, length >= 0]

    return model


def _k_support(sparsity: int, radius: float) -> Model:
    """Return the definition: x is a sum of pieces on k entries each whose Euclidean norms sum to at most r."""

    def model(cp: Any, x: Any) -> tuple[Any, list[Any]]:
        total, norms = 0.0, []
        for support in itertools.combinations(range(x.size), sparsity):
            piece = cp.Variable(sparsity, complex=x.is_complex())
            total = total + np.eye(x.size)[:, list(support)] @ piece
            norms.append(cp.norm(piece, 2))
        return 0.0, [cp.vec(x, order="C") == total, cp.sum(cp.hstack(norms)) <= radius]

    return model


def _groups(labels: list[int], weights: dict[int, float]) -> Callable[[Any, Any], Any]:
    members = {label: [i for i, other in enumerate(labels) if other == label] for label in set(labels)}
    return lambda cp, t: sum(weights[label] * cp.norm(t[index], 2) for label, index in members.items())


def _owl(weights: np.ndarray) -> Callable[[Any, Any], Any]:
    """Return sum w_i t_(i) as a positive combination of sums of the k largest."""
    steps = -np.diff(np.append(weights, 0.0))
    return lambda cp, t: sum(step * cp.sum_largest(t, k + 1) for k, step in enumerate(steps) if step > 0)


def _hull(points: np.ndarray) -> Model:
    def model(cp: Any, x: Any) -> tuple[Any, list[Any]]:
        weights = cp.Variable(len(points), nonneg=True)
        return 0.0, [cp.vec(x, order="C") == points.reshape(len(points), -1).T @ weights, cp.sum(weights) == 1]

    return model


def _simplex(scale: float) -> Model:
    return lambda cp, x: (0.0, [x >= 0, cp.sum(x) == scale])


def _box(lower: Any, upper: Any) -> Model:
    return lambda cp, x: (0.0, [x >= lower, x <= upper])


def l1(cp: Any, t: Any) -> Any:
    return cp.norm1(t)


def l2(cp: Any, t: Any) -> Any:
    return cp.norm(t, 2)


def linf(cp: Any, t: Any) -> Any:
    return cp.norm_inf(t)


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


SETS = [
    Case("simplex", sharp.Simplex(5, 2.0), REAL, _simplex(2.0), 2.0 * np.eye(5)),
    Case("simplex-matrix", sharp.Simplex((2, 3), 0.1), REAL, _simplex(0.1), 0.1 * np.eye(6)),
    Case(
        "unit-simplex",
        sharp.UnitSimplex(4, 0.5),
        REAL,
        lambda cp, x: (0.0, [x >= 0, cp.sum(x) <= 0.5]),
        np.vstack([np.zeros(4), 0.5 * np.eye(4)]),
    ),
    Case("box", sharp.Box(_LOWER, _UPPER), REAL, _box(_LOWER, _UPPER), _CORNERS),
    Case("l1-ball", sharp.L1Ball(5, 1.5), ANY, ball(l1, 1.5), 1.5 * _signed_supports(5, 1)),
    Case("l1-ball-matrix", sharp.L1Ball((2, 3), 0.1), ANY, ball(l1, 0.1), 0.1 * _signed_supports(6, 1)),
    Case("l2-ball", sharp.L2Ball(5, 2.0), ANY, ball(l2, 2.0)),
    Case("linf-ball", sharp.LInfBall(5, 0.7), ANY, ball(linf, 0.7), 0.7 * _signed_supports(5, 5)),
    Case("l1.5-ball", sharp.LpBall(5, 1.5), ANY, ball(lambda cp, t: cp.pnorm(t, 1.5), 1.0)),
    Case("l4-ball", sharp.LpBall((2, 2), 4, 2.0), ANY, ball(lambda cp, t: cp.pnorm(t, 4), 2.0)),
    Case("1-support-ball", sharp.KSupportBall(4, 1, 2.0), ANY, _k_support(1, 2.0), 2.0 * _signed_supports(4, 1)),
    Case("2-support-ball", sharp.KSupportBall(5, 2, 1.5), ANY, _k_support(2, 1.5)),
    Case("3-support-ball", sharp.KSupportBall(4, 3), ANY, _k_support(3, 1.0)),
    Case("group-ball", sharp.GroupBall(_LABELS, 2.0, [1.0, 2.0, 0.5]), ANY, ball(_groups(_LABELS, _WEIGHTS), 2.0)),
    Case(
        "k-sparse",
        sharp.KSparsePolytope(5, 2, 1.5),
        ANY,
        ball(lambda cp, t: cp.maximum(cp.norm_inf(t), cp.norm1(t) / 2), 1.5),
        1.5 * _signed_supports(5, 2),
    ),
    Case("owl-ball", sharp.OWLBall(_OWL, 2.0), ANY, ball(_owl(_OWL), 2.0), _owl_vertices(_OWL, 2.0)),
    Case(
        "birkhoff",
        sharp.Birkhoff(3),
        REAL,
        lambda cp, x: (0.0, [x >= 0, cp.sum(x, axis=0) == 1, cp.sum(x, axis=1) == 1]),
        _permutations(3),
    ),
    Case(
        "flow",
        sharp.FlowPolytope(_TAILS, _HEADS, source=0, sink=4),
        REAL,
        _hull(paths(_TAILS, _HEADS, 0, 4)),
        paths(_TAILS, _HEADS, 0, 4),
    ),
    Case("convex-hull", sharp.ConvexHull(_POINTS), REAL, _hull(_POINTS), _POINTS),
    Case(
        "convex-hull-complex",
        sharp.ConvexHull(_COMPLEX_POINTS),
        ANY,
        _hull(_COMPLEX_POINTS),
        _COMPLEX_POINTS,
        complex_values=True,
    ),
    Case(
        "from-callable",
        sharp.from_callable(np.sign, 4, real_only=True, contains=lambda x: bool(np.abs(x).max() <= 1.0 + 1e-5)),
        REAL,
        ball(linf, 1.0),
        _signed_supports(4, 4),
    ),
    Case("counted", sharp.Counted(sharp.Simplex(3)), REAL, _simplex(1.0), np.eye(3)),
]

OBJECTIVES = [
    Case("linear-l1-ball", sharp.Linear(_COST, sharp.L1Ball(5, 1.5)), ANY, _with_objective(_cost, ball(l1, 1.5))),
    Case("linear-zero", sharp.Linear(np.zeros(3), sharp.Simplex(3)), REAL, _simplex(1.0), np.eye(3)),
    Case(
        "linear-complex",
        sharp.Linear(_COMPLEX_COST, sharp.L2Ball(5, 2.0)),
        ANY,
        _with_objective(lambda cp, x: cp.real(cp.sum(cp.multiply(_COMPLEX_COST.conj(), x))), ball(l2, 2.0)),
        complex_values=True,
    ),
    Case(
        "linear-on-square",
        sharp.Linear(_COST, sharp.L2NormSquared(5, 0.5)),
        ANY,
        _with_objective(_cost, _power_of(l2, 0.5, 2)),
    ),
    Case("l1-squared", sharp.L1NormSquared(5, 0.7), ANY, _power_of(l1, 0.7, 2)),
    Case("l2-squared", sharp.L2NormSquared((2, 3), 2.0), ANY, _power_of(l2, 2.0, 2)),
    Case("linf-squared", sharp.LInfNormSquared(4), ANY, _power_of(linf, 1.0, 2)),
    Case(
        "group-squared",
        sharp.NormSquared(sharp.GroupBall([0, 0, 1], 3.0)),
        ANY,
        _power_of(_groups([0, 0, 1], {0: 1, 1: 1}), 1, 2),
    ),
    Case("l1-cubed", sharp.PowerNorm(sharp.L1Ball(4, 2.0), 3.0, 1.5), ANY, _power_of(l1, 0.5, 3)),
    Case("euclidean-power", sharp.EuclideanPower(4, 2.5, 2.0), ANY, _power_of(l2, 0.8, 2.5)),
    Case(
        "separable-power",
        sharp.SeparablePower(4, 3.0, 1.5),
        ANY,
        _with_objective(lambda cp, x: 0.5 * cp.sum(cp.power(cp.abs(x), 3))),
    ),
    Case(
        "entropy",
        sharp.Entropy(5, 2.0),
        REAL,
        _with_objective(lambda cp, x: -cp.sum(cp.entr(x)) - np.log(2.0) * cp.sum(x), _simplex(2.0)),
    ),
    Case(
        "quadratic-box",
        sharp.QuadraticBox(_CURVED, _COST, _LOWER, _UPPER),
        REAL,
        _with_objective(_quadratic, _box(_LOWER, _UPPER)),
    ),
    Case("quadratic-zero", sharp.QuadraticBox(0.0, 0.0, _LOWER, _UPPER), REAL, _box(_LOWER, _UPPER), _CORNERS),
    Case(
        "quadratic-linear",
        sharp.QuadraticBox(0.0, _COST, _LOWER, _UPPER),
        REAL,
        _with_objective(_cost, _box(_LOWER, _UPPER)),
    ),
    Case(
        "l1-on-ball",
        sharp.L1NormOnBall(5, 2.0),
        ANY,
        _with_objective(lambda cp, x: cp.sum(cp.abs(x)), ball(l1, 2.0)),
    ),
    Case(
        "l2-on-ball",
        sharp.NormOnBall(sharp.L2Ball(4, 2.0), 0.5),
        ANY,
        _with_objective(lambda cp, x: 0.5 * cp.norm(x, 2), ball(l2, 2.0)),
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
