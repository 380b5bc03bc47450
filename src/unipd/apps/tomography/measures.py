"""Entropy and fidelity from eigenvalues and eigenvectors."""

from __future__ import annotations

import numpy as np

from unipd._typing import Array, FloatArray


def entropy(eigenvalues: FloatArray) -> float:
    """Return -sum_i e_i log2 e_i.

    >>> entropy(np.array([0.5, 0.5]))
    1.0
    """
    used = eigenvalues[eigenvalues > 0]
    return max(0.0, float(-np.sum(used * np.log2(used))))


def fidelity(values: FloatArray, vectors: Array, other_values: FloatArray, other_vectors: Array) -> float:
    """Return (tr sqrt(sqrt(rho) sigma sqrt(rho)))^2 = ||sqrt(rho) sqrt(sigma)||_*^2 from the factors.

    With rho = V E V^* and sigma = W F W^* the nuclear norm is that of the small matrix E^(1/2) V^* W F^(1/2).

    >>> up, plus = np.array([[1.0], [0.0]]), np.array([[1.0], [1.0]]) / np.sqrt(2)
    >>> round(fidelity(np.ones(1), up, np.ones(1), plus), 12)
    0.5
    """
    overlap = np.sqrt(values)[:, np.newaxis] * (vectors.conj().T @ other_vectors) * np.sqrt(other_values)
    return min(1.0, float(np.linalg.svd(overlap, compute_uv=False).sum()) ** 2)
