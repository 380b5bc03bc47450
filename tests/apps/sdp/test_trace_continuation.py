"""Trace continuation: bounds on the trace that are increased while they are too small."""

import numpy as np
import pytest
from scipy.linalg import block_diag

from apps.sdp.checks import check, reference
from unipd import Status
from unipd.apps.sdp import SDP, BoundedSolver, analyse, search_trace
from unipd.errors import InvalidInput
from unipd.run import MaxIterations

OFF = np.array([[0.0, 0.5], [0.5, 0.0]])


def search(program, accuracy=1e-6, method="auto", stop=None):
    solver = BoundedSolver(program, analyse(program.data), accuracy, method, stop=stop)
    return search_trace(solver, (1e2, 1e4, 1e6), "no reason")


def test_a_trace_that_is_not_reached_ends_the_search():
    """The smallest trace with X_12 = 300 is 600, more than the first trace tried."""
    program = SDP.from_matrices(np.eye(2), [OFF], [300.0])
    result = search(program)
    check(program, result, 1e-6)
    assert result.objective == pytest.approx(600.0, rel=1e-5)
    assert result.extras["trace_bound"] == 2 * 1e4
    assert "The dual bound holds for X of trace at most 20000" in result.message


def test_an_infimum_that_is_not_attained_has_no_such_trace():
    """X_11 tends to zero as X_22 grows."""
    program = SDP.from_matrices(np.diag([1.0, 0.0]), [OFF], [1000.0])
    with pytest.raises(InvalidInput, match="no reason"):
        search(program)


def free_variables(pairs):
    """min <C, X> + f'(p - q), <A_i, X> + a_i'(p - q) = b_i: free variables as differences of nonnegative ones."""
    random = np.random.default_rng(pairs)
    order, size = 6, pairs + 3
    symmetric = [(part + part.T) / 2 for part in random.standard_normal((size, order, order))]
    inner, slack = (part @ part.T / order for part in random.standard_normal((2, order, order)))
    free, y = random.standard_normal((size, pairs)), random.standard_normal(size)
    whole = [block_diag(part, np.diag(row), -np.diag(row)) for part, row in zip(symmetric, free, strict=True)]
    cost = block_diag(slack, np.zeros((2 * pairs, 2 * pairs))) - np.tensordot(y, whole, 1)
    return SDP.from_matrices(cost, whole, [float(np.sum(part * inner)) for part in symmetric])


@pytest.mark.parametrize("pairs", [1, 8])
def test_free_variables_as_differences_may_grow_for_ever(pairs):
    program = free_variables(pairs)
    result = program.solve(1e-6)
    check(program, result, 1e-6)
    assert result.objective == pytest.approx(reference(program), rel=1e-5, abs=1e-5)


def test_a_point_of_an_unbounded_set_is_found():
    """No objective: any X with X_12 = 1 and X_11 = 2 will do, however large X_22."""
    program = SDP.from_matrices(np.zeros((2, 2)), [OFF, np.diag([1.0, 0.0])], [1.0, 2.0])
    result = program.solve(1e-6)
    check(program, result, 1e-6)
    assert result.objective == 0.0


def test_constraints_met_by_no_point_but_nearly_by_large_ones_are_not_solved():
    """X_11 = 0 and X_12 = 1 with an objective that X_22 does not change."""
    program = SDP.from_matrices(np.diag([1.0, 0.0]), [OFF, np.diag([1.0, 0.0])], [1.0, 0.0])
    with pytest.raises(InvalidInput, match="trace_bound"):
        program.solve(1e-4)


def test_other_methods_and_large_programs_are_not_tried():
    program = SDP.from_matrices(np.eye(2), [OFF], [1.0])
    with pytest.raises(InvalidInput, match="no reason"):
        search(program, method="factored")
    large = SDP.from_matrices(np.eye(1500), [np.eye(1500)], [1.0])
    with pytest.raises(InvalidInput, match="no reason"):
        search(large)


def test_limits_of_the_caller_end_the_search():
    program = SDP.from_matrices(np.eye(2), [OFF], [1.0])
    result = search(program, 1e-12, stop=MaxIterations(1))
    assert result.status is Status.ITERATION_LIMIT
