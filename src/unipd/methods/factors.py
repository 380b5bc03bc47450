"""Spectral sets by their factors: X = a R R^* / ||R||^2, and the like for the nuclear ball.

A factor is one array R whatever its length: the point it stands for does not change when R is stretched, so the trace
(or nuclear norm) holds by construction and a minimisation over R is unconstrained. Blocks of rows are

- ``left`` U, and for rectangular X ``right`` V, with X proportional to U V^* (U = V for positive semidefinite X);
- one ``slack`` row when the set is a ball, which takes the part of the trace that X does not use.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.atoms import LowRank, apply
from unipd.errors import InvalidInput
from unipd.protocols import SharpOracle
from unipd.sharp import Linear, NuclearBall, Spectrahedron, TraceBall


@dataclass(frozen=True)
class Factors:
    """The factored form of a spectrahedron, a trace ball or a nuclear ball."""

    left_rows: int
    right_rows: int
    """0 when X is Hermitian positive semidefinite."""
    radius: float
    """Trace of X, or bound of the trace or of the nuclear norm."""
    ball: bool
    """Whether the trace may be smaller than the radius."""

    @property
    def rows(self) -> int:
        """Rows of R."""
        return self.left_rows + self.right_rows + (1 if self.ball else 0)

    def point(self, factor: Array) -> LowRank:
        """Return X for a factor R of any length."""
        left, right = self._parts(self._normalised(factor))
        weights = np.ones(factor.shape[1])
        return LowRank(left, left if right is None else right, weights)

    def gradient(self, operator: Any, factor: Array) -> Array:
        """Return the gradient in R of <S, X(R)> for a Hermitian (or rectangular) operator S."""
        stretch = self._length() / float(np.linalg.norm(factor))
        unit = stretch * factor
        left, right = self._parts(unit)
        slope = np.zeros_like(unit)
        if right is None:
            slope[: self.left_rows] = 2.0 * apply(operator, left)
        else:
            slope[: self.left_rows] = apply(operator, right)
            slope[self.left_rows : self.left_rows + self.right_rows] = _apply_adjoint(operator, left)
        radial = float(np.vdot(unit, slope).real) / float(np.vdot(unit, unit).real)
        return stretch * (slope - radial * unit)

    def start(self, atom: LowRank) -> Array:
        """Return a factor of the point a atom / trace: its direction, with all of the trace used."""
        return self._stacked(atom, 1.0)

    def joined(self, factor: Array, atom: LowRank, gamma: float) -> Array:
        """Return a factor of (1 - gamma) X + gamma atom: columns are appended."""
        return np.concatenate(
            [math.sqrt(1.0 - gamma) * self._normalised(factor), math.sqrt(gamma) * self._stacked(atom, None)],
            axis=1,
        )

    def reduced(self, factor: Array, threshold: float) -> Array:
        """Return the factor with orthogonal columns, those below a share of the trace dropped."""
        unit = self._normalised(factor)
        weights, rotation = np.linalg.eigh(unit.conj().T @ unit)
        kept = weights > threshold * self._length() ** 2
        kept[-1] = True
        return unit @ rotation[:, kept].astype(unit.dtype, copy=False)

    def _length(self) -> float:
        return math.sqrt(self.radius if self.right_rows == 0 else 2.0 * self.radius)

    def _normalised(self, factor: Array) -> Array:
        return (self._length() / float(np.linalg.norm(factor))) * factor

    def _parts(self, factor: Array) -> tuple[Array, Array | None]:
        left = factor[: self.left_rows]
        if self.right_rows == 0:
            return left, None
        return left, factor[self.left_rows : self.left_rows + self.right_rows]

    def _stacked(self, atom: LowRank, fill: float | None) -> Array:
        """Return the factor of an atom; the slack row takes what it leaves of the trace."""
        weights = np.asarray(atom.weights, dtype=np.float64)
        if fill is not None:
            weights = np.where(weights > 0, weights, 0.0)
            total = float(weights.sum())
            weights = weights * (self.radius / total) if total > 0 else np.full(weights.size, self.radius)
        roots = np.sqrt(weights).astype(atom.left.real.dtype)
        blocks = [atom.left * roots]
        if self.right_rows:
            blocks.append(atom.right * roots)
        if self.ball:
            spare = max(0.0, self.radius - float(weights.sum()))
            spare *= 1.0 if self.right_rows == 0 else 2.0
            row = np.zeros((1, weights.size), atom.left.dtype)
            row[0, 0] = math.sqrt(spare)
            blocks.append(row)
        return np.concatenate(blocks, axis=0)


def _apply_adjoint(operator: Any, block: Array) -> Array:
    if hasattr(operator, "rmatmat"):
        return operator.rmatmat(block)
    if hasattr(operator, "rmatvec"):
        return np.stack([operator.rmatvec(column) for column in block.T], axis=1)
    return operator.conj().T @ block


def factors_of(sharp: SharpOracle) -> Factors:
    """Return the factored form of a spectral set, or raise when the set has none.

    >>> factors_of(Spectrahedron(4, trace=2.0)).rows
    4
    """
    oracle: Any = sharp.oracle if isinstance(sharp, Linear) else sharp
    if isinstance(oracle, TraceBall):
        return Factors(oracle.shape[0], 0, oracle.trace, True)
    if isinstance(oracle, Spectrahedron):
        return Factors(oracle.shape[0], 0, oracle.trace, False)
    if isinstance(oracle, NuclearBall):
        return Factors(oracle.shape[0], oracle.shape[1], oracle.radius, True)
    expected = "a spectrahedron, a trace ball or a nuclear ball for the factored method"
    raise InvalidInput("sharp", expected, type(sharp).__name__)
