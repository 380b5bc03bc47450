"""The estimator: from Pauli measurements to a quantum state with a certified fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from unipd import validate
from unipd.apps.tomography.counts import BasisCounts, as_counts
from unipd.apps.tomography.fit import fit_basis_counts, fit_data
from unipd.apps.tomography.fitted import Fitted
from unipd.apps.tomography.measurements import require_room, warn_if_doubtful, warn_if_too_few
from unipd.apps.tomography.paulis import Paulis, as_paulis
from unipd.apps.tomography.settings import PRECISIONS, choose_precision
from unipd.apps.tomography.values import real_values
from unipd.errors import InvalidInput
from unipd.io.pauli_model import PauliData
from unipd.methods import Method
from unipd.run import Moment, StoppingRule


class PauliTomography(Fitted):
    """Estimate a quantum state of low rank from Pauli measurements: min 1/2 ||A(X) - b||^2 over density matrices.

    Nothing of size p x p is formed above nine qubits. The answer is a :class:`QuantumState` (eigenvalues and
    eigenvectors; positive semidefinite with trace one by construction) whose fit is certified by a dual bound.

    Parameters
    ----------
    objective
        "least-squares"; "weighted" by inverse variances (the choice of "auto" when they are known); "trace" or
        "trace-squared": the smallest that fits within the noise level; for counts "outcomes" and "gaussian".
    noise_level
        kappa in ||A(X) - b|| <= kappa for the last two; derived from the data by default.
    method
        A method or its name; "auto" is the factored corrective method.
    accuracy
        Certified gap, relative to the loss at X = 0. For exact data it bounds ||A(X) - b||^2 / ||b||^2.
    rank
        Largest rank of the estimate; found by default.
    hedge
        White noise is mixed in as far as it costs this share of the loss (5e-5 is hardly anything): states that are
        not quite of low rank gain fidelity. Up to ten qubits.
    precision
        "single", "double", or "auto" (single for many qubits and data without declared errors).
    threads
        Threads of the products; None for all that Numba uses.
    stop, callback, verbose
        As in :func:`unipd.solve`.
    method_options
        Options of a method given by name, e.g. ``{"weights": "greedy"}``.
    solver_options
        More for :func:`unipd.solve`.

    Attributes
    ----------
    state_
        The estimate.
    result_
        The solver's :class:`unipd.Result`, with the estimate for its point where that was cut or hedged.
    data_
        The measurements.
    fitted_
        The estimate's expectation values.
    objective_, dual_bound_, gap_, relative_residual_, rank_
        Certificate and figures of the estimate.

    Examples
    --------
    >>> from unipd.apps.tomography.state import QuantumState
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
        accuracy: float = 1e-4,
        rank: int | None = None,
        hedge: float = 0.0,
        precision: str = "auto",
        threads: int | None = None,
        stop: StoppingRule | None = None,
        callback: Callable[[Moment], bool | None] | None = None,
        verbose: bool = False,
        method_options: Mapping[str, Any] | None = None,
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        if precision not in PRECISIONS:
            raise InvalidInput("precision", f"one of {', '.join(PRECISIONS)}", repr(precision))
        self.objective = objective
        self.noise_level = None if noise_level is None else validate.nonnegative("noise_level", noise_level)
        self.method = method
        self.accuracy = validate.positive("accuracy", accuracy)
        self.rank = None if rank is None else validate.integer("rank", rank, minimum=1)
        self.hedge = validate.nonnegative("hedge", hedge)
        self.precision = precision
        self.threads = None if threads is None else validate.integer("threads", threads, minimum=1)
        self.stop = stop
        self.callback = callback
        self.verbose = verbose
        self.method_options = dict(method_options or {})
        self.solver_options = dict(solver_options or {})
        super().__init__()
        self.counts_: list[BasisCounts] | None = None
        self.count_limits: dict[str, int | None] = {}

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
            Number of shots of each value, or of all.
        stderr
            Standard error of each value, or of all; wins over ``shots``.
        qubits
            Number of qubits, for integer masks.
        """
        strings = as_paulis(paulis, qubits)
        values = real_values("expectations", expectations, strings.x.size)
        given = (("shots", shots), ("stderr", stderr))
        noise = [None if part is None else real_values(name, part, strings.x.size, spread=True) for name, part in given]
        return self.fit_data(PauliData(*strings, values, *noise))

    def fit_counts(
        self, counts: Any, *, max_weight: int | None = None, max_paulis: int | None = None
    ) -> PauliTomography:
        """Estimate the state from counts in local measurement bases.

        Every Pauli string that a basis determines is estimated from it and pooled over the bases by their shots;
        strings estimated from the same shots are correlated, and the fit weighs them as if they were not. Where there
        are 16 shots an outcome or more (and no limits), the frequencies of all outcomes are fitted. The objective
        "auto" is then "gaussian", with variances from the counts; unless the likelihood rises or falls too steeply
        from that state towards white noise: then "outcomes", with the variances in the state fitted before, close to
        maximum likelihood. The certificate is that of the last fit.

        Parameters
        ----------
        counts
            ``{basis: {bit-string: count}}``, e.g. ``{"XZ": {"00": 480, "11": 520}}``. In a basis and in a bit-string
            the rightmost character belongs to qubit 0 (Qiskit's order).
        max_weight
            Largest number of letters other than I in a string.
        max_paulis
            Largest number of strings, those of lowest weight being kept.
        """
        parts = as_counts(counts)
        self._fit = fit_basis_counts(self, parts, max_weight=max_weight, max_paulis=max_paulis)
        self.counts_, self.count_limits = parts, {"max_weight": max_weight, "max_paulis": max_paulis}
        warn_if_too_few(Paulis(self.data_.qubits, self.data_.x, self.data_.z))
        return self

    def fit_data(self, data: PauliData) -> PauliTomography:
        """Estimate the state from measurements read by :func:`unipd.io.pauli_data.read_pauli_data`."""
        require_room(data.qubits, data.size, double=choose_precision(self.precision, data) == "double")
        warn_if_too_few(Paulis(data.qubits, data.x, data.z))
        warn_if_doubtful(data)
        self._fit, self.counts_ = fit_data(self, data), None
        return self

    def bootstrap(self, replicates: int = 100, **options: Any) -> Any:
        """Return error bars by parametric bootstrap; see :func:`unipd.apps.tomography.bootstrap`."""
        from unipd.apps.tomography.bootstrap import bootstrap

        return bootstrap(self, replicates, **options)

    def __repr__(self) -> str:
        fitted = "" if self._fit is None else f", {self._fit.state!r}"
        return f"PauliTomography(objective={self.objective!r}, method={self.method!r}{fitted})"
