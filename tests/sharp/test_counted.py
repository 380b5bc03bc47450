"""Oracles that count their calls."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import unipd
from unipd import sharp
from unipd.errors import InvalidInput
from unipd.sharp import Counted, L1Ball, Linear, Product


def test_calls_values_and_seconds() -> None:
    counted = Counted(L1Ball(3, 2.0))
    for _ in range(3):
        counted(np.ones(3))
    counted.value(np.ones(3))
    assert (counted.calls, counted.value_calls) == (3, 1)
    assert counted.call_certified(np.ones(3)).value == 2.0
    assert (counted.calls, counted.value_calls) == (4, 1)
    assert counted.seconds > 0
    counted.support(np.ones(3))
    counted.contains(np.ones(3))
    assert (counted.calls, counted.value_calls) == (4, 1)
    counted.reset()
    assert (counted.calls, counted.value_calls, counted.seconds) == (0, 0, 0.0)


def test_failed_calls_count_too() -> None:
    counted = Counted(L1Ball(3))
    with pytest.raises(InvalidInput):
        counted(np.ones(4))
    with pytest.raises(InvalidInput):
        counted.value(np.ones(4))
    assert (counted.calls, counted.value_calls) == (1, 1)


def test_everything_else_is_the_oracles_own() -> None:
    inner = Linear(np.array([1.0, -2.0]), L1Ball(2, 3.0))
    counted = Counted(inner)
    assert (counted.shape, counted.exact, counted.degree, counted.linear) == ((2,), True, None, True)
    assert counted.cost is inner.cost
    assert counted.maximum() == 6.0
    assert counted.objective(np.array([1.0, 1.0])) == -1.0
    with pytest.raises(AttributeError):
        counted.nothing_of_the_kind  # noqa: B018


def test_no_call_is_lost_among_threads() -> None:
    counted = Counted(L1Ball(2))
    product = Product([counted] * 8, threads=4)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: product([np.ones(2)] * 8), range(25)))
    assert counted.calls == 200


def test_copies_and_pickles() -> None:
    counted = Counted(L1Ball(2))
    counted(np.ones(2))
    for twin in (copy.deepcopy(counted), pickle.loads(pickle.dumps(counted))):
        twin(np.ones(2))
        assert (twin.calls, counted.calls) == (2, 1)


ENTROPY, CORNERS = sharp.Entropy(4), sharp.Linear(np.arange(4.0), sharp.L2Ball(4))
COUNTS = {
    "entropy": (ENTROPY, sharp.Counted(ENTROPY)),
    "cost": (CORNERS, sharp.Counted(CORNERS)),
    "cost over a counter": (CORNERS, sharp.Linear(np.arange(4.0), sharp.Counted(sharp.L2Ball(4)))),
    "simplex": (sharp.Simplex(4), sharp.Counted(sharp.Simplex(4))),
}


@pytest.mark.parametrize("name", COUNTS)
def test_a_counter_changes_no_run(name: str) -> None:
    def run(oracle: Any) -> unipd.Result:
        matrix = np.array([[1.0, -1.0, 2.0, 0.5]])
        return unipd.solve(unipd.Problem(oracle, matrix, [0.1], "<="), accuracy=1e-6)

    plain, counted = (run(oracle) for oracle in COUNTS[name])
    assert (plain.method, plain.counts) == (counted.method, counted.counts)
    assert plain.x.tolist() == counted.x.tolist()


COST = np.diag([1.0, 2.0, 3.0])


@pytest.mark.parametrize("wrap", [lambda o: sharp.Linear(COST, sharp.Counted(o)), sharp.Counted])
def test_a_counter_keeps_the_method_of_matrices(wrap: Any) -> None:
    oracle = wrap(sharp.Spectrahedron(3))
    result = unipd.solve(unipd.Problem(oracle, np.eye(9)[::4], np.full(3, 1 / 3), "="), accuracy=1e-4)
    assert (result.status.value, result.method) == ("solved", "factored")
