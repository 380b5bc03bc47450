"""Entry-wise operations on the modulus that keep the sign, or for complex numbers the phase."""

from __future__ import annotations

import numpy as np

from unipd._typing import Array


def clip_modulus(vector: Array, bound: float) -> Array:
    """Return v with every |v_i| cut down to ``bound`` and its phase kept.

    >>> clip_modulus(np.array([3.0, -0.5]), 1.0)
    array([ 1. , -0.5])
    >>> clip_modulus(np.array([3.0 + 4.0j]), 1.0)
    array([0.6+0.8j])
    """
    if vector.dtype.kind != "c":
        return np.clip(vector, -float(bound), float(bound))
    modulus = np.abs(vector)
    above = modulus > bound
    return np.where(above, vector * (float(bound) / np.where(above, modulus, 1)), vector)


def shrink(vector: Array, threshold: float) -> Array:
    """Return the soft threshold of v: every |v_i| lowered by ``threshold``, to zero at least.

    >>> shrink(np.array([3.0, -0.5]), 1.0)
    array([2., 0.])
    """
    if vector.dtype.kind != "c":
        return vector - clip_modulus(vector, threshold)
    modulus = np.abs(vector)
    kept = np.maximum(modulus - float(threshold), 0)
    return vector * (kept / np.where(modulus > 0, modulus, 1))


def phases(vector: Array) -> Array:
    """Return v_i / |v_i|, the sign of a real entry, and 0 where v_i = 0.

    >>> phases(np.array([-2.0, 0.0, 5.0]))
    array([-1.,  0.,  1.])
    """
    if vector.dtype.kind != "c":
        return np.sign(vector)
    tiny = np.finfo(vector.dtype).tiny
    modulus = np.abs(vector)
    unit = vector / np.maximum(modulus, tiny)
    return clip_modulus(unit, 1.0)


def total(entries: Array) -> float:
    """Return the sum of real entries, added up in double precision.

    >>> total(np.array([1.0, 2.0], np.float32))
    3.0
    """
    return float(np.sum(entries, dtype=np.float64))


def l1_kept(moduli: Array, radius: float) -> Array:
    """Return the moduli nearest to the given ones whose sum is at most ``radius``: max(m_i - theta, 0).

    Far from the ball m_i and theta agree in every digit, so what is kept is computed from the differences
    d_i = max m - m_i instead: max(height - d_i, 0), see :func:`l1_threshold`.

    >>> l1_kept(np.array([1e20, 1.0]), 2.0)
    array([2., 0.])
    """
    if total(moduli) <= radius:
        return moduli
    below = (moduli.max() - moduli).astype(np.float64)
    return np.maximum(_l1_height(below, radius), below) - below


def l1_threshold(moduli: Array, radius: float) -> float:
    """Return the theta >= 0 for which sum_i max(m_i - theta, 0) = radius; 0 when sum m_i <= radius.

    With the differences d_i = max m - m_i in increasing order, max m - theta is the least over k of
    (radius + d_1 + ... + d_k) / k: one sort.

    >>> l1_threshold(np.array([3.0, 1.0]), 2.0)
    1.0
    """
    if total(moduli) <= radius:
        return 0.0
    top = float(moduli.max())
    return max(top - _l1_height((top - moduli).astype(np.float64), radius), 0.0)


def _l1_height(below: Array, radius: float) -> float:
    """Return the height for which sum_i max(height - d_i, 0) = radius."""
    rising = np.cumsum(np.sort(below, axis=None))
    return float(np.min((radius + rising) / np.arange(1, rising.size + 1)))
