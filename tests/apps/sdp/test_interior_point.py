"""Interior points: the conic form, certificates, every kind of block, and programs that are slow otherwise."""

import functools
import os
import signal
import sys
from dataclasses import replace
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.sdp.checks import check, reference
from unipd import Status
from unipd.apps.sdp import (
    SDP,
    Block,
    ConicForm,
    FallbackRule,
    InteriorPoint,
    SdpData,
    TruncatedCone,
    estimate_seconds,
    measure_margins,
    measure_size,
    solver,
)
from unipd.errors import InvalidInput, MissingExtra
from unipd.maps import Entries
from unipd.run import MaxIterations, MaxOracleCalls, MaxSeconds, RemainingBudget, stop_on_signals


def symmetric(generator, order):
    matrix = generator.standard_normal((order, order))
    return (matrix + matrix.T) / 2


def random_program(seed, order, size):
    """A feasible program with equations, inequalities and ranges and a bounded trace."""
    generator = np.random.default_rng(seed)
    half = generator.standard_normal((order, generator.integers(1, order + 1)))
    matrices = [np.eye(order)] + [symmetric(generator, order) for _ in range(size)]
    values = np.array([np.sum(matrix * (half @ half.T)) for matrix in matrices])
    senses = ["<=", *generator.choice(["=", "<=", ">="], size)]
    lower = np.where(generator.random(size + 1) < 0.5, -np.inf, values - 1.0)
    return SDP.from_matrices(symmetric(generator, order), matrices, values, senses, lower=lower)


def assignment(size, seed):
    """The relaxation of a quadratic assignment problem: no X is strictly feasible."""
    generator = np.random.default_rng(seed)
    flows, costs = (np.triu(generator.integers(0, 10, (size, size)), 1) for _ in range(2))
    order = size * size + 1
    cost = np.zeros((order, order))
    cost[1:, 1:] = np.kron(flows + flows.T, costs + costs.T)
    place = 1 + np.arange(size * size).reshape(size, size)
    corner = np.zeros((order, order))
    corner[0, 0] = 1.0
    matrices, right = [corner], [1.0]
    for line in (*place, *place.T):
        matrices.append(np.diag(np.isin(np.arange(order), line).astype(float)))
        right.append(1.0)
    for row in range(1, order):
        tie = np.zeros((order, order))
        tie[row, row], tie[0, row], tie[row, 0] = 1.0, -0.5, -0.5
        matrices.append(tie)
        right.append(0.0)
    for line in (*place, *place.T):
        for first, second in zip(*np.triu_indices(size, 1), strict=True):
            pair = np.zeros((order, order))
            pair[line[first], line[second]] = pair[line[second], line[first]] = 0.5
            matrices.append(pair)
            right.append(0.0)
    return SDP.from_matrices(cost, matrices, right)


BLOCKS = (Block(0, 3), Block(3, 2, "nonnegative"), Block(5, 3, "second_order"), Block(8, 2, "free"), Block(10, 2))


def conic_data(seed, senses="=", blocks=BLOCKS, size=5):
    """A program with strictly feasible points on both sides over the given blocks."""
    generator = np.random.default_rng(seed)
    order = blocks[-1].rows.stop
    pattern = np.zeros((order, order), bool)
    for block in blocks:
        pattern[block.rows, block.rows] = np.eye(block.size, dtype=bool) if block.is_vector else True
    matrices = [np.where(pattern, symmetric(generator, order), 0.0) for _ in range(size)]
    inner, slack = interior(generator, blocks), interior(generator, blocks, is_dual=True)
    dual = generator.standard_normal(size)
    dual = dual if senses == "=" else np.abs(dual) * (1.0 if senses == "<=" else -1.0)
    values = np.array([np.sum(matrix * inner) for matrix in matrices])
    cost = slack - np.tensordot(dual, matrices, 1)
    lower = values if senses == "=" else values - 0.5 if senses == "range" else np.full(size, -np.inf)
    lower, upper = (values, np.full(size, np.inf)) if senses == ">=" else (lower, values)
    return SdpData(order, Entries.from_matrices([cost]), Entries.from_matrices(matrices), lower, upper, blocks)


def interior(generator, blocks, is_dual=False):
    """A block diagonal matrix inside the product of cones, or inside the dual one."""
    order = blocks[-1].rows.stop
    out = np.zeros((order, order))
    for block in blocks:
        half = generator.standard_normal((block.size, block.size))
        vector = generator.random(block.size) + 0.1
        if block.kind == "psd":
            part = half @ half.T + 0.1 * np.eye(block.size)
        elif block.kind == "second_order":
            part = np.diag([np.linalg.norm(half[0, 1:]) + 0.3, *half[0, 1:]])
        elif block.kind == "free":
            part = np.diag(np.zeros(block.size) if is_dual else half[0])
        else:
            part = np.diag(vector)
        out[block.rows, block.rows] = part
    return out


def conic_reference(data):
    """The optimal value, by CVXPY."""
    parts, constraints = [], []
    for block in data.blocks:
        x = cp.Variable((block.size, block.size), PSD=True) if block.kind == "psd" else cp.Variable(block.size)
        if block.kind == "nonnegative":
            constraints.append(x >= 0)
        elif block.kind == "second_order":
            constraints.append(cp.norm(x[1:]) <= x[0])
        parts.append(x if block.kind == "psd" else cp.diag(x))
    rows = [data.cost_and_constraints.adjoint(row).toarray() for row in np.eye(data.size + 1)]

    def inner(matrix):
        pairs = zip(data.blocks, parts, strict=True)
        return sum(cp.sum(cp.multiply(matrix[block.rows, block.rows], part)) for block, part in pairs)

    for matrix, low, high in zip(rows[1:], data.lower, data.upper, strict=True):
        constraints += [inner(matrix) >= low] if np.isfinite(low) else []
        constraints += [inner(matrix) <= high] if np.isfinite(high) else []
    return cp.Problem(cp.Minimize(inner(rows[0])), constraints).solve(solver="CLARABEL")


def check_conic(data, result, accuracy=1e-6):
    """Check point, multipliers and bound in dense arithmetic, block by block."""
    assert result.status is Status.SOLVED, result.message
    rows = [data.cost_and_constraints.adjoint(row).toarray() for row in np.eye(data.size + 1)]
    slack = rows[0] + np.tensordot(result.dual, rows[1:], 1)
    size = 0.0
    for index, block in enumerate(data.blocks):
        x, s = data.block(result.x, index), slack[block.rows, block.rows]
        if block.kind == "psd":
            assert np.linalg.eigvalsh(x)[0] >= -1e-12 * np.trace(x)
            assert np.linalg.eigvalsh(s)[0] >= -1e-7
            size += np.trace(x)
        elif block.kind == "nonnegative":
            assert min(x.min(), s.diagonal().min()) >= -1e-7
            size += x.sum()
        elif block.kind == "second_order":
            assert x[0] - np.linalg.norm(x[1:]) >= -1e-12 * x[0]
            assert s[0, 0] - np.linalg.norm(s.diagonal()[1:]) >= -1e-7
            size += x[0]
        else:
            np.testing.assert_allclose(s.diagonal(), 0.0, atol=1e-10)
            size += np.abs(x).sum()
    assert measure_size(data, result.x) == pytest.approx(size)
    image = np.array(
        [
            sum(np.sum(row[b.rows, b.rows] * _as_matrix(data.block(result.x, k))) for k, b in enumerate(data.blocks))
            for row in rows
        ]
    )
    assert np.linalg.norm(data.violation(image[1:])) <= accuracy * max(1.0, np.linalg.norm(data.b))
    assert result.objective == pytest.approx(image[0], rel=1e-9, abs=1e-9)
    value = -data.support_of_bounds(result.dual)
    assert result.dual_bound <= value + 1e-9 * max(1.0, abs(value))
    assert result.objective == pytest.approx(result.dual_bound, rel=1e-5, abs=1e-5)


def _as_matrix(part):
    return np.diag(part) if part.ndim == 1 else part


@pytest.mark.parametrize("senses", ["=", "<=", ">=", "range"])
@pytest.mark.parametrize("seed", range(3))
def test_all_kinds_of_blocks_and_constraints(seed, senses):
    data = conic_data(seed, senses)
    result = SDP(data).solve(1e-6)
    check_conic(data, result)
    assert result.method == "interior"
    assert result.objective == pytest.approx(conic_reference(data), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("kind", ["psd", "nonnegative", "second_order", "free"])
def test_a_single_kind_of_block_beside_a_matrix(kind):
    data = conic_data(7, blocks=(Block(0, 3), Block(3, 3, kind)))
    result = SDP(data).solve(1e-7)
    check_conic(data, result, 1e-7)
    assert result.objective == pytest.approx(conic_reference(data), rel=1e-5, abs=1e-5)


def test_the_bound_holds_for_points_of_any_size_where_the_slack_is_proved_psd():
    data = conic_data(3, blocks=BLOCKS[:3])
    result = SDP(data).solve(1e-6)
    assert result.extras["trace_bound"] is None
    assert "trace at most" not in result.message
    assert measure_margins(data.blocks, data.slack(result.dual)).min() >= 0.0


def lifted_theta(seed, nodes):
    """The theta number in variables y = +-1: X_ii = 1 for all, and |v_i + v_j + v_0|^2 = 1 for every edge."""
    generator = np.random.default_rng(seed)
    edges = [pair for pair in zip(*np.triu_indices(nodes, 1), strict=True) if generator.random() < 0.4]
    order = nodes + 1
    units = np.eye(order)
    matrices = [np.outer(unit, unit) for unit in units]
    matrices += [np.outer(v, v) for v in (units[i] + units[j] + units[nodes] for i, j in edges)]
    cost = np.diag([0.5] * nodes + [0.0])
    cost[:nodes, nodes] = cost[nodes, :nodes] = 0.25
    return SDP.from_matrices(cost, matrices, np.ones(len(matrices)), maximise=True), edges


@pytest.mark.parametrize("method", ["interior", "splitting"])
def test_rows_with_a_single_entry_are_subtracted_from_others(method):
    """Splitting then solves with nearly diagonal equations; multipliers are those of the program."""
    from unipd.apps.graphs import theta_program
    from unipd.io import Graph

    program, edges = lifted_theta(0, 12)
    form = ConicForm(program.data)
    assert form.matrix.nnz == program.order + 6 * len(edges)
    i, j = np.array(edges).T
    value = theta_program(Graph.of(12, i, j, np.ones(i.size))).solve(1e-8).objective
    result = program.solve(1e-7, method)
    assert result.status.success
    assert result.objective == pytest.approx(value, rel=1e-6)
    assert np.linalg.eigvalsh(program.slack(result.dual).toarray())[0] >= -1e-9
    assert result.dual.sum() == pytest.approx(value, rel=1e-6)


def test_the_conic_form_has_the_same_equations():
    """F u + M x = r if and only if the constraints hold, with slacks for the sides; rows have unit norm."""
    data = conic_data(4, "range")
    form, generator = ConicForm(data), np.random.default_rng(0)
    parts = [
        symmetric(generator, b.size) if b.kind == "psd" else generator.standard_normal(b.size) for b in data.blocks
    ]
    image = data.cost_and_constraints.image(sum_of_blocks(data, parts))
    above = (data.upper - image[1:]) / data.norms
    vector = np.zeros(form.columns.size)
    for start, part in zip(
        form.columns.start, [*parts, np.concatenate([above, 0.5 / data.norms - above])], strict=True
    ):
        vector[start : start + part.size] = part.ravel()
    assert form.cost @ vector == pytest.approx(image[0])
    np.testing.assert_allclose(form.matrix @ vector, form.right_hand_side, atol=1e-12)
    for expected, part in zip(parts, form.parts(vector[: form.width], vector[form.width :]), strict=True):
        np.testing.assert_allclose(part, expected)
    assert sum(sum(cone.dim) for cone in form.cones()) == vector.size - form.width


def sum_of_blocks(data, parts):
    """The block diagonal matrix of these blocks."""
    out = np.zeros((data.order, data.order))
    for block, part in zip(data.blocks, parts, strict=True):
        out[block.rows, block.rows] = _as_matrix(part)
    return out


@pytest.mark.parametrize("seed", range(5))
def test_no_point_of_a_truncated_cone_beats_its_oracle(seed):
    generator = np.random.default_rng(seed)
    cone = TruncatedCone(BLOCKS, 2.0)
    direction = np.where(
        sum_of_blocks(conic_data(0), [np.ones((b.size, b.size)) for b in BLOCKS]), symmetric(generator, 12), 0
    )
    answer = cone(direction)
    data = conic_data(0)
    atom = answer.atom
    assert measure_size(data, atom) == pytest.approx(2.0)
    assert np.sum(direction * sum_of_blocks(data, [data.block(atom, k) for k in range(5)])) == pytest.approx(
        answer.value
    )
    for _ in range(20):
        other = interior(generator, BLOCKS)
        size = sum(
            other[b.start, b.start] if b.kind == "second_order" else np.abs(other.diagonal()[b.rows]).sum()
            for b in BLOCKS
        )
        assert np.sum(direction * other) * 2.0 / size <= answer.value + answer.error + 1e-12


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), order=st.integers(2, 5), size=st.integers(1, 4))
def test_random_programs(seed, order, size):
    """Objective and certificate against an independent solver."""
    program = random_program(seed, order, size)
    result = program.solve(1e-6, "interior", stop=MaxIterations(60))
    if result.status is not Status.SOLVED:  # nearly a single feasible point: rounding ends it, a bound still holds
        assert max(abs(result.gap), result.infeasibility) < 1e-3
        assert result.dual_bound <= reference(program) + 1e-5 * max(1.0, abs(result.dual_bound))
        return
    check(program, result, 1e-6)
    assert result.objective == pytest.approx(reference(program), rel=1e-5, abs=1e-5)


def test_estimates_grow_with_the_order_and_the_constraints():
    def estimate(order, size):
        matrices = [sp.csr_array(([1.0], ([i % order], [i % order])), shape=(order, order)) for i in range(size)]
        return estimate_seconds(SDP.from_matrices(sp.eye_array(order), matrices, np.ones(size)).data)

    assert estimate(10, 10) < estimate(400, 10) < estimate(400, 2000)
    assert estimate(400, 40_000) == np.inf


@pytest.mark.parametrize("seed", [27, 37])
def test_nearly_a_single_feasible_point(seed):
    """Three constraints on a 2 x 2 matrix leave hardly any room, so multipliers are large: auto ends certified."""
    generator = np.random.default_rng(seed)
    order, size = generator.integers(2, 7), generator.integers(1, 5)
    cost = 2.0 * symmetric(generator, order) * 10 ** generator.uniform(-2, 2)
    matrices = [2.0 * symmetric(generator, order) for _ in range(size)]
    matrices[0] = np.eye(order)
    half = generator.standard_normal((order, generator.integers(1, order + 1)))
    values = [np.sum(matrix * (half @ half.T)) for matrix in matrices]
    senses = ["=", *[str(generator.choice(["=", "<=", ">="])) for _ in range(size)][1:]]
    program = SDP.from_matrices(cost, matrices, values, senses)
    result = program.solve(1e-6)
    assert result.method == "interior"
    check(program, result, 1e-6)
    assert result.objective == pytest.approx(reference(program), rel=1e-5, abs=1e-5)


def test_assignment_without_a_strictly_feasible_point():
    program = assignment(4, 1)
    result = program.solve(1e-4)
    assert result.method == "interior"
    assert result.status is Status.SOLVED, result.message
    assert result.objective == pytest.approx(reference(program), rel=2e-4)


def test_constraints_of_large_norm_hold_in_their_own_units():
    """Equal halves, with the redundant X e = 0 beside <ee^T, X> = 0: the matrix of ones has norm n."""
    generator, order = np.random.default_rng(11), 30
    cost = symmetric(generator, order)
    rows = [np.outer(e, np.ones(order)) + np.outer(np.ones(order), e) for e in np.eye(order)]
    matrices = [*(np.diag(e) for e in np.eye(order)), np.ones((order, order)), *rows]
    program = SDP.from_matrices(cost, matrices, np.concatenate([np.ones(order), np.zeros(order + 1)]))
    result = program.solve(1e-6, "interior")
    assert result.status is Status.SOLVED
    image = np.array([np.sum(matrix * result.x.dense()) for matrix in matrices])
    assert np.linalg.norm(image - program.data.b) <= 1e-6 * 2.0


def test_the_factored_method_by_name_is_left_alone():
    result = assignment(3, 1).solve(1e-9, method="factored", stop=MaxIterations(70))
    assert result.method == "factored"


def test_limits_of_the_caller_hold_for_both_parts():
    result = assignment(4, 1).solve(1e-6, stop=MaxIterations(5))
    assert (result.method, result.status, result.iterations) == ("factored", Status.ITERATION_LIMIT, 5)
    assert RemainingBudget(MaxSeconds(3.0), 5.0).deadline() == 0.0


@pytest.mark.parametrize(("limit", "status"), [(None, Status.SOLVED), (1, Status.ITERATION_LIMIT)])
def test_work_is_that_of_both_parts(monkeypatch, limit, status):
    """Also where the interior points end with a worse point than the factored method."""
    parts, original = [], solver.solve

    @functools.wraps(original)
    def record_parts(*arguments, **options):
        parts.append(original(*arguments, **options))
        return parts[-1]

    monkeypatch.setattr(solver, "solve", record_parts)
    monkeypatch.setattr(solver, "LEAST_FALLBACK", 60)
    program = assignment(3, 1)
    patience = FallbackRule(estimate_seconds(program.data)).iterations
    stop = None if limit is None else MaxIterations(patience + limit)
    result = program.solve(1e-7, stop=stop)
    assert [part.method for part in parts] == ["factored", "interior"]
    assert (result.status, parts[0].iterations) == (status, patience)
    assert limit is None or parts[1].iterations == limit
    assert result.method == ("interior" if limit is None else "factored")
    assert result.iterations == sum(part.iterations for part in parts)
    for name in ("oracle_calls", "trials", "matvecs"):
        assert getattr(result.counts, name) == sum(getattr(part.counts, name) for part in parts)
    assert result.seconds == pytest.approx(sum(part.seconds for part in parts))


def test_an_interrupt_before_the_second_part_has_a_point_returns_the_first(monkeypatch):
    """The set-up of interior points, with kernels that are compiled, may take seconds."""
    monkeypatch.setattr(solver, "LEAST_FALLBACK", 60)

    def set_up(*_):
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(1000))
        pytest.fail("the set-up goes on")

    monkeypatch.setattr(solver, "find_unused_ray", set_up)
    with stop_on_signals():
        result = assignment(3, 1).solve(1e-7)
    assert (result.method, result.status) == ("factored", Status.INTERRUPTED)
    assert result.x is not None


def test_calls_of_both_parts_are_limited(monkeypatch):
    monkeypatch.setattr(solver, "LEAST_FALLBACK", 20)
    free = assignment(3, 1).solve(1e-7)
    calls = free.counts.oracle_calls - 2
    limited = assignment(3, 1).solve(1e-7, stop=MaxOracleCalls(calls))
    assert limited.status is Status.ORACLE_LIMIT
    assert calls <= limited.counts.oracle_calls < free.counts.oracle_calls


def test_patience_grows_with_the_estimated_time():
    assert [FallbackRule(seconds).iterations for seconds in (0.1, 10.0, 1e3)] == [200, 400, 1000]


@pytest.mark.parametrize(
    ("iteration", "gap", "stops"),
    [
        (199, 1.0, False),
        (200, 0.2, True),  # at 1,000 iterations it would be 3e-4
        (200, 0.05, False),  # 3e-7
        (200, -0.2, True),
        (200, np.inf, True),
        (200, np.nan, True),
        (600, 1e-3, True),  # 1e-5
        (600, 1e-4, False),
        (1000, 1e-5, True),
    ],
)
def test_the_factored_method_hands_over_early_at_a_rate_that_is_too_slow(iteration, gap, stops):
    info = SimpleNamespace(iteration=iteration, gap=gap, infeasibility=1e-9)
    assert (FallbackRule(1e3, 1e-6)(info) is Status.STALLED) == stops
    assert (FallbackRule(1e3)(info) is Status.STALLED) == (iteration == 1000 or np.isnan(gap))


def test_a_checkpoint_holds_both_phases(tmp_path, monkeypatch):
    monkeypatch.setattr(solver, "LEAST_FALLBACK", 20)
    program, path = assignment(3, 0), tmp_path / "run.ckpt"
    seen = []

    def observe(info):
        seen.append((type(info.state).__name__, info.iteration))

    def stop_in_second_phase(info):
        observe(info)
        return seen[-1] == ("InteriorPointState", 4)

    whole = program.solve()
    broken = program.solve(checkpoint=path, every="1it", callback=stop_in_second_phase)
    assert (whole.method, whole.status) == ("interior", Status.SOLVED)
    assert (broken.status, seen[-1]) == (Status.STOPPED, ("InteriorPointState", 4))
    last = dict(seen)
    seen.clear()
    resumed = program.solve(checkpoint=path, every="1it", resume=True, callback=observe)
    np.testing.assert_array_equal(resumed.x.left, whole.x.left)
    assert (resumed.objective, resumed.iterations) == (whole.objective, whole.iterations)
    assert all(iteration >= last[name] for name, iteration in seen)  # nothing is computed twice


def test_a_checkpoint_serves_runs_that_refine_a_solution(tmp_path, monkeypatch):
    monkeypatch.setattr(solver.Solver, "_postsolve", _never_accurate(solver.Solver._postsolve))
    program, path = SDP.from_matrices(np.diag([3.0, 1.0]), [np.eye(2)], [1.0]), tmp_path / "run.ckpt"
    whole = program.solve(method="factored")
    saved = program.solve(method="factored", checkpoint=path)
    again = program.solve(method="factored", checkpoint=path, resume=True)
    assert whole.objective == saved.objective == again.objective


def _never_accurate(postsolve):
    def stall(*arguments):
        return replace(postsolve(*arguments), status=Status.STALLED)

    return stall


def test_without_qics_the_extra_is_named(monkeypatch):
    """Programs with a bounded trace do without it."""
    for name in ("qics", "qics.cones"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(solver, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"qics.*unipd\[sdp\]"):
        SDP(conic_data(0)).solve()
    with pytest.raises(MissingExtra, match=r"unipd\[sdp\]"):
        SDP.from_matrices(np.eye(2), [np.array([[0.0, 1.0], [1.0, 0.0]])], [2.0]).solve()
    assert assignment(3, 1).solve(1e-3).method == "factored"


def test_interior_points_take_no_trace_bound():
    with pytest.raises(InvalidInput, match="trace_bound: expected none"):
        SDP(conic_data(0)).solve(trace_bound=5.0)


@pytest.mark.parametrize("seed", [31, 93, 134, 159, 172])
def test_one_constraint_reaches_the_accuracy_that_steps_alone_do_not(seed):
    """min <C, X> with <A, X> = 1 is the least eigenvalue of (C, A); steps end at gaps of a few 1e-8."""
    rng = np.random.default_rng(seed)
    order, kind = int(rng.integers(2, 9)), seed % 3
    cost, matrix = rng.standard_normal((2, order, order))
    cost, matrix = cost + cost.T, matrix @ matrix.T if kind < 2 else matrix + matrix.T
    cost, b = (cost, 1.0) if kind < 2 else (cost @ cost.T, float(rng.standard_normal()))
    program = SDP.from_matrices(cost, [matrix], [b], "<=" if kind == 1 else "=")
    result = program.solve(1e-8, "interior")
    check(program, result, 1e-8)
    if kind < 2:
        assert result.objective == pytest.approx(scipy.linalg.eigvalsh(cost, matrix)[0], rel=1e-8)


def gain_bound(seed, states=5, channels=2):
    """The bounded real lemma for a system whose states have units of very different sizes: P and its matrix psd."""
    generator = np.random.default_rng(seed)
    scales = 10.0 ** generator.uniform(-1.5, 1.5, states)
    A = generator.standard_normal((states, states))
    A -= (np.linalg.eigvals(A).real.max() + 0.05) * np.eye(states)
    A = scales[:, None] * A / scales
    B, C = (generator.standard_normal(shape) for shape in ((states, channels), (channels, states)))
    B, C = scales[:, None] * B, C / scales
    corner = np.zeros((channels, channels))
    constant = scipy.linalg.block_diag(np.zeros((states, states)), C.T @ C, corner)
    matrices = []
    for i, j in zip(*np.triu_indices(states), strict=True):
        P = np.zeros((states, states))
        P[i, j] = P[j, i] = 1.0
        matrix = np.block([[-(A.T @ P + P @ A), -P @ B], [-B.T @ P, corner]])
        matrices.append(scipy.linalg.block_diag(P, matrix))
    matrices.append(scipy.linalg.block_diag(np.zeros((2 * states, 2 * states)), np.eye(channels)))
    b = np.eye(1, len(matrices), len(matrices) - 1)[0]
    return SDP.from_matrices(constant, matrices, b, maximise=True, blocks=(states, states + channels))


def test_a_stall_is_followed_by_a_run_in_other_units():
    """Ill-scaled programs are solved in units that even out the data, where the first ones do not do."""
    programs, solved = [gain_bound(seed) for seed in range(8)], []
    for seconds in (0.0, solver.RETRY_SECONDS):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(solver, "RETRY_SECONDS", seconds)
            solved.append(sum(program.solve(1e-6).status is Status.SOLVED for program in programs))
    assert solved[0] < solved[1]


def test_steps_beyond_the_accuracy_end_where_nothing_improves(monkeypatch):
    """Once gap and infeasibility are small, five steps in a row without progress of what remains are the last."""
    program = SDP(conic_data(1, "="))
    counts: list[int] = []
    for remaining in (0.0, 1.0):
        monkeypatch.setattr(InteriorPoint, "_remaining_error", lambda *_, remaining=remaining: remaining)
        result = program.solve(1e-2, method="interior")
        assert result.status.success
        counts.append(result.iterations)
    assert counts[1] == counts[0] + 5
