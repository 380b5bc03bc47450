"""Quantum state tomography from Pauli measurements (paper, section 5.1).

A state of q qubits is a density matrix X of size p = 2^q: positive semidefinite, of trace one. Pauli strings P_k are
measured, b_k = tr(P_k X) up to noise, and X is estimated by least squares over all density matrices, from counts of
outcomes by maximum likelihood. The spectrahedron has a cheap linear minimization oracle (one eigenvector), the map
X -> tr(P_k X) is applied to factors of X, and the dual bound certifies the fit: nothing of size p x p is formed. In
labels and bit-strings qubit 0 is the rightmost character, as in Qiskit.

The path from counts to a state is ``PauliTomography.fit_counts`` (estimator), ``fit_counts`` (fit), which chooses the
objective (model), the rank and the method, and solves. The files in the order to read:

- :mod:`~unipd.apps.tomography.state`: :class:`QuantumState`, a density matrix by its eigenvalues and eigenvectors;
- :mod:`~unipd.apps.tomography.measurements`: Pauli strings and values in the forms users have, their standard errors;
- :mod:`~unipd.apps.tomography.counts`: counts of outcomes, readout errors, Pauli estimates;
- :mod:`~unipd.apps.tomography.model`: what is minimised, the problem that this gives, settings, and what comes out;
- :mod:`~unipd.apps.tomography.fixed_rank`: the method for likelihoods and for states of limited rank;
- :mod:`~unipd.apps.tomography.projected`: the method for noisy data, projected gradients on Ritz vectors;
- :mod:`~unipd.apps.tomography.fit`: the choice of the rank, the solve, and what surrounds it;
- :mod:`~unipd.apps.tomography.estimator`: :class:`PauliTomography`, the entry point;
- :mod:`~unipd.apps.tomography.confidence`: certified ranges of observables, and what the data do not determine;
- :mod:`~unipd.apps.tomography.error_bars`: error bars of any figure, from repeated experiments;
- :mod:`~unipd.apps.tomography.shadows`: observables without a state, for many qubits;
- :mod:`~unipd.apps.tomography.simulation`: test states and simulated experiments.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
