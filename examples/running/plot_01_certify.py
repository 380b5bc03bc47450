r"""
Certifying the answer of another solver
=======================================

A solver returns multipliers; what do they prove? ``unipd.certify`` turns *any* vector of multipliers into a proved
bound on the optimal value. Here the multipliers of a MaxCut relaxation are spoilt by noise of growing size, as those of
an unconverged solver would be: the bound stays valid and becomes weaker.
"""

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np

import unipd
from unipd.apps.graphs import maxcut_program
from unipd.io import Graph

rng = np.random.default_rng(0)
ends = rng.integers(0, 40, (2, 160))
program = maxcut_program(Graph.of(40, ends[0], ends[1], np.ones(160)))
solved = program.solve(accuracy=1e-8)
print(
    f"optimum between {min(solved.objective, solved.dual_bound):.6f} and {max(solved.objective, solved.dual_bound):.6f}"
)

# %%
# No noise brings the bound to the wrong side of the optimum.

sizes = np.geomspace(1e-6, 1.0, 13)
bounds = []
for size in sizes:
    spoilt = solved.dual + size * rng.standard_normal(solved.dual.size)
    bounds.append(unipd.certify(program, spoilt, rigorous=True).dual_bound)
excess = np.array(bounds) - solved.objective
assert np.all(excess >= -1e-6)

figure, axis = plt.subplots()
axis.loglog(sizes, np.maximum(excess, 1e-7), "o-")
axis.set(
    xlabel="noise in the multipliers",
    ylabel="proved bound - optimum",
    title="Any multipliers prove something",
)
plt.show()
