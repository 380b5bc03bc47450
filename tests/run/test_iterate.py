"""The iterator over states: immutable, deterministic, eager about its arguments."""

from __future__ import annotations

import dataclasses
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest

from support.references import constrained_reference, loss_reference
from unipd import iterate
from unipd.errors import InvalidInput
from unipd.methods import METHODS, as_method

LOSS_METHODS = ["unipdgrad", "accunipdgrad", "frank-wolfe", "away-step", "pairwise", "corrective"]
every_method = pytest.mark.parametrize("method", LOSS_METHODS)


def arrays_of(value: Any, depth: int = 0) -> list[np.ndarray]:
    """Return every array that a state holds, however deep."""
    if isinstance(value, np.ndarray):
        return [value]
    if hasattr(value, "mix"):
        parts = [value.point()]
    elif dataclasses.is_dataclass(value) and depth < 6:
        parts = [getattr(value, item.name) for item in dataclasses.fields(value)]
    elif isinstance(value, (list, tuple)):
        parts = list(value)
    else:
        return []
    return [array for part in parts for array in arrays_of(part, depth + 1)]


@every_method
@pytest.mark.parametrize("tracker", ["dense", "atoms"])
def test_earlier_states_never_change(method: str, tracker: str) -> None:
    problem, _ = loss_reference("l1 ball", "least squares")
    states, copies = [], []
    for state in islice(iterate(problem, method, tracker=tracker), 12):
        states.append(state)
        copies.append([array.copy() for array in arrays_of(state)])
    for state, before in zip(states, copies, strict=True):
        after = arrays_of(state)
        assert len(before) > 3
        for old, new in zip(before, after, strict=True):
            np.testing.assert_array_equal(old, new)


@every_method
def test_states_are_frozen(method: str) -> None:
    problem, _ = loss_reference("l1 ball", "least squares")
    state = next(iterate(problem, method))
    for item in dataclasses.fields(state):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(state, item.name, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        state.certificate.objective = 0.0


@every_method
def test_a_step_is_a_function_of_its_state(method: str) -> None:
    problem, _ = loss_reference("l1 ball", "least squares")
    state = list(islice(iterate(problem, method), 5))[-1]
    stepper = as_method(method, problem)
    first, second = stepper.step(problem, state), stepper.step(problem, state)
    assert first.certificate.objective == second.certificate.objective
    np.testing.assert_array_equal(first.dual, second.dual)
    np.testing.assert_array_equal(first.image, second.image)
    np.testing.assert_array_equal(first.primal.point(), second.primal.point())


@every_method
def test_the_same_run_twice_is_the_same_to_the_last_bit(method: str) -> None:
    problem, _ = loss_reference("simplex", "least squares")
    for one, other in zip(islice(iterate(problem, method), 30), islice(iterate(problem, method), 30), strict=True):
        np.testing.assert_array_equal(one.dual, other.dual)
        assert one.certificate.dual_bound == other.certificate.dual_bound


@every_method
def test_iterations_count_from_one_and_work_only_grows(method: str) -> None:
    problem, _ = loss_reference("simplex", "least squares")
    states = list(islice(iterate(problem, method), 20))
    assert [state.iteration for state in states] == list(range(1, 21))
    for earlier, later in pairwise(states):
        assert later.counts.oracle_calls >= earlier.counts.oracle_calls
        assert later.counts.matvecs > earlier.counts.matvecs
        assert later.certificate.dual_bound >= earlier.certificate.dual_bound


def test_options_go_to_the_method() -> None:
    problem, _ = constrained_reference("squared norm", "equality")
    assert next(iterate(problem, "unipdgrad", eps=0.5)).eps == 0.5


def test_wrong_arguments_are_refused_before_the_first_step() -> None:
    problem, _ = constrained_reference("squared norm", "equality")
    for wrong in ({"method": "nonsense"}, {"accuracy": 0.0}, {"tracker": "nonsense"}, {"start": np.ones(2)}):
        with pytest.raises(InvalidInput, match=next(iter(wrong))):
            iterate(problem, **wrong)


def test_every_named_method_yields_states() -> None:
    problem, _ = loss_reference("simplex", "least squares")
    for name in METHODS:
        if name in LOSS_METHODS:
            assert next(iterate(problem, name)).iteration == 1
