"""The exact master of linear programs with many rows, against SciPy's linear programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy
from scipy.optimize import linear_sum_assignment, linprog

import unipd
from unipd import Problem, couplings, maps, sharp, solve
from unipd.methods.corrective import LinearModel


def flat_transport(size: int, scale: float = 1.0) -> tuple[Problem, Any]:
    """Return transport as one simplex of size^2 points, rows in units of ``scale``, and its costs."""
    costs, ones = np.random.default_rng(0).random((size, size)), np.ones((1, size))
    eye = scipy.sparse.eye_array(size)
    A = scipy.sparse.vstack([scipy.sparse.kron(eye, ones), scipy.sparse.kron(ones, eye)]).tocsc()
    oracle = sharp.Linear(costs.ravel(), sharp.Simplex(size * size))
    return Problem(oracle, scale * A, np.full(2 * size, scale / size), "="), costs


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e-9])
def test_flat_transport_is_an_assignment(scale: float) -> None:
    problem, costs = flat_transport(110, scale)
    assert problem.b.size >= 200
    result = solve(problem, "corrective", accuracy=1e-8)
    best = costs[linear_sum_assignment(costs)].mean()
    assert result.status.success
    assert result.iterations < 40
    assert result.objective == pytest.approx(best, rel=1e-7)
    assert problem.sharp.contains(result.x)


def flows(seed: int, count: int, side: int = 12) -> tuple[Problem, float]:
    """Return flows of several commodities with capacities, and their least cost by one linear program."""
    rng, nodes = np.random.default_rng(seed), np.arange(side * side).reshape(side, side)
    pairs = [(nodes[:-1], nodes[1:]), (nodes[:, :-1], nodes[:, 1:])]
    tails, heads = (np.concatenate([pair[end].ravel() for pair in pairs]) for end in (0, 1))
    costs, size = rng.uniform(1.0, 2.0, tails.size), tails.size
    half = side // 2
    ends = [(nodes[tuple(rng.integers(0, half, 2))], nodes[tuple(rng.integers(half, side, 2))]) for _ in range(count)]
    oracles = [sharp.FlowPolytope(tails, heads, int(source), int(sink)) for source, sink in ends]
    spread = sum(oracle(rng.standard_normal(size)).atom.dense() for oracle in oracles for _ in range(5)) / 5.0
    limits = np.maximum(1.1 * spread, 0.3)
    problem = Problem([sharp.Linear(costs, o) for o in oracles], [maps.Identity(size)] * count, limits, "<=")
    systems = [oracle.equations(np.arange(size)) for oracle in oracles]
    balance = scipy.sparse.block_diag([scipy.sparse.csc_array((v, p), shape=(e.size, size)) for v, p, e in systems])
    total = scipy.sparse.hstack([scipy.sparse.eye_array(size)] * count)
    best = linprog(np.tile(costs, count), total, limits, balance, np.concatenate([e for _, _, e in systems]))
    return problem, float(best.fun)


@pytest.mark.parametrize("seed", [0, 1])
def test_multicommodity_flow(seed: int) -> None:
    problem, best = flows(seed, 8)
    result = solve(problem, accuracy=1e-8)
    assert result.status.success
    assert result.iterations < 60
    assert result.objective == pytest.approx(best, rel=1e-7)
    assert problem.sharp.contains(result.x)


def test_mixed_rows_and_a_matrix_with_uneven_rows() -> None:
    rng = np.random.default_rng(3)
    A = rng.standard_normal((220, 600)) * np.geomspace(1.0, 1e4, 220)[:, None]
    inside, cost = rng.dirichlet(np.ones(600)), rng.standard_normal(600)
    b = A @ inside
    b[40:130] += 0.05 * np.abs(b[40:130])
    b[130:] -= 0.05 * np.abs(b[130:])
    coupling = couplings.Product([couplings.Equality(), couplings.AtMost(), couplings.AtLeast()], [40, 90, 90])
    result = solve(Problem(sharp.Linear(cost, sharp.Simplex(600)), A, b, coupling), accuracy=1e-8)
    limits, targets = np.concatenate([A[40:130], -A[130:]]), np.concatenate([b[40:130], -b[130:]])
    best = linprog(cost, limits, targets, np.concatenate([A[:40], np.ones((1, 600))]), np.append(b[:40], 1.0))
    assert result.status.success
    assert result.objective == pytest.approx(best.fun, abs=1e-7)


def test_an_infeasible_program_is_not_solved() -> None:
    problem, _ = flat_transport(110)
    wrong = problem.b.copy()
    wrong[0] += 0.1
    result = solve(Problem(problem.sharp, problem.map, wrong, "="), accuracy=1e-6, stop=unipd.MaxIterations(60))
    assert not result.status.success
    assert result.infeasibility > 1e-3


def test_where_it_applies() -> None:
    problem, _ = flat_transport(110)
    small, _ = flat_transport(10)
    start = solve(problem, "corrective", accuracy=1.0).state
    point = unipd.dual.evaluate(problem, start.dual)
    assert LinearModel.of(problem, point) is not None
    assert LinearModel.of(small, point) is None  # few rows
    oracle = problem.sharp.oracle
    for other in (
        Problem(sharp.Entropy(problem.sharp.shape), problem.map, problem.b, "="),
        Problem(problem.sharp, problem.map, problem.b, couplings.L2Ball(1.0)),
        Problem(sharp.UnitSimplex(oracle.shape), problem.map, problem.b, "="),
        Problem(oracle, scipy.sparse.linalg.aslinearoperator(problem.map.matrix), problem.b, "="),
    ):
        assert LinearModel.of(other, point) is None
