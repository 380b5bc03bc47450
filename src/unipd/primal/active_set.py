"""Keep xbar as a convex combination of distinct vertices, with their images: what away steps need."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, FloatArray
from unipd.primal.vertex_index import VertexIndex
from unipd.protocols import inner

_SMALLEST = 1e-14
"""Weights up to which a vertex is dropped."""
_DIGEST = 16
"""Bytes of a key at most."""


@dataclass(frozen=True)
class Vertex:
    """An atom with its image and its cost."""

    atom: Any
    image: Array
    objective: float
    key: bytes


class ActiveSet:
    """Tracker of xbar = sum_i w_i v_i over distinct vertices; weights may shrink to zero and vanish.

    The vertices are given themselves, or by an index whose first ones they are.
    """

    def __init__(
        self, vertices: tuple[Vertex, ...] = (), weights: FloatArray | None = None, index: VertexIndex | None = None
    ) -> None:
        self.weights = np.zeros(0) if weights is None else weights
        if index is None:
            self.vertices = vertices
        else:
            self.index = index

    @cached_property
    def vertices(self) -> tuple[Vertex, ...]:
        """The vertices, in the order of the weights."""
        return tuple(self.index.vertices[: self.weights.size])

    @cached_property
    def index(self) -> VertexIndex:
        """The vertices with what is looked up of all of them at once; those after the last weight are not in the set.

        Made when first asked for, and shared with the sets that grow from this one.
        """
        return VertexIndex(self.vertices)

    @property
    def exact_objective(self) -> bool:
        """Whether f(xbar) is to be computed from xbar: not from low-rank atoms, whose sum is dear to decompose."""
        return not any(is_low_rank(vertex.atom) for vertex in self.vertices)

    def moved(self, gamma: float, toward: Vertex | None, away: int | None) -> ActiveSet:
        """Move weight gamma to a vertex (None: to all in proportion) from the one at ``away`` (None: from all)."""
        kept = 1.0 - gamma if away is None else 1.0 + gamma if toward is None else 1.0
        weights, index = kept * self.weights, self.index
        emptied = gamma >= 1.0
        if away is not None:
            weights[away] = left = float(weights[away]) - gamma
            emptied = left <= _SMALLEST
        if toward is not None:
            place = index.places.get(toward.key, weights.size)
            if place < weights.size:
                weights[place] += gamma
            else:
                index = index.grown(weights.size, toward)
                weights = np.concatenate((weights, (gamma,)))
        moved = ActiveSet((), weights, index)
        return moved.reweighted(weights) if emptied else moved

    def reweighted(self, weights: FloatArray) -> ActiveSet:
        """Return the vertices with other weights: those without any are dropped, and the sum is restored to one."""
        if weights.min() > _SMALLEST:
            return ActiveSet((), weights / weights.sum(), self.index)
        kept = np.flatnonzero(weights > _SMALLEST)
        weights = weights[kept]
        return ActiveSet((), weights / weights.sum(), self.index.restricted(kept))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy what the set has, not what its index got later."""
        return ActiveSet, (self.vertices, self.weights)

    def mixed(self, gamma: float, atom: Any) -> ActiveSet:
        """Refuse: vertices enter with their images, through :meth:`moved`."""
        raise NotImplementedError("an active set moves by vertices, not by bare atoms")

    def image(self) -> Array:
        """Return A xbar."""
        total = np.zeros_like(self.vertices[0].image)
        for weight, vertex in zip(self.weights, self.vertices, strict=True):
            total += weight * vertex.image
        return total

    def objective(self) -> float:
        """Return sum_i w_i f(v_i)."""
        objectives = self.index.objectives
        return 0.0 if objectives is None else inner(self.weights, objectives[: self.weights.size])

    def point(self) -> Any:
        """Return xbar."""
        return atoms.combination([float(w) for w in self.weights], [v.atom for v in self.vertices])

    @property
    def nbytes(self) -> int:
        """Bytes of the vertices and their images."""
        return sum(vertex.atom.nbytes + vertex.image.nbytes for vertex in self.vertices) + self.weights.nbytes


def is_low_rank(atom: Any) -> bool:
    """Whether an atom, or a block of it, is kept by its factors."""
    if isinstance(atom, atoms.Blocks):
        return any(is_low_rank(part) for part in atom.parts)
    return isinstance(atom, atoms.LowRank)


def vertex_key(atom: Any) -> bytes:
    """Return bytes that are equal for equal vertices, a digest where they are many; nothing is made dense."""
    if isinstance(atom, atoms.SparsePoint):
        content = atom.indices.tobytes() + atom.values.tobytes()
    elif isinstance(atom, atoms.Blocks):
        return b"".join(vertex_key(part) for part in atom.parts)
    elif isinstance(atom, atoms.LowRank):
        content = atom.left.tobytes() + atom.right.tobytes() + atom.weights.tobytes()
    else:
        content = atom.tobytes()
    return content if len(content) <= _DIGEST else hashlib.blake2b(content, digest_size=_DIGEST).digest()
