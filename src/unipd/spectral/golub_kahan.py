"""Thick-restart (block) Golub-Kahan-Lanczos bidiagonalisation for the top singular triples."""

from __future__ import annotations

import numpy as np

from unipd._typing import Array
from unipd.spectral.bidiagonal import Bidiagonal
from unipd.spectral.brief import Brief
from unipd.spectral.lanczos import Limits, Ritz, combined, kept_after_restart
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
    run = Bidiagonal(products, start, limits.subspace, seed)
    return finished(run, run.advance(limits.products, stop, 0.0), count, stop, limits)


def taken_over(brief: Brief, products: Multiplier, stop: Stop, limits: Limits, seed: int) -> Ritz:
    """Go on with a compiled run that has not come to its end: restart it, or replace a vector that vanishes."""
    run = Bidiagonal(products, brief.bases[1][:1].T, limits.subspace, seed)
    run.resume(brief)
    return finished(run, run.coupling if run.known else run.advance(limits.products, stop, 0.0), 1, stop, limits)


def finished(run: Bidiagonal, coupling: Array, count: int, stop: Stop, limits: Limits) -> Ritz:
    """Go on with a run until it may stop; ``coupling`` is the R of the steps it has done."""
    products = run.products
    while True:
        known, right, left = run.known, run.right, run.left
        found = run.top_triple(stop) if count == 1 else None
        if found is not None:
            rounding = 8.0 * float(np.finfo(products.dtype).eps) * found[0]
            u, v = found[2][:, np.newaxis], found[3][:, np.newaxis]
            return Ritz(np.array([found[0]]), v, u, np.array([found[1] + rounding]), True)
        outer, values, inner = np.linalg.svd(run.small)
        residuals = np.linalg.norm(coupling @ outer[known - coupling.shape[1] :], axis=0)
        scale = float(values[0])
        rounding = 8.0 * float(np.finfo(products.dtype).eps) * scale
        done = known == products.shape[1] or (
            stop.reached(values, residuals, count, scale, rounding)
            and not stop.overlooks(values**2, run.links, stop.horizon(scale, scale) ** 2)
        )
        if done or products.count + 2 * (right.size - known) > limits.products:
            vectors = combined(right.columns(0, known), inner[:count].conj().T)
            others = combined(left.columns(0, known), outer[:, :count])
            return Ritz(values[:count].copy(), vectors, others, residuals[:count] + rounding, done)
        if run.full:
            kept = kept_after_restart(min(known, run.room), count, run.block)
            run.restart(outer[:, :kept], values[:kept], inner[:kept])
        coupling = run.advance(limits.products, stop, scale)
