"""Error bars of any figure of a channel: the channels of repeated experiments (parametric bootstrap)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd._typing import FloatArray
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.apps.process_tomography.channel import QuantumChannel
from unipd.apps.process_tomography.data import ProcessData
from unipd.apps.tomography.error_bars import interval_of
from unipd.errors import InvalidInput
from unipd.run import interruption

BIAS_FACTOR = 2.0
"""Safety factor on the bias of the replicates: that of an estimate is 1.0 to 1.6 times as large."""


@dataclass(frozen=True, eq=False, repr=False)
class ChannelBootstrap(ReprMixin):
    """The channels fitted to repeated experiments, and intervals of any figure of the channel.

    Parameters
    ----------
    channels
        The channel of each replicate: fewer than requested after an interruption.
    estimate
        The channel whose experiment was repeated.

    See Also
    --------
    unipd.ProcessTomography, QuantumChannel

    Examples
    --------
    >>> import unipd
    >>> from unipd.apps.process_tomography import simulate_process
    >>> estimate = unipd.ProcessTomography().fit_counts(simulate_process("h", shots=200))
    >>> errors = estimate.bootstrap(3)
    >>> len(errors.channels)
    3
    """

    channels: tuple[QuantumChannel, ...]
    estimate: QuantumChannel

    def values(self, figure: Callable[[QuantumChannel], float]) -> FloatArray:
        """Return a figure of every replicate."""
        return np.array([float(figure(channel)) for channel in self.channels])

    def interval(
        self,
        figure: Callable[[QuantumChannel], float],
        level: float = 0.95,
        limits: tuple[float, float] = (-np.inf, np.inf),
    ) -> tuple[float, float]:
        """Return a confidence interval of a figure, widened by twice the bias that the replicates show.

        A fit over all channels has more Kraus operators than a channel with little noise. The replicates are measured
        on the fit, which is already too noisy, and so they may show only about two thirds of its bias.

        Parameters
        ----------
        figure
            A function of a channel, e.g. ``lambda channel: channel.process_fidelity("cx")``.
        level
            Probability of the interval.
        limits
            Smallest and largest value that the figure can have.
        """
        validate.fraction("level", level)
        if len(self.channels) < 2:
            raise InvalidInput("channels", "at least two replicates", str(len(self.channels)))
        return interval_of(self.values(figure), float(figure(self.estimate)), level, limits, BIAS_FACTOR)


def resample(data: ProcessData, channel: QuantumChannel, rng: np.random.Generator) -> ProcessData:
    """Return the data of a repeated experiment: outcomes of the channel with the shots, or errors, of the data."""
    exact = data.measurements.image(channel.choi)
    if data.shots is None:
        if data.stderr is None:
            raise InvalidInput("data", "counts, or expectation values with shots or standard errors", "neither")
        return replace(data, values=exact + data.stderr * rng.standard_normal(exact.size))
    assert data.settings is not None
    values, order = np.zeros_like(data.values), np.argsort(data.settings, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(data.settings))[:-1])
    for row, shots in zip(rows, data.shots, strict=True):
        probabilities = np.maximum(exact[row], 0.0)
        missing = max(0.0, 1.0 - float(probabilities.sum())) if np.any(data.lost > 0.0) else 0.0
        shares = [*probabilities, missing] / (probabilities.sum() + missing)
        values[row] = rng.multinomial(round(float(shots)), shares)[:-1]
    return replace(data, values=values)


def bootstrap(estimator: Any, replicates: int = 100, *, seed: int = 0) -> ChannelBootstrap:
    """Repeat the experiment of a fitted :class:`ProcessTomography` and fit again; fewer times when a stop is requested.

    >>> from unipd.apps.process_tomography import ProcessTomography, simulate_process
    >>> estimate = ProcessTomography().fit_counts(simulate_process("h", shots=500))
    >>> low, high = bootstrap(estimate, 5).interval(lambda channel: channel.process_fidelity("h"))
    >>> 0.9 < low < high
    True
    """
    number = validate.integer("replicates", replicates, minimum=2)
    rng = np.random.default_rng(validate.integer("seed", seed, minimum=0))
    fits: list[QuantumChannel] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they say about the data was said at the fit
        for _ in range(number):
            if interruption.is_stop_requested():
                break
            again = estimator.clone().fit_data(resample(estimator.data_, estimator.channel_, rng))
            fits.append(again.channel_)
    return ChannelBootstrap(tuple(fits), estimator.channel_)
