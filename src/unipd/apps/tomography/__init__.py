"""Quantum state tomography from Pauli measurements (paper, section 5.1).

A state of q qubits is a density matrix X of size p = 2^q: positive semidefinite, of trace one. Pauli strings P_k are
measured, b_k = tr(P_k X) up to noise, and X is estimated by least squares over all density matrices, from counts of
outcomes by maximum likelihood. The spectrahedron has a cheap linear minimization oracle (one eigenvector), the map
X -> tr(P_k X) is applied to factors of X, and the dual bound certifies the fit: nothing of size p x p is formed. In
labels and bit-strings qubit 0 is the rightmost character, as in Qiskit.

The path from counts to a state is ``PauliTomography.fit_counts`` (estimator), ``fit_counts`` (fit), which chooses the
objective (objectives), the rank and the method, and solves. The files in the order to read:

- :mod:`~unipd.apps.tomography.adapters`: objects of Qiskit and QuTiP as arrays and mappings;
- :mod:`~unipd.apps.tomography.state`: :class:`QuantumState`, a density matrix by its eigenvalues and eigenvectors;
- :mod:`~unipd.apps.tomography.measurements`: Pauli strings and values in the forms users have, their standard errors;
- :mod:`~unipd.apps.tomography.counts`: counts of outcomes, readout errors, Pauli estimates;
- :mod:`~unipd.apps.tomography.objectives`: what is minimised, and the problem that this gives;
- :mod:`~unipd.apps.tomography.fixed_rank`: the method for likelihoods and for states of limited rank;
- :mod:`~unipd.apps.tomography.projected`: the method for noisy data, projected gradients on Ritz vectors;
- :mod:`~unipd.apps.tomography.model`: settings, what is fitted, what comes out;
- :mod:`~unipd.apps.tomography.fit`: the choice of the rank, the solve, and what surrounds it;
- :mod:`~unipd.apps.tomography.estimator`: :class:`PauliTomography`, the entry point;
- :mod:`~unipd.apps.tomography.confidence`: certified ranges of observables, and what the data do not determine;
- :mod:`~unipd.apps.tomography.bootstrap`: error bars of any figure, from repeated experiments;
- :mod:`~unipd.apps.tomography.shadows`: observables without a state, for many qubits;
- :mod:`~unipd.apps.tomography.simulate`: test states and simulated experiments.
"""

from unipd.apps.tomography.bootstrap import (
    Bootstrap,
    bootstrap,
    report_data,
)
from unipd.apps.tomography.confidence import StateRange, residual_noise, state_range
from unipd.apps.tomography.counts import (
    BasisCounts,
    as_confusion,
    as_counts,
    correct_readout,
    estimate_paulis,
)
from unipd.apps.tomography.estimator import PauliTomography
from unipd.apps.tomography.fit import depolarize
from unipd.apps.tomography.measurements import (
    DoubtfulMeasurements,
    MeasurementWarning,
    Paulis,
    QuasiCounts,
    TooFewMeasurements,
    UndeterminedState,
    as_pauli_sum,
    as_paulis,
    choose_paulis,
    measurement_count,
    pauli_map,
    shot_variance,
    standard_errors,
)
from unipd.apps.tomography.model import Fit
from unipd.apps.tomography.objectives import (
    PAPER_EPS,
    likelihood_problem,
    outcome_problem,
    pearson_chi_square,
    tomography_problem,
)
from unipd.apps.tomography.shadows import Shadow, ShadowEstimate, UnevenBases
from unipd.apps.tomography.simulate import (
    STATES,
    Noise,
    Simulation,
    all_bases,
    ghz,
    make_state,
    outcome_probabilities,
    product,
    random_bases,
    random_mixed,
    random_pure,
    simulate,
    simulate_counts,
    w_state,
)
from unipd.apps.tomography.state import QuantumState, as_state
from unipd.maps.pauli import pauli6_povm, sic_povm

__all__ = [
    "PAPER_EPS",
    "STATES",
    "BasisCounts",
    "Bootstrap",
    "DoubtfulMeasurements",
    "Fit",
    "MeasurementWarning",
    "Noise",
    "PauliTomography",
    "Paulis",
    "QuantumState",
    "QuasiCounts",
    "Shadow",
    "ShadowEstimate",
    "Simulation",
    "StateRange",
    "TooFewMeasurements",
    "UndeterminedState",
    "UnevenBases",
    "all_bases",
    "as_confusion",
    "as_counts",
    "as_pauli_sum",
    "as_paulis",
    "as_state",
    "bootstrap",
    "choose_paulis",
    "correct_readout",
    "depolarize",
    "estimate_paulis",
    "ghz",
    "likelihood_problem",
    "make_state",
    "measurement_count",
    "outcome_probabilities",
    "outcome_problem",
    "pauli6_povm",
    "pauli_map",
    "pearson_chi_square",
    "product",
    "random_bases",
    "random_mixed",
    "random_pure",
    "report_data",
    "residual_noise",
    "shot_variance",
    "sic_povm",
    "simulate",
    "simulate_counts",
    "standard_errors",
    "state_range",
    "tomography_problem",
    "w_state",
]
