"""Derivatives of the prox of the conjugate, for Newton steps: closed forms where known, differences elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch

import numpy as np

from unipd._typing import Array
from unipd.couplings.absolute import Absolute
from unipd.couplings.box import Box
from unipd.couplings.equality import Equality
from unipd.couplings.half_space import HalfSpace
from unipd.couplings.l1_ball import L1Ball
from unipd.couplings.l2_ball import L2Ball
from unipd.couplings.linf_ball import LInfBall
from unipd.couplings.modulus import l1_kept, l1_threshold
from unipd.couplings.orthant import AtLeast, AtMost
from unipd.couplings.product import Product
from unipd.couplings.psd_cone import PSDCone
from unipd.couplings.scaled import Scaled
from unipd.couplings.second_order_cone import SecondOrderCone
from unipd.couplings.translated import Translated
from unipd.protocols import Coupling, inner, norm

_DIFFERENCE = 1e-7


def differences(function: Callable[[Array], Array], vector: Array, directions: Array) -> Array:
    """Return the directional derivatives of a map at a vector by differences, one column a direction.

    >>> differences(lambda v: v**2, np.array([1.0, 3.0]), np.eye(2)).round(5)
    array([[2., 0.],
           [0., 6.]])
    """
    base = function(vector).reshape(-1)
    out = np.empty_like(directions)
    size = _DIFFERENCE * max(1.0, norm(vector))
    for place in range(directions.shape[1]):
        column = directions[:, place]
        length = norm(column)
        step = size / length if length > 0 else 1.0
        moved = function(vector + step * column.reshape(vector.shape))
        out[:, place] = (moved.reshape(-1) - base) / step
    return out


@singledispatch
def prox_jacobian(coupling: Coupling, vector: Array, step: float, directions: Array) -> Array:
    """Return (an element of) the generalised Jacobian of v -> prox_{step h}(v), applied to columns.

    >>> prox_jacobian(AtMost(), np.array([2.0, -1.0]), 1.0, np.eye(2))
    array([[1., 0.],
           [0., 0.]])
    """
    return differences(lambda v: coupling.prox_conjugate(v, step), vector, directions)


@prox_jacobian.register
def _(coupling: Equality, vector: Array, step: float, directions: Array) -> Array:
    return directions


@prox_jacobian.register
def _(coupling: AtLeast, vector: Array, step: float, directions: Array) -> Array:
    return directions * (vector.reshape(-1, 1) < 0)


@prox_jacobian.register
def _(coupling: AtMost, vector: Array, step: float, directions: Array) -> Array:
    return directions * (vector.reshape(-1, 1) > 0)


@prox_jacobian.register
def _(coupling: Box, vector: Array, step: float, directions: Array) -> Array:
    outside = (vector < step * coupling.lower) | (vector > step * coupling.upper)
    return directions * outside.reshape(-1, 1)


@prox_jacobian.register
def _(coupling: Absolute, vector: Array, step: float, directions: Array) -> Array:
    if vector.dtype.kind == "c":
        return differences(lambda v: coupling.prox_conjugate(v, step), vector, directions)
    return directions * (np.abs(vector).reshape(-1, 1) < 1.0)


@prox_jacobian.register
def _(coupling: L2Ball, vector: Array, step: float, directions: Array) -> Array:
    length, cut = norm(vector), step * coupling.radius
    if length <= cut:
        return np.zeros_like(directions)
    unit = vector.reshape(-1) / length
    along = (unit.conj() @ directions).real
    return (1.0 - cut / length) * directions + (cut / length) * np.outer(unit, along).astype(directions.dtype)


@prox_jacobian.register
def _(coupling: LInfBall, vector: Array, step: float, directions: Array) -> Array:
    moduli, cut = np.abs(vector).reshape(-1, 1), step * coupling.radius
    radial = _radial(vector, directions)
    bent = radial + (1.0 - cut / np.where(moduli > cut, moduli, np.inf)) * (directions - radial)
    return np.where(moduli > cut, bent, 0.0).astype(directions.dtype, copy=False)


@prox_jacobian.register
def _(coupling: L1Ball, vector: Array, step: float, directions: Array) -> Array:
    """Where moduli are cut at theta, all of them move as theta does: by the mean of the radial parts."""
    moduli, radius = np.abs(vector), step * coupling.radius
    theta = l1_threshold(moduli, radius)
    if theta == 0.0:
        return np.zeros_like(directions)
    cut = np.flatnonzero(l1_kept(moduli, radius) > 0)
    if cut.size == 0:  # a ball of radius zero
        return directions.copy()
    flat, sizes = vector.reshape(-1)[cut], moduli.reshape(-1, 1)[cut]
    units = flat.reshape(-1, 1) / sizes
    along = (units.conj() * directions[cut]).real
    changes = directions.copy()
    changes[cut] = units * along.mean(axis=0) + (theta / sizes) * (directions[cut] - units * along)
    return changes


@prox_jacobian.register
def _(coupling: HalfSpace, vector: Array, step: float, directions: Array) -> Array:
    size = norm(coupling.normal)
    unit = coupling.normal / size
    if inner(unit, vector) * size <= step * coupling.offset:
        return np.zeros_like(directions)
    flat = unit.reshape(-1)
    return np.outer(flat, (flat.conj() @ directions).real).astype(directions.dtype, copy=False)


@prox_jacobian.register
def _(coupling: SecondOrderCone, vector: Array, step: float, directions: Array) -> Array:
    height, size = float(vector[0]), norm(vector[1:])
    if size <= abs(height):
        return directions.copy() if height < 0 else np.zeros_like(directions)
    unit, slope = vector[1:] / size, height / size
    along = unit @ directions[1:]
    changes = np.empty_like(directions)
    changes[0] = 0.5 * (directions[0] - along)
    changes[1:] = 0.5 * ((1.0 - slope) * directions[1:] + np.outer(unit, slope * along - directions[0]))
    return changes


@prox_jacobian.register
def _(coupling: Product, vector: Array, step: float, directions: Array) -> Array:
    flat, ends = vector.reshape(-1), np.cumsum(coupling.sizes)[:-1]
    pieces = zip(coupling.parts, np.split(flat, ends), np.split(directions, ends), strict=True)
    return np.concatenate([prox_jacobian(part, piece, step, rows) for part, piece, rows in pieces])


@prox_jacobian.register
def _(coupling: Translated, vector: Array, step: float, directions: Array) -> Array:
    moved = (vector - step * coupling.shift).astype(vector.dtype, copy=False)
    return prox_jacobian(coupling.part, moved, step, directions)


@prox_jacobian.register
def _(coupling: Scaled, vector: Array, step: float, directions: Array) -> Array:
    return prox_jacobian(coupling.part, vector, coupling.factor * step, directions)


@prox_jacobian.register
def _(coupling: PSDCone, vector: Array, step: float, directions: Array) -> Array:
    size = coupling.size
    matrix = vector.reshape(size, size)
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.conj().T))
    stack = directions.T.reshape(-1, size, size)
    hermitian = 0.5 * (stack + stack.conj().transpose(0, 2, 1))
    turned = _divided_differences(values) * (vectors.conj().T @ hermitian @ vectors)
    changes = vectors @ turned @ vectors.conj().T + (stack - hermitian)
    return changes.reshape(directions.shape[1], -1).T.astype(directions.dtype, copy=False)


def _radial(vector: Array, directions: Array) -> Array:
    """Return the parts of the directions along the entries of a vector, all of them where numbers are real."""
    if vector.dtype.kind != "c":
        return directions
    flat = vector.reshape(-1, 1)
    units = flat / np.where(flat == 0, 1.0, np.abs(flat))
    return units * (units.conj() * directions).real


def _divided_differences(values: Array) -> Array:
    """Return (phi(a) - phi(b)) / (a - b) of phi = min(., 0) for all pairs, its slope where they agree."""
    negative = np.minimum(values, 0.0)
    rise = negative[:, None] - negative[None, :]
    run = values[:, None] - values[None, :]
    same = np.abs(run) <= 1e-14 * np.abs(values).max(initial=1e-300)
    slope = np.broadcast_to((values < 0)[:, None], run.shape).astype(values.dtype)
    return np.where(same, slope, rise / np.where(same, 1.0, run))
