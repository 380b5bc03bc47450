"""Derivatives of the gradients of smooth losses, for Newton steps: closed forms where known, differences elsewhere."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from unipd._typing import Array
from unipd.couplings.huber import Huber
from unipd.couplings.jacobian import differences
from unipd.couplings.least_squares import LeastSquares, WeightedLeastSquares
from unipd.couplings.logistic import Logistic, falling_sigmoid
from unipd.protocols import Loss


@singledispatch
def gradient_jacobian(loss: Loss, residual: Array, directions: Array) -> Array:
    """Return (an element of) the generalised Jacobian of the gradient of phi at r, applied to columns.

    >>> gradient_jacobian(Huber(1.0), np.array([0.5, 3.0]), np.eye(2))
    array([[1., 0.],
           [0., 0.]])
    """
    return differences(loss.gradient, residual, directions)


@gradient_jacobian.register
def _(loss: LeastSquares, residual: Array, directions: Array) -> Array:
    return loss.scale * directions


@gradient_jacobian.register
def _(loss: WeightedLeastSquares, residual: Array, directions: Array) -> Array:
    return _scaled_rows(np.broadcast_to(loss.weights, residual.shape), directions)


@gradient_jacobian.register
def _(loss: Logistic, residual: Array, directions: Array) -> Array:
    return _scaled_rows(falling_sigmoid(residual) * falling_sigmoid(-residual), directions)


@gradient_jacobian.register
def _(loss: Huber, residual: Array, directions: Array) -> Array:
    sizes = np.abs(residual)
    inside = sizes <= loss.delta
    if residual.dtype.kind != "c":
        return _scaled_rows(inside, directions)
    units = (residual / np.where(inside, 1.0, sizes)).reshape(-1, 1)  # delta r / |r| turns with r outside
    across = directions - units * (units.conj() * directions).real
    turned = _scaled_rows(loss.delta / np.where(inside, 1.0, sizes), across)
    return np.where(inside.reshape(-1, 1), directions, turned).astype(directions.dtype, copy=False)


def _scaled_rows(factors: Array, directions: Array) -> Array:
    return (factors.reshape(-1, 1) * directions).astype(directions.dtype, copy=False)
