"""Upper bounds of the top eigenvalue or singular value that hold with a stated probability.

The bound and its proof are in :mod:`unipd.spectral.polynomial_bound`. It needs a starting vector that is random and
independent of the operator: no restart, no warm start, and a seed of its own. The run keeps only the three-term
recurrence: by Greenbaum's analysis (Linear Algebra Appl. 113, 1989) its coefficients in floating point are those of
an exact run on a matrix whose eigenvalues are smeared by a few eps ||M||, which the bound adds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd import serial, validate
from unipd._typing import Array
from unipd.errors import InvalidInput
from unipd.spectral.basis import gaussian, length_of, over
from unipd.spectral.polynomial_bound import bracket_of_run, weight_quantile
from unipd.spectral.powers import finite_bound
from unipd.spectral.products import Multiplier, Products
from unipd.spectral.results import PROBABILISTIC
from unipd.spectral.transposed import Gram

CERTIFICATE_STREAM = 0x5EED
"""Second word of the seeds used here, so that no other random vector of the library is one of these."""


@dataclass(frozen=True)
class Certification:
    """How an upper bound is certified.

    >>> Certification(delta=1e-6).steps
    300
    """

    delta: float = 1e-9
    """Probability of failure allowed to a probabilistic bound."""
    steps: int = 300
    """Largest number of Lanczos steps spent on it."""
    seed: int = 0
    """Seed of its random vector."""
    dense_limit: int = 1500
    """Rigorous bounds come from a dense matrix of the order of the shorter side, where that is at most this."""

    def __post_init__(self) -> None:
        validate.integer("steps", self.steps, minimum=1)
        if not 0.0 < validate.number("delta", self.delta) < 1.0:
            raise InvalidInput("delta", "a probability between 0 and 1", repr(self.delta))


@dataclass(frozen=True)
class Certified:
    """A bracket of the top eigenvalue (or singular value)."""

    upper: float
    """Upper bound: wrong with probability at most ``delta``."""
    lower: float
    """Largest Ritz value of the run: a lower bound, up to rounding."""
    delta: float
    """Probability of failure of the upper bound (0 when rigorous)."""
    matvecs: int
    """Products spent."""
    bound: str = PROBABILISTIC
    """Kind of the upper bound."""


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

    Examples
    --------
    >>> found = certified_upper(np.diag(np.arange(100.0)), steps=60)
    >>> found.lower <= 99.0 + 1e-9 and 99.0 < found.upper < 101.0
    True
    """
    plan = Certification(steps=steps, delta=delta, seed=seed)
    return bracket(Products(operator, hermitian=True), plan, lambda low, up: up - low <= tolerance, deflate)


def certified_norm(
    operator: Any, steps: int = 150, delta: float = 1e-9, seed: int = 0, *, tolerance: float = 0.0
) -> Certified:
    """Bound the largest singular value from above through the Gram matrix of the shorter side.

    Two products a step; parameters as in :func:`certified_upper`.

    Examples
    --------
    >>> 4.0 <= certified_norm(np.diag([4.0, 2.0, 1.0])).upper < 4.001
    True
    """
    gram = Gram(Products(operator))

    def enough(low: float, up: float) -> bool:
        return gram.root(up) - gram.root(low) <= tolerance

    found = bracket(gram, Certification(steps=steps, delta=delta, seed=seed), enough)
    return rooted(gram, found)


def rooted(gram: Gram, found: Certified) -> Certified:
    """Return the bracket of the singular value, given that of its square."""
    return replace(found, upper=finite_bound(gram.root(found.upper)), lower=gram.root(found.lower))


def bracket(
    products: Multiplier,
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

    def __init__(self, products: Multiplier, generator: np.random.Generator, deflate: Array | None) -> None:
        self._products = products
        self._deflate = deflate
        start = self._free(gaussian(generator, (products.shape[0],), products.dtype))
        self._current = start / length_of(start)
        self._previous = np.zeros_like(self._current)
        self.alpha: list[float] = []
        self.beta: list[float] = []
        self.size = 0.0

    def advance(self, steps: int, eps: float) -> bool:
        """Go on to so many steps; return whether the Krylov space ended (its values are then exact)."""
        while len(self.alpha) < steps:
            image = self._products.forward(self._current[:, np.newaxis])[:, 0]
            image = image - (self.beta[-1] if self.beta else 0.0) * self._previous
            diagonal = float(serial.dot(self._current, image).real)
            image = self._free(image - diagonal * self._current)  # after the rounding of the others
            length = length_of(image)
            self.size = max(self.size, abs(diagonal) + length)
            ended = length <= 4.0 * eps * self.size
            self.alpha.append(diagonal)
            self.beta.append(0.0 if ended else length)
            if ended:
                return True
            self._previous, self._current = self._current, over(image, length)
        return False

    def _free(self, vector: Array) -> Array:
        if self._deflate is None:
            return vector
        for _ in range(2):
            inside = serial.product(vector.conj(), self._deflate).conj()
            vector = vector - serial.product(self._deflate, inside)
        return vector
