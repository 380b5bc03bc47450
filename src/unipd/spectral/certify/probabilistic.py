"""Upper bounds on the top eigenvalue or singular value that hold with a stated probability.

The bound needs a starting vector that is random and
independent of the operator: no restart, no warm start, and a seed of its own. The run keeps only the three-term
recurrence: by Greenbaum's analysis (Linear Algebra Appl. 113, 1989) its coefficients in floating point are those of
an exact run on a matrix whose eigenvalues are smeared by a few eps ||M||, which the bound adds.

A Ritz value is a lower bound, and Ritz value plus residual bounds some eigenvalue only. What a Lanczos run does
prove about the top eigenvalue rests on its starting vector b, uniform on the sphere and independent of the
operator. Let w = |<v, b>|^2 be its weight on a top eigenvector v, and p_0, p_1, ..., p_k the polynomials of the
run: the j-th Lanczos vector is p_j(M) b, so they are orthonormal for the spectral measure of b. For every
polynomial q of degree at most k, w q(lambda)^2 <= ||q(M) b||^2; the best q gives

    sum_{j <= k} p_j(lambda)^2 <= 1 / w,

and the left side increases without bound to the right of the largest Ritz value theta. The weight has the law
Beta(1/2, (n-1)/2) for real and Beta(1, n-1) for complex vectors, so w >= x except with probability delta, with x
its quantile; the largest lambda with sum_j p_j(lambda)^2 <= 1/x is then an upper bound. The event does not depend
on k, so a run may check the bound as often as it likes and stop when it is good enough.

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
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from unipd._typing import Array
from unipd._util import arrays, validate
from unipd.errors import InvalidInput
from unipd.spectral.krylov import divide_by_length, gaussian, length_of
from unipd.spectral.operators import Gram, Products, exponent_of, finite_bound
from unipd.spectral.results import PROBABILISTIC


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


CERTIFICATE_STREAM = 0x5EED
"""Second word of the seeds used here, so that no other random vector of the library is one of these."""


@dataclass(frozen=True)
class Certification:
    """How an upper bound is certified.

    Parameters
    ----------
    delta
        Probability of failure allowed to a probabilistic bound.
    steps
        Largest number of Lanczos steps spent on it.
    seed
        Seed of its random vector.
    dense_limit
        Rigorous bounds come from a dense matrix of the order of the shorter side, where that is at most this.

    Raises
    ------
    InvalidInput
        If ``delta`` is not a probability.

    See Also
    --------
    Certified, certify_eigenvalues

    Examples
    --------
    >>> Certification(delta=1e-6).steps
    300
    """

    delta: float = 1e-9
    steps: int = 300
    seed: int = 0
    dense_limit: int = 1500

    def __post_init__(self) -> None:
        validate.integer("steps", self.steps, minimum=1)
        if not 0.0 < validate.number("delta", self.delta) < 1.0:
            raise InvalidInput("delta", "a probability between 0 and 1", repr(self.delta))


@dataclass(frozen=True)
class Certified:
    """A bracket of the top eigenvalue (or singular value).

    Parameters
    ----------
    upper
        Upper bound: wrong with probability at most ``delta``.
    lower
        Largest Ritz value of the run: a lower bound, up to rounding.
    delta
        Probability of failure of the upper bound (0 when rigorous).
    matvecs
        Products spent.
    bound_kind
        Kind of the upper bound.

    See Also
    --------
    certified_upper, Certification

    Examples
    --------
    >>> import numpy as np
    >>> found = certified_upper(np.diag(np.arange(9.0)))
    >>> round(found.lower, 6), found.upper >= 8.0, found.bound_kind
    (8.0, True, 'probabilistic')
    """

    upper: float
    lower: float
    delta: float
    matvecs: int
    bound_kind: str = PROBABILISTIC


def certified_upper(
    operator: Any,
    steps: int = 300,
    delta: float = 1e-9,
    seed: int = 0,
    *,
    tolerance: float = 0.0,
    deflate: Array | None = None,
) -> Certified:
    """Bound the largest eigenvalue of a Hermitian operator from above, wrong with probability at most ``delta``.

    Parameters
    ----------
    operator
        The Hermitian matrix or operator; it must not depend on the random vector of this seed.
    steps
        Largest number of Lanczos steps (one product each).
    delta
        Probability of failure allowed.
    seed
        Seed of the starting vector.
    tolerance
        Stop once upper and lower bound are this close.
    deflate
        Orthonormal columns Q: bound the operator on the complement of their span, (I - QQ^*) M (I - QQ^*).

    Returns
    -------
    Certified

    See Also
    --------
    Certified, certify_eigenvalues, top_eigenvalue

    Examples
    --------
    >>> found = certified_upper(np.diag(np.arange(100.0)), steps=60)
    >>> found.lower <= 99.0 + 1e-9 and 99.0 < found.upper < 101.0
    True
    """
    plan = Certification(steps=steps, delta=delta, seed=seed)
    return bracket(Products(operator, hermitian=True), plan, lambda low, up: up - low <= tolerance, deflate)


def bracket(
    products: Products | Gram,
    plan: Certification,
    enough: Callable[[float, float], bool],
    deflate: Array | None = None,
) -> Certified:
    """Run Lanczos until ``enough(lower, upper)`` or out of steps; the work behind the functions above."""
    free = products.shape[0] - (0 if deflate is None else deflate.shape[1])
    if free < 1:
        return Certified(-math.inf, -math.inf, 0.0, 0)
    before = products.count
    weight = weight_quantile(free, plan.delta, products.dtype.kind == "c")
    run = _Recurrence(products, np.random.default_rng([plan.seed, CERTIFICATE_STREAM]), deflate)
    eps = float(np.finfo(products.dtype).eps)
    look = 4
    while True:
        ended = run.advance(min(look, plan.steps), eps)
        lower, upper = bracket_of_run(run.alpha, run.beta, weight)
        upper += eps * (8.0 + len(run.alpha)) * run.size
        if ended or len(run.alpha) >= plan.steps or (math.isfinite(upper) and enough(lower, upper)):
            return Certified(finite_bound(upper), lower, plan.delta, products.count - before)
        look += max(4, look // 8)


class _Recurrence:
    """Lanczos without reorthogonalisation: the coefficients alpha_j, beta_j of the three-term recurrence."""

    def __init__(self, products: Products | Gram, generator: np.random.Generator, deflate: Array | None) -> None:
        self._products = products
        self._deflate = deflate
        start = self._free(gaussian(generator, (products.shape[0],), products.dtype))
        self._current = start / length_of(start)
        self._previous = np.zeros_like(self._current)
        self.alpha: list[float] = []
        self.beta: list[float] = []
        self.size = 0.0

    def advance(self, steps: int, eps: float) -> bool:
        """Continue up to this number of steps; return whether the Krylov space ended (its values are then exact)."""
        while len(self.alpha) < steps:
            image = self._products.forward(self._current[:, np.newaxis])[:, 0]
            image = image - (self.beta[-1] if self.beta else 0.0) * self._previous
            diagonal = float(arrays.dot(self._current, image).real)
            image = self._free(image - diagonal * self._current)  # after the rounding of the others
            length = length_of(image)
            self.size = max(self.size, abs(diagonal) + length)
            ended = length <= 4.0 * eps * self.size
            self.alpha.append(diagonal)
            self.beta.append(0.0 if ended else length)
            if ended:
                return True
            self._previous, self._current = self._current, divide_by_length(image, length)
        return False

    def _free(self, vector: Array) -> Array:
        if self._deflate is None:
            return vector
        for _ in range(2):
            inside = arrays.product(vector.conj(), self._deflate).conj()
            vector = vector - arrays.product(self._deflate, inside)
        return vector
