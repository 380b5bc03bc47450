"""The atoms that a corrective method keeps, and the model of the problem over what they span."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, FloatArray
from unipd.dual import DualPoint
from unipd.primal.active_set import ActiveSet, Vertex, vertex_key
from unipd.problem import Problem
from unipd.protocols import inner


@dataclass(frozen=True)
class Bundle:
    """Atoms with their images and costs, and the weights of the current point.

    The hull model is x = sum_i w_i x_i with w in the simplex and f bounded by sum_i w_i f(x_i), exact for linear f.
    When f is the square of a gauge (conjugate of degree 2), atoms are scaled to f = 1 and the model is conic:
    w >= 0 and f bounded by (sum_i w_i)^2.
    """

    vertices: tuple[Vertex, ...]
    columns: Array
    """A x_i as columns."""
    gram: FloatArray
    """Re <A x_i, A x_j>."""
    weights: FloatArray
    conic: bool

    @staticmethod
    def of(point: DualPoint, *, conic: bool) -> Bundle:
        """Return the bundle of one atom."""
        empty = np.zeros((point.image.size, 0), point.image.dtype)
        bundle = Bundle((), empty, np.zeros((0, 0)), np.zeros(0), conic).joined(point)
        return bundle.at(np.ones(1))

    @property
    def costs(self) -> FloatArray:
        """f(x_i)."""
        return np.array([vertex.objective for vertex in self.vertices])

    def at(self, weights: FloatArray) -> Bundle:
        """Return the bundle with other weights."""
        return Bundle(self.vertices, self.columns, self.gram, weights, self.conic)

    def joined(self, point: DualPoint) -> Bundle:
        """Return the bundle with one more atom of weight zero; an atom already there is not repeated."""
        vertex = self._entering(point)
        if any(vertex.key == other.key for other in self.vertices):
            return self
        column = vertex.image.reshape(-1)
        cross = (column.conj() @ self.columns).real
        size = len(self.vertices)
        gram = np.empty((size + 1, size + 1))
        gram[:size, :size] = self.gram
        gram[size, :size] = gram[:size, size] = cross
        gram[size, size] = np.vdot(column, column).real
        columns = np.concatenate([self.columns, column[:, None]], axis=1)
        return Bundle((*self.vertices, vertex), columns, gram, np.append(self.weights, 0.0), self.conic)

    def _entering(self, point: DualPoint) -> Vertex:
        """Return a point as the vertex that the model takes."""
        return _normalised(point) if self.conic else _vertex(point)

    def limited(self, limit: int) -> Bundle:
        """Return the bundle with at most ``limit`` atoms: idle ones leave first, then the lightest are merged."""
        excess = len(self.vertices) - limit
        if excess <= 0:
            return self
        order = np.argsort(self.weights, kind="stable")
        idle = order[self.weights[order] <= 0.0][:excess]
        kept = self.kept(np.setdiff1d(np.arange(len(self.vertices)), idle))
        return kept if len(kept.vertices) <= limit else kept._merged(len(kept.vertices) - limit + 1)

    def kept(self, places: Any) -> Bundle:
        """Return the bundle of the atoms at these places."""
        return Bundle(
            tuple(self.vertices[place] for place in places),
            self.columns[:, places],
            self.gram[np.ix_(places, places)],
            self.weights[places],
            self.conic,
        )

    def _merged(self, count: int) -> Bundle:
        """Replace the ``count`` lightest atoms by their weighted mean (aggregation)."""
        order = np.argsort(self.weights, kind="stable")
        light, rest = order[:count], np.sort(order[count:])
        total = float(self.weights[light].sum())
        shares = self.weights[light] / total
        atom = atoms.combination([float(s) for s in shares], [self.vertices[i].atom for i in light])
        image = sum(s * self.vertices[i].image for s, i in zip(shares, light, strict=True))
        cost = float(sum(s * self.vertices[i].objective for s, i in zip(shares, light, strict=True)))
        vertex = Vertex(atom, np.asarray(image), cost, vertex_key(atom))
        point = DualPoint(vertex.image, 0.0, vertex.image, atom, vertex.image, cost, 0.0, 0, "rigorous")
        joined = self.kept(rest).joined(point)
        key = self._entering(point).key
        place = next(i for i, other in enumerate(joined.vertices) if other.key == key)
        weights = joined.weights.copy()
        weights[place] += total
        return joined.at(weights)

    def image_at(self, weights: FloatArray, shape: tuple[int, ...]) -> Array:
        """Return A x of the point with these weights."""
        return (self.columns @ weights).astype(self.columns.dtype, copy=False).reshape(shape)

    def image(self, problem: Problem) -> Array:
        """Return A x of the current point."""
        return self.image_at(self.weights, problem.dual_shape)

    def objective(self) -> float:
        """Return the model's bound of f at the current point."""
        if self.conic:
            return float(self.weights.sum()) ** 2
        return float(self.costs @ self.weights)

    def tracker(self) -> ActiveSet:
        """Return the current point as a primal tracker."""
        used = np.flatnonzero(self.weights > 0) if self.weights.any() else np.zeros(1, np.intp)
        return ActiveSet(tuple(self.vertices[i] for i in used), self.weights[used])

    def lower_model(self, problem: Problem, dual: Array) -> float:
        """Return the cutting-plane model of g at lam: the best that the atoms kept promise."""
        slopes = -(dual.reshape(-1).conj() @ self.columns).real
        linear = inner(dual, problem.b)
        if self.conic:
            return 0.25 * max(0.0, float(slopes.max(initial=0.0))) ** 2 + linear
        return float((slopes - self.costs).max()) + linear


def _vertex(point: DualPoint) -> Vertex:
    return Vertex(point.atom, point.image, point.objective, vertex_key(point.atom))


def _normalised(point: DualPoint) -> Vertex:
    """Scale an atom of a squared gauge to f = 1 (the zero atom stays)."""
    factor = 1.0 / math.sqrt(point.objective) if point.objective > 0 else 0.0
    atom = atoms.scaled(point.atom, factor)
    return Vertex(atom, factor * point.image, 1.0, vertex_key(atom))
