"""What a fitted estimator answers."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from unipd._typing import FloatArray
from unipd.apps.tomography.fit_problem import Fit
from unipd.apps.tomography.state import DENSE_QUBITS, QuantumState
from unipd.errors import UnipdError
from unipd.io.pauli_model import PauliData
from unipd.run import Result


class Fitted:
    """Base of the estimator: the attributes of its fit, and figures of the state found."""

    def __init__(self) -> None:
        self._fit: Fit | None = None

    @property
    def fit_(self) -> Fit:
        """All that a fit gives, in one object."""
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
        return self.fit_.objective

    @property
    def dual_bound_(self) -> float:
        """Certified lower bound of the optimal value."""
        return self.fit_.result.dual_bound

    @property
    def gap_(self) -> float:
        """Certified relative gap of the estimate."""
        return self.fit_.gap

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
        return import_module("unipd.report.tomography").plot_tomography(self.fit_, path, **options)
