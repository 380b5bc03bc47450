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
    values: Array
    starts: IntArray
    """Where each vertex begins."""

    @staticmethod
    def of(points: Sequence[Any]) -> Nonzeros | None:
        """Collect the nonzeros; None where a point is not sparse or has none."""
        if not all(type(point) is atoms.SparsePoint and point.indices.size for point in points):
            return None
        sizes = np.array([point.indices.size for point in points], dtype=np.intp)
        indices = np.concatenate([point.indices for point in points])
        return Nonzeros(indices, np.concatenate([point.values for point in points]), np.cumsum(sizes) - sizes)

    def grown(self, point: Any) -> Nonzeros | None:
        """Return the nonzeros with those of one more point."""
        if type(point) is not atoms.SparsePoint or not point.indices.size:
            return None
        return made(
            Nonzeros,
            indices=np.concatenate((self.indices, point.indices)),
            values=np.concatenate((self.values, point.values)),
            starts=np.concatenate((self.starts, (self.indices.size,))),
        )

    def products(self, direction: Array) -> FloatArray:
        """Return Re <direction, v> of every vertex."""
        there = direction.reshape(-1)[self.indices]
        terms = self.values * there if there.dtype.kind == "f" else (self.values * there.conj()).real
        return terms if terms.size == self.starts.size else np.add.reduceat(terms, self.starts)


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
    objectives: FloatArray
    """f(v)."""
    nonzeros: Nonzeros | None
    """None where a vertex is not sparse."""

    @staticmethod
    def of(vertices: Sequence[Any]) -> VertexIndex:
        """Collect what is known of the vertices."""
        return VertexIndex(
            {vertex.key: place for place, vertex in enumerate(vertices)},
            np.array([vertex.objective for vertex in vertices], dtype=np.float64),
            Nonzeros.of([vertex.atom for vertex in vertices]) if vertices else None,
        )

    def grown(self, vertex: Any) -> VertexIndex:
        """Return the index with one more vertex."""
        return made(
            VertexIndex,
            places={**self.places, vertex.key: len(self.places)},
            objectives=np.concatenate((self.objectives, (vertex.objective,))),
            nonzeros=None if self.nonzeros is None else self.nonzeros.grown(vertex.atom),
        )

    def scores(self, direction: Any) -> FloatArray | None:
        """Return f(v) - <direction, v> of every vertex; None where that takes more than their nonzeros."""
        if self.nonzeros is None or not isinstance(direction, np.ndarray):
            return None
        return self.objectives - self.nonzeros.products(direction)
