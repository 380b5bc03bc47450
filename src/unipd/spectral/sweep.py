"""Golub-Kahan steps with a large operator, known by its products: what comes between two products is compiled."""

from __future__ import annotations

from collections.abc import Callable

from unipd._typing import Array, FloatArray

Product = Callable[[Array], Array]


def sweep(
    forward: Product,
    adjoint: Product,
    bases: tuple[Array, Array],
    projected: FloatArray,
    first: int,
    last: int,
    goals: FloatArray,
) -> tuple[int, int]:
    """Do steps first, ..., last - 1 of the bidiagonalisation M V = U B; return (steps done, products made).

    ``forward`` and ``adjoint`` multiply a vector by M and M^*; vectors are the rows of the bases (left, right). Step k
    takes right[k] to left[k] and right[k + 1], filling B[k, k] and B[k, k + 1]. Ends early when the ``goals`` (none:
    empty) seem reached, and before a step whose vectors vanish or are not finite: that one is for the caller.

    >>> import numpy as np
    >>> M, bases, small = np.diag([3.0, 4.0]), (np.zeros((1, 2)), np.eye(2)[::-1].copy()), np.zeros((2, 2))
    >>> sweep(lambda x: M @ x, lambda y: M.T @ y, bases, small, 0, 1, np.empty(0)), bases[0]
    ((0, 2), array([[0., 1.]]))
    """
    from unipd.spectral.ritz_kernels import may_stop
    from unipd.spectral.sweep_kernels import settle_left, settle_right
    from unipd.spectral.tridiagonal import bands_of

    left, right = bases
    scale = float(abs(projected[first - 1, first - 1])) if first > 0 else 0.0
    for k in range(first, last):
        left[k] = forward(right[k])
        alpha, scale = settle_left(left, k, projected, scale)
        if alpha == 0.0:
            return k - first, 2 * (k - first) + 1
        right[k + 1] = adjoint(left[k])
        beta, scale = settle_right(right, k, alpha, scale)
        if beta == 0.0:
            return k - first, 2 * (k - first) + 2
        projected[k, k], projected[k, k + 1] = alpha, beta
        if goals.size > 0 and may_stop(bands_of(projected, k + 1), k + 1, goals):
            return k + 1 - first, 2 * (k + 1 - first)
    return last - first, 2 * (last - first)
