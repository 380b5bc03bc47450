"""One model per block: projection, master and the method on products of sets, against naive references."""

from __future__ import annotations

from itertools import islice
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array

from unipd import Corrective, MaxIterations, Problem, Status, iterate, maps, sharp, solve
from unipd.couplings import AtLeast, AtMost, Equality, LeastSquares
from unipd.dual import evaluate
from unipd.methods.corrective import (
    Bundle,
    Columns,
    DualMaster,
    as_complex,
    as_real,
    block_averages,
    has_blocks,
    minimize_dual,
    project_simplices,
)
from unipd.sharp import Counted, L1Ball, Linear, Simplex


def naive_projection(vector: Any) -> Any:
    """Project on the simplex by bisection on the shift."""
    low, high = vector.min() - 1.0, vector.max()
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.maximum(vector - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(vector - 0.5 * (low + high), 0)


@given(st.integers(0, 10_000), st.lists(st.integers(1, 6), min_size=1, max_size=6), st.sampled_from([1e-3, 1.0, 1e6]))
def test_projection_is_that_of_every_block(seed: int, sizes: list[int], scale: float) -> None:
    blocks = np.repeat(np.arange(len(sizes)), sizes)
    values = scale * np.random.default_rng(seed).standard_normal(blocks.size)
    starts = np.searchsorted(blocks, np.arange(len(sizes) + 1))
    projected = project_simplices(values, blocks, starts)
    for block in range(len(sizes)):
        part = slice(starts[block], starts[block + 1])
        np.testing.assert_allclose(projected[part], naive_projection(values[part]), atol=1e-9)
        assert projected[part].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", [np.asarray, csc_array])
def test_averages_square_to_the_mean_within_blocks(kind: Any) -> None:
    values = np.array([1.0, 3.0, 5.0])
    shared: Any = block_averages(kind(np.eye(3)), np.array([0, 0, 7]))
    np.testing.assert_allclose(shared @ (shared.T @ values), [2.0, 2.0, 5.0])


def test_few_columns_and_full_ones_are_dense() -> None:
    def columns(rows: int, count: int, share: float) -> Columns:
        vectors = (np.random.default_rng(0).random((count, rows)) < share).astype(np.float64)
        return Columns(rows, True).with_more(list(vectors))

    for rows, count, share, dense in ((100, 50, 0.01, True), (700, 100, 0.01, False), (700, 100, 0.5, True)):
        found = columns(rows, count, share)
        assert isinstance(found.matrix, np.ndarray) is dense
        assert float(np.sum(found.matrix @ np.ones(count))) == found.entries.size


def random_master(seed: int, sign: float, *, sparse: bool = False) -> DualMaster:
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 5, 4)
    blocks = np.repeat(np.arange(4), sizes)
    columns: Any = random.standard_normal((3, blocks.size))
    if sparse:
        columns = csc_array(columns * (random.random(columns.shape) < 0.5))
    starts = np.searchsorted(blocks, np.arange(5))
    return DualMaster(
        columns=columns,
        costs=random.standard_normal(blocks.size),
        blocks=blocks,
        starts=starts,
        target=random.standard_normal(3),
        centre=np.abs(random.standard_normal(3)) * (sign if sign else 1.0),
        smoothness=float(random.uniform(0.1, 2.0)),
        sign=sign,
        weights=project_simplices(random.standard_normal(blocks.size), blocks, starts),
        prox_step=float(random.uniform(0.5, 20.0)),
    )


@given(st.integers(0, 10_000), st.sampled_from([0.0, 1.0, -1.0]), st.booleans())
def test_master_meets_its_optimality_conditions(seed: int, sign: float, sparse: bool) -> None:
    master = random_master(seed, sign, sparse=sparse)
    solution = minimize_dual(master, 1e-9, share=0.0)
    gradient = master.smoothness * (solution.dual - master.centre) + master.target - master.columns @ solution.weights
    residual = solution.dual - master.project(solution.dual - gradient / master.smoothness)
    assert np.linalg.norm(residual) <= 1e-6
    assert (sign * solution.dual >= 0).all()
    np.testing.assert_allclose(solution.weights, master.at(solution.dual).weights)


@pytest.mark.parametrize("sign", [0.0, 1.0, -1.0])
@pytest.mark.parametrize("seed", range(3))
def test_master_agrees_with_cvxpy(seed: int, sign: float) -> None:
    master = random_master(seed, sign)
    weights, slack = cp.Variable(master.costs.size), cp.Variable(3)
    shifted = master.centre + (master.columns @ weights - master.target - slack) / master.smoothness
    value = master.costs @ weights + 0.5 * master.smoothness * cp.sum_squares(shifted)
    value += cp.sum_squares(weights - master.weights) / (2 * master.prox_step)
    sums = [cp.sum(weights[master.blocks == block]) == 1 for block in range(4)]
    signs = {0.0: slack == 0, 1.0: slack <= 0, -1.0: slack >= 0}
    cp.Problem(cp.Minimize(value), [*sums, weights >= 0, signs[sign]]).solve(solver="CLARABEL", tol_gap_abs=1e-12)
    solution = minimize_dual(master, 1e-10, share=0.0)
    np.testing.assert_allclose(solution.weights, weights.value, atol=1e-5)


def product_problem(seed: int, coupling: Any, dtype: Any = float) -> Problem:
    """Three simplices and a box coupled by four rows, with a feasible point inside."""
    random = np.random.default_rng(seed)
    sizes = (4, 3, 5)
    blocks = [Linear(random.standard_normal(size).astype(dtype), Simplex(size)) for size in sizes]
    matrices = [random.standard_normal((4, size)).astype(dtype) for size in sizes]
    b = sum(matrix @ np.full(size, 1 / size) for matrix, size in zip(matrices, sizes, strict=True))
    shift = {AtMost: 0.1, AtLeast: -0.1}.get(type(coupling), 0.0)
    return Problem(blocks, matrices, (b + shift).astype(dtype), coupling)


def optimum(problem: Any) -> float:
    """Return the optimal value by CVXPY, from the problem's own data."""
    parts = [cp.Variable(oracle.shape[0], nonneg=True) for oracle in problem.sharp.oracles]
    cost = sum(oracle.cost @ x for oracle, x in zip(problem.sharp.oracles, parts, strict=True))
    residual = sum(part.matrix @ x for part, x in zip(problem.map.maps, parts, strict=True)) - problem.b
    limits = [cp.sum(x) == 1 for x in parts]
    if isinstance(problem.coupling, LeastSquares):
        cost = cost + 0.5 * problem.coupling.scale * cp.sum_squares(residual)
    else:
        limits.append({AtMost: residual <= 0, AtLeast: residual >= 0, Equality: residual == 0}[type(problem.coupling)])
    return float(cp.Problem(cp.Minimize(cost), limits).solve(solver="CLARABEL"))


@pytest.mark.parametrize("coupling", [Equality(), AtMost(), AtLeast(), LeastSquares(2.0)])
@pytest.mark.parametrize("seed", range(4))
def test_products_are_solved_to_one_in_a_million(seed: int, coupling: Any) -> None:
    problem = product_problem(seed, coupling)
    result = solve(problem, accuracy=1e-6, stop=MaxIterations(300))
    best = optimum(problem)
    assert result.state.inner.bundle.by_block
    assert result.status is Status.SOLVED
    assert result.dual_bound <= best + 1e-6 * max(1.0, abs(best))
    assert result.objective == pytest.approx(best, abs=5e-6 * max(1.0, abs(best)))
    assert problem.sharp.contains(result.x, 1e-9)


@settings(max_examples=25)
@given(st.integers(0, 1000), st.sampled_from([Equality(), AtMost()]))
def test_the_bound_is_never_above_the_optimum(seed: int, coupling: Any) -> None:
    problem = product_problem(seed, coupling)
    best = optimum(problem)
    for state in islice(iterate(problem, Corrective()), 8):
        assert state.certificate.dual_bound <= best + 1e-6


def test_single_precision_stays_single() -> None:
    problem = product_problem(0, Equality(), np.float32)
    result = solve(problem, accuracy=1e-3)
    assert result.status is Status.SOLVED
    assert result.image.dtype == result.dual.dtype == np.float32


def test_complex_rows_count_as_pairs() -> None:
    random = np.random.default_rng(1)
    matrices = [random.standard_normal((2, 4)) + 1j * random.standard_normal((2, 4)) for _ in range(3)]
    blocks = [Linear(random.standard_normal(4), sharp.L1Ball(4)) for _ in range(3)]
    problem = Problem(blocks, matrices, np.zeros(2, complex), "=")
    result = solve(problem, accuracy=1e-8, stop=MaxIterations(300))
    parts = [cp.Variable(4, complex=True) for _ in blocks]
    cost = sum(cp.real(oracle.cost @ x) for oracle, x in zip(blocks, parts, strict=True))
    coupled = sum(matrix @ x for matrix, x in zip(matrices, parts, strict=True)) == 0
    best = cp.Problem(cp.Minimize(cost), [coupled, *(cp.norm1(x) <= 1 for x in parts)]).solve(solver="CLARABEL")
    assert result.state.inner.bundle.by_block
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(best, abs=1e-6)


def test_real_form_keeps_inner_products() -> None:
    problem = Problem([L1Ball(2), L1Ball(2)], [np.eye(2) + 0j, np.eye(2) + 0j], np.zeros(2, complex), "=")
    vector = np.array([1 + 2j, 3 - 1j])
    np.testing.assert_array_equal(as_complex(as_real(vector), problem), vector)
    assert as_real(vector) @ as_real(1j * vector) == pytest.approx(np.vdot(vector, 1j * vector).real)


@pytest.mark.parametrize("is_sparse", [True, False])
def test_columns_are_kept_and_taken(is_sparse: bool) -> None:
    random = np.random.default_rng(2)
    vectors = [random.standard_normal(2) * (random.random(2) < 0.6) for _ in range(6)]
    columns = Columns(2, is_sparse).with_more(vectors[:2]).with_more([]).with_more(vectors[2:])
    taken = columns.select(np.array([5, 0, 3])).matrix
    np.testing.assert_array_equal(np.asarray(taken), np.stack([vectors[i] for i in (5, 0, 3)], axis=1))


def many_in_a_block() -> tuple[Problem, Bundle]:
    problem = product_problem(5, Equality())
    random = np.random.default_rng(0)
    bundle = Bundle.of(problem, evaluate(problem, np.zeros(4)))
    for _ in range(12):
        bundle = bundle.with_atoms(problem, evaluate(problem, random.standard_normal(4)))
    starts = bundle.starts
    weights = project_simplices(0.1 * random.standard_normal(bundle.blocks.size), bundle.blocks, starts)
    return problem, bundle.with_weights(weights)


def test_merging_keeps_the_point() -> None:
    problem, bundle = many_in_a_block()
    merged = bundle.prune(2, np.zeros(4))
    assert np.diff(merged.starts).max() == 2
    np.testing.assert_allclose(merged.image(problem), bundle.image(problem))
    assert merged.objective() == pytest.approx(bundle.objective())
    for left, right in zip(merged.tracker().point(), bundle.tracker().point(), strict=True):
        np.testing.assert_allclose(left, right)


@pytest.mark.filterwarnings("ignore::unipd.methods.MemoryBound")
@pytest.mark.parametrize("memory", [2, 3])
def test_memory_is_bounded_in_every_block(memory: int) -> None:
    problem = product_problem(6, Equality())
    for state in islice(iterate(problem, Corrective(memory=memory)), 25):
        assert np.diff(state.bundle.starts).max() <= memory
        np.testing.assert_allclose(problem.map.image(state.primal.point()), state.image, atol=1e-9)


def test_an_atom_is_not_kept_twice() -> None:
    problem = product_problem(7, Equality())
    point = evaluate(problem, np.zeros(4))
    assert Bundle.of(problem, point).with_atoms(problem, point).blocks.size == 3


def test_rows_in_other_units() -> None:
    problem = product_problem(8, Equality())
    factors = np.array([1e4, 1.0, 1e-4, 1.0])
    scaled: Any = problem
    rows = [factors[:, None] * part.matrix for part in scaled.map.maps]
    other = Problem(scaled.sharp, maps.BlockMap([maps.DenseMatrix(part) for part in rows]), factors * problem.b, "=")
    result = solve(other, accuracy=1e-8, scaling="rows")
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(optimum(problem), abs=1e-3)


def test_wrapped_products_have_blocks_too_and_squares_do_not() -> None:
    problem = product_problem(9, Equality())
    assert has_blocks(Problem(Counted(problem.sharp), problem.map, problem.b, "="))
    squares = Problem([sharp.L1NormSquared(2), sharp.L1NormSquared(2)], [np.eye(2), np.eye(2)], np.ones(2), "=")
    assert not has_blocks(squares)
    result = solve(squares, accuracy=1e-6)
    assert not result.state.inner.bundle.by_block


def test_zero_images_and_blocks_of_one_point() -> None:
    blocks = [Linear(np.array([1.0, -2.0]), Simplex(2)), Linear(np.array([3.0]), Simplex(1))]
    problem = Problem(blocks, [np.zeros((2, 2)), np.ones((2, 1))], np.ones(2), "=")
    result = solve(problem, accuracy=1e-8)
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(1.0)


def test_a_resumed_run_goes_on_bit_for_bit(tmp_path: Any) -> None:
    problem = product_problem(3, Equality())
    whole = solve(problem, "corrective", accuracy=1e-9, stop=MaxIterations(12))
    begun = solve(problem, "corrective", accuracy=1e-9, stop=MaxIterations(5), checkpoint=tmp_path / "half")
    again = {"checkpoint": tmp_path / "half", "resume": True}
    resumed = solve(problem, "corrective", accuracy=1e-9, stop=MaxIterations(12), **again)
    assert begun.iterations == 5
    np.testing.assert_array_equal(resumed.dual, whole.dual)
