"""Entrywise operations on moduli that keep the sign or the phase, and the rounding of a dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array

MEMBERSHIP_ROUNDING = 64.0
"""Points of a set are computed to some tens of eps: a membership test allows this many, whatever its tolerance."""


def precision(vector: Array) -> float:
    """Return the spacing of numbers at 1 (eps) in an array's dtype.

    >>> precision(np.ones(3)) == 2.0**-52
    True
    """
    return float(np.finfo(vector.dtype).eps)


def rounding_of(x: Any) -> float:
    """Return 64 eps of a point's dtype, below which membership cannot be decided; 0 for integers and lists.

    >>> rounding_of(np.zeros(2, np.float32)) == 64 * 2.0**-23
    True
    """
    kind = getattr(x, "dtype", None)
    return MEMBERSHIP_ROUNDING * float(np.finfo(kind).eps) if kind is not None and kind.kind in "fc" else 0.0


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


def phase(y: Array) -> Array:
    """Return y / |y| entry by entry (the sign of a real number), 0 where y is 0.

    >>> phase(np.array([3.0, 0.0, -2.0]))
    array([ 1.,  0., -1.])
    >>> phase(np.array([3.0 + 4.0j]))
    array([0.6+0.8j])
    """
    if y.dtype.kind != "c":
        return np.sign(y)
    # Dividing by the larger part first keeps the modulus exact for subnormal numbers.
    largest = np.maximum(np.abs(np.real(y)), np.abs(np.imag(y)))
    largest[largest == 0] = 1
    out = divide_by_real(y, largest)
    modulus = np.abs(out)
    modulus[modulus == 0] = 1
    return divide_by_real(out, modulus)


def divide_by_real(y: Array, scale: Array | float) -> Array:
    """Return y / scale for a real scale; complex division by a subnormal number would overflow."""
    if y.dtype.kind != "c":
        return y / scale
    return np.real(y) / scale + 1j * (np.imag(y) / scale)


def scale_rows(factors: Array, directions: Array) -> Array:
    """Return diag(factors) C in the dtype of the columns C.

    >>> scale_rows(np.array([True, False]), np.eye(2))
    array([[1., 0.],
           [0., 0.]])
    """
    return (factors.reshape(-1, 1) * directions).astype(directions.dtype, copy=False)


def total(entries: Array) -> float:
    """Return the sum of real entries, added up in double precision.

    >>> total(np.array([1.0, 2.0], np.float32))
    3.0
    """
    return float(np.sum(entries, dtype=np.float64))


def project_moduli_l1(moduli: Array, radius: float) -> Array:
    """Return the moduli nearest to the given ones whose sum is at most ``radius``: max(m_i - theta, 0).

    Far from the ball m_i and theta agree in every digit, so what is kept is computed from the differences
    d_i = max m - m_i instead: max(height - d_i, 0), see :func:`l1_threshold`.

    >>> project_moduli_l1(np.array([1e20, 1.0]), 2.0)
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
