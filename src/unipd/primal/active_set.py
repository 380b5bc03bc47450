"""Keep xbar as a convex combination of distinct vertices, with their images: what away steps need."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, FloatArray, IntArray
from unipd.protocols import inner


@dataclass(frozen=True)
class Vertex:
    """An atom with its image and its cost."""

    atom: Any
    image: Array
    objective: float
    key: bytes


class ActiveSet:
    """Tracker of xbar = sum_i w_i v_i over distinct vertices; weights may shrink to zero and vanish."""

    _nonzeros: tuple[IntArray, Array, IntArray, FloatArray] | None = None

    def __init__(self, vertices: tuple[Vertex, ...] = (), weights: FloatArray | None = None) -> None:
        self.vertices = vertices
        self.weights = np.zeros(0) if weights is None else weights

    def scores(self, dual: Array, direction: Any) -> FloatArray:
        """Return <lam, A v> + f(v) of every vertex; ``direction`` is -A^* lam, which sparse vertices read."""
        if self._nonzeros is None and all(type(vertex.atom) is atoms.SparsePoint for vertex in self.vertices):
            self._nonzeros = _nonzeros(self.vertices)
        if self._nonzeros is None or not isinstance(direction, np.ndarray):
            return np.array([inner(dual, vertex.image) + vertex.objective for vertex in self.vertices])
        places, values, starts, objectives = self._nonzeros
        products = (values * direction.reshape(-1)[places].conj()).real
        return objectives - np.add.reduceat(products, starts)

    def _reweighted(self, weights: FloatArray) -> ActiveSet:
        """Return the same vertices with other weights."""
        new = ActiveSet(self.vertices, weights)
        new._nonzeros = self._nonzeros
        return new

    @property
    def exact_objective(self) -> bool:
        """Whether f(xbar) is to be computed from xbar: not from low-rank atoms, whose sum is dear to decompose."""
        return not any(is_low_rank(vertex.atom) for vertex in self.vertices)

    def find(self, key: bytes) -> int | None:
        """Return the place of the vertex with this key, or None."""
        for index, vertex in enumerate(self.vertices):
            if vertex.key == key:
                return index
        return None

    def moved(self, gamma: float, toward: Vertex, away: int | None) -> ActiveSet:
        """Move weight gamma to a vertex: from all others in proportion, or from the one at ``away``."""
        weights = self.weights.copy()
        if away is None:
            weights *= 1.0 - gamma
        else:
            weights[away] -= gamma
        place = self.find(toward.key)
        if place is None:
            return ActiveSet((*self.vertices, toward), np.append(weights, gamma)).pruned()
        weights[place] += gamma
        return self._reweighted(weights).pruned()

    def stepped_away(self, gamma: float, place: int) -> ActiveSet:
        """Move from the vertex at ``place``: weights grow by (1 + gamma), its own loses gamma."""
        weights = (1.0 + gamma) * self.weights
        weights[place] -= gamma
        return self._reweighted(weights).pruned()

    def pruned(self) -> ActiveSet:
        """Drop vertices without weight and restore the sum to one."""
        kept = self.weights > 1e-14
        if kept.all():
            return self._reweighted(self.weights / self.weights.sum())
        weights = self.weights[kept]
        vertices = tuple(vertex for vertex, keep in zip(self.vertices, kept, strict=True) if keep)
        return ActiveSet(vertices, weights / weights.sum())

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
        return sum(float(w) * v.objective for w, v in zip(self.weights, self.vertices, strict=True))

    def point(self) -> Any:
        """Return xbar."""
        return atoms.combination([float(w) for w in self.weights], [v.atom for v in self.vertices])

    @property
    def nbytes(self) -> int:
        """Bytes of the vertices and their images."""
        return sum(vertex.atom.nbytes + vertex.image.nbytes for vertex in self.vertices) + self.weights.nbytes


def _nonzeros(vertices: tuple[Vertex, ...]) -> tuple[IntArray, Array, IntArray, FloatArray] | None:
    """Return places and values of the vertices' nonzeros, where each vertex begins, and f(v); None where one is 0."""
    sizes = np.array([vertex.atom.indices.size for vertex in vertices])
    if not sizes.all():
        return None
    places = np.concatenate([vertex.atom.indices for vertex in vertices])
    values = np.concatenate([vertex.atom.values for vertex in vertices])
    objectives = np.array([vertex.objective for vertex in vertices])
    return places, values, np.cumsum(sizes) - sizes, objectives


def is_low_rank(atom: Any) -> bool:
    """Whether an atom, or a block of it, is kept by its factors."""
    if isinstance(atom, atoms.Blocks):
        return any(is_low_rank(part) for part in atom.parts)
    return isinstance(atom, atoms.LowRank)


def vertex_key(atom: Any) -> bytes:
    """Return a digest that is equal for equal vertices; nothing is made dense."""
    if isinstance(atom, atoms.Blocks):
        return b"".join(vertex_key(part) for part in atom.parts)
    if isinstance(atom, atoms.SparsePoint):
        arrays = (atom.indices, atom.values)
    elif isinstance(atom, atoms.LowRank):
        arrays = (atom.left, atom.right, atom.weights)
    else:
        arrays = (atom,)
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()
