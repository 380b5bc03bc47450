"""The curvature of the squared loss along the factors of X, as far as a preconditioner needs it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.apps.completion.side import Side

LEADING = 10
"""Eigenvectors of the features that are treated one by one."""
Step = Callable[[Array], Array]


class SideCurvature:
    """Curvature of (c/2) sum over ratings of (<u_i, v_j> - r)^2 in the factor P of one side, u = (L P)_i.

    With the other side fixed it is c L^T (sum over j rated by i of v_j v_j^T)_i L. The inner sums are close to
    n_i W, where n_i counts the ratings of i and W is the mean of v_j v_j^T over all ratings: what is left is the
    Kronecker product of C = c L^T diag(n) L and W. Of C the diagonal is kept, and its leading eigenvectors, which
    features that many users share make far larger than the diagonal tells.

    Parameters
    ----------
    side
        L.
    counts
        n, the number of ratings in each row.
    scale
        c.
    """

    def __init__(self, side: Side, counts: FloatArray, scale: float = 1.0) -> None:
        self.side = side
        self._shares = np.sqrt(counts / counts.sum())[:, np.newaxis]
        self.energies = scale * side.energies(counts)
        self.leading = side.leading(scale * counts, LEADING)

    def mean(self, factor: Array) -> FloatArray:
        """Return the mean over the ratings of u_i u_i^T for the factor P, u = (L P)_i: the other side's W."""
        rows = self.side.matmat(factor) * self._shares
        return rows.T @ rows

    def inverse(self, mean: FloatArray, floor: float) -> Step:
        """Return B -> (C x W + floor)^(-1) B for the other side's W: positive definite and symmetric."""
        sizes, rotation = np.linalg.eigh(mean)
        sizes = np.maximum(sizes, 0.0)
        scales = 1.0 / (self.energies[:, np.newaxis] * sizes + floor)
        if self.leading is None:
            return lambda block: ((block @ rotation) * scales) @ rotation.T
        values, vectors = self.leading
        heads = 1.0 / (values[:, np.newaxis] * sizes + floor)

        def solve(block: Array) -> Array:
            turned = block @ rotation
            head = vectors.T @ turned
            turned -= vectors @ head
            turned *= scales
            turned += vectors @ (heads * head - vectors.T @ turned)
            return turned @ rotation.T

        return solve
