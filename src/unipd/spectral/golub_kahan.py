"""Thick-restart (block) Golub-Kahan-Lanczos bidiagonalisation for the top singular triples."""

from __future__ import annotations

import numpy as np

from unipd._typing import Array
from unipd.spectral.basis import Basis
from unipd.spectral.lanczos import Limits, Ritz, kept_after_restart, unit_columns
from unipd.spectral.products import Multiplier
from unipd.spectral.stopping import Stop


def golub_kahan(products: Multiplier, start: Array, count: int, stop: Stop, limits: Limits, seed: int) -> Ritz:
    """Return the ``count`` largest singular triples of an operator with at least as many rows as columns.

    Two orthonormal bases with M V = U B and M^* U = V B^* + Q R E^*: singular triples of the small B are Ritz
    triples of M, the first relation holds exactly, and the residual of the second comes from R. As in
    :func:`~unipd.spectral.lanczos.lanczos` all of B is read off the Gram-Schmidt coefficients.

    Parameters are those of Lanczos; the start is a block of right singular vectors.

    Examples
    --------
    >>> from unipd.spectral.products import Products
    >>> run = golub_kahan(Products(np.array([[3.0], [4.0]])), np.ones((1, 1)), 1, Stop(), Limits(1, 9), 0)
    >>> float(run.values[0]), run.left[:, 0]
    (5.0, array([0.6, 0.8]))
    """
    rows, columns = products.shape
    generator = np.random.default_rng(seed)
    right = Basis(columns, limits.subspace + start.shape[1], products.dtype, generator)
    left = Basis(rows, right.array.shape[1], products.dtype, generator)
    for column in start.T:
        right.append(column)
    projected = np.zeros((right.array.shape[1],) * 2, np.result_type(products.dtype, np.float64))
    known, links = 0, list[float]()
    while True:
        last, known = known, right.size
        coupling = _absorb(products, left, right, projected, last)
        outer, values, inner = np.linalg.svd(projected[:known, :known])
        residuals = np.linalg.norm(coupling @ outer[last:known], axis=0)
        scale = float(values[0])
        rounding = 8.0 * float(np.finfo(products.dtype).eps) * scale
        links.append(float(np.linalg.norm(coupling)) * float(abs(projected[known - 1, known - 1])))
        done = known == columns or (
            stop.reached(values, residuals, count, scale, rounding)
            and not stop.overlooks(values**2, links, stop.horizon(scale, scale) ** 2)
        )
        if done or products.count + 2 * (right.size - known) > limits.products:
            vectors = unit_columns(right.columns(0, known) @ inner[:count].conj().T.astype(products.dtype))
            others = unit_columns(left.columns(0, known) @ outer[:, :count].astype(products.dtype))
            return Ritz(values[:count].copy(), vectors, others, residuals[:count] + rounding, done)
        if right.size + start.shape[1] > right.array.shape[1] < columns:
            kept = kept_after_restart(known, count, start.shape[1])
            right.compress(inner[:kept].conj().T, right.columns(known))
            left.compress(outer[:, :kept], left.columns(known))
            projected[:] = 0.0
            projected[range(kept), range(kept)] = values[:kept]
            known = kept


def _absorb(products: Multiplier, left: Basis, right: Basis, projected: Array, first: int) -> Array:
    """Multiply the last block by M, then its new left vectors by M^*; fill columns of B and return R."""
    known = right.size
    recent = 2 * (known - first)
    for index, image in enumerate(products.forward(right.columns(first)).T, start=first):
        coefficients, length = left.append(image, recent)
        projected[: coefficients.size, index] = coefficients
        projected[coefficients.size, index] = length
    coupling = np.zeros((known - first,) * 2, projected.dtype)
    for index, image in enumerate(products.adjoint(left.columns(first)).T):
        coefficients, length = right.append(image, recent)
        added = coefficients.size - known
        coupling[:added, index] = coefficients[known:]
        if right.size > known + added:
            coupling[added, index] = length
    return coupling[: right.size - known]
