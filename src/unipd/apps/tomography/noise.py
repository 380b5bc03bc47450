"""Noise of simulated measurements, and the variance of measured ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import FloatArray
from unipd.apps.tomography.paulis import Paulis
from unipd.errors import InvalidInput
from unipd.maps.pauli.strings import bit_count

HEDGE = 0.5
"""Counts added to both outcomes before a variance is estimated, so that none is zero."""
SMALLEST_VARIANCE = 0.02
"""Variance of a single shot that is assumed at least; smaller ones would only make the problem ill-conditioned."""
SMALLEST_STDERR = 1e-2
"""Share of the median standard error that is assumed at least."""


@dataclass(frozen=True)
class Noise:
    """What happens to an expectation value e between the state and the data, in this order.

    1. ``depolarising`` d: the state becomes (1 - d) rho + d I/p, so e becomes (1 - d) e (the paper's polarisation);
    2. ``readout`` r: every measured bit flips with probability r, so e becomes (1 - 2 r)^w e for a string of weight w;
    3. ``shots`` N: the mean of N outcomes +-1 (binomial);
    4. ``gaussian`` s: an error of standard deviation s is added.

    The identity is always 1 and is measured without error.

    >>> Noise(shots=100).known
    True
    """

    shots: int | None = None
    depolarising: float = 0.0
    readout: float = 0.0
    gaussian: float = 0.0

    def __post_init__(self) -> None:
        if self.shots is not None:
            validate.integer("shots", self.shots, minimum=1)
        if not 0.0 <= validate.number("depolarising", self.depolarising) <= 1.0:
            raise InvalidInput("depolarising", "a number from 0 to 1", repr(self.depolarising))
        if not 0.0 <= validate.number("readout", self.readout) < 0.5:
            raise InvalidInput("readout", "a probability below 1/2", repr(self.readout))
        validate.nonnegative("gaussian", self.gaussian)

    @property
    def known(self) -> bool:
        """Whether the data have random errors."""
        return self.shots is not None or self.gaussian > 0.0

    def damped(self, paulis: Paulis, expectations: FloatArray) -> FloatArray:
        """Return the values after depolarisation and readout errors, before anything random."""
        weight = bit_count(paulis.x | paulis.z)
        return np.where(
            weight == 0, 1.0, (1.0 - self.depolarising) * (1.0 - 2.0 * self.readout) ** weight * expectations
        )

    def sampled(self, paulis: Paulis, expectations: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return measured values.

        >>> noise = Noise(depolarising=0.5)
        >>> noise.sampled(Paulis(1, np.array([0, 1]), np.array([0, 0])), np.array([1.0, 0.5]), np.random.default_rng(0))
        array([1.  , 0.25])
        """
        values = self.damped(paulis, expectations)
        if self.shots is not None:
            values = binomial_mean(values, self.shots, rng)
        if self.gaussian > 0.0:
            error = self.gaussian * rng.standard_normal(values.shape)
            values = values + np.where((paulis.x | paulis.z) == 0, 0.0, error)
        return values

    def stderr(self, values: FloatArray) -> FloatArray | None:
        """Return the standard errors that the data should carry, None when there is no random error."""
        if not self.known:
            return None
        variance = np.full(values.shape, self.gaussian**2)
        return np.sqrt(variance if self.shots is None else variance + shot_variance(values, self.shots))


def binomial_mean(expectations: FloatArray, shots: Any, rng: np.random.Generator) -> FloatArray:
    """Return the mean of ``shots`` outcomes +-1 with the given expectations."""
    chance = np.clip(0.5 * (1.0 + expectations), 0.0, 1.0)
    counts = np.asarray(shots).astype(np.int64)
    return 2.0 * rng.binomial(counts, chance) / counts - 1.0


def shot_variance(expectations: FloatArray, shots: Any) -> FloatArray:
    """Estimate the variance of means of +-1 outcomes: (1 - e^2) / N with e hedged and bounded away from zero.

    With N e replaced by N e / (N + 2 h), h = 1/2 counts added to either outcome, a mean of exactly 1 still has a
    variance; :data:`SMALLEST_VARIANCE` keeps the ratio of the weights within what numerics like.

    >>> shot_variance(np.array([0.0, 1.0]), 100)
    array([0.01  , 0.0002])
    """
    count = np.asarray(shots, np.float64)
    hedged = np.clip(expectations, -1.0, 1.0) * count / (count + 2.0 * HEDGE)
    return np.maximum(1.0 - hedged**2, SMALLEST_VARIANCE) / count


def usable_stderr(stderr: FloatArray) -> FloatArray | None:
    """Return standard errors bounded away from zero, or None when all are zero (no noise at all).

    >>> usable_stderr(np.array([0.0, 0.1, 0.1]))
    array([0.001, 0.1  , 0.1  ])
    """
    positive = stderr[stderr > 0]
    if positive.size == 0:
        return None
    return np.maximum(stderr, SMALLEST_STDERR * float(np.median(positive)))
