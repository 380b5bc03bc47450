"""Definitions of sets and objectives in the plainest way: vertices by brute force, and models in CVXPY.

Measures of size take the module cvxpy and the vector of moduli |x_i|.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from .cases import Model


def signed_supports(size: int, count: int) -> np.ndarray:
    """Return all vectors with ``count`` entries that are 1 or -1 and zeros elsewhere."""
    rows = []
    for support in itertools.combinations(range(size), count):
        for signs in itertools.product([-1.0, 1.0], repeat=count):
            row = np.zeros(size)
            row[list(support)] = signs
            rows.append(row)
    return np.array(rows)


def owl_vertices(weights: np.ndarray, radius: float) -> np.ndarray:
    size = weights.size
    return np.concatenate(
        [signed_supports(size, count) * radius / weights[:count].sum() for count in range(1, size + 1)]
    )


def capped_simplex(cap: Any, total: float) -> Model:
    return lambda cp, x: (0.0, [x >= 0, x <= cap, cp.sum(x) == total])


def capped_vertices(caps: np.ndarray, total: float) -> np.ndarray:
    """Return all ways to give out the total, up to the cap of one entry after another, in every order."""
    vertices = []
    for order in itertools.permutations(range(caps.size)):
        vertex, left = np.zeros(caps.size), total
        for place in order:
            vertex[place] = min(caps[place], left)
            left = max(left - caps[place], 0.0)
        vertices.append(vertex)
    return np.unique(np.array(vertices), axis=0)


def uneven(mask: np.ndarray) -> float:
    """Return a submodular function with no symmetry: a concave function of a weight, and a modular part."""
    return float(np.sqrt(np.array([1.0, 2.0, 0.5, 3.0])[mask].sum()) - np.array([0.2, 1.0, 0.0, 0.7])[mask].sum())


def bases(function: Callable[[np.ndarray], float], size: int) -> Model:
    """Return {x(S) <= F(S) for all S, x(V) = F(V)}, all sets listed."""

    def model(cp: Any, x: Any) -> tuple[Any, list[Any]]:
        sets = [np.array(bits, bool) for bits in itertools.product([0, 1], repeat=size)]
        limits = [cp.sum(x[np.flatnonzero(mask)]) <= function(mask) for mask in sets[1:]]
        return 0.0, [*limits, cp.sum(x) == function(sets[-1])]

    return model


def greedy_vertices(function: Callable[[np.ndarray], float], size: int) -> np.ndarray:
    rows = []
    for order in itertools.permutations(range(size)):
        mask, row, before = np.zeros(size, bool), np.zeros(size), 0.0
        for element in order:
            mask[element] = True
            row[element] = function(mask) - before
            before = function(mask)
        rows.append(row)
    return np.array(rows)


def permutations(order: int) -> np.ndarray:
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


def with_objective(objective: Callable[[Any, Any], Any], base: Model | None = None) -> Model:
    """Return the model of objective(x) plus that of a base; the whole space by default."""

    def model(cp: Any, x: Any) -> tuple[Any, list[Any]]:
        cost, constraints = base(cp, x) if base else (0.0, [])
        return cost + objective(cp, x), constraints

    return model


def power_of(measure: Callable[[Any, Any], Any], weight: float, power: float) -> Model:
    def model(cp: Any, x: Any) -> tuple[Any, list[Any]]:
        length = cp.Variable()
        moduli, tie = _moduli(cp, x)
        return weight * cp.power(length, power), [*tie, measure(cp, moduli) <= length, length >= 0]

    return model


def k_support(sparsity: int, radius: float) -> Model:
    """Return the definition: x is a sum of pieces on k entries each whose Euclidean norms sum to at most r."""

    def model(cp: Any, x: Any) -> tuple[Any, list[Any]]:
        total, norms = 0.0, []
        for support in itertools.combinations(range(x.size), sparsity):
            piece = cp.Variable(sparsity, complex=x.is_complex())
            total = total + np.eye(x.size)[:, list(support)] @ piece
            norms.append(cp.norm(piece, 2))
        return 0.0, [cp.vec(x, order="C") == total, cp.sum(cp.hstack(norms)) <= radius]

    return model


def groups(labels: list[int], weights: dict[int, float]) -> Callable[[Any, Any], Any]:
    members = {label: [i for i, other in enumerate(labels) if other == label] for label in set(labels)}
    return lambda cp, t: sum(weights[label] * cp.norm(t[index], 2) for label, index in members.items())


def owl(weights: np.ndarray) -> Callable[[Any, Any], Any]:
    """Return sum w_i t_(i) as a positive combination of sums of the k largest."""
    steps = -np.diff(np.append(weights, 0.0))
    return lambda cp, t: sum(step * cp.sum_largest(t, k + 1) for k, step in enumerate(steps) if step > 0)


def hull(points: np.ndarray) -> Model:
    def model(cp: Any, x: Any) -> tuple[Any, list[Any]]:
        weights = cp.Variable(len(points), nonneg=True)
        return 0.0, [cp.vec(x, order="C") == points.reshape(len(points), -1).T @ weights, cp.sum(weights) == 1]

    return model


def simplex(scale: float) -> Model:
    return lambda cp, x: (0.0, [x >= 0, cp.sum(x) == scale])


def box(lower: Any, upper: Any) -> Model:
    return lambda cp, x: (0.0, [x >= lower, x <= upper])


def l1(cp: Any, t: Any) -> Any:
    return cp.norm1(t)


def l2(cp: Any, t: Any) -> Any:
    return cp.norm(t, 2)


def linf(cp: Any, t: Any) -> Any:
    return cp.norm_inf(t)
