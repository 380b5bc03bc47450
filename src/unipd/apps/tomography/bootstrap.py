"""Error bars by parametric bootstrap. Inside a checkpoint, finished replicates are stored in a file next to it."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.context import bind_process_context, current_communicator, current_context
from unipd._util.printing import ReprMixin
from unipd._version import __version__
from unipd.apps.tomography.counts import as_confusion
from unipd.apps.tomography.fit import fit_counts, fit_data
from unipd.apps.tomography.measurements import as_pauli_sum
from unipd.apps.tomography.model import Fit, FitSettings
from unipd.apps.tomography.simulate import binomial_mean, sample_bases
from unipd.apps.tomography.state import QuantumState, as_state
from unipd.errors import FileFormatError, InvalidInput
from unipd.io.pauli import PauliData
from unipd.run import interruption
from unipd.run.checkpoint import Checkpoint, CheckpointWarning
from unipd.run.checkpoint.file import read_checkpoint, remove_leftovers, unusable, write_checkpoint
from unipd.run.checkpoint.fingerprint import digest_of

Rows = dict[int, FloatArray]
"""Figures of each replicate by its number."""

_RANGES = {"fidelity": (0.0, 1.0), "purity": (0.0, 1.0), "entropy": (0.0, np.inf)}


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap(ReprMixin):
    """Figures of the state over the replicates."""

    samples: Mapping[str, FloatArray]
    """One value per replicate, by name."""
    estimates: Mapping[str, float]
    """The same figures of the estimate itself."""

    @property
    def replicates(self) -> int:
        """Number of repeated experiments: fewer than requested after an interruption."""
        return next(iter(self.samples.values())).size

    def stderr(self, name: str) -> float:
        """Return the standard deviation over the replicates."""
        return float(np.std(self._values(name), ddof=1))

    def bias(self, name: str) -> float:
        """Return the mean over the replicates minus the estimate: the bias of measuring and fitting once more."""
        return float(np.mean(self._values(name))) - self.estimates[name]

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that allows for bias: between e and e - bias, and t s sqrt(1 + 1/B) more on either side.

        e is the estimate; s and bias are those of the B replicates; t is the quantile of Student's distribution with
        B - 1 degrees of freedom: a few replicates determine it better than empirical quantiles. Near the boundary of
        the set of states a fit is biased (of a pure state it is slightly mixed), and the replicates, measured on the
        fit, may be more so: hence both ends. Fidelity and purity are at most 1, entropy is at least 0.
        """
        if not 0.0 < validate.number("level", level) < 1.0:
            raise InvalidInput("level", "a number between 0 and 1", repr(level))
        number = self._values(name).size
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

    def _values(self, name: str) -> FloatArray:
        if name not in self.samples:
            raise InvalidInput("name", f"one of {', '.join(self.samples)}", repr(name))
        return self.samples[name]


def bootstrap(
    fit: Fit,
    replicates: int = 100,
    *,
    target: Any = None,
    observables: Mapping[str, Any] | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> Bootstrap:
    """Repeat the experiment on the estimated state, fit again, and collect figures of the resulting states.

    Data from counts are drawn again basis by basis, so that strings measured together vary together. Expectation values
    are drawn with their shots or standard errors; without either the noise is estimated from the residual. The
    figures are the fidelity (with ``target``, or with the estimate), purity, entropy and the observables.

    Parameters
    ----------
    fit
        A fit, ``fit_`` of :class:`~unipd.apps.tomography.PauliTomography`.
    replicates
        Number of repeated experiments, at least 2.
    target
        State for the fidelity.
    observables
        Sums of Pauli strings by name.
    seed
        Seed; every replicate has a stream of its own, so the result does not depend on the threads.
    threads
        Number of concurrent fits, one thread each.
    progress
        Called with (done, total) after every replicate, by one thread at a time.

    Inside a :class:`unipd.Checkpoint` finished replicates are stored next to its file and not drawn again.

    Examples
    --------
    >>> from unipd.apps.tomography import PauliTomography
    >>> estimate = PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.7], shots=1000)
    >>> errors = bootstrap(estimate.fit_, 20, observables={"x": "X"}, seed=1)
    >>> 0.01 < errors.stderr("x") < 0.05
    True
    """
    number = validate.integer("replicates", replicates, minimum=2)
    goal = fit.state if target is None else as_state(target)
    named = {} if observables is None else dict(observables)
    settings = replace(fit.refit_settings, threads=1, verbose=False, callback=None, solver_options={})
    streams = np.random.SeedSequence(validate.integer("seed", seed, minimum=0)).spawn(number)
    workers = 1 if threads is None else validate.integer("threads", threads, minimum=1)
    estimates = _statistics(fit.state, goal, named)

    def replicate(index: int) -> FloatArray:
        state = _refit(settings, fit, np.random.default_rng(streams[index])).state
        return np.array(list(_statistics(state, goal, named).values()))

    sums = {name: as_pauli_sum(observable, fit.state.qubits) for name, observable in named.items()}
    marks = (settings, fit.counts, fit.state, fit.fitted, fit.data, goal, sums, seed)
    done = _Replicates(current_context().checkpoint, *marks).draw(number, replicate, workers, progress)
    return Bootstrap({name: np.array([row[place] for row in done]) for place, name in enumerate(estimates)}, estimates)


def _statistics(state: QuantumState, target: QuantumState, observables: Mapping[str, Any]) -> dict[str, float]:
    values = {"fidelity": state.fidelity(target), "purity": state.purity, "entropy": state.entropy}
    return {**values, **{name: float(np.real(state.expectation(sum_))) for name, sum_ in observables.items()}}


def _refit(settings: FitSettings, fit: Fit, rng: np.random.Generator) -> Fit:
    """Return the fit to data of the same experiment on the estimated state."""
    if fit.counts is not None:
        bases, shots = [part.basis for part in fit.counts], [part.shots for part in fit.counts]
        confusion = as_confusion(settings.readout, fit.state.qubits)
        return fit_counts(settings, list(sample_bases(fit.state, bases, shots, rng, None, confusion)), prior=fit.state)
    data, values, stderr = fit.data, np.clip(fit.fitted, -1.0, 1.0), fit.data.stderr
    if stderr is None and data.shots is None:
        stderr = np.full(values.shape, residual_noise(fit))
    if stderr is not None:
        values = values + stderr * rng.standard_normal(values.shape)
    elif data.shots is not None:
        values = binomial_mean(values, np.maximum(np.round(data.shots), 1.0), rng)
    return fit_data(settings, PauliData(data.qubits, data.x, data.z, values, data.shots, stderr))


def residual_noise(fit: Fit) -> float:
    """Estimate the standard deviation of the noise: the residual over its degrees of freedom."""
    rank, size = fit.state.effective_rank(), fit.state.dimension
    freedom = max(1, fit.data.size - (2 * size * rank - rank * rank - 1))
    return float(np.linalg.norm(fit.fitted - fit.data.expectations)) / float(np.sqrt(freedom))


def replicates_file(checkpoint: Path) -> Path:
    """Return the file of replicates that belongs to a checkpoint.

    >>> replicates_file(Path("run.ckpt")).name
    'run.ckpt.replicates'
    """
    return checkpoint.with_name(f"{checkpoint.name}.replicates")


def read_replicates(checkpoint: Path) -> dict[str, Rows]:
    """Return the replicates stored with a checkpoint, by the digest of what they depend on; raise if unreadable."""
    return current_communicator().on_root(lambda: _read_file(replicates_file(checkpoint)))


def _read_file(path: Path) -> dict[str, Rows]:
    remove_leftovers(path)
    if not path.exists():
        return {}
    try:
        header, arrays = read_checkpoint(path)
        parts = zip(header["bootstraps"], arrays[::2], arrays[1::2], strict=True)
        return {key: dict(zip(numbers.tolist(), rows, strict=True)) for key, numbers, rows in parts}
    except (KeyError, TypeError, ValueError, OSError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise unusable(path, f"the replicates cannot be read ({error})") from error


class _Replicates:
    """Figures by the number of the replicate, written as often as the checkpoint, if there is one.

    The file keeps the replicates of other fits and seeds: ``marks`` are all that these depend on.
    """

    def __init__(self, checkpoint: Checkpoint | None, *marks: Any) -> None:
        self._checkpoint = checkpoint
        self._sets: dict[str, Rows] = {} if checkpoint is None else read_replicates(checkpoint.path)
        key = "" if checkpoint is None else current_communicator().on_root(lambda: digest_of(__version__, *marks))
        self._rows = self._sets.setdefault(key, {})
        self._written, self._unwritten, self._has_warned = -np.inf, 0, False

    def draw(
        self, count: int, draw: Callable[[int], FloatArray], threads: int, progress: Callable[[int, int], Any] | None
    ) -> list[FloatArray]:
        """Return the first ``count`` replicates after drawing the missing ones; fewer when a stop is requested."""
        missing, lock = [number for number in range(count) if number not in self._rows], threading.Lock()
        done = count - len(missing)

        def add(number: int) -> None:
            nonlocal done
            if interruption.is_stop_requested():
                return
            row = draw(number)
            with lock:  # one at a time: after a stop requested in ``progress`` no replicate is added
                if interruption.is_stop_requested():
                    return  # the fit may have been cut short
                self._put(number, row)
                done += 1
                if progress is not None:
                    progress(done, count)

        if done and progress is not None:
            progress(done, count)
        try:
            with ThreadPoolExecutor(threads if current_communicator().size == 1 else 1) as pool:
                list(pool.map(bind_process_context(add), missing))
        finally:
            self._flush()
        return [self._rows[number] for number in range(count) if number in self._rows]

    def _put(self, number: int, row: FloatArray) -> None:
        """Add a replicate, and write the file when it is due."""
        self._rows[number] = row
        self._unwritten += 1
        if self._checkpoint is not None:
            since = time.perf_counter() - self._written
            if since == np.inf or self._checkpoint.every.due(since, self._unwritten):
                self._flush()

    def _flush(self) -> None:
        """Write the file, or warn once that this is not possible."""
        if self._checkpoint is None:
            return
        path = replicates_file(self._checkpoint.path)
        if self._unwritten and current_communicator().is_leader:
            arrays: list[Array] = []
            for rows in self._sets.values():
                arrays += [np.array(list(rows), np.int64), np.array(list(rows.values()), np.float64)]
            try:
                write_checkpoint(path, {"bootstraps": list(self._sets), "runs": []}, arrays)
            except OSError as error:
                if not self._has_warned:
                    text = f"{path} could not be written ({error.strerror}); the bootstrap continues and retries"
                    warnings.warn(text, CheckpointWarning, stacklevel=2)
                self._has_warned = True
        self._written, self._unwritten = time.perf_counter(), 0
