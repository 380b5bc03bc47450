"""
Checkpoint and resume
=====================

A run is stopped in the middle, as by a power cut, and resumed from its file. The resumed iterates are those of a run
that was never interrupted, bit for bit.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt  # pip install "unipd[plot]"
import numpy as np

import unipd

rng = np.random.default_rng(0)
A = rng.standard_normal((20, 50))
problem = unipd.Problem(
    unipd.sharp.Simplex(50),
    A,
    A @ rng.dirichlet(np.ones(50)),
    unipd.couplings.LeastSquares(),
)
settings = {"method": "accunipdgrad", "accuracy": 1e-6}
whole = unipd.solve(problem, stop=unipd.MaxIterations(300), **settings)
with TemporaryDirectory() as folder:
    file = Path(folder) / "run.ckpt"
    first = unipd.solve(
        problem, stop=unipd.MaxIterations(120), checkpoint=file, **settings
    )
    second = unipd.solve(
        problem, stop=unipd.MaxIterations(300), checkpoint=file, resume=True, **settings
    )
print("the same bits:", np.array_equal(second.x, whole.x))

# %%
# The history continues where it stopped; the curves of both runs coincide.

figure, axis = plt.subplots()
axis.loglog(
    whole.history["iteration"],
    whole.history["gap"],
    color="0.8",
    linewidth=7.0,
    label="uninterrupted",
)
axis.loglog(
    second.history["iteration"],
    second.history["gap"],
    color="C0",
    label="stopped and resumed",
)
axis.axvline(120, color="C1", linestyle="--", label="interruption")
axis.set(xlabel="iteration", ylabel="certified gap")
axis.legend()
plt.show()
