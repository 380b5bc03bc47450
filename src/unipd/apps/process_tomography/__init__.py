"""Quantum process tomography: a channel from input states and measurements of their outputs.

A channel E is its Choi matrix J = sum_ij |i><j| (x) E(|i><j|), positive semidefinite with tr_out J = I. A measured
value tr(M E(rho)) is linear in J, so that the fit is the template: X the matrices J of trace d_in, an equality for the
partial trace, and a likelihood or least squares for the data. Conventions are Qiskit's.

In the order to read:

- :mod:`~unipd.apps.process_tomography.channel`: :class:`QuantumChannel`, its representations and figures;
- :mod:`~unipd.apps.process_tomography.data`: counts and expectation values, with or without an ancilla;
- :mod:`~unipd.apps.process_tomography.estimator`: :class:`ProcessTomography`, the problem and the entry point;
- :mod:`~unipd.apps.process_tomography.descent`: the method, quasi-Newton steps over Kraus operators;
- :mod:`~unipd.apps.process_tomography.bootstrap`: error bars of any figure of the channel;
- :mod:`~unipd.apps.process_tomography.diamond`: the diamond distance with certified bounds;
- :mod:`~unipd.apps.process_tomography.simulate`: test channels and simulated experiments.
"""

from unipd.apps.process_tomography.bootstrap import ChannelBootstrap
from unipd.apps.process_tomography.channel import GATES, QuantumChannel, as_channel
from unipd.apps.process_tomography.data import (
    ProcessData,
    all_preparations,
    ancilla_data,
    counts_data,
    expectation_data,
    prepared_state,
)
from unipd.apps.process_tomography.descent import KrausDescent
from unipd.apps.process_tomography.diamond import DiamondDistance, diamond_distance
from unipd.apps.process_tomography.estimator import ProcessTomography, UndeterminedChannel, process_problem
from unipd.apps.process_tomography.simulate import (
    CHANNELS,
    make_channel,
    noisy_channel,
    random_channel,
    random_unitary,
    simulate_process,
)

__all__ = [
    "CHANNELS",
    "GATES",
    "ChannelBootstrap",
    "DiamondDistance",
    "KrausDescent",
    "ProcessData",
    "ProcessTomography",
    "QuantumChannel",
    "UndeterminedChannel",
    "all_preparations",
    "ancilla_data",
    "as_channel",
    "counts_data",
    "diamond_distance",
    "expectation_data",
    "make_channel",
    "noisy_channel",
    "prepared_state",
    "process_problem",
    "random_channel",
    "random_unitary",
    "simulate_process",
]
