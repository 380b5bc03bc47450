"""Quantum state tomography from Pauli measurements (paper, section 5.1).

:class:`PauliTomography` estimates a :class:`QuantumState` from expectation values or counts; :func:`simulate` and
:func:`simulate_counts` make experiments to try it on.
"""

from unipd.apps.tomography.bases import all_bases, random_bases, simulate_counts
from unipd.apps.tomography.bootstrap import Bootstrap, bootstrap
from unipd.apps.tomography.estimator import PauliTomography
from unipd.apps.tomography.fit_problem import Fit
from unipd.apps.tomography.measurements import (
    DoubtfulMeasurements,
    MeasurementWarning,
    TooFewMeasurements,
    choose_paulis,
    measurement_count,
)
from unipd.apps.tomography.noise import Noise
from unipd.apps.tomography.paulis import Paulis, as_pauli_sum, as_paulis
from unipd.apps.tomography.problem import tomography_problem
from unipd.apps.tomography.simulate import Simulation, simulate
from unipd.apps.tomography.state import QuantumState, as_state
from unipd.apps.tomography.states import STATES, ghz, make_state, product, random_mixed, random_pure, w_state

__all__ = [
    "STATES",
    "Bootstrap",
    "DoubtfulMeasurements",
    "Fit",
    "MeasurementWarning",
    "Noise",
    "PauliTomography",
    "Paulis",
    "QuantumState",
    "Simulation",
    "TooFewMeasurements",
    "all_bases",
    "as_pauli_sum",
    "as_paulis",
    "as_state",
    "bootstrap",
    "choose_paulis",
    "ghz",
    "make_state",
    "measurement_count",
    "product",
    "random_bases",
    "random_mixed",
    "random_pure",
    "simulate",
    "simulate_counts",
    "tomography_problem",
    "w_state",
]
