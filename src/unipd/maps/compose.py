"""Maps made of maps: one after the other, or one above the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.errors import InvalidInput
from unipd.maps.base import Map, require_map, require_maps
from unipd.maps.matrix_operator import OperatorSum
from unipd.protocols import LinearMap


class Composed(Map):
    """A = outer . inner, where the images of ``inner`` are arrays: A x = outer(inner(x)), A^* = inner^* outer^*.

    >>> from unipd.maps import DenseMatrix
    >>> Composed(DenseMatrix(np.array([[1.0, 1.0]])), DenseMatrix(2 * np.eye(2))).image(np.array([1.0, 2.0]))
    array([6.])
    """

    def __init__(self, outer: LinearMap, inner: LinearMap) -> None:
        require_map("outer", outer)
        require_map("inner", inner)
        if tuple(outer.domain) != tuple(inner.codomain):
            raise InvalidInput("outer", f"a map of points of shape {inner.codomain}", f"of shape {outer.domain}")
        self.outer = outer
        self.inner = inner
        probe = outer.image(np.zeros(inner.codomain, inner.dtype))
        super().__init__(inner.domain, outer.codomain, np.asarray(probe).dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of both maps."""
        return sum(int(getattr(part, "nbytes", 0)) for part in (self.outer, self.inner))

    def image(self, atom: Any) -> Array:
        """Return outer(inner(x))."""
        return self.outer.image(self.inner.image(atom))

    def adjoint(self, dual: Array) -> Any:
        """Return inner^* outer^* lam."""
        between = self.outer.adjoint(dual)
        array = between if isinstance(between, np.ndarray) else np.asarray(between.toarray())
        return self.inner.adjoint(_share(self.inner, array))


class Stacked(Map):
    """A x = (A_1 x, ..., A_m x), flattened and joined; the adjoint is the sum of the parts' adjoints.

    >>> from unipd.maps import Identity
    >>> both = Stacked([Identity((2,)), Identity((2,))])
    >>> both.adjoint(np.array([1.0, 2.0, 3.0, 4.0]))
    array([4., 6.])
    """

    def __init__(self, maps: Sequence[LinearMap]) -> None:
        self.maps: tuple[LinearMap, ...] = require_maps("maps", maps)
        domain = self.maps[0].domain
        for index, part in enumerate(self.maps):
            if part.domain != domain:
                raise InvalidInput(f"maps[{index}]", f"a map of points of shape {domain}", f"of shape {part.domain}")
        sizes = [math.prod(part.codomain) for part in self.maps]
        self._ends = np.cumsum(sizes)
        super().__init__(domain, (sum(sizes),), np.result_type(*(part.dtype for part in self.maps)))

    @property
    def nbytes(self) -> int:
        """Bytes of all maps."""
        return sum(int(getattr(part, "nbytes", 0)) for part in self.maps)

    def image(self, atom: Any) -> Array:
        """Return the images one after the other."""
        return np.concatenate([part.image(atom).reshape(-1) for part in self.maps]).astype(self.dtype, copy=False)

    def adjoint(self, dual: Array) -> Any:
        """Return sum_i A_i^* lam_i: an array when all are, else an operator (a tuple for several blocks)."""
        vector = np.asarray(dual)
        if vector.shape != self.codomain:
            raise InvalidInput("dual", f"shape {self.codomain}", f"shape {vector.shape}")
        pieces = np.split(vector, self._ends[:-1])
        pairs = zip(self.maps, pieces, strict=True)
        return _added([part.adjoint(_share(part, piece).reshape(part.codomain)) for part, piece in pairs])


def _share(part: LinearMap, dual: Array) -> Array:
    """Return the dual vector as a part sees it: a real image meets only the real part."""
    return np.real(dual) if part.dtype.kind != "c" else dual


def _added(adjoints: Sequence[Any]) -> Any:
    if isinstance(adjoints[0], tuple):
        return tuple(_added(column) for column in zip(*adjoints, strict=True))
    if len(adjoints) == 1:
        return adjoints[0]
    if all(isinstance(part, np.ndarray) for part in adjoints):
        return sum(adjoints[1:], adjoints[0])
    return OperatorSum(adjoints)
