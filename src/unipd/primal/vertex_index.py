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
class Nonzeros:
    """The nonzeros of sparse vertices, one vertex after the other."""

    indices: IntArray
    opposites: Array
    """-v at the indices."""
    starts: IntArray | None
    """Where each vertex begins; None where each has one nonzero."""

    @staticmethod
    def of(points: Sequence[Any]) -> Nonzeros | None:
        """Collect the nonzeros; None where a point is not sparse or has none."""
        if not all(type(point) is atoms.SparsePoint and point.indices.size for point in points):
            return None
        sizes = np.array([point.indices.size for point in points], dtype=np.intp)
        indices = np.concatenate([point.indices for point in points])
        opposites = -np.concatenate([point.values for point in points])
        return Nonzeros(indices, opposites, None if indices.size == sizes.size else np.cumsum(sizes) - sizes)

    def grown(self, point: Any) -> Nonzeros | None:
        """Return the nonzeros with those of one more point."""
        if type(point) is not atoms.SparsePoint or not point.indices.size:
            return None
        starts, count = self.starts, self.indices.size
        if starts is not None or point.indices.size > 1:
            starts = np.append(np.arange(count) if starts is None else starts, count)
        indices = np.concatenate((self.indices, point.indices))
        return made(Nonzeros, indices=indices, opposites=np.concatenate((self.opposites, -point.values)), starts=starts)


@dataclass(frozen=True)
class VertexIndex:
    """Where a vertex is found, what the vertices cost, and their nonzeros.

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
    nonzeros: Nonzeros | None
    """None where a vertex is not sparse."""

    @staticmethod
    def of(vertices: Sequence[Any]) -> VertexIndex:
        """Collect what is known of the vertices."""
        objectives = np.array([vertex.objective for vertex in vertices], dtype=np.float64)
        return VertexIndex(
            {vertex.key: place for place, vertex in enumerate(vertices)},
            objectives if objectives.any() else None,
            Nonzeros.of([vertex.atom for vertex in vertices]) if vertices else None,
        )

    def grown(self, vertex: Any) -> VertexIndex:
        """Return the index with one more vertex."""
        objectives, count = self.objectives, len(self.places)
        if objectives is not None or vertex.objective != 0.0:
            objectives = np.append(np.zeros(count) if objectives is None else objectives, vertex.objective)
        return made(
            VertexIndex,
            places={**self.places, vertex.key: count},
            objectives=objectives,
            nonzeros=None if self.nonzeros is None else self.nonzeros.grown(vertex.atom),
        )

    def scores(self, direction: Any) -> FloatArray | None:
        """Return f(v) - Re <direction, v> of every vertex; None where that takes more than their nonzeros."""
        nonzeros = self.nonzeros
        if nonzeros is None or type(direction) is not np.ndarray:
            return None
        there = direction.take(nonzeros.indices)
        scores = nonzeros.opposites * there if there.dtype.kind == "f" else (nonzeros.opposites * there.conj()).real
        if nonzeros.starts is not None:
            scores = np.add.reduceat(scores, nonzeros.starts)
        return scores if self.objectives is None else scores + self.objectives
