"""The interior-point method: steps, standard form, and programs on which first-order methods are slow."""

import functools
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.sdp.checks import check, reference
from unipd import Status
from unipd.apps.sdp import SDP, FallbackRule, InteriorPoint, analyse, bounded, interior_point_work
from unipd.apps.sdp.interior_point import (
    DenseProgram,
    Iterate,
    independent_rows,
    initial_iterate,
    predictor_corrector_step,
    standard_form,
)
from unipd.run import MaxIterations, MaxOracleCalls, MaxSeconds, RemainingBudget


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


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), order=st.integers(2, 6), size=st.integers(1, 5))
def test_a_step_solves_its_equations(seed, order, size):
    """A full step keeps A(X + dX) = b and the equation of the slack; iterates stay positive definite."""
    generator = np.random.default_rng(seed)
    rows = np.stack([symmetric(generator, order).ravel() for _ in range(min(size, order))])
    program = DenseProgram(sp.csr_array(rows), rows @ np.eye(order).ravel(), symmetric(generator, order))
    here = initial_iterate(program)
    before = np.linalg.norm(program.b - program.image(here.x)), np.linalg.norm(program.cost - here.s)
    here = predictor_corrector_step(program, here)
    assert here is not None
    assert min(np.linalg.eigvalsh(here.x)[0], np.linalg.eigvalsh(here.s)[0]) > 0.0
    residuals = program.b - program.image(here.x), program.cost - program.adjoint(here.y) - here.s
    for residual, old in zip(residuals, before, strict=True):
        assert np.linalg.norm(residual) <= old * (1.0 + 1e-12)
    slack = np.linalg.eigvalsh(here.s)
    assert slack[0] > 0.0


def test_no_step_where_rounding_has_the_last_word():
    program = DenseProgram(sp.csr_array(np.eye(2).reshape(1, 4)), np.ones(1), np.eye(2))
    assert predictor_corrector_step(program, Iterate(np.diag([1.0, -1e-20]), np.eye(2), np.zeros(1))) is None


def test_dependent_constraints_are_left_out():
    rows = sp.csr_array(np.array([[1.0, 0, 0, 1], [2, 0, 0, 2], [1, 0, 0, 0], [0, 0, 0, 1]]))
    kept = independent_rows(rows)
    assert kept.size == np.linalg.matrix_rank(rows.toarray()) == np.linalg.matrix_rank(rows.toarray()[kept])


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), order=st.integers(2, 5), size=st.integers(1, 4))
def test_random_programs(seed, order, size):
    """Objective and certificate against an independent solver."""
    program = random_program(seed, order, size)
    result = program.solve(1e-6, method=InteriorPoint(), stop=MaxIterations(60))
    if result.status is not Status.SOLVED:  # nearly a single feasible point: rounding ends it, a bound still holds
        assert max(abs(result.gap), result.infeasibility) < 1e-3
        assert result.dual_bound <= reference(program) + 1e-5 * max(1.0, abs(result.dual_bound))
        return
    check(program, result, 1e-6)
    assert result.objective == pytest.approx(reference(program), rel=1e-5, abs=1e-5)


def test_standard_form_has_slacks_for_sides_and_trace():
    """An upper bound, a range and a bounded trace: 1 + 2 + 1 slacks."""
    matrices = [np.diag([1.0, 0.0]), np.diag([0.0, 1.0])]
    program = SDP.from_matrices(np.eye(2), matrices, [1.0, 2.0], "<=", lower=[-np.inf, 1.0])
    standard = standard_form(program.problem())
    assert standard.program.order == 2 + 1 + 2 + 1
    assert standard.program.b.size == 2 + 1 + 1


def test_large_programs_are_not_affordable():
    diagonal = sp.eye_array(400, format="csr")
    matrices = [sp.csr_array(([1.0], ([i], [i])), shape=(400, 400)) for i in range(400)]
    assert interior_point_work(analyse(SDP.from_matrices(diagonal, matrices, np.ones(400)).data)) is None


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


def test_the_factored_method_by_name_is_left_alone():
    result = assignment(3, 1).solve(1e-9, method="factored", stop=MaxIterations(70))
    assert result.method == "factored"


def test_limits_of_the_caller_hold_for_both_parts():
    result = assignment(4, 1).solve(1e-6, stop=MaxIterations(5))
    assert (result.method, result.status, result.iterations) == ("factored", Status.ITERATION_LIMIT, 5)
    assert RemainingBudget(MaxSeconds(3.0), 5.0).deadline() == 0.0


@pytest.mark.parametrize(("limit", "status"), [(None, Status.SOLVED), (3, Status.ITERATION_LIMIT)])
def test_work_is_that_of_both_parts(monkeypatch, limit, status):
    """Also where the interior points end with a worse point than the factored method."""
    parts, original = [], bounded.solve

    @functools.wraps(original)
    def record_parts(*arguments, **options):
        parts.append(original(*arguments, **options))
        return parts[-1]

    monkeypatch.setattr(bounded, "solve", record_parts)
    program = assignment(3, 1)
    patience = FallbackRule(interior_point_work(analyse(program.data))).iterations
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


def test_calls_of_both_parts_are_limited():
    free = assignment(3, 1).solve(1e-7)
    calls = free.counts.oracle_calls - 2
    limited = assignment(3, 1).solve(1e-7, stop=MaxOracleCalls(calls))
    assert limited.status is Status.ORACLE_LIMIT
    assert calls <= limited.counts.oracle_calls < free.counts.oracle_calls


def test_patience_grows_with_the_work_of_a_step():
    assert [FallbackRule(work).iterations for work in (1.0, 1e8, 1e12)] == [60, 100, 400]


def test_a_checkpoint_holds_the_factored_phase_and_that_of_interior_points(tmp_path):
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
    monkeypatch.setattr(bounded.BoundedSolver, "_postsolve", _never_accurate(bounded.BoundedSolver._postsolve))
    program, path = SDP.from_matrices(np.diag([3.0, 1.0]), [np.eye(2)], [1.0]), tmp_path / "run.ckpt"
    whole = program.solve(method="factored")
    saved = program.solve(method="factored", checkpoint=path)
    again = program.solve(method="factored", checkpoint=path, resume=True)
    assert whole.objective == saved.objective == again.objective


def _never_accurate(postsolve):
    def stall(*arguments):
        return replace(postsolve(*arguments), status=Status.STALLED)

    return stall
