"""What the coefficients of a Lanczos run say about the top eigenvalue, with a stated probability.

A Ritz value is a lower bound, and Ritz value plus residual bounds some eigenvalue only. What a Lanczos run does
prove about the top eigenvalue rests on its starting vector b, uniform on the sphere and independent of the
operator. Let w = |<v, b>|^2 be its weight on a top eigenvector v, and p_0, p_1, ..., p_k the polynomials of the
run: the j-th Lanczos vector is p_j(M) b, so they are orthonormal for the spectral measure of b. For every
polynomial q of degree at most k, w q(lambda)^2 <= ||q(M) b||^2; the best q gives

    sum_{j <= k} p_j(lambda)^2 <= 1 / w,

and the left side increases without bound to the right of the largest Ritz value theta. The weight has the law
Beta(1/2, (n-1)/2) for real and Beta(1, n-1) for complex vectors, so w >= x except with probability delta, with x
its quantile; the largest lambda with sum_j p_j(lambda)^2 <= 1/x is then an upper bound. The event does not depend
on k, so a run may look at the bound as often as it likes and stop when it is good enough.

Choosing for q the Chebyshev polynomial of degree k - 1 on the Ritz interval [theta_k, theta_1] shows that the bound
is never above

    theta_1 + (theta_1 - theta_k) sinh^2(arccosh(x^(-1/2)) / (2k - 2)),

which is the rate of Kuczynski and Wozniakowski (SIAM J. Matrix Anal. Appl. 13, 1992), whose theorem reads
P[lambda - theta > eps (lambda - lambda_min)] <= 1.648 sqrt(n) exp(-(2k - 1) sqrt(eps)); bounds from the run's own
polynomials, which profit from a gap, go back to van Dorsselaer, Hochstenbach and van der Vorst (same journal, 22,
2000).
"""

from __future__ import annotations

import math

import scipy

from unipd.spectral.powers import exponent_of


def weight_quantile(size: int, delta: float, is_complex: bool) -> float:
    """Return x with P[w <= x] = delta, for the weight w of a uniform unit vector on a fixed direction.

    >>> weight_quantile(1, 0.1, False), round(weight_quantile(3, 0.19, True), 3)
    (1.0, 0.1)
    """
    if size == 1:
        return 1.0
    if is_complex:
        return -math.expm1(math.log1p(-delta) / (size - 1))
    from scipy.special import betaincinv

    return float(betaincinv(0.5, 0.5 * (size - 1), delta))


def bracket_of_run(alpha: list[float], beta: list[float], weight: float) -> tuple[float, float]:
    """Return (theta, upper) for k Lanczos steps: alpha_1..alpha_k, beta_1..beta_k and the least weight.

    >>> theta, upper = bracket_of_run([1.0], [0.5], 0.2)
    >>> theta, upper
    (1.0, 2.0)
    """
    exponent = exponent_of(max(map(abs, [*alpha, *beta])))
    unit = 2.0**-exponent
    theta, upper = _bracket([unit * a for a in alpha], [unit * b for b in beta], weight)
    return theta / unit, upper / unit


def _bracket(alpha: list[float], beta: list[float], weight: float) -> tuple[float, float]:
    """Do the same for coefficients near one, whose squares are in range."""
    steps = len(alpha)
    top = alpha[0] if steps == 1 else _largest_ritz_value(alpha, beta[:-1])
    if beta[-1] <= 0.0 or weight >= 1.0:
        return top, top
    if steps == 1:
        return top, top + beta[0] * math.sqrt(1.0 / weight - 1.0)
    discs = [0.0, *beta[:-1]]
    lowest = min(a - left - right for a, left, right in zip(alpha, discs, beta, strict=True))
    reach = (top - lowest) * math.sinh(math.acosh(weight**-0.5) / (2 * steps - 2)) ** 2
    inside, outside = top, top + reach
    for _ in range(_HALVINGS):
        middle = 0.5 * (inside + outside)
        if _exceeds(middle, alpha, beta, 1.0 / weight):
            outside = middle
        else:
            inside = middle
    return top, outside


_HALVINGS = 40


def _largest_ritz_value(alpha: list[float], beta: list[float]) -> float:
    last = len(alpha) - 1
    return float(scipy.linalg.eigh_tridiagonal(alpha, beta, True, "i", (last, last))[0])


def _exceeds(point: float, alpha: list[float], beta: list[float], bound: float) -> bool:
    """Whether sum_{j<=k} p_j(point)^2 > bound, by the recurrence of the orthonormal polynomials."""
    before, here, total, link = 0.0, 1.0, 1.0, 0.0
    for diagonal, off in zip(alpha, beta, strict=True):
        before, here = here, ((point - diagonal) * here - link * before) / off
        link = off
        total += here * here
        if total > bound:
            return True
    return False
