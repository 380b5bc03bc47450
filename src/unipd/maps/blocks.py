"""Maps of several primal blocks: A x = sum_i A_i x_i (paper, case (c))."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.errors import InvalidInput
from unipd.maps.base import Map, require_maps
from unipd.protocols import LinearMap


class BlockMap(Map):
    """A x = sum_i A_i x_i for x = (x_1, ..., x_m); the adjoint is the tuple of the blocks' adjoints.

    >>> from unipd.maps import DenseMatrix
    >>> both = BlockMap([DenseMatrix(np.eye(2)), DenseMatrix(np.ones((2, 1)))])
    >>> both.image((np.array([1.0, 2.0]), np.array([3.0])))
    array([4., 5.])
    """

    def __init__(self, maps: Sequence[LinearMap]) -> None:
        self.maps: tuple[LinearMap, ...] = require_maps("A", maps)
        codomain = self.maps[0].codomain
        for index, part in enumerate(self.maps):
            if part.codomain != codomain:
                raise InvalidInput(f"A[{index}]", f"images of shape {codomain}", f"{part.codomain}")
        dtype = np.result_type(*(part.dtype for part in self.maps))
        super().__init__(tuple(part.domain for part in self.maps), codomain, dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of all blocks."""
        return sum(getattr(part, "nbytes", 0) for part in self.maps)

    def image(self, atom: Any) -> Array:
        """Return sum_i A_i x_i."""
        parts = atom.parts if hasattr(atom, "parts") else atom
        if len(parts) != len(self.maps):
            raise InvalidInput("x", f"{len(self.maps)} blocks", f"{len(parts)}")
        total = np.zeros(self.codomain, self.dtype)
        for part_map, part in zip(self.maps, parts, strict=True):
            total += part_map.image(part)
        return total

    def adjoint(self, dual: Array) -> tuple[Any, ...]:
        """Return (A_1^* lam, ..., A_m^* lam); a block with real images meets the real part of lam."""
        real = np.real(dual)
        return tuple(part.adjoint(dual if part.dtype.kind == "c" else real) for part in self.maps)
