"""The coordinate method: exact over every set with coordinates, for every separable smooth loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import unipd
from unipd import Problem, couplings, sharp, solve
from unipd.dual import evaluate, lower_bound
from unipd.methods import CoordinateDescent
from unipd.methods.coordinate import Restricted, has_coordinates, shrink

COLUMNS = 40

SETS: dict[str, Callable[[], Any]] = {
    "l1": lambda: sharp.L1Ball(COLUMNS, 1.0),
    "l1, wide": lambda: sharp.L1Ball(COLUMNS, 100.0),
    "simplex": lambda: sharp.Simplex(COLUMNS, 2.0),
    "unit simplex": lambda: sharp.UnitSimplex(COLUMNS, 0.5),
    "groups": lambda: sharp.GroupBall(np.arange(COLUMNS) // 3, 1.0),
    "weighted groups": lambda: sharp.GroupBall(np.arange(COLUMNS)[::-1] // 4, 1.5, np.linspace(1, 2, 10)),
    "norm on ball": lambda: sharp.L1NormOnBall(COLUMNS, 2.0, 3.0),
    "squared norm": lambda: sharp.L1NormSquared(COLUMNS, 2.0),
    "squared group norm": lambda: sharp.NormSquared(sharp.GroupBall(np.arange(COLUMNS) // 4)),
    "box": lambda: sharp.Box(-0.1, np.full(COLUMNS, 0.2)),
}
LOSSES = {
    "least squares": couplings.LeastSquares(2.0),
    "weighted": couplings.WeightedLeastSquares(np.linspace(1, 2, 25)),
    "huber": couplings.Huber(0.3),
    "logistic": couplings.Logistic(),
}


def make_problem(name: str, loss: Any, is_sparse: bool = False) -> Problem:
    random = np.random.default_rng(3)
    matrix = random.standard_normal((25, COLUMNS)) * (random.random((25, COLUMNS)) < 0.5)
    target = random.standard_normal(25)
    return Problem(SETS[name](), scipy.sparse.csc_array(matrix) if is_sparse else matrix, target, loss)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", SETS)
def test_agrees_with_the_corrective_method(name: str, loss: str, is_sparse: bool) -> None:
    problem = make_problem(name, LOSSES[loss], is_sparse)
    result = solve(problem, CoordinateDescent(working_set=5), accuracy=1e-9)
    other = solve(problem, unipd.Corrective(), accuracy=1e-8)
    assert result.status is unipd.Status.SOLVED
    assert problem.sharp.contains(result.x)
    assert result.objective == pytest.approx(other.objective, abs=3e-8 * problem.scale(other.objective))


def test_entries_outside_the_budget_meet_their_bounds() -> None:
    random = np.random.default_rng(0)
    matrix, target = random.standard_normal((30, 12)), random.standard_normal(30) + 3.0
    for bound in (10.0, 1.0):
        oracle = sharp.Product([sharp.L1Ball(12, 0.7), sharp.Box([-bound], [bound])])
        problem = Problem(oracle, [matrix, np.ones((30, 1))], target, couplings.LeastSquares())
        result = solve(problem, "coordinate", accuracy=1e-10)
        other = solve(problem, "corrective", accuracy=1e-9)
        assert result.status.success
        assert result.objective == pytest.approx(other.objective, rel=1e-8)
        assert bound > 5.0 or result.x.parts[1][0] == pytest.approx(bound)


def test_thousands_of_nonzeros() -> None:
    random = np.random.default_rng(1)
    matrix = scipy.sparse.random(1500, 6000, 0.01, random_state=1, format="csc")
    signs = np.sign(matrix @ random.standard_normal(6000) + 0.1 * random.standard_normal(1500))
    data = scipy.sparse.diags_array(np.where(signs == 0, 1, signs)) @ matrix
    problem = Problem(sharp.L1Ball(6000, 800.0), data, np.zeros(1500), couplings.Logistic())
    result = solve(problem, accuracy=1e-6)
    assert result.method == "coordinate"
    assert result.status.success
    assert np.count_nonzero(result.x) > 700
    assert result.iterations < 30


@pytest.mark.parametrize("unit", [1e-7, 1e7])
def test_a_weighted_row_has_any_unit(unit: float) -> None:
    rng = np.random.default_rng(0)
    A, point, weights = rng.standard_normal((6, 10)), rng.standard_normal(10), rng.uniform(0.5, 2.0, 6)
    units = np.array([unit, 1.0, 1.0, 1.0, 1.0, 1.0])

    def minimum(units: np.ndarray) -> float:
        loss = couplings.WeightedLeastSquares(weights / units**2)
        problem = Problem(sharp.L1NormSquared(10), units[:, None] * A, units * (A @ point), loss)
        result = solve(problem, "coordinate", accuracy=1e-9)
        assert result.status.success
        return result.objective

    assert minimum(units) == pytest.approx(minimum(np.ones(6)), rel=1e-8)


def test_auto_leaves_other_problems_alone() -> None:
    random = np.random.default_rng(0)
    matrix = random.standard_normal((4, 6))
    loss, ball = couplings.LeastSquares(), sharp.L1Ball(6)
    assert has_coordinates(Problem(ball, matrix, np.ones(4), loss))
    assert not has_coordinates(Problem(ball, matrix, np.ones(4), couplings.Absolute()))
    assert not has_coordinates(Problem(ball, matrix, np.ones(4), "="))
    assert not has_coordinates(Problem(ball, matrix.astype(np.float32), np.ones(4, np.float32), loss))
    assert not has_coordinates(Problem(ball, matrix + 1j, np.ones(4) + 0j, loss))
    assert not has_coordinates(Problem(ball, scipy.sparse.linalg.aslinearoperator(matrix), np.ones(4), loss))
    assert not has_coordinates(Problem(sharp.Product([ball, ball]), [matrix, matrix], np.ones(4), loss))
    with pytest.raises(unipd.errors.InvalidInput, match="separable smooth loss"):
        solve(Problem(ball, matrix, np.ones(4), "="), "coordinate")


def test_a_subclass_with_its_own_maximiser_has_no_coordinates() -> None:
    class Half(sharp.L1Ball):
        def maximiser(self, direction: Any) -> Any:
            return super().maximiser(np.abs(direction))

    assert Half(3).coordinates() is None


@pytest.mark.parametrize("name", SETS)
def test_gap_over_all_coordinates_is_the_certified_one(name: str) -> None:
    problem = make_problem(name, couplings.LeastSquares())
    ball = problem.sharp.coordinates().restrict(np.arange(problem.sharp.coordinates().weights.size))
    rows = np.ascontiguousarray(problem.map.columns(ball.members).T)
    restricted = Restricted(problem, ball, rows, None, np.ones(25))
    x = np.clip(np.random.default_rng(5).standard_normal(COLUMNS), ball.lower, ball.upper)
    point = restricted.at(x)
    dual = evaluate(problem, point.dual)
    bound = -dual.value - problem.loss.conjugate(point.dual) * (not problem.split)  # type: ignore[union-attr]
    gap = restricted.gap(point, restricted.pull_back(point.dual))
    assert gap == pytest.approx(point.value - bound, rel=1e-9)
    assert bound <= lower_bound(problem, dual)[0] + 1e-9 * abs(bound)


TERMS = [(0.3, 0.5, 2.0, 1.0), (0.0, 0.2, 0.5, 3.0), (0.1, 0.0, 4.0, 0.5), (0.2, 0.0, 0.0, 0.0)]


@pytest.mark.parametrize("terms", TERMS)
def test_shrink_minimises(terms: tuple[float, ...]) -> None:
    base, mu, rho, budget = terms
    grid = np.linspace(0.0, 4.0, 400_001)
    for length in (0.2, 1.0, 3.0):
        for rest in (0.0, 0.4, 2.0):
            total = 1.5 * grid + rest
            excess = np.maximum(0.0, mu + rho * (total - budget)) ** 2 / (2.0 * rho) if rho else 0.0
            values = 0.5 * 0.8 * (grid - length) ** 2 + base * total + excess
            best = shrink(length, 0.8, 1.5, rest, np.array(terms), False)
            assert best == pytest.approx(grid[np.argmin(values)], abs=2e-5)


@pytest.mark.parametrize("change", ["radius", "data", "matrix", "weights"])
def test_warm_start_keeps_the_gram_matrix_only_where_it_is_the_same(change: str) -> None:
    random = np.random.default_rng(5)
    A, b = random.standard_normal((60, 150)), random.standard_normal(60)
    first = unipd.Problem(sharp.L1Ball(150, 1.0), A, b, couplings.LeastSquares())
    changed = {
        "radius": unipd.Problem(sharp.L1Ball(150, 1.1), A, b, couplings.LeastSquares()),
        "data": unipd.Problem(sharp.L1Ball(150, 1.0), A, 1.1 * b, couplings.LeastSquares()),
        "matrix": unipd.Problem(sharp.L1Ball(150, 1.0), A + 0.1, b, couplings.LeastSquares()),
        "weights": unipd.Problem(sharp.L1Ball(150, 1.0), A, b, couplings.LeastSquares(3.0)),
    }[change]
    method = unipd.CoordinateDescent(working_set=20)
    before = unipd.solve(first, method, accuracy=1e-8)
    warm = unipd.solve(changed, method, accuracy=1e-8, start=before)
    cold = unipd.solve(changed, method, accuracy=1e-8)
    assert warm.status.success
    assert warm.objective == pytest.approx(cold.objective, rel=1e-7)
    assert warm.iterations <= cold.iterations


@pytest.mark.parametrize("loss", [couplings.LeastSquares(), couplings.Huber(1.0)])
def test_a_known_working_set_is_solved_at_once(loss: couplings.ConvexLoss) -> None:
    """A small change of b keeps the working set: one iteration to full accuracy, however far the old point is."""
    random = np.random.default_rng(5)
    A, noise = random.standard_normal((60, 150)), random.standard_normal(60)
    b = 3.0 * A[:, :5].sum(axis=1) + noise
    first, shifted = (unipd.Problem(sharp.L1Ball(150, 10.0), A, b + shift, loss) for shift in (0.0, 0.02 * noise))
    method = CoordinateDescent(working_set=4)
    before = unipd.solve(first, method, accuracy=1e-8)
    cold, warm = (unipd.solve(shifted, method, accuracy=1e-8, start=start) for start in (None, before))
    assert warm.status.success
    assert warm.objective == pytest.approx(cold.objective, rel=1e-8)
    assert warm.iterations == warm.counts.oracle_calls == 1 < cold.iterations  # groups are priced once, at the end


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["ball", "square"])
def test_supports_with_as_many_entries_as_rows(kind: str, seed: int) -> None:
    """Working sets have dependent columns there, and Newton steps must leave them."""
    random = np.random.default_rng(seed)
    A, w = random.standard_normal((90, 400)), random.standard_normal(400)
    b = A @ w + random.standard_normal(90)
    norm = {"ball": sharp.L1Ball(400, 0.3 * np.abs(w).sum()), "square": sharp.L1NormSquared(400, 0.03)}[kind]
    result = unipd.solve(unipd.Problem(norm, A, b, couplings.LeastSquares()), "coordinate", accuracy=1e-6)
    assert result.status.success
    assert np.count_nonzero(result.x) > 75
    assert result.iterations < 30
