"""Several constraints of different kinds: the product of sets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd.couplings.base import ConvexSet, CouplingBase, Rescaling, require_set
from unipd.errors import InvalidInput
from unipd.protocols import Coupling


class Product(ConvexSet):
    """K = K_1 x ... x K_m on consecutive slices of r; projections, supports and domains go part by part.

    Parameters
    ----------
    parts
        The sets, for instance an equality on the first rows and an inequality on the rest.
    sizes
        Number of entries of r that each set takes, in order; a cone of matrices takes its matrix flat.

    Examples
    --------
    >>> from unipd.couplings import AtMost, Equality
    >>> Product([Equality(), AtMost()], [1, 2]).project(np.array([3.0, 2.0, -1.0]))
    array([ 0.,  0., -1.])
    """

    def __init__(self, parts: Sequence[Coupling], sizes: Sequence[int]) -> None:
        if not isinstance(parts, (list, tuple)):
            raise InvalidInput("parts", "a list of sets", validate.describe_type(parts))
        if not parts:
            raise InvalidInput("parts", "at least one set", "an empty list")
        if not np.iterable(sizes):
            raise InvalidInput("sizes", "a list of numbers, one per set", repr(sizes))
        if len(sizes) != len(parts):
            raise InvalidInput("sizes", f"{len(parts)} numbers, one per set", f"{len(sizes)}")
        self.parts = tuple(require_set("parts", part) for part in parts)
        self.sizes = tuple(validate.integer("sizes", size, minimum=1) for size in sizes)
        ends = np.cumsum(self.sizes).tolist()
        self._slices = tuple(slice(end - size, end) for end, size in zip(ends, self.sizes, strict=True))

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise unless the sizes add up to the data's and every part takes its slice."""
        if math.prod(shape) != sum(self.sizes):
            raise InvalidInput("sizes", f"numbers that add up to {math.prod(shape)}", f"{sum(self.sizes)}")
        for part, size in zip(self.parts, self.sizes, strict=True):
            part.check((size,), dtype)

    @property
    def dual_signs(self) -> Any:
        """The signs of the parts' multipliers, entry by entry; None where a part has none."""
        signs = [part.dual_signs for part in self.parts]
        known = all(sign is not None for sign in signs)
        return np.concatenate([np.full(n, s) for n, s in zip(self.sizes, signs, strict=True)]) if known else None

    def project(self, vector: Array) -> Array:
        """Project every slice on its set."""
        return self._concatenate(vector, [part.prox(piece, 1.0) for part, piece in self._pieces(vector)])

    def conjugate(self, dual: Array) -> float:
        """Return the sum of the support functions of the parts."""
        return sum(part.conjugate(piece) for part, piece in self._pieces(dual))

    def distance(self, residual: Array) -> float:
        """Return the root of the sum of the parts' squared distances."""
        return math.hypot(*(part.distance(piece) for part, piece in self._pieces(residual)))

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Apply the prox of every part's support function, so no slice leaves its domain."""
        return self._concatenate(vector, [part.prox_conjugate(piece, step) for part, piece in self._pieces(vector)])

    def prox_jacobian(self, vector: Array, step: float, directions: Array) -> Array:
        """Apply the derivative of every part to its rows."""
        rows = [directions[where] for where in self._slices]
        pieces = zip(self._pieces(vector), rows, strict=True)
        return np.concatenate([part.prox_jacobian(piece, step, own) for (part, piece), own in pieces])

    def rescale(self, norms: FloatArray) -> Rescaling | None:
        """Rescale every part that allows it; the rows of the others keep their units."""
        parts = [part.rescale(piece) or Rescaling(np.ones(piece.shape), part) for part, piece in self._pieces(norms)]
        factors = np.concatenate([part.factors for part in parts])
        return Rescaling(factors, Product([part.coupling for part in parts], self.sizes))

    def _pieces(self, vector: Array) -> list[tuple[CouplingBase, Array]]:
        flat = vector.reshape(-1)
        return [(part, flat[where]) for part, where in zip(self.parts, self._slices, strict=True)]

    def _concatenate(self, like: Array, pieces: list[Array]) -> Array:
        return np.concatenate(pieces).reshape(like.shape)
