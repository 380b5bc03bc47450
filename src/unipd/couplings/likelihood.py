"""Negative log-likelihoods of counts: multinomial and Poisson, in nats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.arrays import norm, scale_rows, total
from unipd.couplings.base import ConvexLoss, require_real, require_shape
from unipd.errors import InvalidInput

SMALLEST_PROBABILITY = 1e-30
"""Gradients are those at this probability where it is smaller: finite, also in single precision."""


class MultinomialLikelihood(ConvexLoss):
    """phi(p) = sum_i n_i log(f_i / p_i), where outcome i with probability p_i was seen n_i times, f_i = n_i / N_i.

    phi is the negative log-likelihood minus its minimum over all p: with b = 0 and A x = p, half the deviance of the
    fit. Outcomes that were never seen have phi_i = 0. On the others

        phi^*(lam) = sum_i n_i (log(N_i / -lam_i) - 1),   lam_i < 0,

    and the prox is the positive root of p^2 - v p - n t = 0. The gradient -n / p is not Lipschitz, but phi is
    differentiable where it is finite, so that descent methods apply. The likelihood has a unit, and so have its gaps:
    accuracies are absolute, in nats.

    Parameters
    ----------
    counts
        n, nonnegative numbers, one for each entry of A x.
    shots
        N_i, the number of trials that outcome i is one of the outcomes of; one number for all, or one for each entry.

    Raises
    ------
    InvalidInput
        ``counts``: expected nonnegative numbers, not all zero; ``shots``: expected at least as many shots as counts
        of every outcome.

    See Also
    --------
    PoissonLikelihood, unipd.PauliTomography

    Examples
    --------
    >>> loss = MultinomialLikelihood([3.0, 1.0, 0.0], shots=4)
    >>> loss.value(np.array([0.75, 0.25, 0.0])), round(loss.value(np.array([0.5, 0.25, 0.25])), 6)
    (0.0, 1.216395)
    >>> loss.prox(np.array([0.5, -0.5, 0.2]), 0.5)
    array([1.5, 0.5, 0.2])
    """

    gap_scale = 1.0

    def __init__(self, counts: Any, shots: Any) -> None:
        self.counts: FloatArray = validate.real_array("counts", counts, copy=True).astype(np.float64)
        if self.counts.size == 0 or self.counts.min() < 0 or not self.counts.any():
            raise InvalidInput("counts", "nonnegative numbers, not all zero", f"{self.counts.size} numbers")
        self.shots: FloatArray = np.broadcast_to(np.asarray(shots, np.float64), self.counts.shape)
        if not np.all(np.isfinite(self.shots)) or np.any(self.shots < self.counts):
            raise InvalidInput("shots", "at least as many shots as counts of every outcome", "fewer")
        self.cancellation = total(self.counts)
        self._seen = self.counts > 0
        self._slopes: Any = 0.0

    @property
    def is_differentiable(self) -> bool:
        """Whether the gradient exists where the loss is finite: yes."""
        return True

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise unless there is a count for each entry of real data."""
        require_real("a likelihood", dtype)
        require_shape("counts", self.counts, shape)

    def value(self, residual: Array) -> float:
        """Return sum_i n_i log(f_i / p_i); inf where an outcome that was seen has p_i <= 0."""
        seen, counts = self._seen, self.counts
        probabilities = residual[seen].astype(np.float64)
        if not np.all(probabilities > 0.0):
            return math.nan if np.isnan(probabilities).any() else math.inf
        return total(counts[seen] * np.log(counts[seen] / (self.shots[seen] * probabilities)))

    def gradient(self, residual: Array) -> Array:
        """Return -n_i / p_i, entry by entry."""
        floor = np.where(self._seen, np.maximum(residual, SMALLEST_PROBABILITY), 1.0)
        return (self._slopes - self.counts / floor).astype(residual.dtype, copy=False)

    def gradient_jacobian(self, residual: Array, directions: Array) -> Array:
        """Return diag(n / p^2) C."""
        floor = np.where(self._seen, np.maximum(residual, SMALLEST_PROBABILITY), 1.0)
        return scale_rows((self.counts / floor / floor).reshape(-1), directions)

    def curvature(self) -> float:
        """Return inf: the gradient grows without bound as p_i -> 0."""
        return math.inf

    def conjugate(self, dual: Array) -> float:
        """Return sum_i n_i (log(N_i / -lam_i) - 1); inf unless lam_i < 0 where n_i > 0, and lam_i = 0 elsewhere."""
        depth = self._slopes - dual.astype(np.float64)
        seen, counts = self._seen, self.counts
        if np.any(depth[~seen] != 0.0) or not np.all(depth[seen] > 0.0):
            return math.inf
        return total(counts[seen] * (np.log(self.shots[seen] / depth[seen]) - 1.0))

    def prox(self, vector: Array, step: float) -> Array:
        """Return the positive root p of p^2 - v p - n t = 0, v itself where n_i = 0; without cancellation."""
        shifted = vector.astype(np.float64) - float(step) * self._slopes
        product = float(step) * self.counts
        larger = 0.5 * (np.abs(shifted) + np.sqrt(shifted * shifted + 4.0 * product))
        root = np.where(shifted >= 0.0, larger, product / np.where(larger > 0.0, larger, 1.0))
        return np.where(self._seen, root, shifted).astype(vector.dtype, copy=False)

    def prox_conjugate(self, vector: Array, step: float) -> Array:
        """Return the slope -n / p at p = prox(v / step, 1 / step), which is in the domain exactly."""
        scale = float(step)
        return self.gradient(self.prox(vector / scale, 1.0 / scale))


class PoissonLikelihood(MultinomialLikelihood):
    """phi(p) = sum_i e_i p_i - n_i + n_i log(n_i / (e_i p_i)), where n_i events have the mean e_i p_i.

    For runs without a fixed number of shots, and where some outcomes were not recorded. With all outcomes of N shots
    and e = N it differs from the multinomial likelihood by N (sum_i p_i - 1), which is 0 for probabilities.

        phi^*(lam) = sum_i n_i log(e_i / (e_i - lam_i)),   lam_i < e_i where n_i > 0, lam_i = e_i elsewhere.

    Parameters
    ----------
    counts
        n, nonnegative numbers, one for each entry of A x.
    exposure
        e > 0: the expected number of events for p_i = 1; one number for all, or one for each entry.

    Raises
    ------
    InvalidInput
        ``counts``: expected an array of finite real numbers; ``exposure``: expected positive numbers.

    See Also
    --------
    MultinomialLikelihood

    Examples
    --------
    >>> loss = PoissonLikelihood([3.0, 0.0], exposure=4.0)
    >>> loss.value(np.array([0.75, 0.0])), loss.value(np.array([0.75, 0.25]))
    (0.0, 1.0)
    """

    def __init__(self, counts: Any, exposure: Any) -> None:
        numbers = validate.real_array("counts", counts)
        self.exposure: FloatArray = np.broadcast_to(np.asarray(exposure, np.float64), numbers.shape)
        if not np.all(np.isfinite(self.exposure) & (self.exposure > 0.0)):
            raise InvalidInput("exposure", "positive numbers", "an entry <= 0")
        super().__init__(numbers, np.maximum(self.exposure, numbers))
        self.shots = self.exposure
        self.cancellation = norm(self.counts)  # rounding errors of the terms are independent
        self._slopes = self.exposure

    def value(self, residual: Array) -> float:
        """Return sum_i e_i p_i - n_i + n_i log(n_i / (e_i p_i)), term by term: near the fit little cancels."""
        seen, means = self._seen, self.exposure * residual.astype(np.float64)
        if not np.all(means[seen] > 0.0):
            return math.nan if np.isnan(means[seen]).any() else math.inf
        ratios = means[seen] / self.counts[seen]
        return total(self.counts[seen] * (ratios - 1.0 - np.log(ratios))) + total(means[~seen])

    def conjugate(self, dual: Array) -> float:
        """Return sum_i n_i log(e_i / (e_i - lam_i)); inf outside the domain."""
        return super().conjugate(dual) + total(self.counts)
