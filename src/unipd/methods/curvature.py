"""Second derivatives of a master problem: C^* J C with J the derivative of the prox of the conjugate."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.couplings import PSDCone
from unipd.couplings.jacobian import prox_jacobian
from unipd.protocols import Coupling


@singledispatch
def prox_curvature(coupling: Coupling, vector: Array, step: float, columns: Array, gram: FloatArray) -> FloatArray:
    """Return Re C^* J C for the generalised Jacobian J of v -> prox_{step h}(v) and C^* C given as ``gram``.

    >>> from unipd.couplings import AtMost
    >>> prox_curvature(AtMost(), np.array([2.0, -1.0]), 1.0, np.ones((2, 1)), np.array([[2.0]]))
    array([[1.]])
    """
    product = (columns.conj().T @ prox_jacobian(coupling, vector, step, columns)).real
    return 0.5 * (product + product.T)


@prox_curvature.register
def _(coupling: PSDCone, vector: Array, step: float, columns: Array, gram: FloatArray) -> FloatArray:
    """Use the side of the spectrum that is smaller: J keeps nonpositive eigenvalues, and I - J the others.

    In the eigenbasis V of v, J multiplies the entry (k, l) of V^* X V by (w_k^- - w_l^-) / (w_k - w_l), which is 1 if
    both eigenvalues are negative and 0 where both are positive. Only V_N^* X V is needed, with V_N the negative
    side, for J, or V_P^* X V for I - J.
    """
    size = coupling.size
    stack = columns.reshape(size, size, -1)
    mirrored = stack.transpose(1, 0, 2)
    if not np.array_equal(stack, mirrored.conj() if stack.dtype.kind == "c" else mirrored):
        product = (columns.conj().T @ prox_jacobian(coupling, vector, step, columns)).real
        return 0.5 * (product + product.T)
    matrix = vector.reshape(size, size)
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.conj().T))
    inside = values < 0
    few = bool(2 * np.count_nonzero(inside) <= size)
    side = inside if few else ~inside
    part = _one_sided(np.abs(values), vectors, side, stack)
    product = (part.conj().T @ part).real.astype(np.float64)
    return product if few else gram - product


def _one_sided(sizes: Array, vectors: Array, side: Array, stack: Array) -> Array:
    """Return V_N^* X V for every X, its entries times the root of their factor, as columns."""
    size, count = stack.shape[0], stack.shape[2]
    chosen = vectors[:, side]
    turned = (chosen.conj().T @ stack.reshape(size, size * count)).reshape(-1, size, count)
    turned = vectors.T @ turned
    ours, all_sizes = sizes[side][:, None], sizes[None, :]
    across = 2.0 * ours / np.maximum(ours + all_sizes, np.finfo(sizes.dtype).tiny)
    factors = np.where(side[None, :], 1.0, across)
    return (np.sqrt(factors)[:, :, None] * turned).reshape(-1, count)
