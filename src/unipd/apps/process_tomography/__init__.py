"""Quantum process tomography: a channel from input states and measurements of their outputs.

A channel E is its Choi matrix J = sum_ij |i><j| (x) E(|i><j|), positive semidefinite with tr_out J = I. A measured
value tr(M E(rho)) is linear in J, so that the fit is the template: X the matrices J of trace d_in, an equality for the
partial trace, and a likelihood or least squares for the data. Conventions are Qiskit's.

In the order to read:

- :mod:`~unipd.apps.process_tomography.channel`: :class:`QuantumChannel`, its representations and figures;
- :mod:`~unipd.apps.process_tomography.data`: counts and expectation values, with or without an ancilla;
- :mod:`~unipd.apps.process_tomography.estimator`: :class:`ProcessTomography`, the problem, the entry point, error bars;
- :mod:`~unipd.apps.process_tomography.descent`: the method, quasi-Newton steps over Kraus operators;
- :mod:`~unipd.apps.process_tomography.diamond`: the diamond distance with certified bounds;
- :mod:`~unipd.apps.process_tomography.simulate`: test channels and simulated experiments.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
