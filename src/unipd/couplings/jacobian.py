"""Derivatives of the prox of the conjugate, for Newton steps: closed forms where known, differences elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch

import numpy as np

from unipd._typing import Array
from unipd.couplings.absolute import Absolute
from unipd.couplings.box import Box
from unipd.couplings.equality import Equality
from unipd.couplings.l2_ball import L2Ball
from unipd.couplings.orthant import AtLeast, AtMost
from unipd.couplings.psd_cone import PSDCone
from unipd.protocols import Coupling, norm

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
def _(coupling: PSDCone, vector: Array, step: float, directions: Array) -> Array:
    size = coupling.size
    matrix = vector.reshape(size, size)
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.conj().T))
    stack = directions.T.reshape(-1, size, size)
    hermitian = 0.5 * (stack + stack.conj().transpose(0, 2, 1))
    turned = _divided_differences(values) * (vectors.conj().T @ hermitian @ vectors)
    changes = vectors @ turned @ vectors.conj().T + (stack - hermitian)
    return changes.reshape(directions.shape[1], -1).T.astype(directions.dtype, copy=False)


def _divided_differences(values: Array) -> Array:
    """Return (phi(a) - phi(b)) / (a - b) of phi = min(., 0) for all pairs, its slope where they agree."""
    negative = np.minimum(values, 0.0)
    rise = negative[:, None] - negative[None, :]
    run = values[:, None] - values[None, :]
    same = np.abs(run) <= 1e-14 * np.abs(values).max(initial=1e-300)
    slope = np.broadcast_to((values < 0)[:, None], run.shape).astype(values.dtype)
    return np.where(same, slope, rise / np.where(same, 1.0, run))
