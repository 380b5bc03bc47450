"""Bounds after very long steps and in single precision: rounding never gives a false bound."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from unipd import AccUniPDGrad, Problem, Status, iterate, solve
from unipd.couplings import LeastSquares
from unipd.sharp import L1Ball, Simplex


@pytest.mark.parametrize("smoothness", [1e-15, 1e-13, 1e-11])
@pytest.mark.parametrize("seed", range(4))
def test_a_long_step_from_the_optimum_proves_nothing_false(seed: int, smoothness: float) -> None:
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((20, 40))
    A[:, 0] *= 3.0
    b = 3.0 * A[:, 0] + generator.standard_normal(20)
    optimum = 0.5 * float(np.sum((A[:, 0] - b) ** 2))
    problem = Problem(Simplex(40), A, b, LeastSquares())
    for digits in (1e-16, 2e-16, 1e-15, 1e-14):
        start = (A[:, 0] - b) * (1.0 + digits * generator.standard_normal(20))
        method = AccUniPDGrad(eps=1e5, smoothness=smoothness)
        for state in islice(iterate(problem, method, start=start), 3):
            assert state.certificate.dual_bound <= optimum * (1.0 + 1e-12)


@pytest.mark.parametrize("rows", [50, 5000])
def test_bounds_in_single_precision_lose_no_more_than_their_entries_do(rows: int) -> None:
    rng = np.random.default_rng(3)
    A = rng.standard_normal((rows, 40)).astype(np.float32)
    b = (A @ np.r_[np.full(4, 1.5), np.zeros(36)] + 0.05 * rng.standard_normal(rows)).astype(np.float32)
    ball, loss = L1Ball(40, 5.0), LeastSquares()
    found = solve(Problem(ball, A, b, loss), accuracy=1e-4)
    exact = solve(Problem(ball, A.astype(np.float64), b.astype(np.float64), loss), accuracy=1e-9)
    assert found.status is Status.SOLVED
    assert found.dual_bound <= exact.objective
