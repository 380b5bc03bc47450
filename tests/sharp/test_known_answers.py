"""Known answers: ties, forms of the atoms, limits in which one set becomes another."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from unipd import Problem, sharp, solve
from unipd.atoms import SparsePoint, dense
from unipd.errors import OracleError

RNG = np.random.default_rng(11)


@pytest.mark.parametrize(
    ("oracle", "indices"),
    [
        (sharp.Simplex(9), [0]),
        (sharp.UnitSimplex(9), [0]),
        (sharp.L1Ball(9), [0]),
        (sharp.KSupportBall(9, 2), [0, 1]),
        (sharp.KSparsePolytope(9, 2), [0, 1]),
        (sharp.OWLBall(np.ones(9)), [0]),
        (sharp.GroupBall([2, 2, 1, 1, 0, 0, 3, 3, 3], weights=[1, 1, 1, 5]), [4, 5]),
        (sharp.L1NormSquared(9), [0]),
        (sharp.Linear(np.zeros(9), sharp.Simplex(9)), [0]),
        (sharp.L1NormOnBall(9, weight=0.5), [0]),
    ],
)
def test_ties_go_to_the_first_index_and_few_nonzeros_are_sparse(oracle: Any, indices: list[int]) -> None:
    atom = oracle(np.ones(9)).atom
    assert isinstance(atom, SparsePoint)
    assert atom.indices.tolist() == indices
    assert oracle(np.ones(9)).value == pytest.approx(oracle.value(np.ones(9)).value)


SYMMETRIC = [
    sharp.L1Ball(4),
    sharp.L2Ball(4),
    sharp.LInfBall(4),
    sharp.LpBall(4, 3.0),
    sharp.KSupportBall(4, 2),
    sharp.KSparsePolytope(4, 2),
    sharp.OWLBall([2.0, 1.0, 1.0, 0.0]),
    sharp.GroupBall([0, 0, 1, 1]),
]


@pytest.mark.parametrize("ball", SYMMETRIC, ids=lambda ball: type(ball).__name__)
def test_balls(ball: Any) -> None:
    """At 0 the answer is 0; norms are duals of each other; squares and powers of norms follow."""
    assert not dense(ball(np.zeros(4)).atom).any()
    assert ball.norm(np.zeros(4)) == ball.dual_norm(np.zeros(4)) == 0.0
    y = RNG.standard_normal(4)
    point = dense(ball(y).atom)
    assert ball.norm(point) == pytest.approx(1.0)
    assert y @ point == pytest.approx(ball.dual_norm(y))
    assert not ball.contains(1.001 * point)
    assert sharp.NormSquared(ball, 3.0)(y).value == pytest.approx(ball.dual_norm(y) ** 2 / 12.0)
    assert sharp.NormOnBall(ball, 0.1)(y).value == pytest.approx(ball.dual_norm(y) - 0.1)
    assert not dense(sharp.NormOnBall(ball, 100.0)(y).atom).any()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (sharp.KSupportBall(5, 1, 2.0), sharp.L1Ball(5, 2.0)),
        (sharp.KSupportBall(5, 5, 2.0), sharp.L2Ball(5, 2.0)),
        (sharp.KSparsePolytope(5, 5, 2.0), sharp.LInfBall(5, 2.0)),
        (sharp.KSparsePolytope(5, 1, 2.0), sharp.L1Ball(5, 2.0)),
        (sharp.OWLBall(np.ones(5), 2.0), sharp.L1Ball(5, 2.0)),
        (sharp.OWLBall(np.eye(5)[0], 2.0), sharp.LInfBall(5, 2.0)),
        (sharp.GroupBall(np.arange(5), 2.0), sharp.L1Ball(5, 2.0)),
        (sharp.GroupBall(np.zeros(5, int), 2.0), sharp.L2Ball(5, 2.0)),
        (sharp.LpBall(5, 2.0, 2.0), sharp.L2Ball(5, 2.0)),
        (sharp.Box(-2.0, 2.0, shape=5), sharp.LInfBall(5, 2.0)),
        (sharp.ConvexHull(2.0 * np.eye(5)), sharp.Simplex(5, 2.0)),
        (sharp.QuadraticBox(1.0, 0.0, -1e3, 1e3, shape=5), sharp.L2NormSquared(5, 0.5)),
        (sharp.QuadraticBox(1.0, 0.0, -np.inf, np.inf, shape=5), sharp.L2NormSquared(5, 0.5)),
        (sharp.SeparablePower(5, 2.0), sharp.L2NormSquared(5, 0.5)),
        (sharp.SeparablePower(5, 3.0), sharp.PowerNorm(sharp.LpBall(5, 3.0), 3.0)),
        (sharp.EuclideanPower(5, 2.0), sharp.L2NormSquared(5, 0.5)),
        (
            sharp.Linear(np.arange(5.0), sharp.Box(-2.0, 2.0, shape=5)),
            sharp.QuadraticBox(0.0, np.arange(5.0), -2, 2, 5),
        ),
    ],
)
def test_one_set_as_the_limit_of_another(first: Any, second: Any) -> None:
    for _ in range(5):
        y = RNG.standard_normal(5)
        assert first(y).value == pytest.approx(second(y).value)
        np.testing.assert_allclose(dense(first(y).atom), dense(second(y).atom), atol=1e-12)
        point = RNG.standard_normal(5)
        assert first.contains(point) == second.contains(point)
        assert first.objective(point) == pytest.approx(second.objective(point))


def test_owl_ball_by_linear_programming() -> None:
    """The OWL norm is the largest of its signed permutations, which makes the ball a polyhedron."""
    weights = np.array([2.0, 1.5, 0.25])
    rows = [
        np.array(signs) * weights[list(order)]
        for order in itertools.permutations(range(3))
        for signs in itertools.product([-1.0, 1.0], repeat=3)
    ]
    ball = sharp.OWLBall(weights, 2.0)
    for _ in range(10):
        y = RNG.standard_normal(3)
        best = linprog(-y, A_ub=np.array(rows), b_ub=np.full(len(rows), 2.0), bounds=(None, None))
        assert ball(y).value == pytest.approx(-best.fun)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_birkhoff_by_all_permutations(order: int) -> None:
    oracle = sharp.Birkhoff(order)
    y = RNG.standard_normal((order, order))
    totals = [y[np.arange(order), list(choice)].sum() for choice in itertools.permutations(range(order))]
    answer = oracle(y)
    assert answer.value == pytest.approx(max(totals))
    assert isinstance(answer.atom, SparsePoint)
    assert answer.atom.values.size == order
    np.testing.assert_array_equal(oracle(np.zeros((order, order))).atom.dense(), np.eye(order))
    assert oracle.contains(np.full((order, order), 1.0 / order))
    assert not oracle.contains(np.full((order, order), 1.01 / order))


def test_doubly_stochastic_needs_rows_and_columns() -> None:
    rows_only = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert not sharp.Birkhoff(2).contains(rows_only)
    assert not sharp.Birkhoff(2).contains(rows_only.T)
    assert not sharp.Birkhoff(2).contains(np.array([[2.0, -1.0], [-1.0, 2.0]]))


def test_owl_takes_the_first_of_many_equal_entries() -> None:
    for _ in range(20):
        y = RNG.choice([1.0, 2.0], 500)
        assert sharp.OWLBall(np.ones(500))(y).atom.indices.tolist() == [int(np.argmax(y))]


def test_entropy_at_extreme_directions() -> None:
    entropy = sharp.Entropy(3, 2.0)
    answer = entropy(np.array([1e307, -1.79e308, 0.0]))
    assert answer.atom.tolist() == [2.0, 0.0, 0.0]
    assert answer.value == 2e307
    assert entropy(np.full(3, -1e4)).value == pytest.approx(2.0 * (-1e4 + math.log(3.0)))
    assert entropy.objective(np.array([2.0, 0.0, 0.0])) == 0.0


def test_quadratic_with_tiny_curvature_stays_in_the_box() -> None:
    oracle = sharp.QuadraticBox([1e-320, 0.0, 2.0], 0.0, [-1.0, -1.0, -1.0], [3.0, 3.0, 3.0])
    assert oracle(np.array([1e10, 0.0, 1.0])).atom.tolist() == [3.0, -1.0, 0.5]
    assert oracle.maximum() == pytest.approx(9.0)
    assert sharp.QuadraticBox(1.0, -4.0, [0.0], [2.0]).maximum() == 0.0


def test_a_quadratic_on_an_unbounded_box() -> None:
    oracle = sharp.QuadraticBox([1.0, 2.0], 0.0, [0.0, -np.inf], np.inf)
    assert oracle.degree == 2.0
    assert oracle.maximum() == np.inf
    assert oracle.support(np.array([-1.0, 0.0])) == 0.0
    assert oracle.support(np.array([0.0, -1.0])) == np.inf
    np.testing.assert_array_equal(oracle(np.array([-3.0, -4.0])).atom, [0.0, -2.0])
    assert oracle.contains(np.array([1e12, -1e12]))
    assert not oracle.contains(np.array([-1.0, 0.0]))
    assert sharp.QuadraticBox(1.0, 0.0, [0.0, -1.0], np.inf).degree is None


def test_box_bounds_spread_over_the_shape() -> None:
    box = sharp.Box(0.0, np.array([[1.0, 2.0]]))
    assert box.shape == (1, 2)
    assert box(np.array([[1.0, -1.0]])).atom.tolist() == [[1.0, 0.0]]
    assert sharp.Box(0.0, 1.0, shape=(2, 2))(np.ones((2, 2))).value == 4.0
    assert sharp.Box(0.0, 0.0, shape=1).contains(np.zeros(1))


def test_a_real_point_may_lie_in_a_hull_of_complex_ones() -> None:
    segment = sharp.ConvexHull(np.array([[1.0 + 1.0j], [1.0 - 1.0j]]))
    assert segment.contains(np.array([1.0]))
    assert segment.contains(np.array([1.0 + 0.5j]))
    assert not segment.contains(np.array([1.0 + 1.5j]))


def test_integers_and_lists_are_taken_as_doubles() -> None:
    answer = sharp.L1Ball(3)([1, -3, 2])  # type: ignore[arg-type]
    assert answer.atom.dtype == np.float64
    assert answer.value == 3.0


def test_group_members_are_the_labelled_entries() -> None:
    ball = sharp.GroupBall([["b", "a"], ["b", "c"]])
    assert [ball.members(group).tolist() for group in range(3)] == [[1], [0, 2], [3]]
    assert ball.group_norms(np.array([[3.0, 1.0], [4.0, 2.0]])).tolist() == [1.0, 5.0, 2.0]


@pytest.mark.parametrize(
    ("answer", "form"),
    [(np.ones(5), r"\(5,\)"), (np.ones((6, 1)), r"\(6, 1\)"), ([1.0] * 6, "list"), (None, "NoneType")],
)
def test_a_maximiser_of_the_wrong_shape_is_reported(answer: Any, form: str) -> None:
    class Wrong(sharp.Sharp):
        def maximiser(self, direction: Any) -> Any:
            return answer

        def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
            return True

    expected = rf"must return points of shape \(6,\), not {form}$"
    with pytest.raises(OracleError, match=expected):
        Wrong(6)(np.ones(6))
    with pytest.raises(OracleError, match=expected):
        solve(Problem(Wrong(6), np.eye(6), np.ones(6), "="))
