"""Error bars by parametric bootstrap: measure the estimate again and again, and fit each time."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from unipd import validate
from unipd._typing import FloatArray
from unipd.apps.tomography.bases import sampled_bases
from unipd.apps.tomography.fit import fit_basis_counts, fit_data
from unipd.apps.tomography.fit_problem import Fit
from unipd.apps.tomography.noise import binomial_mean
from unipd.apps.tomography.paulis import as_pauli_sum
from unipd.apps.tomography.replicates import kept_replicates
from unipd.apps.tomography.state import QuantumState, as_state
from unipd.errors import InvalidInput
from unipd.io.pauli_model import PauliData

if TYPE_CHECKING:
    from unipd.apps.tomography.estimator import PauliTomography


_RANGES = {"fidelity": (0.0, 1.0), "purity": (0.0, 1.0), "entropy": (0.0, np.inf)}


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Values of some figures of the state over the replicates."""

    samples: Mapping[str, FloatArray]
    """One value a replicate, by name."""
    estimates: Mapping[str, float]
    """The same figures of the estimate itself."""

    @property
    def replicates(self) -> int:
        """Number of repeated experiments: fewer than wanted when somebody asked the runs to end."""
        return next(iter(self.samples.values())).size

    def stderr(self, name: str) -> float:
        """Return the standard deviation over the replicates."""
        return float(np.std(self._of(name), ddof=1))

    def bias(self, name: str) -> float:
        """Return the mean over the replicates minus the estimate: what one more round of measuring and fitting adds."""
        return float(np.mean(self._of(name))) - self.estimates[name]

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that allows for bias: between e and e - bias, and t s sqrt(1 + 1/B) more on either side.

        e is the estimate; s and bias are those of the B replicates; t is the quantile of Student's distribution with
        B - 1 degrees of freedom, which a few replicates determine better than quantiles of their own. Near the border
        of the set of states a fit is biased (of a pure state it is a little mixed), and the replicates, measured on the
        fit, may be more so: hence both ends. Fidelity and purity end at 1, entropy begins at 0.
        """
        if not 0.0 < validate.number("level", level) < 1.0:
            raise InvalidInput("level", "a number between 0 and 1", repr(level))
        number = self._of(name).size
        width = float(stdtrit(number - 1, 0.5 + 0.5 * level)) * self.stderr(name) * float(np.sqrt(1.0 + 1.0 / number))
        raw = self.estimates[name]
        corrected = raw - self.bias(name)
        ends = np.clip(
            [min(raw, corrected) - width, max(raw, corrected) + width], *_RANGES.get(name, (-np.inf, np.inf))
        )
        return float(ends[0]), float(ends[1])

    def summary(self, level: float = 0.95) -> dict[str, dict[str, float]]:
        """Return estimate, standard error, bias and interval of every figure."""
        figures: dict[str, dict[str, float]] = {}
        for name in self.samples:
            low, high = self.interval(name, level)
            errors = {"stderr": self.stderr(name), "bias": self.bias(name), "low": low, "high": high}
            figures[name] = {"estimate": self.estimates[name], **errors}
        return figures

    def _of(self, name: str) -> FloatArray:
        if name not in self.samples:
            raise InvalidInput("name", f"one of {', '.join(self.samples)}", repr(name))
        return self.samples[name]


def bootstrap(
    estimator: PauliTomography,
    replicates: int = 100,
    *,
    target: Any = None,
    observables: Mapping[str, Any] | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> Bootstrap:
    """Measure the estimate as the experiment was measured, fit again, and collect figures of the states found.

    Data from counts are drawn again basis by basis, so that strings measured together vary together. Expectation values
    are drawn with their shots or standard errors; without either the noise is taken from the residual of the fit. The
    figures are the fidelity (with ``target``, or with the estimate), purity, entropy and the observables.

    Parameters
    ----------
    estimator
        A fitted :class:`PauliTomography`.
    replicates
        Number of repeated experiments, at least 2.
    target
        State for the fidelity.
    observables
        Sums of Pauli strings by name.
    seed
        Seed; every replicate has a stream of its own, so the result does not depend on the threads.
    threads
        Fits at the same time, one thread each.
    progress
        Called with (done, all) after every replicate, in the thread that fitted it and before that fits another; the
        calls come one after the other.

    Inside a :class:`unipd.Checkpoint` the replicates that are done are kept beside its file and not drawn again.

    Examples
    --------
    >>> from unipd.apps.tomography.estimator import PauliTomography
    >>> labels = ["X", "Y", "Z"]
    >>> estimate = PauliTomography().fit(labels, [0.6, 0.0, 0.7], shots=1000)
    >>> errors = bootstrap(estimate, 20, observables={"x": "X"}, seed=1)
    >>> 0.01 < errors.stderr("x") < 0.05
    True
    """
    fit = estimator.fit_
    number = validate.integer("replicates", replicates, minimum=2)
    goal = fit.state if target is None else as_state(target)
    named = {} if observables is None else dict(observables)
    worker = copy.copy(estimator)
    worker.threads, worker.verbose, worker.callback, worker.solver_options = 1, False, None, {}
    streams = np.random.SeedSequence(validate.integer("seed", seed, minimum=0)).spawn(number)
    workers = 1 if threads is None else validate.integer("threads", threads, minimum=1)
    estimates = _figures(fit.state, goal, named)

    def replicate(index: int) -> FloatArray:
        state = _refitted(worker, fit, np.random.default_rng(streams[index])).state
        return np.array(list(_figures(state, goal, named).values()))

    sums = {name: as_pauli_sum(observable, fit.state.qubits) for name, observable in named.items()}
    with kept_replicates(_settings(worker), fit.state, fit.fitted, fit.data, goal, sums, seed) as kept:
        done = kept.drawn(number, replicate, workers, progress)
    return Bootstrap({name: np.array([row[place] for row in done]) for place, name in enumerate(estimates)}, estimates)


def _settings(estimator: PauliTomography) -> dict[str, Any]:
    """Return what the fit of a replicate depends on besides its data."""
    return {name: value for name, value in vars(estimator).items() if name != "_fit"}


def _figures(state: QuantumState, target: QuantumState, observables: Mapping[str, Any]) -> dict[str, float]:
    values = {"fidelity": state.fidelity(target), "purity": state.purity, "entropy": state.entropy}
    return {**values, **{name: float(np.real(state.expectation(sum_))) for name, sum_ in observables.items()}}


def _refitted(estimator: PauliTomography, fit: Fit, rng: np.random.Generator) -> Fit:
    """Return the fit to data of the same experiment on the estimated state."""
    if estimator.counts_ is not None:
        bases = [part.basis for part in estimator.counts_]
        shots = [part.shots for part in estimator.counts_]
        drawn = list(sampled_bases(fit.state, bases, shots, rng))
        return fit_basis_counts(estimator, drawn, prior=fit.state, **estimator.count_limits)
    data, values, stderr = fit.data, np.clip(fit.fitted, -1.0, 1.0), fit.data.stderr
    if stderr is None and data.shots is None:
        stderr = np.full(values.shape, residual_noise(fit))
    if stderr is not None:
        values = values + stderr * rng.standard_normal(values.shape)
    elif data.shots is not None:
        values = binomial_mean(values, np.maximum(np.round(data.shots), 1.0), rng)
    return fit_data(estimator, PauliData(data.qubits, data.x, data.z, values, data.shots, stderr))


def residual_noise(fit: Fit) -> float:
    """Return the standard deviation of the noise that the fit leaves: the residual over its degrees of freedom."""
    rank, size = fit.state.effective_rank(), fit.state.dimension
    freedom = max(1, fit.data.size - (2 * size * rank - rank * rank - 1))
    return float(np.linalg.norm(fit.fitted - fit.data.expectations)) / float(np.sqrt(freedom))
