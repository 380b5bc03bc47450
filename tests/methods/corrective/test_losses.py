"""Products of sets under a loss: one model per block, and an exact master."""

from __future__ import annotations

from itertools import islice
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import unipd
from unipd import couplings, sharp
from unipd.methods import Corrective


def two_classes(seed: int) -> tuple[Any, Any]:
    """Return the points of two classes that overlap, as columns."""
    random = np.random.default_rng(seed)
    return random.standard_normal((6, 90)) + 0.6, random.standard_normal((6, 110)) - 0.6


@pytest.mark.parametrize("seed", range(3))
def test_the_distance_of_two_polytopes_is_found_finitely(seed: int) -> None:
    first, second = two_classes(seed)
    sets = [sharp.CappedSimplex(first.shape[1], 0.02), sharp.CappedSimplex(second.shape[1], 0.02)]
    problem = unipd.Problem(sets, [first, -second], np.zeros(6), couplings.LeastSquares())
    result = unipd.solve(problem, accuracy=1e-11, stop=unipd.MaxIterations(80))
    assert result.status is unipd.Status.SOLVED
    assert 0.0 <= result.objective - result.dual_bound + 1e-15 <= 1e-11


LOSSES: dict[str, tuple[Any, Any]] = {
    "absolute": (couplings.Absolute(), cp.norm1),
    "huber": (couplings.Huber(0.5), lambda r: 0.5 * cp.sum(cp.huber(r, 0.5))),
    "least squares": (couplings.LeastSquares(3.0), lambda r: 1.5 * cp.sum_squares(r)),
}


def regression(loss: Any, dtype: Any = float) -> tuple[unipd.Problem, Any]:
    """Return a regression with three kinds of coefficients and a bounded intercept, and its data."""
    random = np.random.default_rng(3)
    data = random.standard_normal((40, 12)).astype(dtype)
    values = (data[:, 0] - data[:, 5] + 1.0 + 0.3 * random.standard_t(2, 40)).astype(dtype)
    sets = [sharp.L1Ball(4), sharp.L2Ball(4, 0.7), sharp.LInfBall(4, 0.1), sharp.Box([-0.5], [0.5])]
    parts = [data[:, :4].copy(), data[:, 4:8].copy(), data[:, 8:].copy(), np.ones((40, 1), dtype)]
    return unipd.Problem(sets, parts, values, loss), (data, values)


@pytest.mark.parametrize("name", LOSSES)
def test_regressions_in_blocks_agree_with_cvxpy(name: str) -> None:
    loss, expression = LOSSES[name]
    problem, (data, values) = regression(loss)
    result = unipd.solve(problem, accuracy=1e-6, stop=unipd.MaxIterations(200))
    x, shift = cp.Variable(12), cp.Variable()
    limits = [cp.norm1(x[:4]) <= 1, cp.norm2(x[4:8]) <= 0.7, cp.abs(x[8:]) <= 0.1, cp.abs(shift) <= 0.5]
    best = cp.Problem(cp.Minimize(expression(data @ x + shift - values)), limits).solve(solver="CLARABEL")
    assert result.state.inner.bundle.by_block
    assert result.status is unipd.Status.SOLVED
    assert result.objective == pytest.approx(best, abs=5e-6 * problem.scale(best))
    assert result.dual_bound <= best + 1e-6 * problem.scale(best)


@pytest.mark.parametrize("name", LOSSES)
def test_single_precision_stays_single(name: str) -> None:
    problem, _ = regression(LOSSES[name][0], np.float32)
    result = unipd.solve(problem, accuracy=1e-2)
    assert result.status is unipd.Status.SOLVED
    assert result.dual.dtype == result.image.dtype == np.float32


@pytest.mark.filterwarnings("ignore::unipd.methods.MemoryBound")
def test_memory_is_shared_by_the_blocks() -> None:
    problem, _ = regression(couplings.Absolute())
    for state in islice(unipd.iterate(problem, Corrective(memory=20)), 25):
        assert state.bundle.blocks.size <= 20
        np.testing.assert_allclose(problem.map.image(state.primal.point()), state.image, atol=1e-9)


def test_complex_images_in_blocks() -> None:
    random = np.random.default_rng(4)
    matrices = [random.standard_normal((5, 3)) + 1j * random.standard_normal((5, 3)) for _ in range(2)]
    b = random.standard_normal(5) + 1j * random.standard_normal(5)
    problem = unipd.Problem([sharp.L1Ball(3), sharp.L1Ball(3, 0.5)], matrices, b, couplings.LeastSquares())
    result = unipd.solve(problem, accuracy=1e-6, stop=unipd.MaxIterations(300))
    x, z = cp.Variable(3, complex=True), cp.Variable(3, complex=True)
    value = 0.5 * cp.sum_squares(matrices[0] @ x + matrices[1] @ z - b)
    best = cp.Problem(cp.Minimize(value), [cp.norm1(x) <= 1, cp.norm1(z) <= 0.5]).solve(solver="CLARABEL")
    assert result.status is unipd.Status.SOLVED
    assert result.objective == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize("seed", [577, *range(5)])
def test_the_last_step_of_a_master_is_no_leap_over_a_loss_that_is_linear_far_out(seed: int) -> None:
    random = np.random.default_rng(seed)
    A, b = random.standard_normal((8, 12)), 3.0 * random.standard_normal(8)
    problem = unipd.Problem(sharp.L1Ball(12), A, b, couplings.Huber(0.1))
    result = unipd.solve(problem, accuracy=1e-8, stop=unipd.MaxIterations(50))
    assert result.status is unipd.Status.SOLVED


@pytest.mark.parametrize("seed", range(4))
def test_complex_residuals_of_single_precision_are_enough_for_huber(seed: int) -> None:
    random = np.random.default_rng(seed)
    A = random.standard_normal((20, 12)) + 1j * random.standard_normal((20, 12))
    b = random.standard_normal(20) + 1j * random.standard_normal(20)
    ball, loss = sharp.L1Ball(12, 1.5), couplings.Huber(0.7)
    exact = unipd.solve(unipd.Problem(ball, A, b, loss), "corrective", accuracy=1e-8)
    found = unipd.solve(unipd.Problem(ball, A.astype("c8"), b.astype("c8"), loss), "corrective", accuracy=1e-3)
    assert found.status is exact.status is unipd.Status.SOLVED
    assert found.objective == pytest.approx(exact.objective, rel=2e-3)
    assert found.dual_bound <= exact.objective * (1.0 + 1e-5)
