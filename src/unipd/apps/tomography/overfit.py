"""How many eigenvalues a state takes that fits noise: the rank to begin with.

The best fit of noisy values is no state of low rank: beside the signal it has many small eigenvalues that fit noise.
They can be counted before anything is solved. (p/n) A^*(b) is an unbiased estimate of the state from n random
strings; what it has beside the signal is a random matrix of mean square eigenvalue s^2 = (p/n)^2 ||b||^2, with
Wigner's semicircle of radius 2 s as its spectrum. Projected to trace one, it keeps the eigenvalues above a threshold
at which they give the trace back that the signal loses.
"""

from __future__ import annotations

import math

import numpy as np

from unipd.apps.tomography.problem import standard_errors
from unipd.io.pauli_model import PauliData

MOST_COLUMNS = 256
"""Largest rank to begin with."""


def starting_rank(data: PauliData, accuracy: float) -> int:
    """Return the rank to begin with: 1 while the noise that is known, ||s||^2 / ||b||^2, is below the accuracy.

    >>> data = PauliData(1, np.array([1, 0]), np.array([0, 1]), np.array([0.6, 0.8]), shots=np.array([100.0, 100.0]))
    >>> starting_rank(data, 1e-4), starting_rank(data, 0.1)
    (2, 1)
    """
    errors = standard_errors(data)
    energy = float(np.sum(data.expectations**2))
    noise = 0.0 if errors is None else float(np.sum(errors**2))
    return 1 if noise <= accuracy * energy else overfit_rank(data.qubits, data.size, energy, noise)


def overfit_rank(qubits: int, count: int, energy: float, noise: float) -> int:
    """Return the rank of the projected estimate from ``count`` values with ||b||^2 = energy and ||s||^2 = noise.

    The signal's rank is taken to be the inverse of its purity, (p/n)(energy - noise).

    >>> overfit_rank(10, 25_896, 9.1 * 1.2, 2.6), overfit_rank(2, 15, 4.0, 0.01)
    (43, 3)
    """
    p = 1 << qubits
    purity = min(max(p * (energy - noise) / count, 1.0 / p), 1.0)
    signal = 1.0 / purity
    spread = p * math.sqrt(energy) / count

    def excess(threshold: float) -> float:
        return p * spread * _mean_above(threshold) - signal * threshold * spread

    low, high = 0.0, 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(middle) > 0.0 else (low, middle)
    return min(math.ceil(signal + p * _share_above(low)), p, MOST_COLUMNS)


def _share_above(x: float) -> float:
    """Return the part of the semicircle of radius 2 above x."""
    return 0.5 - (x * math.sqrt(4.0 - x * x) / (4.0 * math.pi) + math.asin(0.5 * x) / math.pi)


def _mean_above(x: float) -> float:
    """Return the mean of (y - x)_+ over the semicircle of radius 2."""
    return (4.0 - x * x) ** 1.5 / (6.0 * math.pi) - x * _share_above(x)
