"""Numbers of all vertices of an active set side by side, so that no step goes through them one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, FloatArray, IntArray
from unipd.records import made


@dataclass(frozen=True)
class VertexIndex:
    """Where a vertex is found, what the vertices cost, and the nonzeros of sparse ones, one vertex after the other.

    >>> from unipd.primal.active_set import Vertex
    >>> corners = [Vertex(atoms.one_hot((2,), i, 1.0), np.eye(2)[i], 0.5 * i, b'ab'[i:i+1]) for i in range(2)]
    >>> index = VertexIndex.of(corners[:1]).grown(corners[1])
    >>> index.places, index.scores(np.array([2.0, 3.0]))
    ({b'a': 0, b'b': 1}, array([-2. , -2.5]))
    """

    places: dict[bytes, int]
    """By key."""
    objectives: FloatArray | None
    """f(v); None where all are zero."""
    indices: IntArray | None
    """Indices of the nonzeros; None where a vertex is not sparse, or has none."""
    opposites: Array
    """-v at the indices."""
    starts: IntArray | None
    """Where the nonzeros of each vertex begin; None where each has one."""

    @staticmethod
    def of(vertices: Sequence[Any]) -> VertexIndex:
        """Collect what is known of the vertices."""
        places = {vertex.key: place for place, vertex in enumerate(vertices)}
        costs = np.array([vertex.objective for vertex in vertices], dtype=np.float64)
        objectives, points = costs if costs.any() else None, [vertex.atom for vertex in vertices]
        if not points or not all(_has_nonzeros(point) for point in points):
            return VertexIndex(places, objectives, None, np.zeros(0), None)
        sizes = np.array([point.indices.size for point in points], dtype=np.intp)
        indices = np.concatenate([point.indices for point in points])
        opposites = 0.0 - np.concatenate([point.values for point in points])
        starts = None if indices.size == sizes.size else np.cumsum(sizes) - sizes
        return VertexIndex(places, objectives, indices, opposites, starts)

    def grown(self, vertex: Any) -> VertexIndex:
        """Return the index with one more vertex."""
        count, objectives, starts = len(self.places), self.objectives, self.starts
        if objectives is not None or vertex.objective != 0.0:
            objectives = np.append(np.zeros(count) if objectives is None else objectives, vertex.objective)
        point, indices, opposites = vertex.atom, self.indices, self.opposites
        if indices is not None and _has_nonzeros(point):
            if starts is not None or point.indices.size > 1:
                starts = np.append(np.arange(count) if starts is None else starts, indices.size)
            indices, opposites = (
                np.concatenate((indices, point.indices)),
                np.concatenate((opposites, 0.0 - point.values)),
            )
        else:
            indices = None
        return made(
            VertexIndex,
            places={**self.places, vertex.key: count},
            objectives=objectives,
            indices=indices,
            opposites=opposites,
            starts=starts,
        )

    def scores(self, direction: Any) -> FloatArray | None:
        """Return f(v) - Re <direction, v> of every vertex; None where that takes more than their nonzeros."""
        if self.indices is None or type(direction) is not np.ndarray:
            return None
        there = direction.take(self.indices)
        scores = self.opposites * (there if there.dtype.kind == "f" else there.conj())
        if scores.dtype.kind == "c":
            scores = np.real(scores)
        if self.starts is not None:
            scores = np.add.reduceat(scores, self.starts)
        return scores if self.objectives is None else scores + self.objectives


def _has_nonzeros(point: Any) -> bool:
    return type(point) is atoms.SparsePoint and point.indices.size > 0
