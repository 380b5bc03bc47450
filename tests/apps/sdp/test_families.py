"""Small programs with the structure of well-known families: their trace bound and their optimum."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import block_diag

import unipd
from apps.sdp.checks import check, reference
from unipd import Status
from unipd.apps.sdp import SDP, TraceBound, analyse
from unipd.io import SdpaProblem
from unipd.methods.factored import ORACLE_EVERY


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
        (many_small_blocks, "the slack matrix is psd"),
        (halves_with_a_slack, "the slack matrix is psd"),
    ],
)
def test_families_are_solved_with_the_trace_that_fits(make, why):
    program = make()
    result = program.solve(1e-6)
    assert why in result.extras["trace_bound_reason"]
    check(program, result, 1e-6)
    assert -result.objective == pytest.approx(reference(program), rel=1e-5)
    assert (result.extras["trace_bound"] is None) == (why == "the slack matrix is psd")


def nearly_unbounded(size=2e-3):
    """A program whose trace is bounded by a constraint that hardly sees a part of X."""
    first, second = np.diag([1.0, 0.0, size]), np.array([[0.0, 1.0, 0.0], [1.0, size, 0.0], [0.0, 0.0, -size]])
    return SDP.from_matrices(np.diag([1.0, 0.0, 0.0]), [first, second], [1.0, 0.5])


def test_hardly_bounded_traces_are_solved():
    """The optimum is 0, with X of trace 1250."""
    result = nearly_unbounded().solve(1e-6)
    assert result.status is Status.SOLVED
    assert abs(result.objective) <= 1e-6


def test_hardly_bounded_traces_are_solved_with_a_trace_bound():
    result = nearly_unbounded().solve(1e-4, trace_bound=50.0)
    assert result.status is Status.SOLVED
    assert "trace at most 50, given by the user" in result.message


def test_random_programs_with_interior_points_on_both_sides():
    random = np.random.default_rng(9)
    symmetric = [(part + part.T) / 2 for part in random.standard_normal((4, 8, 8))]
    inner, slack = (part @ part.T for part in random.standard_normal((2, 8, 8)))
    cost = np.tensordot(random.standard_normal(4), symmetric, 1) + slack
    program = SDP.from_matrices(cost, symmetric, [float(np.sum(part * inner)) for part in symmetric])
    result = program.solve(1e-4)
    check(program, result, 1e-4)


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
    result = program.solve(1e-6)
    check(program, result, 1e-6)
    assert result.method == "interior"
    assert result.objective == pytest.approx(-reference(program), rel=1e-5)


def nuclear_completion(rows=8, cols=7, rank=1):
    """min (tr U + tr V) / 2 with [[U, Y], [Y^T, V]] psd and known entries of Y: the least nuclear norm."""
    random = np.random.default_rng(4)
    truth = random.standard_normal((rows, rank)) @ random.standard_normal((rank, cols))
    order = rows + cols
    matrices, values = [], []
    for i, j in zip(*np.nonzero(random.random((rows, cols)) < 0.7), strict=True):
        matrix = np.zeros((order, order))
        matrix[i, rows + j] = matrix[rows + j, i] = 0.5
        matrices.append(matrix)
        values.append(truth[i, j])
    return SDP.from_matrices(0.5 * np.eye(order), matrices, values)


def test_completion_by_the_nuclear_norm_needs_no_trace_bound():
    program = nuclear_completion()
    result = program.solve(1e-6)
    check(program, result, 1e-6)
    assert result.extras["trace_bound"] is None
    assert result.objective == pytest.approx(reference(program), rel=1e-5)


def test_a_guessed_trace_leaves_no_trace_in_the_bound():
    """The factored method needs a trace bound; with C positive definite its multipliers prove a bound for every X."""
    program = nuclear_completion(14, 12)
    result = program.solve(1e-6, "factored")
    check(program, result, 1e-6)
    assert result.extras["trace_bound"] is None
    assert result.bound_kind == "rigorous"
    assert np.linalg.eigvalsh(program.slack(result.dual).toarray())[0] >= -1e-13
    assert result.objective == pytest.approx(reference(program), rel=1e-5)


def test_a_guess_of_the_trace_is_dropped_within_the_absolute_tolerance():
    program = nuclear_completion(14, 12)
    result = program.solve(1e-13, "factored", atol=1e-2 * abs(reference(program)))
    assert (result.status, result.extras["trace_bound"]) == (Status.SOLVED, None)


def test_programs_that_penalise_the_trace_begin_with_few_columns():
    program = nuclear_completion(40, 40, rank=2)
    assert program.data.penalises_trace
    analysis = analyse(program.data)
    guess = TraceBound(100.0, False, "a guess")
    assert analysis.method(None, 0, guess).rank == 20 < np.sqrt(2 * program.data.size)
    assert not lyapunov().data.penalises_trace


def truss(nodes=3, bars=6):
    """min t subject to [[t, f^T], [f, sum_i x_i b_i b_i^T]] psd, x >= 0, sum x = 1, stated by its dual."""
    random = np.random.default_rng(8)
    force, directions = random.standard_normal(nodes), random.standard_normal((bars, nodes))
    entries = [(0, 0, 0, k + 1, float(-force[k])) for k in range(nodes)]
    entries += [(1, 0, 0, 0, 1.0)]
    for bar in range(bars):
        entries += upper(bar + 2, 0, block_diag(np.zeros((1, 1)), np.outer(directions[bar], directions[bar])))
        entries += [(bar + 2, 1, bar, bar, 1.0), (bar + 2, 2, 0, 0, -1.0)]
    entries.append((0, 2, 0, 0, -1.0))
    return sdpa([1.0] + [0.0] * bars, (nodes + 1, -bars, -1), entries)


def test_trusses_are_solved():
    program = truss()
    result = program.solve(1e-6)
    check(program, result, 1e-6)
    assert -result.objective == pytest.approx(reference(program), rel=1e-5)


def test_the_rank_of_the_factored_method_follows_the_constraints():
    """Dense theta: about n^2 / 4 edges need about sqrt(2 m) columns."""
    random = np.random.default_rng(1)
    rows, cols = np.triu_indices(20, 1)
    keep = random.random(rows.size) < 0.5
    edges = [(k + 2, 0, int(i), int(j), 1.0) for k, (i, j) in enumerate(zip(rows[keep], cols[keep], strict=True))]
    program = sdpa(
        [1.0] + [0.0] * len(edges),
        (20,),
        [*upper(0, 0, np.ones((20, 20))), *((1, 0, i, i, 1.0) for i in range(20)), *edges],
    )
    analysis = analyse(program.data)
    assert analysis.method(None, 0, analysis.trace_bound()).rank == min(
        20, int(np.ceil(np.sqrt(2 * (len(edges) + 1)))) + 1
    )


def equal_halves_of_a_torus(side=4, other=5):
    """Equal partition of a torus with weights 1 and -1: X_ii = 1, <ones, X> = 0, a face without interior points."""
    random, nodes = np.random.default_rng(3), side * other
    weights = np.zeros((nodes, nodes))
    for i, j in np.ndindex(side, other):
        for after in ((i + 1) % side * other + j, i * other + (j + 1) % other):
            weights[i * other + j, after] = weights[after, i * other + j] = random.choice([-1.0, 1.0])
    entries = upper(0, 0, weights / 4.0) + [(i + 1, 0, i, i, 1.0) for i in range(nodes)]
    return sdpa([1.0] * nodes + [0.0], (nodes,), entries + upper(nodes + 1, 0, np.ones((nodes, nodes))))


def test_feasible_points_that_are_not_stationary_are_certified_on_schedule():
    program = equal_halves_of_a_torus()
    check(program, program.solve(1e-6), 1e-6)
    analysis = analyse(program.data)
    trace = analysis.trace_bound()
    problem, method = analysis.problem(trace), analysis.method(None, 0, trace, 1e-6, None)
    early = next(iter(unipd.iterate(problem, replace(method, inner_steps=2), accuracy=1e-6)))
    calls = []
    for iteration, accuracy in ((ORACLE_EVERY - 1, 1.0), (ORACLE_EVERY, 1e-12), (ORACLE_EVERY, 1.0)):
        before = replace(early, iteration=iteration - 1, accuracy=accuracy, inner_tolerance=0.0)  # never stationary
        calls.append(method.step(problem, before).counts.oracle_calls - early.counts.oracle_calls)
    assert calls == [0, 0, 1]
