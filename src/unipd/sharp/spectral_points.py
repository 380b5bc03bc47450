"""Singular values and eigenvalues of points kept as arrays or as factors, without forming the latter."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, Shape


def singular_values(x: Any, shape: Shape) -> Array | None:
    """Return the nonzero singular values of a point (and perhaps zeros), or None when it does not fit the shape.

    Factors U diag(w) V^* are reduced by QR: U = Q_u R_u, V = Q_v R_v leave R_u diag(w) R_v^*.

    >>> u = np.array([[3.0], [4.0]])
    >>> singular_values(atoms.LowRank(u, u, np.array([2.0])), (2, 2)).round(12)
    array([50.])
    """
    if tuple(getattr(x, "shape", np.shape(x))) != shape:
        return None
    if isinstance(x, atoms.LowRank) and x.rank == 0:
        return np.zeros(1, np.finfo(x.dtype).dtype)
    core = _core(x) if isinstance(x, atoms.LowRank) and x.rank < min(shape) else _array(x)
    return np.linalg.svd(core, compute_uv=False) if np.isfinite(core).all() else None


def eigenvalues(x: Any, size: int, tolerance: float) -> Array | None:
    """Return the eigenvalues of a Hermitian point, increasing, or None when it is not Hermitian or does not fit.

    Factors are reduced to the joint span of U and V; the zeros outside it are represented by one.

    >>> u = np.array([[0.0], [2.0]])
    >>> eigenvalues(atoms.LowRank(u, u, np.array([1.0])), 2, 1e-9)
    array([0., 4.])
    """
    if tuple(getattr(x, "shape", np.shape(x))) != (size, size):
        return None
    if isinstance(x, atoms.LowRank) and x.rank == 0:
        return np.zeros(1, np.finfo(x.dtype).dtype)
    factored = isinstance(x, atoms.LowRank) and 2 * x.rank < size
    core = _joint_core(x) if factored else _array(x)
    if not np.isfinite(core).all():
        return None
    if np.abs(core - core.conj().T).max() > tolerance * max(1.0, float(np.abs(core).max())):
        return None
    values = np.linalg.eigvalsh(0.5 * (core + core.conj().T))
    return np.sort(np.append(values, 0.0)).astype(values.dtype) if factored else values


def _array(x: Any) -> Array:
    if hasattr(x, "toarray"):
        return np.asarray(x.toarray())
    return np.asarray(atoms.dense(x) if hasattr(x, "dense") else x)


def _core(x: atoms.LowRank) -> Array:
    left = np.linalg.qr(x.left)[1]
    right = left if x.hermitian else np.linalg.qr(x.right)[1]
    return (left * x.weights) @ right.conj().T


def _joint_core(x: atoms.LowRank) -> Array:
    if x.hermitian:
        return _core(x)
    span = np.linalg.qr(np.concatenate([x.left, x.right], axis=1))[0]
    return (span.conj().T @ x.left * x.weights) @ (x.right.conj().T @ span)
