"""Truncated Newton steps over factors with a fixed diagonal, against dense formulas and finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from unipd.apps.sdp import SDP, analyse
from unipd.methods.factored import FactoredState, newton_steps, stationarity
from unipd.methods.factored import fixed_diagonal as kernels
from unipd.methods.factored.fixed_diagonal import _Quadratic

RANDOM = np.random.default_rng(0)
GROUPS = {"alone": [[0], [3], [1], [2], [5], [4]], "several": [[0, 3], [1], [2, 4, 5]]}


def _program(groups: list[list[int]], seed: int = 1) -> SDP:
    """Return min <C, X> with the sum of the diagonal entries of each group given."""
    random = np.random.default_rng(seed)
    cost = random.standard_normal((6, 6))
    rows = [sp.csr_array(np.diag(np.isin(np.arange(6), group).astype(float))) for group in groups]
    return SDP.from_matrices(sp.csr_array(cost + cost.T), rows, np.arange(1.0, len(groups) + 1.0))


def _state(program: SDP) -> FactoredState:
    analysis = analyse(program.data)
    trace = analysis.trace_bound()
    assert trace is not None
    problem = analysis.problem(trace)
    method = analysis.method(3, 0, trace)
    return method.start(problem, None, np.zeros(problem.b.size), 1e-6)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", GROUPS)
def test_the_kernels_project_as_dense_formulas_do(name: str) -> None:
    groups = np.zeros(6, np.int64)
    for number, members in enumerate(GROUPS[name]):
        groups[members] = number
    count = len(GROUPS[name])
    unit, direction, image = RANDOM.standard_normal((3, 6, 4))
    radial, targets = RANDOM.standard_normal(count), np.zeros(count)
    np.add.at(targets, groups, np.sum(unit**2, axis=1))
    expected = image - radial[groups][:, None] * direction
    for group in range(count):
        rows = groups == group
        expected[rows] -= np.sum(expected[rows] * unit[rows]) / targets[group] * unit[rows]
    found = image.copy()
    total = kernels.project_groups(groups, targets, radial, unit, direction, found)
    np.testing.assert_allclose(found, expected, atol=1e-13)
    assert total == pytest.approx(np.sum(expected * direction))
    if name == "alone":
        again = image.copy()
        assert kernels.project_rows(targets[groups], radial[groups], unit, direction, again, 0, 6) == pytest.approx(
            total
        )
        np.testing.assert_allclose(again, expected, atol=1e-13)


def test_conjugate_gradient_updates() -> None:
    direction, image, step, residual = RANDOM.standard_normal((4, 5, 3))
    inverse = RANDOM.random(5)
    moved, left = step + 0.3 * direction, residual + 0.3 * image
    plain, weighted = kernels.take_step(0.3, direction, image, inverse, step, residual, 0, 5)
    np.testing.assert_allclose(step, moved)
    np.testing.assert_allclose(residual, left)
    assert plain == pytest.approx(np.sum(left**2))
    assert weighted == pytest.approx(np.sum(inverse[:, None] * left**2))
    turned = 0.7 * direction - inverse[:, None] * left
    kernels.update_direction(0.7, inverse, residual, direction, 0, 5)
    np.testing.assert_allclose(direction, turned)


@pytest.mark.parametrize("name", GROUPS)
def test_the_hessian_is_the_slope_of_the_gradient(name: str) -> None:
    state = _state(_program(GROUPS[name]))
    quadratic = _Quadratic.at(state)
    direction = RANDOM.standard_normal(state.factor.shape)
    factors: Any = state.model.factors
    direction -= factors.radial(direction, quadratic.unit)[factors.groups][:, None] * quadratic.unit
    image, curvature = quadratic.product(direction)
    step = 1e-4

    def value(share: float) -> float:
        return state.model.evaluate(quadratic.unit + share * direction).value

    second = (value(step) - 2.0 * value(0.0) + value(-step)) / step**2
    assert 2.0 * curvature == pytest.approx(second, rel=1e-5, abs=1e-5)
    assert curvature == pytest.approx(float(np.sum(image * direction)))


@pytest.mark.parametrize("name", GROUPS)
def test_steps_reach_the_requested_stationarity(name: str) -> None:
    state = _state(_program(GROUPS[name]))
    assert state.model.is_linear_on_spheres
    moved = newton_steps(state, 1e-8)
    assert stationarity(moved) <= 1e-8
    assert moved.here.value < state.here.value
    assert np.array_equal(newton_steps(state, 1e-8).factor, moved.factor)
    assert newton_steps(moved, 1e-7).counts.matvecs == moved.counts.matvecs


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("seed", range(3))
def test_programs_are_solved_to_high_accuracy(name: str, seed: int) -> None:
    result = _program(GROUPS[name], seed).solve(1e-9)
    assert result.status.value == "solved"
    assert abs(result.gap) <= 1e-9


def test_a_further_constraint_is_left_to_quasi_newton_steps() -> None:
    program = _program(GROUPS["alone"])
    off = np.zeros((6, 6))
    off[0, 1] = off[1, 0] = 1.0
    rows = [sp.csr_array(np.diag(np.eye(6)[place])) for place in range(6)]
    more = SDP.from_matrices(
        program.data.cost_and_constraints.adjoint(np.eye(1, 7)[0]).tocsr(), [*rows, sp.csr_array(off)], np.ones(7)
    )
    assert not _state(more).model.is_linear_on_spheres
    assert more.solve(1e-6).status.value == "solved"


@pytest.mark.parametrize("name", GROUPS)
def test_steps_stay_tangent(name: str) -> None:
    quadratic = _Quadratic.at(_state(_program(GROUPS[name])))
    step = quadratic.minimize(1.0, 1e-12).step
    assert np.linalg.norm(step) > 1e-3
    np.testing.assert_allclose(quadratic.factors.radial(step, quadratic.unit), 0.0, atol=1e-12)


def test_slacks_of_a_box_take_few_iterations() -> None:
    """X_ii + X_(n+i)(n+i) = 1 with a cost on the first half: the multipliers of many slacks vanish."""
    n, random = 40, np.random.default_rng(5)
    cost = np.zeros((2 * n, 2 * n))
    cost[:n, :n] = np.triu(random.choice([-1.0, 0.0, 1.0], (n, n), p=[0.05, 0.9, 0.05]))
    cost[:n, :n] += cost[:n, :n].T + np.diag(random.choice([0.0, 1.0, 2.0], n))
    rows = [sp.coo_array((np.ones(2), ([i, n + i], [i, n + i])), shape=(2 * n, 2 * n)) for i in range(n)]
    result = SDP.from_matrices(sp.csr_array(cost), rows, np.ones(n)).solve(accuracy=1e-7)
    assert result.status.value == "solved"
    assert result.iterations <= 10
    assert np.sum(np.diag(result.x.dense())[n:] > 1e-3) > 3


@pytest.mark.parametrize("accuracy", [1e-5, 1e-6, 1e-8])
@pytest.mark.parametrize("seed", range(4))
def test_a_factor_more_stationary_than_the_tolerance_is_no_stall(seed: int, accuracy: float) -> None:
    """Newton steps end far below the tolerance; the next must be lower still, or there is no step to take."""
    size, random = 80, np.random.default_rng(seed)
    cost = random.standard_normal((size, size)) * (random.random((size, size)) < 0.05)
    program = SDP.from_matrices(cost + cost.T, [np.diag(row) for row in np.eye(size)], np.ones(size))
    result = program.solve(accuracy, method="factored")
    assert result.status.success, result.gap
