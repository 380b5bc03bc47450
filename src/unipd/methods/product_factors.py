"""Several blocks in the factored method: spectral blocks by their factors, quadratic ones as they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array, Shape
from unipd.atoms import Blocks, dense
from unipd.errors import InvalidInput
from unipd.methods.factors import Factors, NothingKept, SpectralFactors
from unipd.methods.lbfgs import Preconditioner
from unipd.protocols import SharpOracle
from unipd.sharp import L2NormSquared, Linear, NuclearBall, Product, Spectrahedron, TraceBall
from unipd.sharp.counted import bare


@dataclass(frozen=True)
class QuadraticFactors(NothingKept):
    """A block x with f(x) = w ||x||^2 on the whole space: its own factor."""

    shape: Shape
    weight: float

    def start(self, atom: Any, columns: int, seed: int) -> Array:
        """Return zero, the minimiser of f."""
        return np.zeros(self.shape, atom.dtype)

    def point(self, factor: Array) -> Array:
        """Return x."""
        return factor

    def gradient(self, operator: Any, factor: Array) -> Array:
        """Return 2 w x + S."""
        return 2.0 * self.weight * factor + operator

    def preconditioner(self, factor: Array) -> Preconditioner:
        """Return the identity."""
        return lambda block: block

    def joined(self, factor: Array, atom: Any, gamma: float) -> Array:
        """Return (1 - gamma) x + gamma atom."""
        return (1.0 - gamma) * factor + gamma * dense(atom)

    def rank(self, factor: Array) -> int:
        """Return 0: a vector has no rank."""
        return 0


@dataclass(frozen=True)
class ProductFactors(NothingKept):
    """One spectral block and any number of quadratic ones, packed into one vector.

    The rank is what the length of the vector leaves after the quadratic blocks.
    """

    parts: tuple[Factors, ...]

    def start(self, atom: Blocks, columns: int, seed: int) -> Array:
        """Return the parts' first factors."""
        pairs = zip(self.parts, atom.parts, strict=True)
        return _packed([part.start(piece, columns, seed) for part, piece in pairs])

    def point(self, factor: Array) -> Blocks:
        """Return the blocks."""
        pairs = zip(self.parts, self._unpacked(factor), strict=True)
        return Blocks(tuple(part.point(piece) for part, piece in pairs))

    def gradient(self, operator: Any, factor: Array) -> Array:
        """Return the parts' gradients."""
        triples = zip(self.parts, operator, self._unpacked(factor), strict=True)
        return _packed([part.gradient(slope, piece) for part, slope, piece in triples])

    def preconditioner(self, factor: Array) -> Preconditioner:
        """Return the parts' preconditioners side by side."""
        pairs = zip(self.parts, self._unpacked(factor), strict=True)
        maps = [part.preconditioner(piece) for part, piece in pairs]
        return lambda vector: _packed([m(piece) for m, piece in zip(maps, self._unpacked(vector), strict=True)])

    def joined(self, factor: Array, atom: Blocks, gamma: float) -> Array:
        """Return the parts' mixtures."""
        triples = zip(self.parts, self._unpacked(factor), atom.parts, strict=True)
        return _packed([part.joined(piece, new, gamma) for part, piece, new in triples])

    def rank(self, factor: Array) -> int:
        """Return the spectral block's number of columns."""
        fixed = sum(math.prod(part.shape) for part in self.parts if isinstance(part, QuadraticFactors))
        rows = next(part.rows for part in self.parts if isinstance(part, SpectralFactors))
        return (factor.size - fixed) // rows

    def _unpacked(self, factor: Array) -> list[Array]:
        rank, place, pieces = self.rank(factor), 0, list[Array]()
        for part in self.parts:
            shape = part.shape if isinstance(part, QuadraticFactors) else (_rows(part), rank)
            size = math.prod(shape)
            pieces.append(factor[place : place + size].reshape(shape))
            place += size
        return pieces


def _rows(part: Factors) -> int:
    assert isinstance(part, SpectralFactors)
    return part.rows


def _packed(pieces: Sequence[Array]) -> Array:
    return np.concatenate([piece.reshape(-1) for piece in pieces])


def factors_of(sharp: SharpOracle) -> Factors:
    """Return the factored form of a set, or raise when it has none.

    >>> factors_of(Spectrahedron(4, trace=2.0)).rows
    4
    """
    oracle: Any = bare(sharp.oracle if isinstance(sharp, Linear) else sharp)
    if isinstance(oracle, Product):
        if any(isinstance(part, Linear) for part in oracle.oracles):
            raise InvalidInput("sharp", "blocks without linear costs of their own for the factored method", "Linear")
        parts = tuple(factors_of(part) for part in oracle.oracles)
        if sum(isinstance(part, SpectralFactors) for part in parts) == 1:
            return ProductFactors(parts)
    if isinstance(oracle, L2NormSquared):
        return QuadraticFactors(oracle.shape, oracle.weight)
    if isinstance(oracle, TraceBall):
        return SpectralFactors(oracle.shape[0], 0, oracle.trace, True)
    if isinstance(oracle, Spectrahedron):
        return SpectralFactors(oracle.shape[0], 0, oracle.trace, False)
    if type(oracle) is NuclearBall:
        return SpectralFactors(oracle.shape[0], oracle.shape[1], oracle.radius, True)
    expected = "a spectral set (with quadratic blocks beside it) for the factored method"
    raise InvalidInput("sharp", expected, type(sharp).__name__)


def is_factorable(sharp: SharpOracle) -> bool:
    """Whether the factored method can take this oracle."""
    try:
        return not isinstance(factors_of(sharp), QuadraticFactors)
    except InvalidInput:
        return False
