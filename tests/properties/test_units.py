"""Accuracy in any units: scaling f, A and b, a row of both, or x changes neither the status nor the answer."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg

import unipd
from unipd import Status, couplings, sharp
from unipd.atoms import dense
from unipd.errors import InvalidInput

UNITS = [1e-12, 1e-6, 1e-3, 1e3, 1e6, 1e12]
RANDOM = np.random.default_rng(0)
A = RANDOM.standard_normal((6, 30))
COST = RANDOM.standard_normal(30)
B = A @ RANDOM.dirichlet(np.ones(30))
SPARSE = np.zeros(30)
SPARSE[[3, 17]] = [1.0, -2.0]
GRAPH = np.triu(RANDOM.random((8, 8)) < 0.5, 1).astype(float)
LAPLACIAN = np.diag((GRAPH + GRAPH.T).sum(1)) - GRAPH - GRAPH.T


def program(relation: str) -> Callable[..., unipd.Problem]:
    """Return the maker of a linear program over the simplex; ``size`` is the unit of x."""

    def make(cost: float = 1.0, rows: Any = 1.0, size: float = 1.0) -> unipd.Problem:
        oracle = sharp.Linear(cost * COST / size, sharp.Simplex(30, size))
        factors = np.broadcast_to(rows, 6)
        return unipd.Problem(oracle, factors[:, None] * A / size, factors * B, relation)

    return make


def basis_pursuit(cost: float = 1.0, rows: Any = 1.0, size: float = 1.0) -> unipd.Problem:
    factors = np.broadcast_to(rows, 6)
    oracle = sharp.L1NormSquared(30, cost / size**2)
    return unipd.Problem(oracle, factors[:, None] * A / size, factors * (A @ SPARSE), "=")


def l1_ball(cost: float = 1.0, rows: Any = 1.0, size: float = 1.0) -> unipd.Problem:
    factors = np.broadcast_to(rows, 6)
    oracle = sharp.L1NormOnBall(30, 5.0 * size, cost / size)
    return unipd.Problem(oracle, factors[:, None] * A / size, factors * (A @ SPARSE), couplings.Equality())


def maxcut(cost: float = 1.0, rows: Any = 1.0, size: float = 1.0) -> unipd.Problem:
    factors = np.resize(np.broadcast_to(rows, 6), 8)
    diagonal = np.zeros((8, 8, 8))
    diagonal[range(8), range(8), range(8)] = factors / size
    oracle = sharp.Linear(-cost * LAPLACIAN / size, sharp.Spectrahedron(8, 8.0 * size))
    return unipd.Problem(oracle, unipd.maps.DenseMatrix(diagonal.reshape(8, 64), domain=(8, 8)), factors, "=")


PROBLEMS = {
    "equalities": program("="),
    "inequalities": program("<="),
    "squared norm": basis_pursuit,
    "norm on a ball": l1_ball,
    "semidefinite": maxcut,
}


def objective_and_image(result: unipd.Result, cost: float, rows: Any) -> tuple[float, np.ndarray]:
    """Return the objective in the units of the plain problem, and A x there."""
    factors = np.resize(np.broadcast_to(rows, 6), result.image.size)
    return result.objective / cost, result.image / factors


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("what", ["cost", "rows", "one row", "size"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_units_change_neither_status_nor_answer(name: str, what: str, unit: float) -> None:
    make = PROBLEMS[name]
    one_row = np.where(np.arange(6) == 0, unit, 1.0)
    changes: dict[str, Any] = {"rows": one_row} if what == "one row" else {what: unit}
    plain, other = (unipd.solve(make(**kinds), accuracy=1e-7) for kinds in ({}, changes))
    assert plain.status is other.status is Status.SOLVED
    cost, rows = changes.get("cost", 1.0), changes.get("rows", 1.0)
    objective, image = objective_and_image(other, cost, rows)
    assert objective == pytest.approx(plain.objective, rel=1e-5)
    np.testing.assert_allclose(image, plain.image, rtol=0, atol=1e-5 * np.linalg.norm(plain.image))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad", "corrective"])
def test_a_common_factor_changes_no_iterate(method: str, unit: float) -> None:
    make, limit = program("="), unipd.MaxIterations(40)
    plain = unipd.solve(make(), method, accuracy=1e-2, stop=limit)
    for changes in ({"cost": unit}, {"rows": unit}, {"size": unit}):
        other = unipd.solve(make(**changes), method, accuracy=1e-2, stop=limit)
        assert (other.status, other.iterations) == (plain.status, plain.iterations)
        assert other.infeasibility == pytest.approx(plain.infeasibility, rel=1e-6, abs=1e-9)
        assert other.gap == pytest.approx(plain.gap, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("method", ["auto", "pairwise", "accunipdgrad"])
def test_losses_in_any_unit(method: str, unit: float) -> None:
    """Least squares over the simplex: A and b, or x, in other units."""
    for size, rows in ((unit, 1.0), (1.0, unit)):
        problem = unipd.Problem(sharp.Simplex(30, size), rows / size * A, rows * (B + 0.5), couplings.LeastSquares())
        plain = unipd.Problem(sharp.Simplex(30), A, B + 0.5, couplings.LeastSquares())
        result, known = (unipd.solve(each, method, accuracy=1e-3) for each in (problem, plain))
        assert result.status is known.status is Status.SOLVED
        assert result.objective / rows**2 == pytest.approx(known.objective, abs=1e-3 * plain.scale(known.objective))


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-6, 1e-8, 0.0])
def test_a_small_loss_beside_an_objective_is_solved(size: float) -> None:
    oracle = sharp.Linear(COST, sharp.Simplex(30))
    problem = unipd.Problem(oracle, A, size * np.ones(6), couplings.LeastSquares())
    assert unipd.solve(problem, accuracy=1e-6).status is Status.SOLVED


def test_a_constraint_in_small_units_is_not_ignored() -> None:
    """A point at which the constraint is violated by its whole size is infeasible by 1, whatever the unit."""
    for unit in UNITS:
        problem = program("=")(rows=unit)
        assert problem.infeasibility(-problem.b) == pytest.approx(1.0)


@pytest.mark.parametrize("unit", UNITS)
def test_a_bound_above_a_maximum_of_zero_by_rounding_proves_nothing(unit: float) -> None:
    """f <= 0 with maximum 0: the size of f, not that of its maximum, determines the rounding."""
    oracle = sharp.Linear(unit * np.array([0.0, -1.0, -2.0]), sharp.Simplex(3))
    problem = unipd.Problem(oracle, np.eye(3), [1.0, 0.0, 0.0], "=")
    state = next(unipd.iterate(problem, "unipdgrad"))
    for bound, is_proof in ((1e-15 * unit, False), (1e-3 * unit, True)):
        assert replace(state.certificate, dual_bound=bound).proves_infeasible(problem) == is_proof


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_one_row_of_a_weighted_loss_has_any_unit(unit):
    random = np.random.default_rng(3)
    A, b, weights = random.standard_normal((7, 4)), random.standard_normal(7), random.random(7) + 0.5
    factors = np.where(np.arange(7) == 0, unit, 1.0)
    plain, other = (
        unipd.solve(
            unipd.Problem(
                unipd.sharp.L2NormSquared(4),
                rows[:, None] * A,
                rows * b,
                unipd.couplings.WeightedLeastSquares(weights / rows**2),
            ),
            accuracy=1e-8,
        )
        for rows in (np.ones(7), factors)
    )
    assert plain.status.success
    assert other.status.success
    np.testing.assert_allclose(other.x, plain.x, atol=1e-6)


@pytest.mark.parametrize("relation", ["=", "<=", couplings.Product([couplings.Equality(), couplings.AtMost()], [2, 4])])
@pytest.mark.parametrize("unit", [1e-12, 0.2, 0.5, 3.0, 9.0, 1e12])
def test_the_unit_of_a_row_is_not_felt_in_the_measure(relation: Any, unit: float) -> None:
    """Also where row norms differ by less than the factor of ten from which methods equilibrate."""
    factors, residual = np.where(np.arange(6) == 1, unit, 1.0), np.arange(6.0) - 2.0
    plain, other = (unipd.Problem(sharp.Simplex(30), (d * A.T).T, d * B, relation) for d in (np.ones(6), factors))
    assert other.infeasibility(factors * residual) == pytest.approx(plain.infeasibility(residual), rel=1e-12)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("what", ["cost", "rows", "one row", "size"])
@pytest.mark.parametrize("name", ["equalities", "inequalities", "squared norm", "norm on a ball"])
def test_units_do_not_change_x(name: str, what: str, unit: float) -> None:
    """These have a unique solution, which is compared itself, in the units of the plain problem."""
    one_row = np.where(np.arange(6) == 0, unit, 1.0)
    changes: dict[str, Any] = {"rows": one_row} if what == "one row" else {what: unit}
    plain, other = (unipd.solve(PROBLEMS[name](**kinds), accuracy=1e-7) for kinds in ({}, changes))
    assert plain.status is other.status is Status.SOLVED
    x = dense(other.x) / (unit if what == "size" else 1.0)
    np.testing.assert_allclose(x, dense(plain.x), rtol=0, atol=1e-5 * np.linalg.norm(dense(plain.x)))


@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1e9, 1e12])
@pytest.mark.parametrize("offset", [0.0, -COST.min()])
def test_a_user_supplied_oracle_needs_no_maximum_in_any_unit(unit: float, offset: float) -> None:
    """Its size is found from its answers, also where the least f is 0."""
    cost = unit * (COST + offset)
    oracle = sharp.from_callable(lambda y: np.eye(30)[np.argmax(y - cost)], 30, objective=lambda x: float(cost @ x))
    known = unipd.solve(program("=")(), accuracy=1e-7)
    result = unipd.solve(unipd.Problem(oracle, A, B, "="), accuracy=1e-7)
    assert result.status is known.status is Status.SOLVED
    assert result.objective / unit - offset == pytest.approx(known.objective, abs=1e-5)


@pytest.mark.parametrize("coupling", ["=", couplings.LeastSquares()])
def test_data_whose_squares_vanish_are_refused(coupling: Any) -> None:
    """At 1e-200 every violation would round to zero, and every point would be solved."""
    with pytest.raises(InvalidInput, match="an underflow"):
        unipd.Problem(sharp.Simplex(3), 1e-200 * np.eye(3), 1e-200 * np.ones(3), coupling)
    small = unipd.solve(unipd.Problem(sharp.Simplex(3), 1e-120 * np.eye(3), 1e-120 * np.full(3, 1 / 3), "="))
    np.testing.assert_allclose(small.x, 1 / 3, rtol=1e-3)
    unipd.Problem(sharp.Simplex(3), np.eye(3), np.zeros(3), coupling)


@pytest.mark.parametrize("relation", ["=", "<="])
@pytest.mark.parametrize("unit", [1e-130, 1e-30, 1e30, 1e130])
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csc_array, scipy.sparse.linalg.aslinearoperator])
def test_rows_of_any_norm_are_not_ignored(make: Any, unit: float, relation: str) -> None:
    """The units of A, of x and of a row multiply: 1e-36 is three times the unit 1e-12."""
    factors = np.array([1.0, unit, 1.0, 1.0, unit**0.5, 1.0])
    problem = unipd.Problem(sharp.Linear(COST, sharp.Simplex(30)), make(factors[:, None] * A), factors * B, relation)
    result = unipd.solve(problem, accuracy=1e-7)
    plain = unipd.solve(program(relation)(), accuracy=1e-7)
    assert result.status is plain.status is Status.SOLVED
    assert result.objective == pytest.approx(plain.objective, rel=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csc_array, scipy.sparse.linalg.aslinearoperator])
def test_rows_beyond_the_range_are_refused(make: Any, dtype: Any) -> None:
    unit = 1e-200 if dtype is np.float64 else 1e-30
    factors = np.array([1.0, unit, 1.0, 1.0, 1.0, 1.0])
    matrix, b = make((factors[:, None] * A).astype(dtype)), (factors * B).astype(dtype)
    with pytest.raises(InvalidInput, match="norms differ less"):
        unipd.solve(unipd.Problem(sharp.Linear(COST, sharp.Simplex(30)), matrix, b, "="))


@pytest.mark.parametrize("coupling", ["=", "<=", couplings.LeastSquares()])
def test_a_map_whose_squares_vanish_is_refused_for_a_b_of_zero(coupling: Any) -> None:
    problem = unipd.Problem(sharp.Linear(COST, sharp.Simplex(30)), 1e-200 * A, np.zeros(6), coupling)
    with pytest.raises(InvalidInput, match="an underflow"):
        unipd.solve(problem)


def around_zero(make: Callable[[float], Any], width: float, unit: float = 1.0) -> unipd.Problem:
    """A linear program with b = 0 and a set around 0 of this width in the units of unit rows."""
    rows = A - A.mean(axis=1)[:, None]  # A x = 0 at the centre of the simplex
    rows = rows / np.linalg.norm(rows, axis=1)[:, None]
    return unipd.Problem(sharp.Linear(COST, sharp.Simplex(30)), unit * rows, np.zeros(6), make(unit * width))


NARROW = {
    "box": lambda w: couplings.Box(-w, w),
    "one side": lambda w: couplings.Box(-np.inf, w),
    "l2 ball": couplings.L2Ball,
    "linf ball": couplings.LInfBall,
}


@pytest.mark.parametrize("width", [1e-7, 1e-5, 1e-3])
@pytest.mark.parametrize("name", NARROW)
def test_a_set_around_zero_is_measured_by_its_sides(name: str, width: float) -> None:
    """Relative to the size of A x, a violation of a thousand widths would be nothing."""
    results = [unipd.solve(around_zero(NARROW[name], width, unit), accuracy=1e-6) for unit in (1.0, 1e-9, 1e9)]
    assert [result.status for result in results] == 3 * [Status.SOLVED]
    for result, unit in zip(results, (1.0, 1e-9, 1e9), strict=True):
        assert result.violation <= 1e-6 * width * np.sqrt(6) * unit
        assert result.objective == pytest.approx(results[0].objective, rel=1e-5)


def test_one_constraint_has_one_scale_however_it_is_written() -> None:
    def scale(b: Any, relation: Any) -> float:
        problem = unipd.Problem(sharp.Simplex(30), A, b, relation)
        return problem.equilibrated_scale(0.01 * A @ np.ones(30) - b)

    side = np.full(6, 1e-3)
    assert scale(np.zeros(6), couplings.Box(-np.inf, side)) == pytest.approx(scale(side, "<="))
    assert scale(np.zeros(6), couplings.Box(-side, np.inf)) == pytest.approx(scale(-side, ">="))
    sides = np.append(side[:-1], 0.0)  # a side of 0 is no more than a right-hand side of 0
    assert scale(np.zeros(6), couplings.Box(-np.inf, sides)) == pytest.approx(scale(sides, "<="))
    assert scale(np.zeros(6), couplings.Box(0.0, np.inf)) == scale(np.zeros(6), ">=") == scale(np.zeros(6), "=")


def pulled_apart(width: float, cost: float = 1.0, rows: float = 1.0, size: float = 1.0) -> unipd.Problem:
    """min 1/2 ||x||^2 - x_1 + x_2 subject to x_1 = x_2: x = 0, and no bound of the box matters."""
    side = size * width * np.ones(2)
    oracle = sharp.QuadraticBox(cost / size**2 * np.ones(2), cost / size * np.array([-1.0, 1.0]), -side, side)
    return unipd.Problem(oracle, rows / size * np.array([[1.0, -1.0]]), [0.0], "=")


@pytest.mark.parametrize("width", [10.0, 1e6, 1e9, np.inf])
@pytest.mark.parametrize("method", ["auto", "corrective", "unipdgrad", "accunipdgrad"])
def test_wide_bounds_do_not_satisfy_a_constraint_whose_right_hand_side_is_zero(method: str, width: float) -> None:
    """The least point of f, (1, -1), is what the constraint corrects: that is the scale, not the box."""
    problem = pulled_apart(width)
    assert problem.equilibrated_scale(np.ones(1)) == problem.least_scale == 2.0
    result = unipd.solve(problem, method, accuracy=1e-3, stop=unipd.MaxIterations(300))
    assert result.status is Status.SOLVED or method.endswith("unipdgrad")
    if result.status is Status.SOLVED:
        assert np.linalg.norm(result.x) <= 2e-3
        assert abs(result.objective) <= 1e-6


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("what", ["cost", "rows", "size"])
def test_units_do_not_matter_where_the_right_hand_side_is_zero(what: str, unit: float) -> None:
    plain, other = unipd.solve(pulled_apart(1e6)), unipd.solve(pulled_apart(1e6, **{what: unit}))
    assert plain.status is other.status is Status.SOLVED
    assert plain.iterations == other.iterations
    assert other.infeasibility == pytest.approx(plain.infeasibility, rel=1e-3, abs=1e-15)


@pytest.mark.parametrize("loss", [False, True])
def test_a_least_point_that_satisfies_the_constraints_up_to_rounding_is_solved(loss: bool) -> None:
    """A x_0 is rounding alone: what cancels in it is the scale."""
    centre = np.linalg.svd(A)[2][-1]
    assert 0.0 < np.linalg.norm(A @ centre) < 1e-14
    oracle = sharp.QuadraticBox(np.ones(30), -centre, -1e6 * np.ones(30), 1e6 * np.ones(30))
    coupling = couplings.LeastSquares() if loss else "="
    result = unipd.solve(unipd.Problem(oracle, A, np.zeros(6), coupling), accuracy=1e-6)
    assert result.status is Status.SOLVED
    np.testing.assert_allclose(result.x, centre, atol=1e-6)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1.0, 1e12])
@pytest.mark.parametrize("relation", ["=", "<=", couplings.Product([couplings.Equality(), couplings.AtMost()], [6, 1])])
def test_a_row_of_zeros_counts_for_itself(relation: Any, unit: float) -> None:
    """It holds or it does not, whatever its unit, and sets no scale for the others."""
    rows, oracle = np.vstack([A, np.zeros(30)]), sharp.Linear(COST, sharp.Simplex(30))
    impossible = unipd.Problem(oracle, rows, np.append(B, -unit), relation)
    result = unipd.solve(impossible, accuracy=1e-6)
    assert (result.status, result.infeasibility) == (Status.INFEASIBLE, 1.0)
    assert result.bound_kind == "rigorous"
    possible = unipd.Problem(oracle, rows, np.append(B, 0.0 if relation == "=" else unit), relation)
    plain, image = unipd.Problem(oracle, A, B, "="), np.append(1.1 * B, 0.0)
    assert possible.equilibrated_scale(image - possible.b) <= plain.equilibrated_scale(0.1 * B) * (1.0 + 1e-12)
    assert unipd.solve(possible, accuracy=1e-6).status is Status.SOLVED


@pytest.mark.parametrize("loose", [1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("method", ["auto", "accunipdgrad"])
def test_a_bound_that_no_point_reaches_does_not_excuse_the_others(method: str, loose: float) -> None:
    """A right-hand side of 1e9 in one inequality says nothing about the size of the others."""
    b = np.append(B[:5], B[5] + loose)
    plain = unipd.Problem(sharp.Linear(COST, sharp.Simplex(30)), A[:5], B[:5], "<=")
    problem = unipd.Problem(sharp.Linear(COST, sharp.Simplex(30)), A, b, "<=")
    image = np.append(B[:5], 0.1)
    assert problem.equilibrated_scale(image - b) <= 2.0 * plain.equilibrated_scale(np.zeros(5))
    result = unipd.solve(problem, method, accuracy=1e-4, stop=unipd.MaxIterations(300))
    assert result.status is Status.SOLVED or method == "accunipdgrad"
    if result.status is Status.SOLVED:
        assert np.maximum(A @ result.x - b, 0.0).max() <= 1e-3
        assert result.objective == pytest.approx(unipd.solve(plain, accuracy=1e-6).objective, abs=1e-2)


@pytest.mark.parametrize("count", [64, 65, 100, 1000])
@pytest.mark.parametrize("kind", ["at most", "product", "box", "box at 0"])
@pytest.mark.parametrize("oracle", [sharp.Simplex(30), sharp.L2Ball(30), sharp.LInfBall(30)], ids=repr)
def test_many_bounds_that_no_point_reaches_do_not_excuse_the_others(oracle: Any, kind: str, count: int) -> None:
    """No more than rows at the reach of A x, one by one, would; a violation of five rows out of reach is seen."""
    rows = np.random.default_rng(3).standard_normal((count, 30))
    loose = np.geomspace(1e6, 1e9, count)
    reach = np.array([max(oracle.support(row), oracle.support(-row)) for row in rows / _lengths(rows)])
    unreachable = -2.0 * np.array([oracle.support(-row) for row in A[:5]])
    b = np.append(unreachable, loose)
    coupling: Any = {
        "at most": "<=",
        "product": couplings.Product([couplings.Equality(), couplings.AtMost()], [5, count]),
        "box": couplings.Box(-np.inf, np.append(unreachable, loose)),
        "box at 0": couplings.Box(-np.inf, np.zeros(count + 5)),
    }[kind]
    right = np.zeros(count + 5) if kind == "box" else b
    problem = unipd.Problem(oracle, np.vstack([A[:5], rows]), right, coupling)
    alone = np.linalg.norm(unreachable / _lengths(A[:5])[:, 0])
    image = problem.map.image(np.asarray(dense(oracle(np.ones(30)).atom)))
    assert problem.equilibrated_scale(image - right) <= alone + np.linalg.norm(reach)
    result = unipd.solve(problem, "accunipdgrad", accuracy=1e-3, stop=unipd.MaxIterations(50))
    assert result.status is not Status.SOLVED


def _lengths(rows: Any) -> Any:
    return np.linalg.norm(rows, axis=1, keepdims=True)


def test_many_loose_bounds_cost_one_oracle_call() -> None:
    random, count = np.random.default_rng(4), 100_000
    oracle = sharp.Counted(sharp.Simplex(3))
    rows, b = random.standard_normal((count, 3)), random.uniform(1e6, 1e9, count)
    problem = unipd.Problem(oracle, rows, b, "<=")
    assert problem.infeasibility(rows @ np.full(3, 1.0 / 3.0) - b) == 0.0
    assert problem.equilibrated_scale(rows @ np.full(3, 1.0 / 3.0) - b) <= np.sqrt(count)
    assert oracle.calls <= 1


def test_losses_do_not_count_for_the_scale_of_constraints() -> None:
    """Least squares with a^T x = 0: the residuals of the fit, a thousand times larger, are no unit of the equation."""
    random = np.random.default_rng(5)
    fit, row, target = random.standard_normal((40, 20)), random.standard_normal(20), random.standard_normal(40)
    coupling = couplings.Product([couplings.Equality(), couplings.LeastSquares()], [1, 40])

    def scale(unit: float) -> float:
        problem = unipd.Problem(sharp.L2Ball(20), np.vstack([row, unit * fit]), [0.0, *(unit * target)], coupling)
        return problem.least_scale

    assert scale(1e3) == scale(1.0) <= 3.0 * np.linalg.norm(row)


SMALL = np.abs(RANDOM.standard_normal((5, 10))) + 0.1
PRICES = RANDOM.uniform(0.5, 1.0, 10)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_loose_bound_of_a_wide_set_excuses_no_violation(unit: float) -> None:
    """min c'x, A x >= 1, sum x <= 1e7, 0 <= x <= 1e6: x = 0 violates every demand by all of it."""
    rows, b = np.vstack([SMALL, -unit * np.ones(10)]), np.append(np.ones(5), -1e7 * unit)
    problem = unipd.Problem(sharp.Linear(PRICES, sharp.Box(0.0 * PRICES, 1e6 * np.ones(10))), rows, b, ">=")
    assert problem.infeasibility(-b) == pytest.approx(1.0)
    result = unipd.solve(problem, accuracy=1e-4)
    assert result.status is Status.SOLVED
    assert (SMALL @ result.x).min() >= 1.0 - 1e-3
    narrow = unipd.Problem(sharp.Linear(PRICES, sharp.Box(0.0 * PRICES, 100.0 * np.ones(10))), SMALL, np.ones(5), ">=")
    assert result.objective == pytest.approx(unipd.solve(narrow, accuracy=1e-7).objective, rel=1e-3)


@pytest.mark.parametrize("oracle", [sharp.L2NormSquared(10), sharp.L1NormSquared(10)], ids=repr)
def test_loose_rows_of_an_unbounded_set_excuse_no_violation(oracle: Any) -> None:
    """Seventy inequalities with b = 1e6 beside three equations."""
    rows, count = RANDOM.standard_normal((73, 10)), 70
    b = np.append(np.ones(3), np.full(count, 1e6))
    problem = unipd.Problem(oracle, rows, b, couplings.Product([couplings.Equality(), couplings.AtMost()], [3, count]))
    assert problem.infeasibility(-b) == pytest.approx(1.0)
    lengths = _lengths(rows)[:, 0]
    for x in RANDOM.standard_normal((5, 10)):
        left = rows @ x - b
        scale = np.linalg.norm(np.append(1.0 / lengths[:3], rows[3:] @ x / lengths[3:]))
        assert problem.infeasibility(left) == pytest.approx(np.linalg.norm(left[:3] / lengths[:3]) / scale)
    result = unipd.solve(problem, accuracy=1e-6)
    assert result.status is Status.SOLVED
    np.testing.assert_allclose(result.image[:3], 1.0, atol=1e-4)


@pytest.mark.parametrize("width", [1e2, 1e4, 1e6, 1e8, 1e10])
@pytest.mark.parametrize("coupling", ["=", couplings.LeastSquares()])
def test_the_gap_is_not_relative_to_a_set_far_wider_than_the_data(coupling: Any, width: float) -> None:
    """x = 0 has the objective 0, and the optimum is -2 to -4: that is no gap of zero, however wide the box."""
    cost, rows = COST[:10], A[:5, :10] + 2.0 * (np.arange(5) == 0)[:, None]
    b = rows @ np.linspace(0.0, 1.0, 10)
    oracle = sharp.Linear(cost, sharp.Box(np.zeros(10), width * np.ones(10)))
    problem = unipd.Problem(oracle, rows, b, coupling)
    narrow = unipd.Problem(sharp.Linear(cost, sharp.Box(np.zeros(10), 10.0 * np.ones(10))), rows, b, coupling)
    optimum = unipd.solve(narrow, accuracy=1e-7).objective
    assert problem.scale(0.0) <= max(abs(optimum), problem.loss_at_zero)
    result = unipd.solve(problem, accuracy=1e-3)
    assert result.status is Status.SOLVED or width >= 1e8
    if result.status is Status.SOLVED:
        assert result.objective == pytest.approx(optimum, abs=2e-3 * problem.scale(optimum))
