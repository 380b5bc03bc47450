"""Compiled pieces of a Golub-Kahan run with partial reorthogonalisation (Simon, Math. Comp. 42, 1984; Larsen, 1998).

Rounding makes the vectors of a run lose their orthogonality only as Ritz values converge. How much of it is lost
follows from the small matrix alone: with mu_kj = <u_k, u_j> and nu_kj = <v_k, v_j>, the steps say that

    alpha_k mu_kj = alpha_j nu_kj + beta_j nu_k,j+1 - beta_k-1 mu_k-1,j,
    beta_k nu_k+1,j = alpha_j mu_kj + beta_j-1 mu_k,j-1 - alpha_k nu_kj,

up to rounding, which is added with the sign that makes things worse. While all of them are below sqrt(eps), the small
matrix is to working precision that of an orthonormal basis of the same space. What Gram-Schmidt takes from a vector is
missing in M V = U B, though, so that a vector is made orthogonal to all before it, and the next one too, already at
eps^(3/4), and residuals read off B are taken to miss so much. Most runs to a moderate accuracy never come to it, and
save the passes over all vectors that Gram-Schmidt takes in every step.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from unipd._typing import Array, FloatArray
from unipd.spectral.sweep_kernels import remove

_REORDERED: Any = {"reassoc", "contract", "nsz"}
_ALPHA, _BETA, _NU, _MU = range(4)
"""Rows of what a run keeps beside its vectors: the bands of B, and nu and mu of the last vectors."""
_LEVEL = 0.75
"""Power of eps that an inner product of two vectors may reach."""
_NOISE = 2.0
"""Rounding of one step, in units of eps times the largest length seen."""


@njit(cache=True, nogil=True, forceinline=True)
def partly_left(
    left: Array, k: int, small: FloatArray, scale: float, owed: int, sign: float
) -> tuple[float, float, int]:
    """Make of the product M v in ``left[k]`` the next left vector of ``sign`` * M; keep alpha = B[k, k].

    Returns alpha (0 where the vector vanishes or is not finite), the largest length seen, and how many of the next
    vectors are owed Gram-Schmidt against all before them. ``small`` has four rows: the bands of B, nu and mu.
    """
    before = small[_BETA, k - 1] if k > 0 else 0.0
    alpha = _subtracted(left[k], sign * before, left[max(k - 1, 0)])
    scale = max(scale, math.hypot(alpha, before))
    if not _fits(alpha, scale, left.dtype):
        return 0.0, scale, owed
    small[_ALPHA, k] = alpha
    worst = foresee_left(small, k, _NOISE * np.finfo(left.dtype).eps * scale)
    small[_ALPHA, k], owed = _settled(left, k, alpha, scale, small[_MU], worst, owed, sign)
    return small[_ALPHA, k], scale, owed


@njit(cache=True, nogil=True, forceinline=True)
def partly_right(
    right: Array, k: int, small: FloatArray, scale: float, owed: int, sign: float
) -> tuple[float, float, int]:
    """Make of the product M^* u in ``right[k + 1]`` the next right vector; keep beta = B[k, k + 1].

    The rest is as in :func:`partly_left`.
    """
    alpha = small[_ALPHA, k]
    beta = _subtracted(right[k + 1], sign * alpha, right[k])
    scale = max(scale, math.hypot(alpha, beta))
    if not _fits(beta, scale, right.dtype):
        return 0.0, scale, owed
    small[_BETA, k] = beta
    worst = foresee_right(small, k, _NOISE * np.finfo(right.dtype).eps * scale)
    small[_BETA, k], owed = _settled(right, k + 1, beta, scale, small[_NU], worst, owed, sign)
    return small[_BETA, k], scale, owed


@njit(cache=True, nogil=True, forceinline=True)
def _settled(
    basis: Array, row: int, size: float, scale: float, levels: FloatArray, worst: float, owed: int, sign: float
) -> tuple[float, int]:
    """Take a row of this size to length one, after Gram-Schmidt against those before it where that is owed.

    Returns its length before (0 where it vanishes) and what is owed then.
    """
    eps = np.finfo(basis.dtype).eps
    if owed == 0 and not worst <= missing(basis.dtype):
        owed = 2
    if owed > 0:
        owed -= 1
        size = remove(basis[row], basis, row)
        levels[:row] = eps
        if not _fits(size, scale, basis.dtype):
            return 0.0, owed
    _multiply(basis[row], sign / size)
    return size, owed


@njit(cache=True, nogil=True, forceinline=True)
def missing(dtype: Any) -> float:
    """Return the share of a vector that Gram-Schmidt may take from it, and that a residual read off B may miss."""
    return np.finfo(dtype).eps ** _LEVEL


@njit(cache=True, nogil=True, forceinline=True)
def foresee_left(small: FloatArray, k: int, noise: float) -> float:
    """Take mu of the left vector k - 1 to that of k (alpha_k and beta_k-1 are known); return its largest entry."""
    alphas, betas, nu, mu = small[_ALPHA], small[_BETA], small[_NU], small[_MU]
    before, share, worst = betas[k - 1] if k > 0 else 0.0, 1.0 / alphas[k], 0.0
    for j in range(k):
        level = alphas[j] * nu[j] + betas[j] * nu[j + 1] - before * mu[j]
        mu[j] = share * (level + math.copysign(noise, level))
        worst = max(worst, abs(mu[j]))
    mu[k] = 1.0
    return worst


@njit(cache=True, nogil=True, forceinline=True)
def foresee_right(small: FloatArray, k: int, noise: float) -> float:
    """Take nu of the right vector k to that of k + 1 (alpha_k and beta_k are known); return its largest entry."""
    alphas, betas, nu, mu = small[_ALPHA], small[_BETA], small[_NU], small[_MU]
    alpha, share, worst = alphas[k], 1.0 / betas[k], 0.0
    for j in range(k + 1):
        level = alphas[j] * mu[j] - alpha * nu[j]
        if j > 0:
            level += betas[j - 1] * mu[j - 1]
        nu[j] = share * (level + math.copysign(noise, level))
        worst = max(worst, abs(nu[j]))
    nu[k + 1] = 1.0
    return worst


@njit(cache=True, nogil=True, forceinline=True)
def orthonormalise(basis: Array, size: int) -> None:
    """Make the first rows of a basis orthonormal, one after the other: what other steps than these need of them."""
    for k in range(size):
        _multiply(basis[k], 1.0 / remove(basis[k], basis, k))


@njit(cache=True, nogil=True, forceinline=True)
def _fits(size: float, scale: float, dtype: Any) -> bool:
    """Whether a vector of this length is more than rounding, finite, and may be multiplied to length one."""
    return bool(max(8.0 * np.finfo(dtype).eps * scale, np.finfo(dtype).tiny) < size < math.inf)


@njit(cache=True, nogil=True, forceinline=True, fastmath=_REORDERED)
def _subtracted(vector: Array, factor: float, other: Array) -> float:
    """Subtract a multiple of another vector in place; return the length of the rest, summed in double precision."""
    share, total = vector.dtype.type(factor), 0.0
    for i in range(vector.size):
        entry = vector[i] - share * other[i]
        vector[i] = entry
        total += np.float64(entry) * np.float64(entry)
    return math.sqrt(total)


@njit(cache=True, nogil=True, forceinline=True, fastmath=_REORDERED)
def _multiply(vector: Array, factor: float) -> None:
    share = vector.dtype.type(factor)
    for i in range(vector.size):
        vector[i] *= share
