"""Relaxations of binary variables: the change of variables against dense congruences, and whole solves."""

from __future__ import annotations

import numpy as np
import pytest

from apps.sdp.checks import check, dense, reference
from unipd import Status
from unipd.apps.graphs.theta import theta
from unipd.apps.sdp import SDP, find_binary_lifting
from unipd.atoms import LowRank
from unipd.io import Graph

ORDER, BORDER = 6, 2
SCALES = np.array([1.0, -2.0, 1.0, 0.5, 3.0, 1.0])


def _program(seed: int = 0, *, relations: int = ORDER - 1, value: float = 2.0) -> SDP:
    """Return a program with X_bb = value / 2, X_ii = k_i X_bi and two constraints more, met by a binary point."""
    random = np.random.default_rng(seed)
    matrices, b = [np.zeros((ORDER, ORDER)) for _ in range(relations + 1)], [0.0] * (relations + 1)
    matrices[0][BORDER, BORDER], b[0] = 2.0, value
    others = [row for row in range(ORDER) if row != BORDER][:relations]
    for matrix, row in zip(matrices[1:], others, strict=True):
        matrix[row, row] = 1.5
        matrix[row, BORDER] = matrix[BORDER, row] = -0.75 * SCALES[row]
    point = np.where(np.arange(ORDER) == BORDER, 1.0, SCALES * (np.arange(ORDER) % 2)) * np.sqrt(value / 2.0)
    for _ in range(2):
        matrix = random.standard_normal((ORDER, ORDER))
        matrices.append(matrix + matrix.T)
        b.append(float(point @ matrices[-1] @ point))
    cost = random.standard_normal((ORDER, ORDER))
    return SDP.from_matrices(cost + cost.T, matrices, b)


def _congruence() -> np.ndarray:
    matrix = np.diag(SCALES / 2.0)
    matrix[:, BORDER] = SCALES / 2.0
    matrix[BORDER] = np.eye(ORDER)[BORDER]
    return matrix


def test_the_change_of_variables_is_a_congruence() -> None:
    program = _program()
    binary = find_binary_lifting(program.data)
    assert binary is not None
    assert binary.value == 1.0
    rows = np.random.default_rng(1).standard_normal((ORDER, 3))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    y = LowRank(rows, rows, np.ones(3))
    x = binary.point(y)
    change = _congruence()
    np.testing.assert_allclose(x.dense(), change @ (rows @ rows.T) @ change.T, atol=1e-14)
    other = binary.data(program.data)
    old, new = program.data.cost_and_constraints.image(x), other.cost_and_constraints.image(y)
    assert new[0] == pytest.approx(old[0])
    np.testing.assert_allclose(new[1:] - other.b, old[1:] - program.data.b, atol=1e-13)
    dual = np.random.default_rng(2).standard_normal(program.data.size)
    back = binary.dual(program.data, dual)
    np.testing.assert_allclose(back @ program.data.b, dual @ other.b)
    (cost, matrices), (other_cost, others) = dense(program.data), dense(other)
    slack = cost + np.tensordot(back, np.array(matrices), 1)
    expected = other_cost + np.tensordot(dual, np.array(others), 1)
    np.testing.assert_allclose(change.T @ slack @ change, expected, atol=1e-13)


def test_the_trace_bound_is_proved() -> None:
    program = _program()
    binary = find_binary_lifting(program.data)
    assert binary is not None
    trace = binary.trace(program.data.size)
    assert trace.multipliers is not None
    combined = np.tensordot(trace.multipliers, np.array(dense(program.data)[1]), 1)
    assert np.linalg.eigvalsh(combined - np.eye(ORDER)).min() >= -1e-12
    assert trace.value == pytest.approx(float(trace.multipliers @ program.data.b))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_solved_like_any_program(seed: int) -> None:
    program = _program(seed)
    result = program.solve(accuracy=1e-6)
    check(program, result, 1e-6)
    assert result.objective == pytest.approx(reference(program), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize(("relations", "value"), [(ORDER - 2, 2.0), (ORDER - 1, -2.0), (ORDER - 1, 0.0)])
def test_what_is_no_such_program(relations: int, value: float) -> None:
    program = _program(relations=relations, value=abs(value) or 2.0)
    if value <= 0.0:
        lower = np.where(np.arange(program.data.size) == 0, value, program.data.b)
        _, matrices = dense(program.data)
        program = SDP.from_matrices(np.eye(ORDER), matrices, lower)
    assert find_binary_lifting(program.data) is None


def test_the_theta_number_with_a_border() -> None:
    """A grid of 4 by 10 nodes with its sides joined has independent sets of half its nodes."""
    nodes = np.arange(40).reshape(4, 10)
    rows = np.concatenate([nodes.ravel(), nodes.ravel()])
    cols = np.concatenate([np.roll(nodes, 1, 0).ravel(), np.roll(nodes, 1, 1).ravel()])
    entries, b = [np.zeros((41, 41))], [1.0]
    entries[0][0, 0] = 1.0
    for node in range(1, 41):
        matrix = np.zeros((41, 41))
        matrix[node, node], matrix[0, node], matrix[node, 0] = 1.0, -0.5, -0.5
        entries.append(matrix)
    for row, col in zip(rows + 1, cols + 1, strict=True):
        matrix = np.zeros((41, 41))
        matrix[row, col] = matrix[col, row] = 1.0
        entries.append(matrix)
    b += [0.0] * (len(entries) - 1)
    result = SDP.from_matrices(np.diag(np.arange(41) > 0).astype(float), entries, b, maximise=True).solve(1e-6)
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(20.0, abs=1e-4)
    assert result.dual_bound >= 20.0 - 1e-6
    assert result.objective == pytest.approx(theta(Graph.of(40, rows, cols, np.ones(rows.size))).objective, abs=1e-4)
