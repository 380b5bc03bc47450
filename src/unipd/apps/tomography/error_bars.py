"""Error bars by bootstrap: the states of repeated experiments, and intervals of any figure of the state.

Inside a checkpoint, finished replicates are stored in a file next to it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy.special import stdtrit

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.context import bind_process_context, current_communicator, current_context, is_stop_requested
from unipd._util.printing import ReprMixin
from unipd._version import __version__
from unipd.apps.tomography.confidence import is_identified, is_measured, is_target_measured, repeat_fit, state_range
from unipd.apps.tomography.measurements import as_pauli_sum
from unipd.apps.tomography.model import Fit
from unipd.apps.tomography.state import QuantumState, as_state
from unipd.errors import FileFormatError, InvalidInput
from unipd.run.checkpoint import CheckpointWarning
from unipd.run.checkpoint.file import read_checkpoint, remove_leftovers, unusable, write_checkpoint
from unipd.run.checkpoint.fingerprint import digest_of

Rows = dict[int, Array]
"""A factor R of the state R R^* of each replicate, by its number."""

EIGENVALUES = 4
"""Largest eigenvalues whose error bars are reported."""
RESAMPLING = ("parametric", "basis")
"""How data are drawn again: from the estimate, or from the data themselves, basis by basis (value by value)."""
LAYOUT = 3
"""Number of the layout of files of replicates."""


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap(ReprMixin):
    """The states fitted to repeated experiments, and error bars of any figure of the state.

    Parameters
    ----------
    states
        The state of each replicate.
    fit
        The fit whose experiment was repeated.
    target
        State for the fidelity; without one there is no fidelity.
    observables
        Sums of Pauli strings by name.

    See Also
    --------
    bootstrap, Fit

    Examples
    --------
    >>> import unipd
    >>> estimate = unipd.PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.7], shots=1000)
    >>> errors = bootstrap(estimate.fit_, 20, seed=1)
    >>> errors.replicates, errors.stderr("purity") > 0.0
    (20, True)
    """

    states: tuple[QuantumState, ...]
    fit: Fit
    target: QuantumState | None = None
    observables: Mapping[str, Any] = field(default_factory=dict[str, Any])
    _ranges: dict[tuple[str, float], tuple[float, float]] = field(default_factory=dict[Any, Any], init=False)

    @property
    def replicates(self) -> int:
        """Number of repeated experiments: fewer than requested after an interruption."""
        return len(self.states)

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """Functions of a state by name: fidelity (with a target), purity, entropy, eigenvalues, observables."""
        figures: dict[str, Figure] = {"fidelity": lambda state: state.fidelity(self.target)} if self.target else {}
        figures |= {"purity": lambda state: state.purity, "entropy": lambda state: state.entropy}
        for place in range(min(EIGENVALUES, self.fit.state.dimension)):
            figures[f"eigenvalue_{place + 1}"] = partial(nth_eigenvalue, place)
        return {**figures, **{name: partial(real_expectation, sum_) for name, sum_ in self.observables.items()}}

    @cached_property
    def samples(self) -> Mapping[str, FloatArray]:
        """One value per replicate, by the name of the figure."""
        return {name: self.values(figure) for name, figure in self.figures.items()}

    @cached_property
    def estimates(self) -> Mapping[str, float]:
        """The same figures of the estimate itself."""
        return {name: float(figure(self.fit.state)) for name, figure in self.figures.items()}

    @cached_property
    def range_figures(self) -> tuple[str, ...]:
        """Linear figures that the data do not determine; their intervals are certified ranges (``state_range``)."""
        names: list[str] = [name for name, sum_ in self.observables.items() if not is_measured(self.fit, sum_)]
        if self.target is not None and self.target.rank == 1 and not is_target_measured(self.fit, self.target):
            names.append("fidelity")
        return () if not names or is_identified(self.fit) else tuple(names)

    @cached_property
    def undetermined_figures(self) -> tuple[str, ...]:
        """Other figures that the data do not determine: they have no interval."""
        if is_identified(self.fit):
            return ()
        linear = {*self.observables} | ({"fidelity"} if self.target is not None and self.target.rank == 1 else set())
        return tuple(name for name in self.figures if name not in linear)

    def values(self, figure: str | Figure) -> FloatArray:
        """Return a figure, a name or a function of :class:`QuantumState`, of every replicate."""
        if callable(figure):
            return np.array([float(figure(state)) for state in self.states])
        if figure not in self.figures:
            raise InvalidInput("figure", f"a function of a state, or one of {', '.join(self.figures)}", repr(figure))
        return self.samples[figure]

    def estimate(self, figure: str | Figure) -> float:
        """Return a figure of the estimate."""
        return float(figure(self.fit.state)) if callable(figure) else self.estimates[figure]

    def stderr(self, figure: str | Figure) -> float:
        """Return the standard deviation over the replicates."""
        return float(np.std(self.values(figure), ddof=1))

    def bias(self, figure: str | Figure) -> float:
        """Return the mean over the replicates minus the estimate: the bias of measuring and fitting once more."""
        return float(np.mean(self.values(figure))) - self.estimate(figure)

    def interval(self, figure: str | Figure, level: float = 0.95) -> tuple[float, float]:
        """Return a confidence interval of a figure: a name, or any function of :class:`QuantumState`.

        It is between e and e - bias, and t s sqrt(1 + 1/B) more on either side: e is the estimate; s and bias are those
        of the B replicates; t is the quantile of Student's distribution with B - 1 degrees of freedom, which a few
        replicates determine better than empirical quantiles. Near the boundary of the set of states a fit is biased (of
        a pure state it is slightly mixed), and the replicates, measured on the fit, may be more so: hence both ends.
        No interval leaves the values that its figure can take.

        Replicates say nothing about directions that no measurement sees, since every fit chooses the same state there.
        Observables, and the fidelity with a pure state, then get their certified range; other figures are refused.

        Parameters
        ----------
        figure
            The name of a figure, or a function of :class:`QuantumState`.
        level
            The probability that the interval should cover the true value.

        Returns
        -------
        tuple
            The lower and the upper end.
        """
        validate.fraction("level", level)
        values = self.values(figure)
        if isinstance(figure, str) and figure in self.range_figures:
            return self._range(figure, level)
        if figure in self.undetermined_figures or (callable(figure) and not is_identified(self.fit)):
            expected = "a figure that the data determine (observables have a certified range)"
            name = repr(figure) if isinstance(figure, str) else "a function of a state that they do not"
            raise InvalidInput("figure", expected, name)
        return interval_of(values, self.estimate(figure), level, self._limits(figure))

    def summary(self, level: float = 0.95) -> dict[str, dict[str, float]]:
        """Return estimate, standard error, bias and interval of every figure that the data determine or bound."""
        rows: dict[str, dict[str, float]] = {}
        for name in self.figures:
            if name not in self.undetermined_figures:
                low, high = self.interval(name, level)
                errors = {"stderr": self.stderr(name), "bias": self.bias(name), "low": low, "high": high}
                rows[name] = {"estimate": self.estimates[name], **errors}
        return rows

    def _limits(self, figure: str | Figure) -> tuple[float, float]:
        """Return the values that a figure can take at all."""
        if callable(figure):
            return -np.inf, np.inf
        if figure in self.observables:
            reach = float(np.abs(as_pauli_sum(self.observables[figure], self.fit.state.qubits)[1]).sum())
            return -reach, reach
        return (0.0, float(self.fit.state.qubits)) if figure == "entropy" else (0.0, 1.0)

    def _range(self, name: str, level: float) -> tuple[float, float]:
        if (name, level) not in self._ranges:
            found = state_range(self.fit, self.target if name == "fidelity" else self.observables[name], level)
            self._ranges[name, level] = (found.low, found.high)
        return self._ranges[name, level]


def report_data(
    fit: Fit, *, target: Any = None, observables: Mapping[str, Any] | None = None, errors: Bootstrap | None = None
) -> dict[str, Any]:
    """Return what a report of a fit shows, as extras of its result: the state, figures, residuals, observables.

    ``eigenvalues`` and ``eigenvectors``; ``residuals_by_basis`` (:meth:`Fit.residuals_by_basis`); with a target
    ``fidelity`` and ``target_eigenvalues``; with a bootstrap ``NAME_stderr``, ``NAME_low`` and ``NAME_high`` of every
    figure; ``observables``: their ``names``, ``values``, and the ends ``low`` and ``high`` of their intervals, which
    are the values themselves without a bootstrap.

    Parameters
    ----------
    fit
        A fit, ``fit_`` of :class:`~unipd.apps.tomography.PauliTomography`.
    target
        State for the fidelity; that of the bootstrap by default.
    observables
        Sums of Pauli strings by name; those of the bootstrap by default.
    errors
        A bootstrap of the fit.

    See Also
    --------
    unipd.report.write_report, bootstrap

    Examples
    --------
    >>> from unipd.apps.tomography import PauliTomography
    >>> estimate = PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.7], shots=1000)
    >>> data = report_data(estimate.fit_, target=[1, 0], observables={"x": "X"})
    >>> round(data["fidelity"], 2), data["residuals_by_basis"]["bases"], data["observables"]["names"]
    (0.85, ('weight 1',), ('x',))
    """
    goal = errors.target if target is None and errors is not None else None if target is None else as_state(target)
    named = dict(errors.observables if observables is None and errors is not None else observables or {})
    rows = errors.summary() if errors is not None and errors.replicates >= 2 else {}
    state = fit.state
    extras: dict[str, Any] = {"eigenvalues": state.eigenvalues, "eigenvectors": state.eigenvectors}
    if goal is not None:
        extras |= {"fidelity": state.fidelity(goal), "target_eigenvalues": goal.eigenvalues}
    extras |= {f"{name}_{part}": row[part] for name, row in rows.items() for part in ("stderr", "low", "high")}
    residuals = fit.residuals_by_basis()
    if residuals is not None:
        extras["residuals_by_basis"] = residuals
    if named:
        values = {name: real_expectation(sum_, state) for name, sum_ in named.items()}
        ends = {
            end: tuple(rows.get(name, {end: value})[end] for name, value in values.items()) for end in ("low", "high")
        }
        extras["observables"] = {"names": tuple(values), "values": tuple(values.values()), **ends}
    return extras


Figure: TypeAlias = Callable[[QuantumState], float]
"""A function of a state."""


def nth_eigenvalue(place: int, state: QuantumState) -> float:
    """Return an eigenvalue by its place, 0 for those that are not kept."""
    return float(state.eigenvalues[place]) if place < state.rank else 0.0


def real_expectation(observable: Any, state: QuantumState) -> float:
    """Return the real part of an expectation value."""
    return float(np.real(state.expectation(observable)))


def interval_of(
    values: FloatArray,
    estimate: float,
    level: float,
    limits: tuple[float, float] = (-np.inf, np.inf),
    bias_factor: float = 1.0,
) -> tuple[float, float]:
    """Return the interval between e and e - bias with the margin of the replicates; see :meth:`Bootstrap.interval`.

    ``bias_factor`` multiplies the bias.

    >>> low, high = interval_of(np.array([0.9, 1.1]), 0.8, 0.5)
    >>> round(low, 3), round(high, 3)
    (0.427, 0.973)
    """
    number = values.size
    spread = float(np.std(values, ddof=1)) * float(np.sqrt(1.0 + 1.0 / number))
    width = float(stdtrit(number - 1, 0.5 + 0.5 * level)) * spread
    corrected = estimate - bias_factor * (float(np.mean(values)) - estimate)
    ends = np.clip([min(estimate, corrected) - width, max(estimate, corrected) + width], *limits)
    return float(ends[0]), float(ends[1])


def bootstrap(
    fit: Fit,
    replicates: int = 100,
    *,
    target: Any = None,
    observables: Mapping[str, Any] | None = None,
    resample: str = "parametric",
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> Bootstrap:
    """Repeat the experiment, fit again, and keep the resulting states: any figure of the state has an error bar.

    Data from counts are drawn again basis by basis, so that strings measured together vary together. Expectation values
    are drawn with their shots or standard errors; without either the noise is estimated from the residual. The
    figures with names are the fidelity with ``target``, purity, entropy, the largest eigenvalues and the observables.

    Parameters
    ----------
    fit
        A fit, ``fit_`` of :class:`~unipd.apps.tomography.PauliTomography`.
    replicates
        Number of repeated experiments, at least 2.
    target
        State for the fidelity; without one none is reported.
    observables
        Sums of Pauli strings by name.
    resample
        "parametric": outcomes of the estimated state; "basis": the shots of every basis (the errors of every value)
        themselves, with replacement, whatever the estimate.
    seed
        Seed; every replicate has a stream of its own, so the result does not depend on the threads.
    threads
        Number of concurrent fits, one thread each.
    progress
        Called with (done, total) after every replicate, by one thread at a time.

    Returns
    -------
    Bootstrap

    Raises
    ------
    InvalidInput
        ``replicates``: expected an integer of at least 2; ``threads``: expected an integer of at least 1; ``seed``:
        expected an integer of at least 0.

    See Also
    --------
    Bootstrap, unipd.PauliTomography

    Notes
    -----
    Inside a :class:`unipd.Checkpoint` finished replicates are stored next to its file and not drawn again.

    Examples
    --------
    >>> from unipd.apps.tomography import PauliTomography
    >>> estimate = PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.7], shots=1000)
    >>> errors = bootstrap(estimate.fit_, 20, observables={"x": "X"}, seed=1)
    >>> 0.01 < errors.stderr("x") < 0.05, 0.0 < errors.stderr(lambda state: state.purity**2) < 0.1
    (True, True)
    """
    number = validate.integer("replicates", replicates, minimum=2)
    validate.choice("resample", resample, RESAMPLING)
    named = {} if observables is None else dict(observables)
    for observable in named.values():
        as_pauli_sum(observable, fit.state.qubits)
    streams = np.random.SeedSequence(validate.integer("seed", seed, minimum=0)).spawn(number)
    workers = 1 if threads is None else validate.integer("threads", threads, minimum=1)

    def replicate(index: int) -> Array | None:
        """Return a factor of the state; None when a stop is requested, which may have cut the fit short."""
        if is_stop_requested():
            return None
        state = repeat_fit(fit, np.random.default_rng(streams[index]), resample).state
        return None if is_stop_requested() else state.eigenvectors * np.sqrt(state.eigenvalues)

    done = _Replicates(fit.refit_settings, fit.counts, fit.state, fit.fitted, fit.data, resample, seed)
    factors = done.complete(number, replicate, workers, progress)
    states = tuple(QuantumState(factor, np.linalg.norm(factor, axis=0) ** 2) for factor in factors)
    return Bootstrap(states, fit, None if target is None else as_state(target), named)


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
        if header["layout"] != LAYOUT:
            raise unusable(path, f"its replicates have the layout {header['layout']}, expected {LAYOUT}")
        sets: dict[str, Rows] = {}
        for (key, number), factor in zip(header["replicates"], arrays, strict=True):
            sets.setdefault(key, {})[number] = factor
        return sets
    except (KeyError, TypeError, ValueError, OSError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise unusable(path, f"the replicates cannot be read ({error})") from error


class _Replicates:
    """Factors of the states by the number of the replicate, written as often as the checkpoint, if there is one.

    The file keeps the replicates of other fits and seeds: ``marks`` are all that these depend on.
    """

    def __init__(self, *marks: Any) -> None:
        self._checkpoint = current_context().checkpoint
        self._sets = {} if self._checkpoint is None else read_replicates(self._checkpoint.path)
        key = "" if self._checkpoint is None else current_communicator().on_root(lambda: digest_of(__version__, *marks))
        self._rows = self._sets.setdefault(key, {})
        self._written, self._unwritten, self._has_warned = -np.inf, 0, False

    def complete(
        self, count: int, draw: Callable[[int], Array | None], threads: int, progress: Callable[[int, int], Any] | None
    ) -> list[Array]:
        """Return the first ``count`` replicates after drawing the missing ones; fewer when a stop is requested."""
        missing = [number for number in range(count) if number not in self._rows]
        done = count - len(missing)
        if done and progress is not None:
            progress(done, count)
        try:
            with ThreadPoolExecutor(threads if current_communicator().size == 1 else 1) as pool:
                rows = pool.map(bind_process_context(draw), missing)
                for number, row in zip(missing, rows, strict=True):
                    if row is None or is_stop_requested():
                        break
                    self._rows[number], done = row, done + 1
                    self._unwritten += 1
                    self._write_if_due()
                    if progress is not None:
                        progress(done, count)
        finally:
            self._write()
        return [self._rows[number] for number in range(count) if number in self._rows]

    def _write_if_due(self) -> None:
        since = time.perf_counter() - self._written
        if self._checkpoint is not None and (since == np.inf or self._checkpoint.every.due(since, self._unwritten)):
            self._write()

    def _write(self) -> None:
        """Write the file, or warn once that this is not possible."""
        if self._checkpoint is None:
            return
        path = replicates_file(self._checkpoint.path)
        if self._unwritten and current_communicator().is_leader:
            names = [(key, number) for key, rows in self._sets.items() for number in rows]
            factors = [factor for rows in self._sets.values() for factor in rows.values()]
            try:
                write_checkpoint(path, {"layout": LAYOUT, "replicates": names, "runs": []}, factors)
            except OSError as error:
                if not self._has_warned:
                    text = f"{path} could not be written ({error.strerror}); the bootstrap continues and retries"
                    warnings.warn(text, CheckpointWarning, stacklevel=2)
                self._has_warned = True
        self._written, self._unwritten = time.perf_counter(), 0
