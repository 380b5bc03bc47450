"""Thick-restart (block) Lanczos with full reorthogonalisation for the top of a Hermitian operator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unipd import serial
from unipd._typing import Array, FloatArray
from unipd.spectral.basis import Basis
from unipd.spectral.products import Multiplier
from unipd.spectral.stopping import Stop


@dataclass(frozen=True)
class Ritz:
    """Ritz values, largest first, with vectors and residual norms."""

    values: FloatArray
    """Ritz values (or singular values)."""
    vectors: Array
    """Ritz vectors as columns (right singular vectors)."""
    left: Array
    """Left singular vectors; the same array as ``vectors`` for a Hermitian operator."""
    residuals: FloatArray
    """Residual norms."""
    converged: bool
    """Whether the stopping rule was met."""


@dataclass(frozen=True)
class Limits:
    """Sizes of a Krylov run."""

    subspace: int
    """Columns of the basis before a restart."""
    products: int
    """Products after which the run gives up."""


def lanczos(products: Multiplier, start: Array, count: int, stop: Stop, limits: Limits, seed: int) -> Ritz:
    """Return the ``count`` algebraically largest eigenpairs of a Hermitian operator.

    With an orthonormal basis V whose images are known, M V = V H + Q R E^*: H is the projected matrix, Q the next
    block and R what couples them. Ritz pairs come from H in double precision, their residual norms from R. All of
    H is read off the Gram-Schmidt coefficients, so that restarts (keep the best Ritz vectors, then Q) and
    breakdowns (R loses rank, Q gets random columns) need no special form of it.

    Parameters
    ----------
    products
        The operator.
    start
        Starting block; its width is the block size.
    count
        Number of eigenpairs wanted.
    stop
        Stopping rule.
    limits
        Subspace size and number of products.
    seed
        Seed of the random vectors that replace dependent ones.

    Examples
    --------
    >>> from unipd.spectral.products import Products
    >>> run = lanczos(Products(np.diag([1.0, 3.0, 2.0]), hermitian=True), np.ones((3, 1)), 1, Stop(), Limits(3, 9), 0)
    >>> float(run.values[0].round(12)), run.converged
    (3.0, True)
    """
    basis = Basis(products.shape[0], limits.subspace + start.shape[1], products.dtype, seed)
    for column in start.T:
        basis.append(column)
    projected = np.zeros((basis.array.shape[1],) * 2, np.result_type(products.dtype, np.float64))
    known, links = 0, list[float]()
    while True:
        last, known = known, basis.size
        coupling = _absorb(products, basis, projected, last)
        values, rotation = np.linalg.eigh(projected[:known, :known], UPLO="U")
        values, rotation = values[::-1], rotation[:, ::-1]
        residuals = np.linalg.norm(coupling @ rotation[last:known], axis=0)
        scale = float(np.abs(values).max())
        rounding = 8.0 * float(np.finfo(products.dtype).eps) * scale
        spread = float(values[0] - values[-1])
        links.append(float(np.linalg.norm(coupling)))
        done = known == products.shape[0] or (
            stop.reached(values, residuals, count, spread, rounding)
            and not stop.overlooks(values, links, stop.horizon(float(values[0]), spread))
        )
        if done or products.count + basis.size - known > limits.products:
            vectors = combined(basis.columns(0, known), rotation[:, :count])
            return Ritz(values[:count].copy(), vectors, vectors, residuals[:count] + rounding, done)
        if basis.size + start.shape[1] > basis.array.shape[1] < products.shape[0]:
            kept = kept_after_restart(known, count, start.shape[1])
            basis.compress(rotation[:, :kept], basis.columns(known))
            projected[:] = 0.0
            projected[range(kept), range(kept)] = values[:kept]
            known = kept


def _absorb(products: Multiplier, basis: Basis, projected: Array, first: int) -> Array:
    """Multiply the last block, add what is new to the basis, and return R; fill the block's columns of H."""
    known = basis.size
    images = products.forward(basis.columns(first))
    coupling = np.zeros((images.shape[1],) * 2, projected.dtype)
    for index, image in enumerate(images.T):
        coefficients, length = basis.append(image, 2 * images.shape[1])
        projected[:known, first + index] = coefficients[:known]
        added = coefficients.size - known
        coupling[:added, index] = coefficients[known:]
        if basis.size > known + added:
            coupling[added, index] = length
    return coupling[: basis.size - known]


def kept_after_restart(known: int, count: int, block: int) -> int:
    """Return how many Ritz vectors survive a restart: the wanted ones and enough beside them to keep the pace."""
    return max(1, min(known - block, max(count + block, (2 * known) // 5)))


def combined(columns: Array, coefficients: Array) -> Array:
    """Return combinations of basis columns, scaled to length one (zero ones stay)."""
    vectors = serial.product(columns, coefficients.astype(columns.dtype))
    lengths = np.linalg.norm(vectors, axis=0)
    return np.asfortranarray(vectors / np.where(lengths > 0, lengths, 1.0).astype(lengths.dtype))
