"""Estimates of the remaining time."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unipd.run import remaining_seconds

TIMES = np.linspace(1.0, 20.0, 96).tolist()


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_a_power_of_the_time_is_carried_on(power):
    errors = [time**-power for time in TIMES]
    wanted = (1e-3) ** (-1.0 / power) - TIMES[-1]
    assert remaining_seconds(TIMES, errors, 1e-3) == pytest.approx(wanted, rel=0.1)


def test_linear_convergence_is_carried_on():
    errors = [math.exp(-0.2 * time) for time in TIMES]
    wanted = math.log(1e6) / 0.2 - TIMES[-1]
    assert remaining_seconds(TIMES, errors, 1e-6) == pytest.approx(wanted, rel=0.05)


def test_no_promise_without_progress():
    assert remaining_seconds(TIMES, [1.0] * len(TIMES), 1e-3) is None
    assert remaining_seconds(TIMES, [time**-0.01 for time in TIMES], 1e-9) is None
    assert remaining_seconds(TIMES[:3], [1.0, 0.1, 0.01], 1e-3) is None
    assert remaining_seconds(TIMES, [math.inf] * len(TIMES), 1e-3) is None


def test_nothing_is_left_at_the_goal():
    assert remaining_seconds(TIMES, [1 / time for time in TIMES], 0.5) == 0.0


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=4, max_size=40))
def test_the_estimate_is_a_time_or_nothing(errors):
    left = remaining_seconds([float(k + 1) for k in range(len(errors))], errors, 1e-3)
    assert left is None or (left >= 0.0 and math.isfinite(left))
