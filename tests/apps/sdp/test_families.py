"""Small programs with the structure of well-known families: their trace bound and their optimum."""

import contextlib
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import block_diag

from apps.sdp.checks import check, reference
from unipd import Status
from unipd.apps.sdp import SDP, NoProgress, level_alternative
from unipd.errors import InvalidInput
from unipd.io import SdpaProblem
from unipd.run import MaxIterations


def sdpa(b, blocks, entries):
    """Return the program of (constraint, block, row, col, value) entries, constraint 0 for the objective."""
    columns = zip(*[entry for entry in entries if entry[4] != 0.0], strict=True)
    return SDP.from_sdpa(SdpaProblem(b, blocks, *map(np.array, columns)))


def upper(constraint, block, matrix):
    """Return the entries of the upper triangle of a matrix."""
    rows, cols = np.triu_indices(len(matrix))
    return [(constraint, block, int(i), int(j), float(matrix[i, j])) for i, j in zip(rows, cols, strict=True)]


def box_quadratic(nodes=8):
    """max <Q, X> over psd X of order 2 n with X_ii + X_(n+i)(n+i) = 1."""
    matrix = np.random.default_rng(1).standard_normal((nodes, nodes))
    entries = upper(0, 0, matrix + matrix.T)
    for i in range(nodes):
        entries += [(i + 1, 0, i, i, 1.0), (i + 1, 0, nodes + i, nodes + i, 1.0)]
    return sdpa(np.ones(nodes), (2 * nodes,), entries)


def theta_with_a_border(nodes=9):
    """Theta of a cycle in its bordered form: X_00 = 1, X_ii = X_0i, X_ij = 0 for edges."""
    entries = [(0, 0, i, i, 1.0) for i in range(1, nodes + 1)] + [(1, 0, 0, 0, 1.0)]
    for i in range(1, nodes + 1):
        entries += [(1 + i, 0, i, i, 1.0), (1 + i, 0, 0, i, -0.5)]
        after = i % nodes + 1
        entries.append((1 + nodes + i, 0, min(i, after), max(i, after), 1.0))
    return sdpa(np.eye(1, 2 * nodes + 1)[0], (nodes + 1,), entries)


def many_small_blocks(blocks=12, constraints=6):
    """Random data in blocks of order 3 and a nonnegative block, feasible at the identity, cost -tr X."""
    generator = np.random.default_rng(2)
    entries, b = [], np.zeros(constraints)
    for block in range(blocks):
        entries += [(0, block, i, i, -1.0) for i in range(3)]
        for constraint in range(constraints):
            matrix = generator.standard_normal((3, 3))
            entries += upper(constraint + 1, block, matrix + matrix.T)
            b[constraint] += 2.0 * np.trace(matrix)
    entries += [(0, blocks, i, i, -1.0) for i in range(2)] + [(1, blocks, 0, 0, 1.0), (2, blocks, 1, 1, -1.0)]
    return sdpa(b, (*(3,) * blocks, -2), entries)


def halves_with_a_slack():
    """Graph partitioning with sum_ij X_ij + s = 1: a dense matrix of ones and a slack variable."""
    nodes, random = 10, np.random.default_rng(5)
    weights = np.triu(random.random((nodes, nodes)), 1)
    entries = [(0, 0, i, j, weights[i, j]) for i in range(nodes) for j in range(i + 1, nodes)]
    entries += [(i + 1, 0, i, i, 1.0) for i in range(nodes)]
    entries += [(nodes + 1, 0, i, j, 1.0) for i in range(nodes) for j in range(i, nodes)]
    return sdpa([1.0] * nodes + [1.0], (nodes, -1), [*entries, (nodes + 1, 1, 0, 0, 1.0)])


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (box_quadratic, "on the diagonal"),
        (theta_with_a_border, "those of a border"),
        (many_small_blocks, "the objective together"),
        (halves_with_a_slack, "a positive definite combination"),
    ],
)
def test_families_are_solved_with_the_trace_that_fits(make, why):
    program = make()
    result = program.solve(1e-6)
    assert why in result.extras["trace_bound_reason"]
    check(program, result, 1e-6)
    assert -result.objective == pytest.approx(reference(program), rel=1e-5)
    assert ("any trace" in result.message) == (
        result.extras["trace_bound_reason"] == "the constraints and the objective together"
    )


def nearly_unbounded(size=2e-3):
    """A program whose trace is bounded by a constraint that hardly sees a part of X."""
    first, second = np.diag([1.0, 0.0, size]), np.array([[0.0, 1.0, 0.0], [1.0, size, 0.0], [0.0, 0.0, -size]])
    return SDP.from_matrices(np.diag([1.0, 0.0, 0.0]), [first, second], [1.0, 0.5])


def test_hardly_bounded_traces_are_solved_or_refused():
    """The optimum is 0, with X of trace 1250; which of the two happens depends on rounding."""
    with contextlib.suppress(InvalidInput):
        result = nearly_unbounded().solve(1e-6, stop=MaxIterations(60))
        assert result.status is Status.SOLVED
        assert abs(result.objective) <= 1e-6


def test_hardly_bounded_traces_are_solved_with_a_trace_bound():
    result = nearly_unbounded().solve(1e-4, trace_bound=50.0)
    assert result.status is Status.SOLVED
    assert "trace at most 50, given by the user" in result.message


def test_hardly_bounded_traces_are_solved_where_a_trial_ends():
    """A random program with interior points on both sides, whose conditioning alone says little."""
    random = np.random.default_rng(9)
    symmetric = [(part + part.T) / 2 for part in random.standard_normal((4, 8, 8))]
    inner, slack = (part @ part.T for part in random.standard_normal((2, 8, 8)))
    cost = np.tensordot(random.standard_normal(4), symmetric, 1) + slack
    program = SDP.from_matrices(cost, symmetric, [float(np.sum(part * inner)) for part in symmetric])
    level = level_alternative(program.data)
    assert level is not None
    assert level.is_marginal(program.order)
    result = program.solve(1e-4)
    assert result.status is Status.SOLVED
    assert "any trace" in result.message


def lyapunov(order=4, inputs=4):
    """max t, P >= I, -[[A'P + PA + C'DC, PB], [B'P, -D]] >= t I, D diagonal: the control problems of SDPLIB."""
    random = np.random.default_rng(11)
    a, b = 50.0 * random.standard_normal((order, order)), 50.0 * random.standard_normal((order, inputs))
    c = 50.0 * random.standard_normal((inputs, order))
    entries, count = upper(0, 1, np.eye(order)), 0
    for count, (i, j) in enumerate(zip(*np.triu_indices(order), strict=True), start=1):
        p = np.zeros((order, order))
        p[i, j] = p[j, i] = 1.0
        entries += upper(count, 0, -np.block([[a.T @ p + p @ a, p @ b], [b.T @ p, np.zeros((inputs, inputs))]]))
        entries += upper(count, 1, p)
    for k in range(inputs):
        entries += upper(count + k + 1, 0, block_diag(-np.outer(c[k], c[k]), np.diag(np.eye(inputs)[k])))
    last = count + inputs + 1
    entries += upper(last, 0, -np.eye(order + inputs))
    return sdpa([0.0] * (last - 1) + [-1.0], (order + inputs, order), entries)


def test_control_problems_are_left_to_interior_points():
    program = lyapunov()
    level = level_alternative(program.data)
    assert level is not None
    assert level.is_marginal(program.order)
    result = program.solve(1e-6)
    check(program, result, 1e-6)
    assert result.method == "interior"
    assert result.objective == pytest.approx(-reference(program), rel=1e-5)


@pytest.mark.parametrize(
    ("iteration", "infeasibility", "expected"),
    [(499, 1.0, None), (500, 1e-3, None), (500, 2e-3, Status.ITERATION_LIMIT)],
)
def test_runs_far_from_feasible_end_early(iteration, infeasibility, expected):
    assert NoProgress()(SimpleNamespace(iteration=iteration, infeasibility=infeasibility)) is expected
