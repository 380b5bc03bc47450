"""Blended pairwise conditional gradients: a naive twin, published properties, and what laziness saves and keeps."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest

from unipd import BlendedPairwise, MaxIterations, PairwiseFrankWolfe, Problem, Status, iterate, solve
from unipd._typing import Array
from unipd.couplings import Huber, LeastSquares
from unipd.errors import InvalidInput
from unipd.methods.frank_wolfe import ActiveSetState
from unipd.sharp import L1Ball, Simplex
from unipd.theory import blended_pairwise_bound

both = pytest.mark.parametrize("lazy", [False, True], ids=["plain", "lazy"])


def simplex_problem(seed: int = 6) -> Problem:
    """Least squares over the simplex, strongly convex, whose solution has several nonzeros."""
    random = np.random.default_rng(seed)
    A = random.standard_normal((30, 12))
    b = A @ np.concatenate([random.dirichlet(np.ones(5)), np.zeros(7)]) + 0.1 * random.standard_normal(30)
    return Problem(Simplex(12), A, b, LeastSquares())


def ball_problem(seed: int = 0, loss: Any = None) -> Problem:
    """A loss over the l1 ball with more columns than rows."""
    random = np.random.default_rng(seed)
    A = random.standard_normal((40, 150))
    b = A[:, :6].sum(axis=1) + random.standard_normal(40)
    return Problem(L1Ball(150, 4.0), A, b, loss or LeastSquares())


def optimum_of(problem: Problem) -> float:
    return solve(problem, "corrective", accuracy=1e-13, stop=MaxIterations(60)).objective


def states_of(problem: Problem, method: Any, count: int) -> list[ActiveSetState]:
    return list(islice(iterate(problem, method, accuracy=1e-12), count))  # type: ignore[arg-type]


def keys_of(state: ActiveSetState) -> set[bytes]:
    return {vertex.key for vertex in state.active.vertices}


def naive_steps(A: Array, b: Array, x: Array) -> list[Array]:
    """Take a blended pairwise step over the simplex, whose vertices are the coordinates: the weights are x itself.

    The exact step before leaves equal slopes at its two ends, so that rounding may decide which vertex is the best:
    all points that the rule allows are returned.
    """
    gradient = A.T @ (A @ x - b)
    support = np.flatnonzero(x)
    slopes = gradient[support]
    forward = gradient @ x - gradient.min()
    corners = np.eye(x.size)
    if np.ptp(slopes) >= forward:
        worst, best = support[slopes >= slopes.max() - 1e-12], support[slopes <= slopes.min() + 1e-12]
        moves = [(corners[local] - corners[away], float(x[away])) for away in worst for local in best]
    else:
        moves = [(corners[new] - x, 1.0) for new in np.flatnonzero(gradient <= gradient.min() + 1e-12)]
    lengths = [min(longest, -gradient @ move / np.sum((A @ move) ** 2)) for move, longest in moves]
    return [x + length * move for length, (move, _) in zip(lengths, moves, strict=True)]


@pytest.mark.parametrize("seed", range(6))
def test_the_iterates_are_those_of_a_naive_twin(seed: int) -> None:
    problem = simplex_problem(seed)
    A, b = problem.map.matrix, problem.b  # type: ignore[attr-defined]
    here, sizes = np.eye(12)[np.argmin(A.T @ -b)], set[int]()
    for state in states_of(problem, BlendedPairwise(), 40):
        there = state.primal.point()
        assert min(np.abs(there - point).max() for point in naive_steps(A, b, here)) <= 1e-12
        sizes.add(np.count_nonzero(there) - np.count_nonzero(here))
        here = there
    assert {0, 1} <= sizes


@both
@pytest.mark.parametrize("loss", [LeastSquares(), Huber(0.5)], ids=["least squares", "huber"])
def test_every_step_decreases_the_loss(lazy: bool, loss: Any) -> None:
    problem = ball_problem(loss=loss)
    states = states_of(problem, BlendedPairwise(lazy), 150)
    values = np.array([state.certificate.objective for state in states])
    values = values[values > optimum_of(problem) * (1.0 + 1e-9)]  # below, rounding decides
    assert values.size >= 40
    assert np.all(np.diff(values) < 0.0)


@both
@pytest.mark.parametrize("make", [simplex_problem, ball_problem])
def test_no_vertex_enters_while_another_leaves(lazy: bool, make: Any) -> None:
    """No swap steps, which spoil the rate of pairwise Frank-Wolfe; only a whole step to one vertex drops the others."""

    def swaps(method: Any) -> int:
        states = states_of(make(), method, 200)
        changes = [(keys_of(before), keys_of(after)) for before, after in pairwise(states)]
        return sum(bool(after - before and before - after) and len(after) > 1 for before, after in changes)

    assert swaps(BlendedPairwise(lazy)) == 0
    if make is ball_problem:
        assert swaps(PairwiseFrankWolfe()) > 0


@both
@pytest.mark.parametrize("seed", range(4))
def test_the_solution_needs_no_more_vertices_than_that_of_pairwise_steps(lazy: bool, seed: int) -> None:
    blended, other = (
        solve(ball_problem(seed), method, accuracy=1e-6) for method in (BlendedPairwise(lazy), PairwiseFrankWolfe())
    )
    assert blended.status is other.status is Status.SOLVED
    sizes = [len(result.state.unwrap().primal.vertices) for result in (blended, other)]  # type: ignore[union-attr]
    assert sizes[0] <= sizes[1]


@both
def test_the_error_falls_linearly_for_a_strongly_convex_loss(lazy: bool) -> None:
    problem = simplex_problem()
    optimum = optimum_of(problem)
    errors = np.array([s.certificate.objective for s in states_of(problem, BlendedPairwise(lazy), 160)]) - optimum
    assert errors[-1] <= 1e-10
    logs = np.log(errors[errors > 1e-11])
    slope, start = np.polyfit(np.arange(logs.size), logs, 1)
    assert slope <= -0.05
    assert np.all(logs <= start + slope * np.arange(logs.size) + 4.0)


@pytest.mark.parametrize("seed", range(4))
def test_a_lazy_run_needs_fewer_oracle_calls(seed: int) -> None:
    problem = ball_problem(seed)
    plain, lazy = (solve(problem, "blended-pairwise", lazy=lazy, accuracy=1e-6) for lazy in (False, True))
    assert plain.status is lazy.status is Status.SOLVED
    assert lazy.counts.oracle_calls <= 0.7 * plain.counts.oracle_calls
    assert lazy.objective == pytest.approx(plain.objective, rel=2e-6)


@pytest.mark.parametrize("loss", [LeastSquares(), Huber(0.5)], ids=["least squares", "huber"])
def test_the_bound_of_a_lazy_run_comes_from_oracle_calls_and_is_valid(loss: Any) -> None:
    problem = ball_problem(loss=loss)
    optimum = optimum_of(problem)
    states = states_of(problem, BlendedPairwise(lazy=True), 300)
    skipped = 0
    for before, after in pairwise(states):
        if after.counts.oracle_calls == before.counts.oracle_calls:
            skipped += 1
            assert after.certificate.dual_bound == before.certificate.dual_bound
            assert after.counts.matvecs == before.counts.matvecs
            assert keys_of(after) <= keys_of(before)
        assert after.certificate.dual_bound <= optimum * (1.0 + 1e-10)
        assert after.gap_estimate <= before.gap_estimate
    assert skipped >= 50


def test_a_single_vertex_that_is_optimal_is_certified() -> None:
    problem = Problem(Simplex(3), np.eye(3), [5.0, 0.0, 0.0], LeastSquares())
    for lazy in (False, True):
        result = solve(problem, BlendedPairwise(lazy), accuracy=1e-9)
        assert result.status is Status.SOLVED
        np.testing.assert_allclose(result.x, [1.0, 0.0, 0.0])


def test_lazy_is_a_flag() -> None:
    with pytest.raises(InvalidInput, match="lazy"):
        BlendedPairwise(lazy="often")  # type: ignore[arg-type]


@pytest.mark.parametrize("problem", [simplex_problem(), ball_problem()], ids=["simplex", "ball"])
def test_the_error_is_below_the_bound_of_the_theorem(problem: Problem) -> None:
    corners = np.eye(problem.map.matrix.shape[1])  # type: ignore[attr-defined]
    vertices = corners if isinstance(problem.sharp, Simplex) else 4.0 * np.vstack([corners, -corners])
    images, optimum = vertices @ problem.map.matrix.T, optimum_of(problem)  # type: ignore[attr-defined]
    diameter = max(float(np.linalg.norm(images - image, axis=1).max()) for image in images)
    for state in states_of(problem, BlendedPairwise(), 100):
        bound = blended_pairwise_bound(max(state.iteration, 1), problem.coupling.curvature(), diameter)  # type: ignore[attr-defined]
        assert state.certificate.objective - optimum <= bound
