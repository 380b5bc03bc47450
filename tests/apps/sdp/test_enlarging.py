"""Traces that are enlarged while they are too small."""

import numpy as np
import pytest

from apps.sdp.checks import check
from unipd.apps.sdp import SDP
from unipd.apps.sdp.enlarging import SOUGHT, sought
from unipd.apps.sdp.formulate import analyse
from unipd.run import MaxIterations
from unipd.status import Status

OFF = np.array([[0.0, 0.5], [0.5, 0.0]])


def test_a_trace_that_is_not_reached_ends_the_search():
    """The smallest trace with X_12 = 300 is 600, more than the first trace tried."""
    program = SDP.from_matrices(np.eye(2), [OFF], [300.0])
    result = sought(program, analyse(program.data), 1e-6, "auto")
    assert result is not None
    check(program, result, 1e-6)
    assert result.objective == pytest.approx(600.0, rel=1e-5)
    assert result.trace_bound.value == 2 * SOUGHT[1]
    assert "The dual bound holds for X of trace at most 20000" in result.message


def test_an_infimum_that_is_not_attained_has_no_such_trace():
    """X_11 tends to zero as X_22 grows."""
    program = SDP.from_matrices(np.diag([1.0, 0.0]), [OFF], [1000.0])
    assert sought(program, analyse(program.data), 1e-6, "auto") is None


def test_other_methods_and_large_programs_are_not_tried():
    program = SDP.from_matrices(np.eye(2), [OFF], [1.0])
    assert sought(program, analyse(program.data), 1e-6, "factored") is None
    large = SDP.from_matrices(np.eye(1500), [np.eye(1500)], [1.0])
    assert sought(large, analyse(large.data), 1e-6, "auto") is None


def test_limits_of_the_caller_end_the_search():
    program = SDP.from_matrices(np.eye(2), [OFF], [1.0])
    result = sought(program, analyse(program.data), 1e-12, "auto", stop=MaxIterations(1))
    assert result is not None
    assert result.status is Status.ITERATION_LIMIT
