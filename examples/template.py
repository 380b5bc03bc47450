"""The template, part by part: one problem, then each part replaced in turn.

    python examples/template.py

Find the cheapest blend of 200 ingredients (x in the simplex) that keeps 20 measured properties in range.
"""

from __future__ import annotations

import numpy as np

import unipd
from unipd import couplings, sharp

INGREDIENTS, PROPERTIES = 200, 20


def main() -> None:
    rng = np.random.default_rng(0)
    price = rng.uniform(1.0, 3.0, INGREDIENTS)
    A = rng.standard_normal((PROPERTIES, INGREDIENTS))
    target = A @ rng.dirichlet(np.ones(INGREDIENTS))

    print("Cheapest blend whose properties are at most those of the target:")
    cheapest = sharp.Linear(price, sharp.Simplex(INGREDIENTS))
    at_most = unipd.solve(unipd.Problem(cheapest, A, target, "<="), accuracy=1e-6)
    print(at_most, end="\n\n")

    print("The same within a ball around the target (another K):")
    near = unipd.solve(unipd.Problem(cheapest, A, target, couplings.L2Ball(0.5)), accuracy=1e-6)
    print(near, end="\n\n")

    print("As close to the target as possible, at any price (a loss, and a set without an objective):")
    fit = unipd.Problem(sharp.Simplex(INGREDIENTS), A, target + 0.5, couplings.LeastSquares())
    nearest = unipd.solve(fit, accuracy=1e-6)
    print(nearest, end="\n\n")

    print("Two blends whose properties add up (several blocks, one map each):")
    blocks = [cheapest, sharp.Linear(2.0 * price, sharp.Simplex(INGREDIENTS, scale=0.5))]
    both = unipd.solve(unipd.Problem(blocks, [A, A[:, ::-1].copy()], 1.5 * target, "<="), accuracy=1e-6)
    print(both, end="\n\n")

    print("The paper's accelerated method on the loss, iteration by iteration:")
    for state in unipd.iterate(fit, "accunipdgrad", accuracy=1e-2):
        if state.iteration % 25 == 0:
            low, high = state.certificate.dual_bound, state.certificate.objective
            print(f"  iteration {state.iteration:4d}  {low:.5f} <= optimum <= {high:.5f}")
        if state.iteration == 100:
            break


if __name__ == "__main__":
    main()
