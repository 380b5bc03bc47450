"""Spectral sets by their factors: X = a R R^* / ||R||^2, and the like for the nuclear ball.

A factor is one array R whatever its length: the point it stands for does not change when R is stretched, so the trace
(or nuclear norm) holds by construction and a minimisation over R is unconstrained. Blocks of rows are

- ``left`` U, and for rectangular X ``right`` V, with X proportional to U V^* (U = V for positive semidefinite X);
- one ``slack`` row when the set is a ball, which takes the part of the trace that X does not use.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from unipd._typing import Array
from unipd.atoms import LowRank, apply, apply_adjoint
from unipd.methods.lbfgs import Preconditioner
from unipd.protocols import inner, norm
from unipd.sharp.hermitian_part import hermitian_twice

DELTA = 1e-2
"""Default regularisation of the preconditioner, relative to the mean squared length of the columns."""
NEGLIGIBLE_COLUMN = 1e-12
"""Columns with a smaller share of the trace are dropped when the rank grows."""


class Factors(Protocol):
    """What the factored method asks of a set: points, slopes and directions in terms of one array."""

    def start(self, atom: Any, columns: int, seed: int) -> Array:
        """Return a first factor from an atom, with random columns up to the rank asked for."""
        ...

    def point(self, factor: Array) -> Any:
        """Return the point x that a factor stands for."""
        ...

    def gradient(self, operator: Any, factor: Array) -> Array:
        """Return the gradient in the factor of f(x) + <S, x>, S as the map's adjoint gives it."""
        ...

    def preconditioner(self, factor: Array) -> Preconditioner:
        """Return a positive definite map that evens out the scales of a gradient."""
        ...

    def joined(self, factor: Array, atom: Any, gamma: float) -> Array:
        """Return a factor of (1 - gamma) x + gamma atom."""
        ...

    def rank(self, factor: Array) -> int:
        """Return the number of columns."""
        ...

    def without_kept(self, dual: Array) -> Array:
        """Return the dual vector with zeros for constraints that the factors keep by construction."""
        ...

    def completed(self, dual: Array, descent: Any, factor: Array) -> Array:
        """Return the dual vector with the multipliers of such constraints; ``descent`` is -S without them."""
        ...


class NothingKept:
    """Factors that keep no constraint of A by construction."""

    def without_kept(self, dual: Array) -> Array:
        """Return the dual vector: no constraint is kept by construction."""
        return dual

    def completed(self, dual: Array, descent: Any, factor: Array) -> Array:
        """Return the dual vector: no constraint is kept by construction."""
        return dual


@dataclass(frozen=True)
class SpectralFactors(NothingKept):
    """The factored form of a spectrahedron, a trace ball or a nuclear ball."""

    left_rows: int
    right_rows: int
    """0 when X is Hermitian positive semidefinite."""
    radius: float
    """Trace of X, or bound of the trace or of the nuclear norm."""
    ball: bool
    """Whether the trace may be smaller than the radius."""
    regularisation: float = DELTA
    """delta of the preconditioner: small evens out the columns of R, large leaves steps as they are."""

    @property
    def rows(self) -> int:
        """Rows of R."""
        return self.left_rows + self.right_rows + (1 if self.ball else 0)

    def start(self, atom: LowRank, columns: int, seed: int) -> Array:
        """Return the atom's direction with all of the trace used, and random columns beside it."""
        factor = self._stacked(atom, fill=True)
        missing = min(columns, factor.shape[0]) - factor.shape[1]
        return factor if missing <= 0 else np.concatenate([factor, random_block(factor, missing, seed)], axis=1)

    def point(self, factor: Array) -> LowRank:
        """Return X for a factor R of any length."""
        left, right = self._parts(self._normalised(factor))
        weights = np.ones(factor.shape[1])
        return LowRank(left, left if right is None else right, weights)

    def gradient(self, operator: Any, factor: Array) -> Array:
        """Return the gradient in R of <S, X(R)> for a Hermitian (or rectangular) operator S; orthogonal to R."""
        stretch = self._length() / norm(factor)
        unit = stretch * factor
        left, right = self._parts(unit)
        slope = np.zeros_like(unit)
        if right is None:
            slope[: self.left_rows] = hermitian_twice(operator, left)
        else:
            slope[: self.left_rows] = apply(operator, right)
            slope[self.left_rows : self.left_rows + self.right_rows] = apply_adjoint(operator, left)
        radial = inner(unit, slope) / inner(unit, unit)
        return stretch * (slope - radial * unit)

    def preconditioner(self, factor: Array) -> Preconditioner:
        """Return G -> G (R^*R + delta)^(-1).

        Without it the steps along short columns, which carry the small eigenvalues of X, are short as well.
        """
        if factor.shape[1] == 1:
            return lambda block: block
        gram = factor.conj().T @ factor
        mean = float(np.trace(gram).real) / gram.shape[0]
        inverse = np.linalg.inv(gram / mean + self.regularisation * np.eye(gram.shape[0], dtype=gram.dtype))
        return lambda block: block @ inverse

    def joined(self, factor: Array, atom: LowRank, gamma: float) -> Array:
        """Return a factor of (1 - gamma) X + gamma atom: columns are appended, vanished ones dropped."""
        old = math.sqrt(1.0 - gamma) * self._reduced(factor)
        return np.concatenate([old, math.sqrt(gamma) * self._stacked(atom, fill=False)], axis=1)

    def rank(self, factor: Array) -> int:
        """Return the number of columns."""
        return int(factor.shape[1])

    def _reduced(self, factor: Array) -> Array:
        """Return the factor with orthogonal columns, those with hardly any of the trace dropped."""
        unit = self._normalised(factor)
        weights, rotation = np.linalg.eigh(unit.conj().T @ unit)
        kept = weights > NEGLIGIBLE_COLUMN * self._length() ** 2
        kept[-1] = True
        return unit @ rotation[:, kept].astype(unit.dtype, copy=False)

    def _length(self) -> float:
        return math.sqrt(self.radius if self.right_rows == 0 else 2.0 * self.radius)

    def _normalised(self, factor: Array) -> Array:
        return (self._length() / norm(factor)) * factor

    def _parts(self, factor: Array) -> tuple[Array, Array | None]:
        left = factor[: self.left_rows]
        if self.right_rows == 0:
            return left, None
        return left, factor[self.left_rows : self.left_rows + self.right_rows]

    def _stacked(self, atom: LowRank, *, fill: bool) -> Array:
        """Return the factor of an atom; ``fill`` stretches it to the whole trace, else the slack row takes the rest."""
        weights = np.asarray(atom.weights, dtype=np.float64)
        if fill:
            total = float(weights.sum())
            weights = weights * (self.radius / total) if total > 0 else np.full(weights.size, self.radius)
        roots = np.sqrt(weights).astype(np.finfo(atom.left.dtype).dtype)
        blocks = [atom.left * roots]
        if self.right_rows:
            blocks.append(atom.right * roots)
        if self.ball:
            spare = max(0.0, self.radius - float(weights.sum())) * (2.0 if self.right_rows else 1.0)
            row = np.zeros((1, weights.size), atom.left.dtype)
            row[0, 0] = math.sqrt(spare)
            blocks.append(row)
        return np.concatenate(blocks, axis=0)


def random_block(factor: Array, columns: int, seed: int) -> Array:
    """Return random columns of the factor's total length."""
    generator = np.random.default_rng(seed)
    block = generator.standard_normal((factor.shape[0], columns)).astype(factor.dtype)
    if factor.dtype.kind == "c":
        block = block + 1j * generator.standard_normal(block.shape).astype(np.finfo(factor.dtype).dtype)
    return (norm(factor) / norm(block)) * block
