r"""
Figure 1: quantum tomography
============================

The paper's first experiment on small data: a random pure state of seven qubits from noiseless Pauli expectations,

.. math:: \min \tfrac12 \lVert A(X) - b \rVert^2 \quad \text{over} \quad X \succeq 0,\ \operatorname{tr} X = 1,

by the universal methods and Frank-Wolfe. Dashed curves choose the weight (or step) by a line search. In full, with 14
qubits, the figure is ``unipd reproduce fig1``.
"""

from unipd.reproduce import figure1_experiment, plot_figure1, run_figure1

problem, truth = figure1_experiment(7, seed=0)
traces = run_figure1(problem, truth, iterations=100)
for trace in traces:
    print(
        f"{trace.name:30s} {trace.history['objective'][-1]:.2e} after {len(trace.history)} iterations"
    )

# %%
# The accelerated method is ahead per iteration and per second; greedy weights pay off on this quadratic. Curves of the
# universal methods level off where :math:`\varepsilon` allows it.

figure = plot_figure1(traces)
