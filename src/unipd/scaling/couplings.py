"""Which rows a coupling lets one rescale, and the coupling in the new units."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from unipd import couplings
from unipd._typing import Array, FloatArray
from unipd.protocols import Coupling
from unipd.scaling.ellipsoid import Ellipsoid

_SWEEPS = 20


@dataclass(frozen=True)
class Rescaled:
    """Positive factors D for the rows and D K, so that A x - b in K means D A x - D b in D K."""

    factors: FloatArray
    coupling: Coupling


@singledispatch
def rescaled(coupling: Coupling, norms: FloatArray) -> Rescaled | None:
    """Return factors that bring rows of these norms near 1 as far as the coupling allows, or None where it does not.

    Equalities, orthants, boxes and half-spaces take any factors; the cone of positive semidefinite matrices takes
    d_i d_j for the entry (i, j); Euclidean balls become ellipsoids, balls of the largest entry boxes; second-order
    cones and l1 balls take one common factor; products go part by part.
    Losses take none: their value has units.

    >>> rescaled(couplings.Equality(), np.array([8.0, 0.5])).factors
    array([0.125, 2.   ])
    """
    return None


def power_of_two(values: Array) -> FloatArray:
    """Return the nearest powers of two, by which numbers are multiplied without rounding; 1 for 0.

    >>> power_of_two(np.array([3.0, 0.0, 0.4]))
    array([4. , 1. , 0.5])
    """
    positive = np.where(values > 0, values, 1.0).astype(np.float64)
    return np.exp2(np.clip(np.round(np.log2(positive)), -60, 60))


def _inverse(norms: FloatArray) -> FloatArray:
    return 1.0 / power_of_two(norms)


def _common(norms: FloatArray) -> FloatArray:
    """Return one factor for all rows, from the geometric mean of the norms that are not zero."""
    present = norms[norms > 0]
    middle = np.exp(np.mean(np.log(present))) if present.size else 1.0
    return np.full(norms.shape, _inverse(np.array([middle]))[0])


@rescaled.register(couplings.Equality)
@rescaled.register(couplings.AtLeast)
@rescaled.register(couplings.AtMost)
def _(coupling: Any, norms: FloatArray) -> Rescaled | None:
    return Rescaled(_inverse(norms), coupling)


@rescaled.register
def _(coupling: couplings.Box, norms: FloatArray) -> Rescaled | None:
    factors = _inverse(norms)
    shaped = factors.reshape(coupling.lower.shape or coupling.upper.shape or norms.shape)
    return Rescaled(factors, couplings.Box(shaped * coupling.lower, shaped * coupling.upper))


@rescaled.register
def _(coupling: couplings.HalfSpace, norms: FloatArray) -> Rescaled | None:
    factors = _inverse(norms)
    normal = coupling.normal / factors.reshape(coupling.normal.shape)
    return Rescaled(factors, couplings.HalfSpace(normal, coupling.offset))


@rescaled.register
def _(coupling: couplings.SecondOrderCone, norms: FloatArray) -> Rescaled | None:
    return Rescaled(_common(norms), coupling)


@rescaled.register
def _(coupling: couplings.L1Ball, norms: FloatArray) -> Rescaled | None:
    factors = _common(norms)
    return Rescaled(factors, couplings.L1Ball(float(factors[0]) * coupling.radius))


@rescaled.register
def _(coupling: couplings.L2Ball, norms: FloatArray) -> Rescaled | None:
    factors = _inverse(norms)
    stretched = Ellipsoid(coupling.radius, factors) if coupling.radius > 0 else couplings.Equality()
    return Rescaled(factors, stretched)


@rescaled.register
def _(coupling: couplings.LInfBall, norms: FloatArray) -> Rescaled | None:
    factors = _inverse(norms)
    return Rescaled(factors, couplings.Box(-coupling.radius * factors, coupling.radius * factors))


@rescaled.register
def _(coupling: couplings.PSDCone, norms: FloatArray) -> Rescaled | None:
    """Return factors d_i d_j from Ruiz' iteration, d_i <- d_i / sqrt(largest d_i n_ij d_j): a congruence keeps K."""
    table = np.maximum(norms.reshape(coupling.size, coupling.size), norms.reshape(coupling.size, coupling.size).T)
    sides = np.ones(coupling.size)
    for _ in range(_SWEEPS):
        largest = (sides[:, None] * table * sides[None, :]).max(axis=1)
        sides = sides / np.sqrt(np.where(largest > 0, largest, 1.0))
    sides = power_of_two(sides)
    return Rescaled(np.outer(sides, sides).reshape(-1), coupling)


@rescaled.register
def _(coupling: couplings.Product, norms: FloatArray) -> Rescaled | None:
    pieces = np.split(norms, np.cumsum(coupling.sizes)[:-1])
    parts = [
        rescaled(part, piece) or Rescaled(np.ones(piece.shape), part)
        for part, piece in zip(coupling.parts, pieces, strict=True)
    ]
    sets = couplings.Product([part.coupling for part in parts], coupling.sizes)
    return Rescaled(np.concatenate([part.factors for part in parts]), sets)


@rescaled.register
def _(coupling: couplings.Translated, norms: FloatArray) -> Rescaled | None:
    part = rescaled(coupling.part, norms)
    if part is None:
        return None
    shift = coupling.shift * part.factors.reshape(coupling.shift.shape)
    return Rescaled(part.factors, couplings.Translated(part.coupling, shift))


@rescaled.register
def _(coupling: couplings.Scaled, norms: FloatArray) -> Rescaled | None:
    part = rescaled(coupling.part, norms)
    return part and Rescaled(part.factors, couplings.Scaled(part.coupling, coupling.factor))
