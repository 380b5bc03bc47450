"""Every method on single precision, complex data, several blocks, and zeros of all kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from support.oracles import EuclideanPower
from unipd import MaxIterations, Problem, Status, solve
from unipd.atoms import Blocks
from unipd.couplings import AtMost, Equality, Huber, L2Ball, LeastSquares
from unipd.methods import METHODS
from unipd.sharp import Box, L1Ball, Linear, Product, Simplex
from unipd.sharp import L2Ball as EuclideanBall

GENERAL = ["unipdgrad", "accunipdgrad", "corrective"]
FOR_LOSSES = [*GENERAL, "frank-wolfe", "away-step", "pairwise"]
for_constraints = pytest.mark.parametrize("method", GENERAL)
for_losses = pytest.mark.parametrize("method", FOR_LOSSES)


def data(dtype: Any, n: int = 5, p: int = 8, seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    A, b = random.standard_normal((n, p)), random.standard_normal(n)
    if np.dtype(dtype).kind == "c":
        A, b = A + 1j * random.standard_normal((n, p)), b + 1j * random.standard_normal(n)
    return A.astype(dtype), b.astype(dtype)


def test_the_names_here_are_names_of_methods() -> None:
    assert set(FOR_LOSSES) <= set(METHODS)


@for_losses
@pytest.mark.parametrize("sparse", [False, True])
def test_single_precision_stays_single(method: str, sparse: bool) -> None:
    A, b = data(np.float32)
    result = solve(Problem(L1Ball(8), sp.csc_array(A) if sparse else A, b, LeastSquares()), method, accuracy=1e-2)
    double = solve(Problem(L1Ball(8), A.astype(float), b.astype(float), LeastSquares()), method, accuracy=1e-2)
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(double.objective, rel=3e-2)
    assert {result.x.dtype, result.image.dtype, result.dual.dtype, result.state.dual.dtype} == {np.dtype(np.float32)}


@for_constraints
@pytest.mark.parametrize("coupling", [Equality(), AtMost(), L2Ball(0.1)], ids=lambda k: type(k).__name__)
def test_single_precision_with_constraints(method: str, coupling: Any) -> None:
    A, _ = data(np.float32)
    b = A @ np.full(8, 0.125, np.float32)
    result = solve(Problem(EuclideanPower(8, 2.0), A, b, coupling), method, accuracy=1e-2)
    assert result.status is Status.SOLVED
    assert {result.image.dtype, result.dual.dtype, result.state.image.dtype} == {np.dtype(np.float32)}


@for_losses
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_complex_least_squares_over_a_ball(method: str, dtype: Any) -> None:
    import cvxpy as cp

    A, b = data(dtype)
    x = cp.Variable(8, complex=True)
    reference = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(A @ x - b)), [cp.norm2(x) <= 0.5]).solve(cp.CLARABEL)
    result = solve(Problem(EuclideanBall(8, 0.5), A, b, LeastSquares()), method, accuracy=1e-2)
    assert result.status is Status.SOLVED
    assert result.x.dtype == result.dual.dtype == np.dtype(dtype)
    assert result.objective == pytest.approx(reference, abs=1.1e-2 * result.problem.scale(0.0))
    assert result.dual_bound <= reference * (1.0 + 1e-5)


@for_losses
def test_complex_least_squares_over_the_l1_ball(method: str) -> None:
    import cvxpy as cp

    A, b = data(np.complex128, seed=3)
    x = cp.Variable(8, complex=True)
    reference = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(A @ x - b)), [cp.norm1(x) <= 0.8]).solve(cp.CLARABEL)
    result = solve(Problem(L1Ball(8, 0.8), A, b, LeastSquares()), method, accuracy=1e-2)
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(reference, abs=1.1e-2 * result.problem.scale(0.0))
    assert result.dual_bound <= reference + 1e-7


@for_constraints
def test_complex_least_norm_is_the_pseudoinverse(method: str) -> None:
    A, b = data(np.complex128)
    accuracy = 1e-2 if method == "unipdgrad" else 1e-4
    result = solve(Problem(EuclideanPower(8, 2.0), A, b, "="), method, accuracy=accuracy)
    expected = np.linalg.pinv(A) @ b
    assert result.status is Status.SOLVED
    np.testing.assert_allclose(result.x, expected, atol=10.0 * accuracy)


def two_blocks(threads: int = 1) -> tuple[Problem, float]:
    import cvxpy as cp

    first, b = data(float, n=4, p=5)
    second, _ = data(float, n=4, p=3, seed=1)
    x, y = cp.Variable(5), cp.Variable(3)
    constraints = [x >= 0, cp.sum(x) == 1, cp.norm1(y) <= 0.5]
    reference = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(first @ x + second @ y - b)), constraints).solve(
        cp.CLARABEL
    )
    oracle = Product([Simplex(5), L1Ball(3, 0.5)], threads=threads)
    return Problem(oracle, [first, second], b, LeastSquares()), reference


@for_losses
def test_several_blocks(method: str) -> None:
    problem, reference = two_blocks()
    result = solve(problem, method, accuracy=1e-2)
    assert result.status is Status.SOLVED
    assert isinstance(result.x, Blocks)
    assert problem.sharp.contains(result.x)
    assert result.objective == pytest.approx(reference, abs=1.1e-2 * problem.scale(0.0))
    assert result.dual_bound <= reference + 1e-7


@for_losses
def test_threads_change_nothing_but_the_clock(method: str) -> None:
    alone, together = (solve(two_blocks(threads)[0], method, accuracy=1e-2) for threads in (1, 2))
    assert alone.objective == together.objective
    assert alone.counts == together.counts
    np.testing.assert_array_equal(alone.dual, together.dual)


@for_constraints
def test_blocks_with_a_constraint_between_them(method: str) -> None:
    """min <c, x> with x on the simplex, y in a box and x - y = 0: y only narrows x down."""
    cost = np.array([1.0, 2.0, 3.0])
    problem = Problem([Linear(cost, Simplex(3)), Box(0.0, 0.5, 3)], [np.eye(3), -np.eye(3)], np.zeros(3), "=")
    result = solve(problem, method, accuracy=2e-2, **({} if method == "corrective" else {"eps": 0.3}))
    assert result.dual_bound <= 1.5 + 1e-7
    if method == "corrective":
        assert result.status is Status.SOLVED
        assert result.objective == pytest.approx(1.5, abs=2e-2)


@for_losses
@pytest.mark.parametrize("oracle", [L1Ball(4), Box(-1.0, 1.0, 4), EuclideanBall(4)], ids=lambda o: type(o).__name__)
def test_a_zero_right_hand_side_is_solved_by_zero(method: str, oracle: Any) -> None:
    A, _ = data(float, n=3, p=4)
    problem = Problem(oracle, A, np.zeros(3), LeastSquares())
    result = solve(problem, method, accuracy=1e-3)
    assert result.status is Status.SOLVED
    assert result.objective <= 1e-3 * problem.scale(0.0)
    assert result.dual_bound <= 0.0


@for_losses
def test_a_zero_matrix_leaves_the_loss_at_zero(method: str) -> None:
    b = np.array([1.0, -2.0])
    result = solve(Problem(Simplex(3), np.zeros((2, 3)), b, LeastSquares()), method, accuracy=1e-6)
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(2.5)
    assert result.dual_bound == pytest.approx(2.5, rel=1e-5)
    assert problem_contains(result)


def problem_contains(result: Any) -> bool:
    return bool(result.problem.sharp.contains(result.x))


@for_constraints
def test_a_zero_matrix_with_a_zero_right_hand_side(method: str) -> None:
    result = solve(Problem(Simplex(3), np.zeros((2, 3)), np.zeros(2), "="), method, accuracy=1e-6)
    assert result.status is Status.SOLVED
    assert result.iterations == 1
    assert result.infeasibility == 0.0
    assert problem_contains(result)


@for_constraints
def test_a_start_whose_gradient_vanishes_is_already_solved(method: str) -> None:
    """x^*(0) = e_1 already satisfies A x = b."""
    problem = Problem(Linear([1.0, 2.0], Simplex(2)), np.eye(2), [1.0, 0.0], "=")
    result = solve(problem, method, accuracy=1e-9)
    assert result.status is Status.SOLVED
    assert result.iterations == 1
    assert result.objective == 1.0


@for_losses
def test_one_row_and_one_column(method: str) -> None:
    result = solve(Problem(Simplex(1, 2.0), [[3.0]], [5.0], LeastSquares()), method, accuracy=1e-6)
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(0.5)
    np.testing.assert_allclose(result.x, [2.0])


@for_losses
@pytest.mark.parametrize("scale", [2.0**-30, 2.0**30])
def test_the_scale_of_the_data_does_not_matter(method: str, scale: float) -> None:
    A, b = data(float)
    plain = solve(Problem(L1Ball(8), A, b, LeastSquares()), method, accuracy=1e-2)
    other = solve(Problem(L1Ball(8), scale * A, scale * b, LeastSquares()), method, accuracy=1e-2)
    assert other.status is Status.SOLVED
    assert other.counts == plain.counts
    assert other.objective / scale**2 == pytest.approx(plain.objective, rel=1e-12)
    np.testing.assert_allclose(other.x, plain.x, rtol=1e-12)


@for_constraints
def test_redundant_rows_do_not_disturb(method: str) -> None:
    A, _ = data(float, n=3, p=8)
    twice = np.vstack([A, A])
    b = twice @ np.full(8, 0.1)
    result = solve(Problem(EuclideanPower(8, 2.0), twice, b, "="), method, accuracy=1e-3, stop=MaxIterations(3000))
    expected = np.linalg.pinv(twice) @ b
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(0.5 * expected @ expected, abs=2e-3)


@pytest.mark.parametrize("method", ["corrective", "pairwise", "frank-wolfe"])
@pytest.mark.parametrize("scale", [2.0**-27, 2.0**27])
def test_the_scale_does_not_matter_to_a_robust_loss(method: str, scale: float) -> None:
    A, b = data(float)
    plain = solve(Problem(L1Ball(8), A, b, Huber(0.3)), method, accuracy=1e-2)
    other = solve(Problem(L1Ball(8), scale * A, scale * b, Huber(0.3 * scale)), method, accuracy=1e-2)
    assert plain.status is other.status is Status.SOLVED
    assert other.objective / scale**2 == pytest.approx(plain.objective, rel=1e-2)
