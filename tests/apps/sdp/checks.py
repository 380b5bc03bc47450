"""Checks of results in dense arithmetic, and optima by an interior-point method."""

import cvxpy as cp
import numpy as np
import pytest

from unipd import Status


def dense(data):
    """Return C and the A_i as arrays."""
    rows = np.eye(data.size + 1)
    matrices = [data.cost_and_constraints.adjoint(row).toarray() for row in rows]
    return matrices[0], matrices[1:]


def reference(program):
    """Optimal value of the minimisation by an interior-point method."""
    cost, matrices = dense(program.data)
    x = cp.Variable(cost.shape, PSD=True)
    constraints = []
    for matrix, low, high in zip(matrices, program.data.lower, program.data.upper, strict=True):
        if low == high:
            constraints.append(cp.trace(matrix @ x) == low)
            continue
        if np.isfinite(low):
            constraints.append(cp.trace(matrix @ x) >= low)
        if np.isfinite(high):
            constraints.append(cp.trace(matrix @ x) <= high)
    return cp.Problem(cp.Minimize(cp.trace(cost @ x)), constraints).solve(solver="CLARABEL")


def check(program, result, accuracy):
    """Check a result in dense arithmetic: X, the dual vector, the slack matrix and the bound."""
    sign = -1.0 if program.maximise else 1.0
    cost, matrices = dense(program.data)
    x = result.x.dense()
    assert result.status is Status.SOLVED, result.message
    assert max(result.infeasibility, abs(result.gap)) <= accuracy
    assert np.linalg.eigvalsh(x)[0] >= -1e-9 * max(1.0, np.trace(x))
    image = np.array([np.sum(m * x) for m in matrices])
    data = program.data
    assert np.linalg.norm(data.violation(image)) <= accuracy * max(1.0, np.linalg.norm(data.b))
    assert result.objective == pytest.approx(sign * np.sum(cost * x), rel=1e-9, abs=1e-9)
    slack = cost + sum(y * m for y, m in zip(result.dual, matrices, strict=True))
    size = np.abs(cost).max() + sum(abs(y) * np.abs(m).max() for y, m in zip(result.dual, matrices, strict=True))
    np.testing.assert_allclose(program.slack(result.dual).toarray(), slack, atol=1e-9 * size)
    bottom, trace = np.linalg.eigvalsh(slack)[0], result.extras["trace_bound"]
    has_statement = trace is not None and "The dual bound holds for X of trace at most" in result.message
    assert has_statement or bottom >= -1e-8 * np.abs(slack).max()
    share = trace * min(0.0, bottom) if has_statement else 0.0
    upper = np.where(result.dual > 0, data.upper, 0.0) @ np.maximum(result.dual, 0.0)
    lower = np.where(result.dual < 0, data.lower, 0.0) @ np.minimum(result.dual, 0.0)
    assert sign * result.dual_bound <= share - (upper + lower) + 1e-7 * max(1.0, abs(result.objective))
    assert abs(result.objective - result.dual_bound) <= accuracy * max(1.0, abs(result.objective))
    assert max(map(abs, result.extras["dimacs_errors"])) <= 10 * accuracy
