"""Several constraints or losses of different kinds: the product of sets, of losses, or of both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd.couplings.base import CouplingBase, RowScaling, as_coupling
from unipd.errors import InvalidInput
from unipd.protocols import Coupling


class Product(CouplingBase):
    """phi(r) = sum_i phi_i(r_i) on consecutive slices of r; for sets K = K_1 x ... x K_m. Everything goes part by part.

    With losses alone this is a loss, which the slack split and the Frank-Wolfe methods take where they take each part.
    With sets and losses the rows of the sets are constraints, and the others add to the objective; the bound, and the
    universal, corrective and factored methods, need no more than the prox of the conjugate, part by part.

    Parameters
    ----------
    parts
        The sets and losses, for instance an equality on the first rows and least squares on the rest.
    sizes
        Number of entries of r that each part takes, in order; a cone of matrices takes its matrix flat.

    Raises
    ------
    InvalidInput
        ``parts``: expected a list of sets or losses; ``sizes``: expected a list of numbers, one per part.

    See Also
    --------
    Translated, Scaled, unipd.maps.Stacked

    Examples
    --------
    >>> from unipd.couplings import AtMost, Equality, LeastSquares
    >>> Product([Equality(), AtMost()], [1, 2]).project(np.array([3.0, 2.0, -1.0]))
    array([ 0.,  0., -1.])
    >>> mixed = Product([Equality(), LeastSquares()], [1, 2])
    >>> mixed.distance(np.array([3.0, 2.0, -1.0])), mixed.penalty(np.array([3.0, 2.0, -1.0]))
    (3.0, 2.5)
    """

    def __init__(self, parts: Sequence[Coupling], sizes: Sequence[int]) -> None:
        if not isinstance(parts, (list, tuple)):
            raise InvalidInput("parts", "a list of sets or losses", validate.describe_type(parts))
        if not parts:
            raise InvalidInput("parts", "at least one set or loss", "an empty list")
        if not np.iterable(sizes):
            raise InvalidInput("sizes", "a list of numbers, one per part", repr(sizes))
        if len(sizes) != len(parts):
            raise InvalidInput("sizes", f"{len(parts)} numbers, one per part", f"{len(sizes)}")
        self.parts = tuple(_require_coupling(part) for part in parts)
        self.sizes = tuple(validate.integer("sizes", size, minimum=1) for size in sizes)
        ends = np.cumsum(self.sizes).tolist()
        self._slices = tuple(slice(end - size, end) for end, size in zip(ends, self.sizes, strict=True))
        scales = {loss.gap_scale for loss in self._losses}
        self.gap_scale = scales.pop() if len(scales) == 1 else None  # one that all losses have in common

    @property
    def is_loss(self) -> bool:
        """Whether every part is a loss."""
        return all(part.is_loss for part in self.parts)

    @property
    def inner_parts(self) -> tuple[Any, ...]:
        """The sets and losses."""
        return self.parts

    @property
    def constrained_rows(self) -> Array | None:
        """Which rows are those of sets, where others are those of losses; None where all parts are of one kind."""
        kinds = [part.is_loss for part in self.parts]
        return np.repeat(np.logical_not(kinds), self.sizes) if any(kinds) and not all(kinds) else None

    @property
    def conjugate_degree(self) -> float | None:
        """The parts' common degree, or None."""
        degrees = {part.conjugate_degree for part in self.parts}
        return degrees.pop() if len(degrees) == 1 else None

    @property
    def quadratic_weights(self) -> Any:
        """The weights of the parts, entry by entry; None where a part has none."""
        return self._spread([part.quadratic_weights for part in self.parts])

    cancellation: float = 0.0
    """Rounding errors are those of the value."""

    @property
    def is_differentiable(self) -> bool:
        """Whether all losses are."""
        return self.is_loss and all(loss.is_differentiable for loss in self._losses)

    @property
    def splittable(self) -> bool:
        """Whether every part is a loss with an unbounded slack block."""
        return self.is_loss and all(loss.splittable and loss.slack_radius is None for loss in self._losses)

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise unless the sizes add up to the data's and every part takes its slice."""
        if math.prod(shape) != sum(self.sizes):
            raise InvalidInput("sizes", f"numbers that add up to {math.prod(shape)}", f"{sum(self.sizes)}")
        for part, size in zip(self.parts, self.sizes, strict=True):
            part.check((size,), dtype)

    @property
    def dual_signs(self) -> Any:
        """The signs of the parts' multipliers, entry by entry; None where a part has none."""
        return self._spread([part.dual_signs for part in self.parts])

    def project(self, vector: Array) -> Array:
        """Project every slice on its set, and leave those of losses."""
        pieces = [piece if part.is_loss else part.prox(piece, 1.0) for part, piece in self._pieces(vector)]
        return self._concatenate(vector, pieces)

    def prox(self, vector: Array, step: float) -> Array:
        """Apply the prox of every part."""
        return self._concatenate(vector, [part.prox(piece, step) for part, piece in self._pieces(vector)])

    def value(self, residual: Array) -> float:
        """Return the sum of the parts' values: inf outside a set."""
        return sum(part.value(piece) for part, piece in self._pieces(residual))

    def penalty(self, residual: Array) -> float:
        """Return the sum of the losses."""
        return sum(part.penalty(piece) for part, piece in self._pieces(residual))

    def gradient(self, residual: Array) -> Array:
        """Return the gradients of the losses."""
        return self._concatenate(residual, [loss.gradient(piece) for loss, piece in self._pieces(residual)])

    def gradient_jacobian(self, residual: Array, directions: Array) -> Array:
        """Apply the derivative of every loss's gradient to its rows; see :meth:`ConvexLoss.gradient_jacobian`."""
        triples = zip(self._pieces(residual), self._slices, strict=True)
        return np.concatenate([loss.gradient_jacobian(piece, directions[rows]) for (loss, piece), rows in triples])

    def curvature(self) -> float:
        """Return the largest curvature of the losses."""
        return max(loss.curvature() for loss in self._losses)

    def slack(self, dual: Array) -> tuple[Array, float]:
        """Return the maximisers over the slack blocks of the losses, and the sum of the maxima."""
        found = [loss.slack(piece) for loss, piece in self._pieces(dual)]
        return self._concatenate(dual, [maximiser for maximiser, _ in found]), sum(value for _, value in found)

    def conjugate(self, dual: Array) -> float:
        """Return the sum of the parts' conjugates."""
        return sum(part.conjugate(piece) for part, piece in self._pieces(dual))

    def distance(self, residual: Array) -> float:
        """Return the root of the sum of the parts' squared distances."""
        return math.hypot(*(part.distance(piece) for part, piece in self._pieces(residual)))

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Apply the prox of every part's conjugate, so no slice leaves its domain."""
        return self._concatenate(vector, [part.prox_conjugate(piece, step) for part, piece in self._pieces(vector)])

    def prox_jacobian(self, vector: Array, step: float, directions: Array) -> Array:
        """Apply the derivative of every part to its rows."""
        rows = [directions[where] for where in self._slices]
        pieces = zip(self._pieces(vector), rows, strict=True)
        return np.concatenate([part.prox_jacobian(piece, step, own) for (part, piece), own in pieces])

    @property
    def has_prox_jacobian(self) -> bool:
        """Whether every part has one."""
        return all(part.has_prox_jacobian for part in self.parts)

    def rescale(self, norms: FloatArray) -> RowScaling | None:
        """Rescale every part that allows it; the rows of the others keep their units."""
        parts = [part.rescale(piece) or RowScaling(np.ones(piece.shape), part) for part, piece in self._pieces(norms)]
        factors = np.concatenate([part.factors for part in parts])
        return RowScaling(factors, Product([part.coupling for part in parts], self.sizes))

    @property
    def _losses(self) -> tuple[Any, ...]:
        return tuple(part for part in self.parts if part.is_loss)

    def _pieces(self, vector: Array) -> list[tuple[Any, Array]]:
        flat = vector.reshape(-1)
        return [(part, flat[where]) for part, where in zip(self.parts, self._slices, strict=True)]

    def _spread(self, values: list[Any]) -> Any:
        """Return the values of the parts, entry by entry; None where a part has none."""
        if any(value is None for value in values):
            return None
        return np.concatenate([np.full(size, value) for size, value in zip(self.sizes, values, strict=True)])

    def _concatenate(self, like: Array, pieces: list[Array]) -> Array:
        return np.concatenate(pieces).reshape(like.shape)


def _require_coupling(part: Any) -> CouplingBase:
    """Return a part of a product with all its optional members, or raise."""
    if isinstance(part, type) or not isinstance(part, Coupling):
        raise InvalidInput("parts", "sets or losses of unipd.couplings", validate.describe_type(part))
    return as_coupling(part)
