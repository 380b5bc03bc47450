"""Pricing of the best vertices, and second derivatives of the master, against naive references."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unipd
from unipd import sharp
from unipd.couplings import PSDCone
from unipd.methods.corrective import price_vertices

ORACLES = {
    "simplex": lambda cost: sharp.Linear(cost, sharp.Simplex(cost.size, 2.0)),
    "unit simplex": lambda cost: sharp.UnitSimplex(cost.size, 0.5),
    "l1 ball": lambda cost: sharp.Linear(cost, sharp.Linear(cost, sharp.L1Ball(cost.size, 3.0))),
    "l1 norm on a ball": lambda cost: sharp.L1NormOnBall(cost.size, 2.0, 0.3),
}


def all_vertices(oracle: object, size: int) -> list[np.ndarray]:
    inside = oracle
    while isinstance(inside, sharp.Linear):
        inside = inside.oracle
    if isinstance(inside, sharp.Simplex):
        return list(inside.scale * np.eye(size))
    radius = inside.radius if isinstance(inside, sharp.L1Ball) else inside.ball.radius
    return [*(radius * np.eye(size)), *(-radius * np.eye(size))]


@pytest.mark.parametrize("name", ORACLES)
@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), count=st.integers(1, 9))
def test_priced_vertices_are_the_best_vertices(name: str, seed: int, count: int) -> None:
    random = np.random.default_rng(seed)
    A, b, lam = random.standard_normal((3, 6)), random.standard_normal(3), random.standard_normal(3)
    oracle = ORACLES[name](random.standard_normal(6))
    problem = unipd.Problem(oracle, A, b, "=")
    cuts = [float(lam @ (b - A @ x)) - oracle.objective(x) for x in all_vertices(oracle, 6)]
    above = float(np.median(cuts))
    per_place = np.array(cuts).reshape(-1, 6).max(axis=0)
    expected = np.sort(per_place[per_place > above])[::-1][:count]
    found = price_vertices(problem, lam, A.T @ -lam, count, above=above)
    attained = [lam @ (b - point.image) - point.objective for point in found]
    np.testing.assert_allclose(attained, expected, rtol=1e-12)
    for point in found:
        assert oracle.contains(point.atom)
        np.testing.assert_allclose(point.image, A @ point.atom.dense())


LABELS, WEIGHTS = np.array([0, 1, 0, 2, 1, 2, 2]), np.array([1.0, 2.0, 0.5])


@pytest.mark.parametrize("squared", [False, True])
@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), count=st.integers(1, 4))
def test_priced_points_of_groups_are_the_best_points_of_the_best_groups(squared: bool, seed: int, count: int) -> None:
    random = np.random.default_rng(seed)
    A, b, lam = random.standard_normal((3, 7)), random.standard_normal(3), random.standard_normal(3)
    ball = sharp.GroupBall(LABELS, 1.5, WEIGHTS)
    problem = unipd.Problem(sharp.NormSquared(ball, 0.7) if squared else ball, A, b, "=")
    direction = -A.T @ lam
    scores = np.array([np.linalg.norm(direction[group == LABELS]) for group in range(3)]) / WEIGHTS
    best = np.sort(scores**2 / 2.8 if squared else 1.5 * scores)[::-1]
    above = float(lam @ b + 0.5 * (best[1] + best[2]))
    found = price_vertices(problem, lam, direction, count, above=above)
    assert len(found) == min(count, 2)
    for point, value in zip(found, best, strict=False):
        along = float(direction @ point.atom.dense())
        attained = along**2 / (4.0 * point.objective) if squared else along
        assert attained == pytest.approx(value)
        assert ball.norm(point.atom.dense()) == pytest.approx(1.0 if squared else 1.5)


@pytest.mark.parametrize("squared", [False, True])
def test_groups_under_equations_need_few_calls(squared: bool) -> None:
    random = np.random.default_rng(0)
    ball = sharp.GroupBall(np.arange(100) // 5, 2.0)
    oracle = sharp.NormSquared(ball) if squared else sharp.Linear(random.standard_normal(100), ball)
    A = random.standard_normal((25, 100)) / 10.0
    inside = 2.0 * random.standard_normal(100) / 100.0
    result = unipd.solve(unipd.Problem(oracle, A, A @ inside, "="), accuracy=1e-6)
    assert result.status is unipd.Status.SOLVED
    assert result.counts.oracle_calls <= 120


def test_other_sets_and_maps_have_none() -> None:
    class Edge(sharp.Simplex):
        """The edge between the first two vertices: the vertices of the simplex are not all its own."""

        def maximiser(self, direction):
            return super().maximiser(np.append(direction[:2], -np.inf))

    for oracle in (Edge(3), sharp.L2Ball(3)):
        assert oracle.best_vertices(np.ones(3), 2, -np.inf) is None
    assert not unipd.maps.Identity((3,)).has_cheap_images


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("hermitian", [True, False])
@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), shift=st.floats(-3, 3))
def test_the_curvature_of_the_semidefinite_cone(dtype: type, hermitian: bool, seed: int, shift: float) -> None:
    random = np.random.default_rng(seed)

    def matrices(count: int) -> np.ndarray:
        stack = random.standard_normal((count, 5, 5)).astype(dtype)
        if dtype is complex:
            stack = stack + 1j * random.standard_normal((count, 5, 5))
        return stack

    vector = matrices(1)[0]
    vector = vector + vector.conj().T + shift * np.eye(5)
    stack = matrices(4)
    if hermitian:
        stack = stack + stack.conj().transpose(0, 2, 1)
    columns = np.ascontiguousarray(stack.reshape(4, -1).T)
    gram = (columns.conj().T @ columns).real
    naive = (columns.conj().T @ PSDCone(5).prox_jacobian(vector.reshape(-1), 1.0, columns)).real
    found = PSDCone(5).prox_curvature(vector.reshape(-1), 1.0, columns, gram)
    np.testing.assert_allclose(found, naive, atol=1e-10 * np.abs(gram).max())


@pytest.mark.parametrize("size", [6, 20])
@pytest.mark.parametrize("seed", [0, 1])
def test_inclusions_in_the_semidefinite_cone_reach_1e_6(size: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    count = 3 * size
    stack = random.standard_normal((count, size, size))
    stack = (stack + stack.transpose(0, 2, 1)) / 2
    shift = np.tensordot(random.dirichlet(np.ones(count)), stack, 1) - 0.2 * np.eye(size)
    A = np.ascontiguousarray(stack.reshape(count, -1).T)
    oracle = sharp.Linear(random.standard_normal(count), sharp.Simplex(count))
    problem = unipd.Problem(oracle, A, shift.ravel(), PSDCone(size))
    result = unipd.solve(problem, accuracy=1e-6, stop=unipd.MaxOracleCalls(60))
    assert result.status is unipd.Status.SOLVED
