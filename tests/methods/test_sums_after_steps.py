"""<lam, b> and ||lam||^2 after a step, from sums before it."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unipd import AccUniPDGrad, Problem, Status, iterate, solve
from unipd.couplings import LeastSquares
from unipd.dual import evaluate, stepped
from unipd.methods import line_search
from unipd.sharp import L1Ball, L2Ball, Simplex

SUMS: Any = line_search._sums_after  # pyright: ignore[reportPrivateUsage]


@settings(max_examples=150)
@given(
    seed=st.integers(0, 999),
    scale=st.sampled_from([None, 1e-6, 1.0, 1e6]),
    is_complex=st.booleans(),
    size=st.floats(-9, 9),
    away=st.floats(-17, 1),
    share=st.floats(-6, 6),
)
def test_sums_are_those_of_the_vector(seed, scale, is_complex, size, away, share) -> None:
    """Near the optimum of a loss as well, where lam and b - A x cancel in the gradient, and for long steps."""
    generator = np.random.default_rng(seed)
    parts = generator.standard_normal((2, 7, 6)), generator.standard_normal((2, 7)) * 10.0**size
    A, b = (part[0] + 1j * part[1] if is_complex else part[0] for part in parts)
    problem = Problem(L2Ball(6), A, b, "=" if scale is None else LeastSquares(scale))
    loose = (10.0**away) * generator.standard_normal(7)
    dual = (-b if scale is None else -scale * b) * (1.0 + loose)
    base = evaluate(problem, dual)
    if scale is not None:  # where the atom is that of the optimum
        base = evaluate(problem, scale * (base.image - b) * (1.0 + loose))
    step = 10.0**share * np.linalg.norm(base.dual) / np.linalg.norm(base.gradient)
    sums = SUMS(problem, base, step)
    if sums is None:
        return
    after = stepped(base.dual, step, base.gradient)
    length = float(np.linalg.norm(after))
    assert sums[0] == pytest.approx(float(np.vdot(after, b).real), abs=1e-14 * length * problem.norm_b)
    assert sums[1] == pytest.approx(length**2, rel=1e-13)


def test_ordinary_steps_have_their_sums() -> None:
    generator = np.random.default_rng(0)
    problem = Problem(Simplex(6), generator.standard_normal((7, 6)), generator.standard_normal(7), LeastSquares())
    base = evaluate(problem, generator.standard_normal(7))
    assert SUMS(problem, base, 1.0 / 3.0) is not None


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
