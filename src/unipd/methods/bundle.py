"""The atoms that a corrective method keeps, and the model of the problem over what they span."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, FloatArray
from unipd.dual import DualPoint
from unipd.methods.curved import curvature_of
from unipd.primal.active_set import ActiveSet, Vertex, vertex_key
from unipd.problem import Problem
from unipd.protocols import inner

_ROUNDING = 1e-12
"""Share of the terms of a sum that rounding may have added to it."""


@dataclass(frozen=True)
class Bundle:
    """Atoms with their images and costs, and the weights of the current point.

    The hull model is x = sum_i w_i x_i with w in the simplex and f bounded by sum_i w_i f(x_i), exact for linear f.
    When f is the square of a gauge (conjugate of degree 2), atoms are scaled to f = 1 and the model is conic:
    w >= 0 and f bounded by (sum_i w_i)^2. When f is linear but for a term <x, D x>/2 with a diagonal D, f(x) is a
    quadratic function of w, and both models know it exactly.
    """

    vertices: tuple[Vertex, ...]
    columns: Array
    """A x_i - b as columns, so that nothing cancels where weights sum to one; A x_i in a conic model."""
    gram: FloatArray
    """Real inner products of the columns."""
    weights: FloatArray
    conic: bool
    target: Array
    """b, flat."""
    diagonal: FloatArray | None = None
    """D, where f is quadratic."""
    bending: FloatArray | None = None
    """<x_i, D x_j>, where f is quadratic."""

    @staticmethod
    def of(problem: Problem, point: DualPoint) -> Bundle:
        """Return the bundle of one atom."""
        columns, none = np.zeros((point.image.size, 0), point.image.dtype), np.zeros((0, 0))
        diagonal = curvature_of(problem.sharp)
        bending = None if diagonal is None else none
        conic = problem.sharp.degree == 2.0
        target = problem.b.reshape(-1)
        return Bundle((), columns, none, np.zeros(0), conic, target, diagonal, bending).joined(point).at(np.ones(1))

    @property
    def costs(self) -> FloatArray:
        """f(x_i)."""
        return np.array([vertex.objective for vertex in self.vertices])

    @property
    def sums(self) -> FloatArray | None:
        """The row of ones that the weights of a hull fulfil; None in a conic model."""
        return None if self.conic else np.ones((1, self.weights.size))

    def at(self, weights: FloatArray) -> Bundle:
        """Return the bundle with other weights."""
        return replace(self, weights=weights)

    def joined(self, *points: DualPoint) -> Bundle:
        """Return the bundle with more atoms of weight zero; an atom already there is not repeated."""
        known = {vertex.key for vertex in self.vertices}
        entering: dict[bytes, Vertex] = {}
        for vertex in map(self.entering, points):
            entering.setdefault(vertex.key, vertex)
        fresh = tuple(vertex for key, vertex in entering.items() if key not in known)
        if not fresh:
            return self
        more = np.stack([vertex.image.reshape(-1) for vertex in fresh], axis=1)
        more = more if self.conic else more - self.target[:, None]
        columns = np.concatenate([self.columns, more], axis=1)
        return replace(
            self,
            vertices=self.vertices + fresh,
            columns=columns,
            gram=_bordered(self.gram, (more.conj().T @ columns).real),
            weights=np.append(self.weights, np.zeros(len(fresh))),
            bending=self._bent(fresh),
        )

    def _bent(self, fresh: tuple[Vertex, ...]) -> FloatArray | None:
        """Return <x_i, D x_j> with more atoms."""
        if self.diagonal is None or self.bending is None:
            return None
        turned = [self.diagonal * vertex.atom for vertex in fresh]
        others = self.vertices + fresh
        return _bordered(self.bending, np.array([[np.vdot(x.atom, y).real for x in others] for y in turned]))

    def entering(self, point: DualPoint) -> Vertex:
        """Return a point as the vertex that the model takes."""
        return _normalised(point) if self.conic else _vertex(point)

    def kept(self, places: Any) -> Bundle:
        """Return the bundle of the atoms at these places."""
        return replace(
            self,
            vertices=tuple(self.vertices[place] for place in places),
            columns=self.columns[:, places],
            gram=self.gram[np.ix_(places, places)],
            weights=self.weights[places],
            bending=None if self.bending is None else self.bending[np.ix_(places, places)],
        )

    def residual_at(self, weights: FloatArray, shape: tuple[int, ...]) -> Array:
        """Return A x - b at the point with these weights."""
        product = (self.columns @ weights).astype(self.columns.dtype, copy=False)
        return (product - self.target if self.conic else product).reshape(shape)

    def image(self, problem: Problem) -> Array:
        """Return A x of the current point."""
        return self.residual_at(self.weights, problem.dual_shape) + problem.b

    def objective(self) -> float:
        """Return the model's bound of f at the current point."""
        return self.cost_at(self.weights)

    def cost_at(self, weights: FloatArray) -> float:
        """Return the model's bound c(w) of f at the point with these weights."""
        if self.bending is not None:
            return float((self._straight + 0.5 * (self.bending @ weights)) @ weights)
        return float(weights.sum()) ** 2 if self.conic else float(self.costs @ weights)

    def cost_slopes(self, weights: FloatArray) -> FloatArray:
        """Return the gradient of c."""
        if self.bending is not None:
            return self._straight + self.bending @ weights
        return np.full(weights.size, 2.0 * weights.sum()) if self.conic else self.costs

    def cost_curve(self) -> FloatArray | float:
        """Return the second derivative of c."""
        if self.bending is not None:
            return self.bending
        return 2.0 if self.conic else 0.0

    @property
    def _straight(self) -> FloatArray:
        """The linear part of f at the atoms, where f is quadratic."""
        assert self.bending is not None
        return self.costs - 0.5 * np.diagonal(self.bending)

    def tracker(self) -> ActiveSet:
        """Return the current point as a primal tracker."""
        used = np.flatnonzero(self.weights > 0) if self.weights.any() else np.zeros(1, np.intp)
        return ActiveSet(tuple(self.vertices[i] for i in used), self.weights[used])

    def prices(self, dual: Array) -> FloatArray:
        """Return f(x_i) + <lam, A x_i - b>, with A x_i alone in a conic model."""
        return self.costs + (dual.reshape(-1).conj() @ self.columns).real

    def lower_model(self, problem: Problem, dual: Array) -> float:
        """Return the cutting-plane model of g at lam: the best that the atoms kept, and the point, promise."""
        slopes = -(dual.reshape(-1).conj() @ self.columns).real
        linear = inner(dual, problem.b) if self.conic else 0.0
        steepest = float(slopes.max(initial=0.0))
        best = 0.25 * steepest**2 if self.conic else float((slopes - self.costs).max())
        if self.bending is not None:
            cost, size = self.objective(), float(np.abs(slopes) @ self.weights)
            best = max(best, float(slopes @ self.weights) - cost - _ROUNDING * (size + abs(cost)))
        return best + linear

    def extent(self) -> float:
        """Return the length of all columns and costs together: no less than what cancels in the model."""
        return float(np.linalg.norm(self.columns) + np.linalg.norm(self.costs))


def _bordered(matrix: FloatArray, last: FloatArray) -> FloatArray:
    """Return a symmetric matrix with more rows, and columns like them."""
    size, more = matrix.shape[0], last.shape[0]
    larger = np.empty((size + more, size + more))
    larger[:size, :size] = matrix
    larger[size:, :size], larger[:size, size:] = last[:, :size], last[:, :size].T
    larger[size:, size:] = 0.5 * (last[:, size:] + last[:, size:].T)
    return larger


def _vertex(point: DualPoint) -> Vertex:
    return Vertex(point.atom, point.image, point.objective, vertex_key(point.atom))


def _normalised(point: DualPoint) -> Vertex:
    """Scale an atom of a squared gauge to f = 1 (the zero atom stays)."""
    factor = 1.0 / math.sqrt(point.objective) if point.objective > 0 else 0.0
    atom = atoms.scaled(point.atom, factor)
    return Vertex(atom, factor * point.image, 1.0, vertex_key(atom))
