"""The vertices of active sets, with what is looked up of all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, FloatArray, IntArray
from unipd.protocols import inner


class VertexIndex:
    """Vertices in the order in which they came, where each is found, what they cost, and the nonzeros of sparse ones.

    Active sets that grow from one another share one index, which takes new vertices at its end: a set has the first of
    them, as many as it has weights, and no step copies the others. Later vertices live as long as an earlier set does,
    and threads must not grow sets that share an index.

    >>> from unipd.primal.active_set import Vertex
    >>> corners = [Vertex(atoms.one_hot((2,), i, 1.0), np.eye(2)[i], 0.5 * i, b'ab'[i:i+1]) for i in range(2)]
    >>> index = VertexIndex(corners[:1]).grown(1, corners[1])
    >>> index.places, index.scores(2, np.array([-2.0, -3.0]), np.array([2.0, 3.0]))
    ({b'a': 0, b'b': 1}, array([-2. , -2.5]))
    """

    def __init__(self, vertices: Sequence[Any]) -> None:
        self.vertices = list(vertices)
        self.places: dict[bytes, int] = {vertex.key: place for place, vertex in enumerate(vertices)}
        """By key."""
        costs = np.array([vertex.objective for vertex in vertices], dtype=np.float64)
        self.objectives: FloatArray | None = costs if costs.any() else None
        """f(v); None where all are zero."""
        points = [vertex.atom for vertex in vertices]
        sparse = bool(points) and all(_has_nonzeros(point) for point in points)
        self._indices: IntArray | None = np.concatenate([point.indices for point in points]) if sparse else None
        """Indices of the nonzeros, one vertex after the other; None where a vertex is not sparse, or has none."""
        self._opposites: Array = 0.0 - np.concatenate([point.values for point in points]) if sparse else np.zeros(0)
        """-v at the indices."""
        sizes = np.array([point.indices.size for point in points] if sparse else [], dtype=np.intp)
        self._starts: IntArray | None = _starts(sizes)
        """Where the nonzeros of each vertex begin; None where each has one."""

    def grown(self, count: int, vertex: Any) -> VertexIndex:
        """Return the index of the first ``count`` vertices and a new one.

        It is this one, unless that has others there or the new vertex is the first that is not sparse: what sets of
        before read from it stays as it was.
        """
        alike = self._indices is None or _has_nonzeros(vertex.atom)
        if len(self.vertices) > count or not alike:
            return VertexIndex([*self.vertices[:count], vertex])
        self._add(vertex)
        return self

    def _add(self, vertex: Any) -> None:
        point, count = vertex.atom, len(self.vertices)
        objectives, indices, opposites, starts = self.objectives, self._indices, self._opposites, self._starts
        if objectives is not None or vertex.objective != 0.0:
            objectives = np.append(np.zeros(count) if objectives is None else objectives, vertex.objective)
        if indices is not None:
            if starts is not None or point.indices.size > 1:
                starts = np.append(np.arange(count) if starts is None else starts, indices.size)
            indices = np.concatenate((indices, point.indices))
            opposites = np.concatenate((opposites, 0.0 - point.values))
        self.objectives, self._indices, self._opposites, self._starts = objectives, indices, opposites, starts
        self.places[vertex.key] = count
        self.vertices.append(vertex)

    def restricted(self, kept: IntArray) -> VertexIndex:
        """Return the index of the vertices at these places, which are in order."""
        indices, starts, objectives = self._indices, self._starts, self.objectives
        vertices = [self.vertices[place] for place in kept.tolist()]
        if indices is None:
            return VertexIndex(vertices)
        if starts is not None:
            sizes = np.diff(starts, append=indices.size)
            taken, starts = np.flatnonzero(np.repeat(np.isin(np.arange(sizes.size), kept), sizes)), _starts(sizes[kept])
        else:
            taken = kept
        new = VertexIndex.__new__(VertexIndex)
        new.vertices, new.places = vertices, {vertex.key: place for place, vertex in enumerate(vertices)}
        new.objectives = objectives[kept] if objectives is not None and objectives[kept].any() else None
        new._indices, new._opposites, new._starts = indices[taken], self._opposites[taken], starts
        return new

    def scores(self, count: int, dual: Array, direction: Any) -> FloatArray:
        """Return <lam, A v> + f(v) of the first vertices; ``direction`` is -A^* lam, which sparse vertices read."""
        if self._indices is None or type(direction) is not np.ndarray:
            return np.array([inner(dual, vertex.image) + vertex.objective for vertex in self.vertices[:count]])
        there = direction.take(self._indices)
        scores = self._opposites * there
        if scores.dtype.kind == "c":
            scores = np.real(self._opposites * there.conj())
        if self._starts is not None:
            scores = np.add.reduceat(scores, self._starts)
        if self.objectives is not None:
            scores = scores + self.objectives
        return scores if scores.size == count else scores[:count]


def _starts(sizes: IntArray) -> IntArray | None:
    return np.cumsum(sizes) - sizes if (sizes != 1).any() else None


def _has_nonzeros(point: Any) -> bool:
    return type(point) is atoms.SparsePoint and point.indices.size > 0
