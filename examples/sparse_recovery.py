"""Sparse recovery: find a vector with few nonzeros from fewer measurements than unknowns.

    python examples/sparse_recovery.py

Basis pursuit, min ||x||_1 subject to A x = b, has no sharp operator on the whole space, but ||x||_1^2 has one, a
single coordinate. Both problems have the same solutions. With noise, A x may lie in a ball around b.
"""

from __future__ import annotations

import numpy as np

import unipd
from unipd import couplings, sharp

UNKNOWNS, MEASUREMENTS, NONZEROS = 400, 120, 12


def main() -> None:
    rng = np.random.default_rng(0)
    truth = np.zeros(UNKNOWNS)
    truth[rng.choice(UNKNOWNS, NONZEROS, replace=False)] = rng.standard_normal(NONZEROS)
    A = rng.standard_normal((MEASUREMENTS, UNKNOWNS)) / np.sqrt(MEASUREMENTS)
    noise = 0.01 * rng.standard_normal(MEASUREMENTS)

    exact = unipd.solve(unipd.Problem(sharp.L1NormSquared(UNKNOWNS), A, A @ truth, "="), accuracy=1e-6)
    print("Without noise, min ||x||_1^2 subject to A x = b:")
    print(exact)
    print(f"error of x: {np.linalg.norm(exact.x - truth):.1e}", end="\n\n")

    near = couplings.L2Ball(float(np.linalg.norm(noise)))
    noisy = unipd.solve(unipd.Problem(sharp.L1NormSquared(UNKNOWNS), A, A @ truth + noise, near), accuracy=1e-5)
    print("With noise, A x within a ball around b:")
    print(noisy)
    print(f"error of x: {np.linalg.norm(noisy.x - truth):.1e}, nonzeros: {int((np.abs(noisy.x) > 1e-3).sum())}")


if __name__ == "__main__":
    main()
