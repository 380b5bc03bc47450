"""Quantum process tomography: a channel from input states and measurements of their outputs.

A channel E is its Choi matrix J = sum_ij |i><j| (x) E(|i><j|), positive semidefinite with tr_out J = I. A measured
value tr(M E(rho)) is linear in J, so that the fit is the template: X the matrices J of trace d_in, an equality for the
partial trace, and a likelihood or least squares for the data. Conventions are Qiskit's.

In the order to read:

- :mod:`~unipd.apps.process_tomography.channel`: :class:`QuantumChannel`, its representations and figures, test
  channels, diamond distances with certified bounds;
- :mod:`~unipd.apps.process_tomography.data`: counts and expectation values, with or without an ancilla, also simulated;
- :mod:`~unipd.apps.process_tomography.estimator`: :class:`ProcessTomography`, the entry point, with the problem, the
  method (quasi-Newton steps over Kraus operators) and error bars.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
