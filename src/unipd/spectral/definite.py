"""Rigorous tests of whether M + shift I is positive semidefinite, whatever rounding did."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from unipd import validate
from unipd._typing import Array
from unipd.errors import InvalidInput
from unipd.spectral.powers import exponent_of, times_power
from unipd.spectral.products import working_dtype


def is_psd_shifted(matrix: Any, shift: float = 0.0) -> bool:
    """Whether M + shift I is proven positive semidefinite; False says nothing (or that it is not).

    Dense matrices: a floating-point Cholesky factorisation of M + (shift - c) I that runs to its end is exact for
    a matrix at most c away, with c = gamma / (1 - gamma) * trace (Rump, BIT 46, 2006). Sparse matrices: an
    L D L^* factorisation with D > 0, whose distance to the matrix is then bounded entry by entry.

    Parameters
    ----------
    matrix
        A Hermitian array or sparse matrix; only its Hermitian part counts.
    shift
        What is added to the diagonal.

    Examples
    --------
    >>> is_psd_shifted(np.diag([1.0, -1.0]), 1.001), is_psd_shifted(np.diag([1.0, -1.0]), 0.999)
    (True, False)
    """
    amount = validate.number("shift", shift)
    if scipy.sparse.issparse(matrix):
        return _sparse_psd(_hermitian_part(matrix.tocsc()), amount)
    dense = validate.finite_array("matrix", matrix, ndim=2)
    return _dense_psd(_hermitian_part(dense.astype(np.result_type(dense, np.float64), copy=False)), amount)


def rigorous_upper(matrix: Any, estimate: float, resolution: float = 1e-9, attempts: int = 12) -> float:
    """Return a proven upper bound of the largest eigenvalue near an estimate, by factorising t I - M.

    Tries t = estimate + width for widths that grow from ``resolution`` times the size of M by factors of 10; when
    none is proven the Gershgorin bound is returned.

    Examples
    --------
    >>> 3.0 <= rigorous_upper(np.diag([3.0, 1.0]), 3.0) < 3.0 + 1e-6
    True
    """
    exponent = exponent_of(float(abs(matrix).max()))
    if abs(exponent) > _USUAL:
        scaled, unit = matrix * 2.0**-exponent, 2.0**-exponent
        return times_power(rigorous_upper(scaled, estimate * unit, resolution, attempts), exponent)
    ceiling = gershgorin_upper(matrix)
    width = resolution * max(abs(ceiling), abs(estimate), np.finfo(np.float64).tiny)
    for _ in range(attempts):
        if estimate + width >= ceiling:
            break
        if is_psd_shifted(-matrix, estimate + width):
            return estimate + width
        width *= 10.0
    return ceiling


def gershgorin_upper(matrix: Any) -> float:
    """Return max_i (Re M_ii + sum_{j != i} |M_ij|), which no eigenvalue of a Hermitian matrix exceeds.

    >>> round(gershgorin_upper(np.array([[1.0, -2.0], [-2.0, 0.0]])), 9)
    3.0
    """
    moduli = abs(matrix)
    diagonal = np.asarray(matrix.diagonal())
    sums = np.asarray(moduli.sum(axis=1), np.float64).reshape(-1)
    reach = np.real(diagonal) + sums - np.abs(diagonal)
    eps = float(np.finfo(working_dtype(matrix.dtype)).eps)
    return float(reach.max() + 2.0 * matrix.shape[0] * eps * sums.max())


def _hermitian_part(matrix: Any) -> Any:
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput("matrix", "a square matrix", f"shape {matrix.shape}")
    return 0.5 * (matrix + matrix.conj().T)


def _dense_psd(matrix: Array, shift: float) -> bool:
    size = matrix.shape[0]
    gamma = _gamma(size + 2, matrix.dtype)
    diagonal = np.real(matrix.diagonal()) + shift
    margin = gamma / (1.0 - gamma) * float(np.abs(diagonal).sum()) + 4.0 * _EPS * float(np.abs(diagonal).max())
    shifted = matrix.copy()
    shifted[range(size), range(size)] = diagonal - margin - _UNDERFLOW * size
    try:
        scipy.linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return False
    return True


def _sparse_psd(matrix: Any, shift: float) -> bool:
    """Factorise M + (shift - margin) I = L D L^* + E and check ||E|| <= margin, widening the margin if need be."""
    shifted = matrix.astype(np.result_type(matrix.dtype, np.float64)) + shift * scipy.sparse.eye_array(matrix.shape[0])
    largest = float(shifted.diagonal().real.max())
    if shifted.diagonal().real.min() <= 0.0:
        return False
    margin = 8.0 * _gamma(64, shifted.dtype) * largest
    for _ in range(3):
        error = _factor_error(shifted, margin)
        if error is None:
            return False
        if error + 4.0 * _EPS * (largest + margin) <= margin:
            return True
        margin = 2.0 * error
    return False


def _factor_error(shifted: Any, margin: float) -> float | None:
    """Return a bound of ||M - margin I - L D L^*|| for the computed factors, or None when D > 0 fails.

    The factors satisfy M + E = L U with |E| <= gamma |L| |U| entry by entry, and U differs from D L^* by a G that
    is at hand, so ||gamma |L| |U| 1|| + |||L| |G| 1|| in the maximum norm bounds the distance.
    """
    from scipy.sparse.linalg import splu

    size = shifted.shape[0]
    try:
        factors: Any = splu(
            (shifted - margin * scipy.sparse.eye_array(size)).tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:
        return None
    pivots = factors.U.diagonal().real
    if not np.array_equal(factors.perm_r, factors.perm_c) or pivots.min() <= 0.0:
        return None
    lower, upper = factors.L, factors.U
    difference = abs(upper - scipy.sparse.diags_array(pivots) @ lower.conj().T)
    ones = np.ones(size)
    products = abs(lower) @ (_gamma(size + 2, shifted.dtype) * (abs(upper) @ ones) + difference @ ones)
    return 2.0 * float(np.max(products))


_USUAL = 200
"""Matrices whose largest entry is within 2 to this power (and its inverse) are factorised as they are."""
_EPS = float(np.finfo(np.float64).eps)
_UNDERFLOW = 1e-280
"""Larger than anything that underflow in a factorisation can hide."""


def _gamma(terms: int, dtype: Any) -> float:
    """Return the constant of a sum of so many rounded products (twice the usual; complex products round more)."""
    rounding = (4.0 if np.dtype(dtype).kind == "c" else 1.0) * terms * _EPS
    return rounding / (1.0 - rounding)
