"""Compiled single-vector runs (Numba: import lazily): Ritz values, the stopping test, Golub-Kahan steps.

The stopping rule is that of :class:`~unipd.spectral.krylov.Stop` for one triple, on an upper bidiagonal matrix given
by its bands. Golub-Kahan steps reorthogonalise partially.

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
from unipd._util.arrays import EPS
from unipd._util.lazy import REORDER, njit
from unipd.spectral.krylov import ROUNDING


@njit(cache=True, nogil=True, forceinline=True)
def find_next_eigenvalue(diagonal: FloatArray, links: FloatArray, row: FloatArray, known: int) -> bool:
    """Find one more eigenvalue of a symmetric tridiagonal matrix: the first ``known`` places have some, largest first.

    QL iteration with implicit shifts, in place: it turns a row e into e times the eigenvectors. ``links[i]`` couples i
    and i + 1 (the last is free). Returns whether it ended.
    """
    size = diagonal.size
    for _ in range(31):
        high = known
        while high < size - 1:
            if abs(links[high]) <= EPS * (abs(diagonal[high]) + abs(diagonal[high + 1])):
                break
            high += 1
        if high == known:
            _sort_in(diagonal, row, known)
            return True
        chase(diagonal, links, row, known, high, _shift(diagonal, links, known))
    return False


@njit(cache=True, nogil=True, forceinline=True)
def all_at_most(diagonal: FloatArray, links: FloatArray, known: int, bound: float) -> bool:
    """Whether all eigenvalues from place ``known`` on, which need not be found yet, are at most the bound."""
    taken = 0.0
    for i in range(known, diagonal.size):
        pivot = bound - diagonal[i] - taken
        if pivot <= 0.0:
            return False
        taken = links[i] * links[i] / pivot
    return True


@njit(cache=True, nogil=True, forceinline=True)
def _sort_in(diagonal: FloatArray, row: FloatArray, place: int) -> None:
    """Move the entry at a place before the smaller ones."""
    value, entry = diagonal[place], row[place]
    while place > 0 and diagonal[place - 1] < value:
        diagonal[place], row[place] = diagonal[place - 1], row[place - 1]
        place -= 1
    diagonal[place], row[place] = value, entry


@njit(cache=True, nogil=True, forceinline=True)
def _shift(diagonal: FloatArray, links: FloatArray, low: int) -> float:
    """Return the eigenvalue of the first two places that is nearer to the first."""
    slope = (diagonal[low + 1] - diagonal[low]) / (2.0 * links[low])
    return diagonal[low] - links[low] / (slope + math.copysign(math.sqrt(slope * slope + 1.0), slope))


@njit(cache=True, nogil=True, forceinline=True)
def chase(diagonal: FloatArray, links: FloatArray, row: FloatArray, low: int, high: int, shift: float) -> None:
    """Do one implicit QL step on the block from ``low`` to ``high``: its eigenvalue near the shift comes first."""
    bulge = diagonal[high] - shift
    sine = cosine = 1.0
    carried = 0.0
    for i in range(high - 1, low - 1, -1):
        f, b = sine * links[i], cosine * links[i]
        radius = math.sqrt(f * f + bulge * bulge)
        links[i + 1] = radius
        if radius == 0.0:
            diagonal[i + 1] -= carried
            links[high] = 0.0
            return
        sine, cosine = f / radius, bulge / radius
        bulge = diagonal[i + 1] - carried
        radius = (diagonal[i] - bulge) * sine + 2.0 * cosine * b
        carried = sine * radius
        diagonal[i + 1] = bulge + carried
        bulge = cosine * radius - b
        old = row[i + 1]
        row[i + 1] = sine * row[i] + cosine * old
        row[i] = cosine * row[i] - sine * old
    diagonal[low] -= carried
    links[low] = bulge
    links[high] = 0.0


@njit(cache=True, nogil=True, forceinline=True)
def gram(bands: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """Return the diagonal of B B^T and the off-diagonal, for the first columns of a B given by its bands."""
    squares, links = np.empty(size), np.zeros(size)
    for i in range(size):
        squares[i] = bands[0, i] * bands[0, i]
        if i < size - 1:
            squares[i] += bands[1, i] * bands[1, i]
            links[i] = bands[1, i] * bands[0, i + 1]
    return squares, links


TOP = 6
"""Index, in the goals, of the square of the last top value."""
_DUE, _TESTED, _EXCESS = 7, 8, 9
"""Indices of the size at which to test next, the last size tested, and its log excess."""
_SMALLEST = 1e-60
"""Below this size fourth powers of B underflow: such runs continue in Python."""
_PATIENCE = 8
"""Test convergence at least every size / 8 steps."""


@njit(cache=True, nogil=True, forceinline=True)
def may_stop_if_due(bands: FloatArray, size: int, goals: FloatArray) -> bool:
    """Whether :func:`may_stop`, tested only when due.

    After many steps a test costs a fair share of a small product. The next one is due after half of the steps that the
    goals are away at the pace since the last one, and at most an eighth of the steps done.
    """
    return size >= goals[_DUE] and may_stop(bands, size, goals)


@njit(cache=True, nogil=True, forceinline=True)
def may_stop(bands: FloatArray, size: int, goals: FloatArray) -> bool:
    """Whether the Ritz triple of an upper bidiagonal B seems good enough.

    B is given by its bands, two rows: the diagonal and what is above it, the entry beyond its last column included.
    ``goals`` are the numbers of a stopping rule (``Stop.goals``) for one triple; the last of them are workspace. Ritz
    values are computed from the top, and no more of them than the test needs.
    """
    if not _SMALLEST < bands[0, 0] < 1.0 / _SMALLEST:
        return False
    squares, links = gram(bands, size)
    last = np.zeros(size)
    last[size - 1] = bands[1, size - 1]
    if goals[TOP] > 0.0:
        chase(squares, links, last, 0, size - 1, goals[TOP])
    missed, used, known = 0.0, 0, 0
    while used == 0 or (known < size and not all_at_most(squares, links, known, squares[used - 1])):
        if not find_next_eigenvalue(squares, links, last, known):
            return False
        known += 1
        missed, used = _log_excess(bands, squares[:known], last, goals)
    ahead = size // _PATIENCE
    if goals[_EXCESS] > missed:
        ahead = min(ahead, int(0.5 * missed * (size - goals[_TESTED]) / (goals[_EXCESS] - missed)))
    goals[TOP], goals[_DUE], goals[_TESTED], goals[_EXCESS] = squares[0], size + max(1, ahead), size, missed
    return missed == 0.0


@njit(cache=True, nogil=True, forceinline=True)
def _log_excess(bands: FloatArray, squares: FloatArray, last: FloatArray, goals: FloatArray) -> tuple[float, int]:
    """Return the logarithm of the factor by which the first of the goals not reached is missed, 0 where all are.

    Given the largest eigenvalues of B B^T known so far and the residual norms of their vectors, up to sign. Also
    returns how many of them were used, 0 where more are needed.
    """
    absolute, relative, allowed, guard, weight, precision = goals[:TOP]
    top, residual, used = math.sqrt(max(squares[0], 0.0)), abs(last[0]), 1
    rounding = precision * top
    missed = _above(residual, max(rounding, absolute, relative * top))
    if missed == 0.0 and residual > rounding:
        limit = max(allowed, rounding)
        error, used = _value_error(squares, last, limit)
        missed = _above(error, limit)
    if missed > 0.0 or used == 0 or guard < 0.0:
        return missed, used
    level = top + max(guard * top, allowed if allowed < math.inf else 0.0)
    return max(-math.log(weight) - 2.0 * _height(bands, last.size, level), 0.0), used


@njit(cache=True, nogil=True, forceinline=True)
def _above(found: float, limit: float) -> float:
    """Return log(found / limit), or 0 within the limit."""
    if found <= limit:
        return 0.0
    return math.log(found) - math.log(limit) if limit > 0.0 else math.inf


@njit(cache=True, nogil=True, forceinline=True)
def _value_error(squares: FloatArray, last: FloatArray, limit: float) -> tuple[float, int]:
    """Return :func:`unipd.spectral.krylov.value_error` of the first value, as far as the limit needs it.

    Also returns how many values were used; 0 where those known do not decide whether the limit is met.
    """
    least, total, i = abs(last[0]), 0.0, 0
    value = math.sqrt(max(squares[0], 0.0))
    while least > limit:
        total += last[i] * last[i]
        if total > limit * value or i + 1 == last.size:  # no gap is as wide as it would have to be
            return least, i + 1
        i += 1
        if i == squares.size:
            return least, 0
        upper, value = value, math.sqrt(max(squares[i], 0.0))
        gap = upper - value - abs(last[i])
        if gap > math.sqrt(total):
            least = min(least, total / gap)
    return least, i + 1


@njit(cache=True, nogil=True, forceinline=True)
def _height(bands: FloatArray, size: int, level: float) -> float:
    """Return log p_k of the run's orthonormal polynomial at the square of the level, by the pivots of x - B B^T."""
    squares, links = gram(bands, size)
    height, known = 0.0, 0.0
    for i in range(size):
        pivot = level * level - squares[i] - known
        if pivot <= 0.0:
            return -math.inf
        known = links[i] * links[i] / pivot
        height += math.log(pivot / abs(bands[0, i] * bands[1, i]))
    return height


_MARGIN = 32.0
"""Eps by which the computed top value may be too small: pivots must not be clipped because of it."""


@njit(cache=True, nogil=True, forceinline=True)
def top_triple(
    bases: tuple[Array, Array], bands: FloatArray, size: int, goals: FloatArray, ends: tuple[Array, Array]
) -> tuple[float, float]:
    """Return the top Ritz value of a B given by its bands and its residual norm; write its vectors (left, right).

    Call it after :func:`may_stop` has returned True. A value of 0 means that there is none.
    """
    top = goals[TOP]
    outer = _top_vector(bands, size, top)
    inner = np.empty(size)
    for i in range(size):
        inner[i] = bands[0, i] * outer[i] + (bands[1, i - 1] * outer[i - 1] if i > 0 else 0.0)
    _combine(bases[0], outer, ends[0])
    _combine(bases[1], inner, ends[1])
    tall, wide, value = length(ends[0]), length(ends[1]), math.sqrt(top)
    if tall == 0.0 or wide == 0.0:
        return 0.0, 0.0
    multiply(ends[0], 1.0 / tall)
    multiply(ends[1], 1.0 / wide)
    # M v = value (value tall / wide) u: vectors that are not quite orthogonal make the two lengths differ.
    stray = abs(wide / tall - value) * max(1.0, value * tall / wide)
    return value, abs(bands[1, size - 1] * outer[size - 1]) / tall + stray


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER)
def _combine(basis: Array, coefficients: FloatArray, out: Array) -> None:
    """Write the combination of the first rows of a basis."""
    out[:] = 0
    for j in range(coefficients.size):
        subtract_multiple(out, -coefficients[j], basis[j])


@njit(cache=True, nogil=True, forceinline=True)
def _top_vector(bands: FloatArray, size: int, top: float) -> FloatArray:
    """Return the unit eigenvector of B B^T for its largest eigenvalue, by inverse iteration just above that.

    B has positive entries, so has the eigenvector: a start of ones has a share in it. The pivots are positive.
    """
    diagonal, links = gram(bands, size)
    shift, tiny = top * (1.0 + _MARGIN * EPS), EPS * top + 1e-300
    pivots, vector = np.empty(size), np.full(size, 1.0)
    for i in range(size):
        known = links[i - 1] * links[i - 1] / pivots[i - 1] if i > 0 else 0.0
        pivots[i] = max(shift - diagonal[i] - known, tiny)
    for _ in range(3):
        for i in range(1, size):
            vector[i] += links[i - 1] / pivots[i - 1] * vector[i - 1]
        for i in range(size - 1, -1, -1):
            later = links[i] * vector[i + 1] if i < size - 1 else 0.0
            vector[i] = (vector[i] + later) / pivots[i]
        multiply(vector, 1.0 / vector.max())
        multiply(vector, 1.0 / length(vector))
    return vector


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
def multiply(vector: Array, factor: float) -> None:
    """Multiply a vector in place."""
    share = vector.dtype.type(factor)
    for i in range(vector.size):
        vector[i] *= share


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER)
def orthogonalize(vector: Array, basis: Array, size: int) -> float:
    """Subtract in place the part in the span of ``basis[:size]`` until it is gone; return the length of the rest."""
    rest = length(vector)
    for _ in range(3):
        before = rest
        for j in range(size):
            inside = vector.dtype.type(0)
            for i in range(vector.size):
                inside += basis[j, i] * vector[i]
            subtract_multiple(vector, inside, basis[j])
        rest = length(vector)
        if rest > 0.5 * before:
            break
    return rest


@njit(cache=True, nogil=True, forceinline=True)
def write_start(start: Array, random: FloatArray, mix: float, out: Array) -> bool:
    """Write the first right vector, as :func:`unipd.spectral.engine.starting_block` makes it, at length one.

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
    multiply(out, 1.0 / length(out))
    return True


_ALPHA, _BETA, _NU, _MU = range(4)
"""Rows of the small array of a run: the bands of B, and nu and mu of the last vectors."""
_OMEGA_POWER = 0.75
"""Power of eps that an inner product of two vectors may reach."""
_NOISE = 2.0
"""Rounding of one step, in units of eps times the largest length seen."""


@njit(cache=True, nogil=True, forceinline=True)
def orthonormalize_next(
    basis: Array, k: int, small: FloatArray, scale: float, pending: int, sign: float, is_left: bool
) -> tuple[float, float, int]:
    """Turn a product in the basis into the next vector of ``sign`` * M: M v_k in row k, or M^* u_k in row k + 1.

    Stores alpha = B[k, k], or beta = B[k, k + 1]. Returns it (0 where the vector vanishes or is not finite), the
    largest length seen, and how many of the next vectors are to be orthogonalised against all before them. ``small``
    has four rows: the bands of B, nu and mu.
    """
    row, band = (k, _ALPHA) if is_left else (k + 1, _BETA)
    before = small[_ALPHA, k] if not is_left else small[_BETA, k - 1] if k > 0 else 0.0
    subtract_multiple(basis[row], sign * before, basis[max(row - 1, 0)])
    size = length(basis[row])
    scale = max(scale, math.hypot(size, before))
    if not _fits(size, scale, basis.dtype):
        return 0.0, scale, pending
    small[band, k] = size
    noise = _NOISE * np.finfo(basis.dtype).eps * scale
    worst = update_left_omega(small, k, noise) if is_left else update_right_omega(small, k, noise)
    omega = small[_MU] if is_left else small[_NU]
    small[band, k], pending = _orthonormalize_row(basis, row, size, scale, omega, worst, pending, sign)
    return small[band, k], scale, pending


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
    multiply(basis[row], sign / size)
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
        multiply(basis[k], 1.0 / orthogonalize(basis[k], basis, k))


@njit(cache=True, nogil=True, forceinline=True)
def _fits(size: float, scale: float, dtype: Any) -> bool:
    """Whether a vector of this length is more than rounding, finite, and may be multiplied to length one."""
    return bool(max(ROUNDING * np.finfo(dtype).eps * scale, np.finfo(dtype).tiny) < size < math.inf)
