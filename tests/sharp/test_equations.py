"""Sets given by equations: {x >= 0 : E x = e} is X, over all entries and over some."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy
from scipy.optimize import linprog

from unipd.atoms import dense
from unipd.sharp import FlowPolytope

from .cases import Case
from .registry import CASES

ONE_BLOCK = [case for case in CASES if not isinstance(case.oracle.shape[0], tuple)]
DESCRIBED = [case for case in ONE_BLOCK if case.oracle.equations(np.zeros(0, np.intp)) is not None]


def system(oracle: Any, places: np.ndarray) -> tuple[Any, np.ndarray]:
    values, where, right = oracle.equations(places)
    return scipy.sparse.csc_array((values, where), shape=(right.size, places.size)), right


def test_the_sets_with_equations() -> None:
    assert {case.name for case in DESCRIBED} >= {"simplex", "birkhoff", "flow"}


@pytest.mark.parametrize("case", DESCRIBED, ids=lambda case: case.name)
def test_every_vertex_is_one_of_the_set(case: Case) -> None:
    rng, size = np.random.default_rng(0), int(np.prod(case.oracle.shape))
    matrix, right = system(case.oracle, np.arange(size))
    for _ in range(10):
        y = rng.standard_normal(size)
        x = dense(case.oracle(y.reshape(case.oracle.shape)).atom).reshape(-1)
        np.testing.assert_allclose(matrix @ x, right, atol=1e-12)
        assert x.min() >= 0.0
        best = linprog(-y, A_eq=matrix, b_eq=right)  # the largest <y, x> over the description is that over X
        assert -best.fun == pytest.approx(case.oracle.support(y.reshape(case.oracle.shape)), abs=1e-9)


@pytest.mark.parametrize("case", DESCRIBED, ids=lambda case: case.name)
def test_over_some_entries_the_others_are_zero(case: Case) -> None:
    rng = np.random.default_rng(1)
    atoms = [dense(case.oracle(rng.standard_normal(case.oracle.shape)).atom).reshape(-1) for _ in range(3)]
    places = np.flatnonzero(sum(atoms))
    matrix, right = system(case.oracle, places)
    x = np.zeros(atoms[0].size)
    x[places] = linprog(rng.standard_normal(places.size), A_eq=matrix, b_eq=right).x
    assert case.oracle.contains(x.reshape(case.oracle.shape))


def test_a_graph_with_cycles() -> None:
    street = FlowPolytope([0, 1, 1, 2, 0], [1, 0, 2, 1, 2], source=0, sink=2)
    matrix, right = system(street, np.arange(5))
    costs = np.array([1.0, 1.0, 1.0, 1.0, 3.0])
    assert linprog(costs, A_eq=matrix, b_eq=right).fun == pytest.approx(-street(-costs).value)
