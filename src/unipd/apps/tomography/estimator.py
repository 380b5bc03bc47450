"""The estimator: from Pauli measurements to a quantum state with a certified fit."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from unipd._typing import FloatArray
from unipd._util import validate
from unipd.apps.tomography.confidence import StateRange, state_range
from unipd.apps.tomography.counts import BasisCounts, as_counts
from unipd.apps.tomography.error_bars import Bootstrap, bootstrap, report_data
from unipd.apps.tomography.fit import fit_counts, fit_data
from unipd.apps.tomography.measurements import (
    PRECISIONS,
    QuasiCounts,
    as_paulis,
    real_values,
    warn_if_doubtful,
    warn_if_errors_vanish,
    warn_if_undetermined,
)
from unipd.apps.tomography.model import Fit, FitSettings
from unipd.apps.tomography.state import DENSE_QUBITS, QuantumState
from unipd.errors import InvalidInput, UnipdError
from unipd.io.pauli import PauliData
from unipd.methods import Method
from unipd.run import IterationInfo, Result, StoppingRule

SOLVER_OPTIONS = ("atol", "start", "polish", "checkpoint", "every", "resume")
"""Options of :func:`unipd.solve` that a fit passes on; the others are arguments of the estimator, or set by the fit."""


def _check_solver_options(options: dict[str, Any]) -> dict[str, Any]:
    unknown = ", ".join(str(name) for name in options if name not in SOLVER_OPTIONS)
    if unknown:
        elsewhere = "limits are given as stop=, e.g. stop=MaxIterations(100), options of a method as method_options="
        raise InvalidInput("solver_options", f"{', '.join(SOLVER_OPTIONS)} ({elsewhere})", unknown)
    return options


class PauliTomography:
    """Estimate a quantum state from Pauli measurements: least squares or maximum likelihood over density matrices.

    Nothing of size p x p is formed above nine qubits. The answer is a :class:`QuantumState` (eigenvalues and
    eigenvectors; positive semidefinite with trace one by construction) whose fit is certified by a dual bound.

    Parameters
    ----------
    objective
        "least-squares"; "weighted" by inverse variances (the choice of "auto" when they are known); "trace" or
        "trace-squared", minimised within the noise level; for counts "likelihood" (the choice of "auto"), "outcomes"
        and "gaussian".
    noise_level
        kappa in ||A(X) - b|| <= kappa for "trace" and "trace-squared"; derived from the data by default.
    method
        A method or its name; "auto" is the factored method, or a projected gradient method for noisy data, and for
        likelihoods and prescribed ranks descent over factors of fixed width.
    accuracy
        Certified gap. For likelihoods it is absolute, in nats, and 0.01 by default. Otherwise it is relative to the
        loss at X = 0, and 1e-4 by default: for exact data it bounds ||A(X) - b||^2 / ||b||^2. For objectives in units
        of the noise, up to six qubits and with the method "auto", the default is less where 1e-4 would leave a
        chi-square of more than 0.02.
    rank
        Largest rank of the estimate: the fit is over states of at most this rank, and ends as ``local`` unless it is
        proven optimal among all states. "auto" takes the rank of least information criterion (Akaike's). By default all
        states are allowed, except that with the objective "auto" noisy data with fewer than half of all strings are
        fitted at the smallest rank that explains them up to noise, if there is one.
    depolarize
        Share of the loss that mixing white noise into the estimate may cost (5e-5 hardly changes the fit): states
        that are not quite of low rank gain fidelity. Up to ten qubits.
    precision
        "single", "double", or "auto" (single for many qubits and data without declared errors).
    threads
        Threads of the products; by default all that Numba uses.
    stop, callback, verbose
        As in :func:`unipd.solve`.
    method_options
        Options of a method given by name, e.g. ``{"weights": "greedy"}``.
    solver_options
        Further options of :func:`unipd.solve`: ``atol``, ``start``, ``polish``, ``checkpoint``, ``every``, ``resume``.

    Attributes
    ----------
    state_
        The estimate.
    result_
        The solver's :class:`unipd.Result`; a truncated or depolarized estimate replaces its point.
    data_, counts_
        The measurements, and the counts behind them, if any.
    fitted_
        The estimate's expectation values.
    objective_, dual_bound_, gap_, relative_residual_, rank_
        Certificate and figures of the estimate.
    objective_name_, chi_square_per_dof_
        The objective that was fitted; chi-square per degree of freedom, NaN where errors are unknown.

    Raises
    ------
    InvalidInput
        ``depolarize``, ``noise_level``: expected a number of at least zero; ``accuracy``: expected a number above
        zero; ``rank``, ``threads``: expected an integer of at least 1.

    See Also
    --------
    ProcessTomography, unipd.apps.tomography.QuantumState, unipd.apps.tomography.bootstrap

    Examples
    --------
    >>> from unipd.apps.tomography import QuantumState
    >>> bell = QuantumState([1, 0, 0, 1])
    >>> labels = ["XX", "YY", "ZZ", "XI", "IX", "ZI", "IZ", "YI", "IY", "XY", "YX", "XZ", "ZX", "YZ", "ZY"]
    >>> estimate = PauliTomography(accuracy=1e-8).fit(labels, bell.expectations(labels))
    >>> estimate.rank_, round(estimate.fidelity(bell), 6), round(estimate.expectation({"XX": 0.5, "ZZ": 0.5}), 6)
    (1, 1.0, 1.0)
    """

    def __init__(
        self,
        *,
        objective: str = "auto",
        noise_level: float | None = None,
        method: Method | str = "auto",
        accuracy: float | None = None,
        rank: int | str | None = None,
        depolarize: float = 0.0,
        precision: str = "auto",
        threads: int | None = None,
        stop: StoppingRule | None = None,
        callback: Callable[[IterationInfo], bool | None] | None = None,
        verbose: bool = False,
        method_options: Mapping[str, Any] | None = None,
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.settings = FitSettings(
            objective=objective,
            noise_level=None if noise_level is None else validate.nonnegative("noise_level", noise_level),
            method=method,
            accuracy=None if accuracy is None else validate.positive("accuracy", accuracy),
            rank=rank if rank is None or rank == "auto" else validate.integer("rank", rank, minimum=1),
            depolarize=validate.nonnegative("depolarize", depolarize),
            precision=validate.choice("precision", precision, PRECISIONS),
            threads=None if threads is None else validate.integer("threads", threads, minimum=1),
            stop=stop,
            callback=callback,
            verbose=verbose,
            method_options=dict(method_options or {}),
            solver_options=_check_solver_options(dict(solver_options or {})),
        )
        self._fit: Fit | None = None

    def fit(
        self, paulis: Any, expectations: Any, shots: Any = None, stderr: Any = None, *, qubits: int | None = None
    ) -> PauliTomography:
        """Estimate the state from expectation values.

        Parameters
        ----------
        paulis
            The strings: labels with qubit 0 at the right, a Qiskit ``PauliList`` or ``SparsePauliOp``, or masks (x, z).
        expectations
            Their measured values.
        shots
            Number of shots of each value, or one number for all.
        stderr
            Standard error of each value, or one number for all; takes precedence over ``shots``.
        qubits
            Number of qubits, for integer masks.
        """
        strings = as_paulis(paulis, qubits)
        values = real_values("expectations", expectations, strings.x.size)
        noise = {
            name: real_values(name, given, strings.x.size, spread=True)
            for name, given in (("shots", shots), ("stderr", stderr))
            if given is not None
        }
        return self.fit_data(PauliData(*strings, values, **noise))

    def fit_counts(
        self,
        counts: Any,
        *,
        povm: Any = None,
        readout: Any = None,
        max_weight: int | None = None,
        max_paulis: int | None = None,
    ) -> PauliTomography:
        """Estimate the state from counts of outcomes, by maximum likelihood.

        Bases may be missing or have different numbers of shots. The gap is in nats: no state has a log-likelihood that
        is larger by more. With limits on the strings, or more than 4 million outcomes, every Pauli string that a basis
        determines is estimated and pooled over the bases, and the estimates are fitted; strings estimated from the same
        shots are correlated, which that fit neglects. Quasi-counts are fitted by least squares with weights from the
        counts ("gaussian").

        Parameters
        ----------
        counts
            ``{basis: {bit-string: count}}``, e.g. ``{"XZ": {"00": 480, "11": 520}}``. In a basis and in a bit-string
            the rightmost character belongs to qubit 0 (Qiskit's order). Bit-strings may be hexadecimal ("0x3"), and
            Qiskit's ``BitArray`` or ``PubResult`` may take their place. Qubits with the letter I were not measured
            ("IIXX"); bit-strings then have a bit for each measured qubit or for every qubit. Negative or fractional
            numbers are quasi-counts, corrected for readout errors.
        povm
            Operators of the outcomes, where these are not those of local bases: "sic" or "pauli-6" on every qubit; an
            array of shape (outcomes, 2, 2) for every qubit; a list of these, qubit 0 first; an array of shape
            (outcomes, 2^q, 2^q); or a mapping from the settings of ``counts``, or from their letters, to any of these.
            Outcomes have a digit for each qubit ("031", qubit 0 at the right), those of all qubits together a number.
            With one POVM ``counts`` may be ``{outcome: count}``.
        readout
            Readout errors of counts that were not corrected: the probability of a flip, a 2 x 2 matrix for all qubits
            or for each (qubit 0 first), or a 2^q x 2^q matrix. Entry (i, j) is the probability to read i in the state
            j. They become part of the measurement that is fitted.
        max_weight
            Largest number of letters other than I in a string.
        max_paulis
            Largest number of strings; those of lowest weight are kept.
        """
        settings = replace(self.settings, readout=readout, max_weight=max_weight, max_paulis=max_paulis)
        parts = as_counts(counts, povm)
        if any(part.is_quasi for part in parts):
            text = "negative or fractional counts have no likelihood: they are fitted by least squares, "
            warnings.warn(f"{text}with weights that neglect how they were corrected", QuasiCounts, stacklevel=2)
        return self._keep(fit_counts(settings, parts))

    def fit_data(self, data: PauliData) -> PauliTomography:
        """Estimate the state from measurements read by :func:`unipd.io.pauli.read_pauli_data`."""
        warn_if_doubtful(data)
        warn_if_errors_vanish(data)
        return self._keep(fit_data(self.settings, data))

    def _keep(self, fit: Fit) -> PauliTomography:
        """Keep a fit, and warn when the data do not determine it; averages of atoms have a rank of their own."""
        self._fit = fit
        rank = self.rank_ if self.settings.method in ("auto", "factored") else 0
        warn_if_undetermined(fit.data.qubits, fit.model.independent, rank)
        return self

    def bootstrap(self, replicates: int = 100, **options: Any) -> Bootstrap:
        """Return error bars from repeated experiments; see :func:`unipd.apps.tomography.bootstrap`."""
        return bootstrap(self.fit_, replicates, **options)

    def state_range(self, observable: Any, level: float = 0.95, **options: Any) -> StateRange:
        """Return certified bounds on an observable; see :func:`unipd.apps.tomography.state_range`."""
        return state_range(self.fit_, observable, level, **options)

    @property
    def fit_(self) -> Fit:
        """Settings, data, estimate and result in one object."""
        if self._fit is None:
            raise UnipdError("this PauliTomography has not been fitted: call fit, fit_counts or fit_data first")
        return self._fit

    @property
    def state_(self) -> QuantumState:
        """The estimate."""
        return self.fit_.state

    @property
    def result_(self) -> Result:
        """The solver's result."""
        return self.fit_.result

    @property
    def counts_(self) -> list[BasisCounts] | None:
        """The counts behind the measurements, if any."""
        return self.fit_.counts

    @property
    def data_(self) -> PauliData:
        """The measurements."""
        return self.fit_.data

    @property
    def fitted_(self) -> FloatArray:
        """Expectation values of the estimate."""
        return self.fit_.fitted

    @property
    def objective_(self) -> float:
        """Objective at the estimate."""
        return self.fit_.result.objective

    @property
    def objective_name_(self) -> str:
        """Name of the objective that was fitted."""
        return self.fit_.model.objective

    @property
    def chi_square_per_dof_(self) -> float:
        """Chi-square per degree of freedom; NaN where errors are unknown or parameters exceed data."""
        return self.fit_.chi_square_figures().get("chi_square_per_dof", math.nan)

    @property
    def dual_bound_(self) -> float:
        """Certified lower bound on the optimal value."""
        return self.fit_.result.dual_bound

    @property
    def gap_(self) -> float:
        """Certified gap of the estimate: relative, for likelihoods in nats."""
        return self.fit_.result.gap

    @property
    def relative_residual_(self) -> float:
        """||A(X) - b||^2 / ||b||^2."""
        return self.fit_.relative_residual

    @property
    def rank_(self) -> int:
        """Number of eigenvalues above 1e-6."""
        return self.fit_.state.effective_rank()

    def fidelity(self, target: Any) -> float:
        """Return the fidelity of the estimate with a state (squared form); see :meth:`QuantumState.fidelity`."""
        return self.state_.fidelity(target)

    def expectation(self, observable: Any) -> float | complex:
        """Return the expectation value of a sum of Pauli strings; see :meth:`QuantumState.expectation`."""
        return self.state_.expectation(observable)

    def summary(self, target: Any = None) -> dict[str, Any]:
        """Return the headline figures as plain numbers and strings; with a target also the fidelity."""
        return self.fit_.summary(target)

    def to_qiskit(self, *, max_qubits: int = DENSE_QUBITS) -> Any:
        """Return the estimate as Qiskit's ``Statevector`` (rank one) or ``DensityMatrix``."""
        return self.state_.to_qiskit(max_qubits=max_qubits)

    def plot(self, path: str | None = None, **options: Any) -> Any:
        """Draw convergence, state, spectrum and fit; see :func:`unipd.report.tomography.plot_tomography`."""
        import unipd

        return unipd.report.plot_tomography(self.fit_, path, **options)

    def report(self, path: str, *, title: str | None = None, **options: Any) -> Any:
        """Write an HTML page of the fit: certificate, state, spectrum, observables, residuals by basis.

        Parameters
        ----------
        path
            Where to write the page.
        title
            Its title, and the name of the run.
        **options
            ``target``, ``observables`` and ``errors`` of :func:`unipd.apps.tomography.report_data`.
        """
        import unipd

        result = self.result_.with_extras(**report_data(self.fit_, **options))
        return unipd.report.write_report({title or "tomography": result}, path, title=title)

    def __repr__(self) -> str:
        fitted = "" if self._fit is None else f", {self._fit.state!r}"
        return f"PauliTomography(objective={self.settings.objective!r}, method={self.settings.method!r}{fitted})"
