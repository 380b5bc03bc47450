"""Compiled Golub-Kahan steps with partial reorthogonalisation (Numba: import lazily).

Partial reorthogonalisation follows Simon (Math. Comp. 42, 1984) and Larsen (1998). Vectors lose their orthogonality
only as Ritz values converge, and how much of it is lost follows from the small matrix alone: with mu_kj = <u_k, u_j>
and nu_kj = <v_k, v_j>, the steps imply

    alpha_k mu_kj = alpha_j nu_kj + beta_j nu_k,j+1 - beta_k-1 mu_k-1,j,
    beta_k nu_k+1,j = alpha_j mu_kj + beta_j-1 mu_k,j-1 - alpha_k nu_kj,

up to rounding, which is added with the sign that increases them (the omega recurrence). While all of them are below
sqrt(eps), the small matrix is to working precision that of an orthonormal basis of the same space. The part that
Gram-Schmidt takes from a vector is missing in M V = U B, though: a vector is orthogonalised against all before it, and
so is the next one, already at eps^(3/4), and residuals read off B are assumed to miss that much. Most runs to a
moderate accuracy never get there, and save the passes over all vectors that full Gram-Schmidt takes in every step.

Vectors are rows: ``basis[j]`` is contiguous.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util.compiler import njit
from unipd._util.lazy import REORDER
from unipd.spectral.stopping import ROUNDING

_SLACK = 16.0
"""Cosines up to this many eps are left alone, instead of a second pass over the vectors."""


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER)
def length(vector: Array) -> float:
    """Return the Euclidean norm, summed in double precision."""
    total = 0.0
    for i in range(vector.size):
        total += np.float64(vector[i]) * np.float64(vector[i])
    return math.sqrt(total)


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER)
def subtract_multiple(vector: Array, factor: float, other: Array) -> None:
    """Subtract a multiple of another vector in place."""
    share = vector.dtype.type(factor)
    for i in range(vector.size):
        vector[i] -= share * other[i]


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER)
def divide(vector: Array, divisor: float) -> None:
    """Divide a vector in place."""
    share = vector.dtype.type(divisor)
    for i in range(vector.size):
        vector[i] /= share


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER)
def orthogonalize(vector: Array, basis: Array, size: int) -> float:
    """Subtract in place the part in the span of ``basis[:size]`` until it is gone; return the length of the rest.

    Four vectors of the basis at a time, so that the vector is read and written a quarter as often; four that are
    orthogonal to it up to a negligible more than rounding are only read.
    """
    rest = length(vector)
    for _ in range(3):
        before, negligible = rest, _SLACK * np.finfo(basis.dtype).eps * rest
        fours = size - size % 4
        for j in range(0, fours, 4):
            _remove_four(vector, basis[j], basis[j + 1], basis[j + 2], basis[j + 3], negligible)
        for j in range(fours, size):
            inside = vector.dtype.type(0)
            for i in range(vector.size):
                inside += basis[j, i] * vector[i]
            subtract_multiple(vector, inside, basis[j])
        rest = length(vector)
        if rest > 0.5 * before:
            break
    return rest


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER)
def _remove_four(vector: Array, a: Array, b: Array, c: Array, d: Array, negligible: float) -> None:
    zero = vector.dtype.type(0)
    in_a, in_b, in_c, in_d = zero, zero, zero, zero
    for i in range(vector.size):
        x = vector[i]
        in_a += a[i] * x
        in_b += b[i] * x
        in_c += c[i] * x
        in_d += d[i] * x
    if max(abs(in_a), abs(in_b), abs(in_c), abs(in_d)) <= negligible:
        return
    for i in range(vector.size):
        vector[i] -= (in_a * a[i] + in_b * b[i]) + (in_c * c[i] + in_d * d[i])


@njit(cache=True, nogil=True, forceinline=True)
def write_start(start: Array, random: FloatArray, mix: float, out: Array) -> bool:
    """Write the first right vector, as :func:`unipd.spectral.lanczos.starting_block` makes it, at length one.

    Returns whether the starting vector is finite.
    """
    size = length(start)
    if not size < math.inf:
        return False
    product = 0.0
    for i in range(out.size):
        product += random[i] * start[i]
    share = -mix if product < 0.0 else mix
    for i in range(out.size):
        out[i] = start[i] / size + share * random[i] if size > 0.0 else random[i]
    divide(out, length(out))
    return True


_ALPHA, _BETA, _NU, _MU = range(4)
"""Rows of the small array of a run: the bands of B, and nu and mu of the last vectors."""
_OMEGA_POWER = 0.75
"""Power of eps that an inner product of two vectors may reach."""
_NOISE = 2.0
"""Rounding of one step, in units of eps times the largest length seen."""


@njit(cache=True, nogil=True, forceinline=True)
def orthonormalize_left(
    left: Array, k: int, small: FloatArray, scale: float, pending: int, sign: float
) -> tuple[float, float, int]:
    """Turn the product M v in ``left[k]`` into the next left vector of ``sign`` * M; store alpha = B[k, k].

    Returns alpha (0 where the vector vanishes or is not finite), the largest length seen, and how many of the next
    vectors are to be orthogonalised against all before them. ``small`` has four rows: the bands of B, nu and mu.
    """
    before = small[_BETA, k - 1] if k > 0 else 0.0
    alpha = _subtract_and_norm(left[k], sign * before, left[max(k - 1, 0)])
    scale = max(scale, math.hypot(alpha, before))
    if not _fits(alpha, scale, left.dtype):
        return 0.0, scale, pending
    small[_ALPHA, k] = alpha
    worst = update_left_omega(small, k, _NOISE * np.finfo(left.dtype).eps * scale)
    small[_ALPHA, k], pending = _orthonormalize_row(left, k, alpha, scale, small[_MU], worst, pending, sign)
    return small[_ALPHA, k], scale, pending


@njit(cache=True, nogil=True, forceinline=True)
def orthonormalize_right(
    right: Array, k: int, small: FloatArray, scale: float, pending: int, sign: float
) -> tuple[float, float, int]:
    """Turn the product M^* u in ``right[k + 1]`` into the next right vector; store beta = B[k, k + 1].

    The rest is as in :func:`orthonormalize_left`.
    """
    alpha = small[_ALPHA, k]
    beta = _subtract_and_norm(right[k + 1], sign * alpha, right[k])
    scale = max(scale, math.hypot(alpha, beta))
    if not _fits(beta, scale, right.dtype):
        return 0.0, scale, pending
    small[_BETA, k] = beta
    worst = update_right_omega(small, k, _NOISE * np.finfo(right.dtype).eps * scale)
    small[_BETA, k], pending = _orthonormalize_row(right, k + 1, beta, scale, small[_NU], worst, pending, sign)
    return small[_BETA, k], scale, pending


@njit(cache=True, nogil=True, forceinline=True)
def _orthonormalize_row(
    basis: Array, row: int, size: float, scale: float, omega: FloatArray, worst: float, pending: int, sign: float
) -> tuple[float, int]:
    """Scale a row of this size to length one, after Gram-Schmidt against those before it where that is pending.

    Returns its length before (0 where it vanishes) and how many are still pending.
    """
    eps = np.finfo(basis.dtype).eps
    if pending == 0 and not worst <= orthogonality_threshold(basis.dtype):
        pending = 2
    if pending > 0:
        pending -= 1
        size = orthogonalize(basis[row], basis, row)
        omega[:row] = eps
        if not _fits(size, scale, basis.dtype):
            return 0.0, pending
    _multiply(basis[row], sign / size)
    return size, pending


@njit(cache=True, nogil=True, forceinline=True)
def orthogonality_threshold(dtype: Any) -> float:
    """Return the share of a vector that Gram-Schmidt may take from it, and that a residual read off B may miss."""
    return np.finfo(dtype).eps ** _OMEGA_POWER


@njit(cache=True, nogil=True, forceinline=True)
def update_left_omega(small: FloatArray, k: int, noise: float) -> float:
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
def update_right_omega(small: FloatArray, k: int, noise: float) -> float:
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
def orthonormalize_rows(basis: Array, size: int) -> None:
    """Make the first rows of a basis orthonormal, one after the other, for steps with full reorthogonalisation."""
    for k in range(size):
        _multiply(basis[k], 1.0 / orthogonalize(basis[k], basis, k))


@njit(cache=True, nogil=True, forceinline=True)
def _fits(size: float, scale: float, dtype: Any) -> bool:
    """Whether a vector of this length is more than rounding, finite, and may be multiplied to length one."""
    return bool(max(ROUNDING * np.finfo(dtype).eps * scale, np.finfo(dtype).tiny) < size < math.inf)


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER)
def _subtract_and_norm(vector: Array, factor: float, other: Array) -> float:
    """Subtract a multiple of another vector in place; return the length of the rest, summed in double precision."""
    share, total = vector.dtype.type(factor), 0.0
    for i in range(vector.size):
        entry = vector[i] - share * other[i]
        vector[i] = entry
        total += np.float64(entry) * np.float64(entry)
    return math.sqrt(total)


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER)
def _multiply(vector: Array, factor: float) -> None:
    share = vector.dtype.type(factor)
    for i in range(vector.size):
        vector[i] *= share
