"""Print the results of compiled kernels that call others, bit for bit: run by test_kernel_cache.py."""

from __future__ import annotations

import numpy as np

import unipd
from unipd.maps import Sampling
from unipd.spectral import Engine

rng = np.random.default_rng(0)
rows = np.sort(rng.integers(0, 300, 20_000))
sampling = Sampling(rows, rng.integers(0, 500, rows.size), (300, 500), threads=1)
matrix = sampling.adjoint(rng.standard_normal(rows.size))
found = Engine().singular_triples(matrix, tolerance=0.1, value_tolerance=0.01)
print(found.matvecs, found.values.tobytes().hex(), hash(found.left.tobytes()))
problem = unipd.Problem(
    unipd.sharp.NuclearBall((300, 500), 900.0), sampling, rng.standard_normal(rows.size), unipd.couplings.LeastSquares()
)
result = unipd.solve(problem, "frank-wolfe", accuracy=1e-6, stop=unipd.MaxIterations(30), tracker="image")
print(float(result.objective).hex(), float(result.dual_bound).hex(), result.counts.matvecs)
