"""Oracles and maps that fail during a run: a named error, with its cause."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.oracles import Wrapped, answer_at
from unipd import Problem, solve
from unipd.couplings import LeastSquares
from unipd.errors import OracleError, UnboundedOracle
from unipd.sharp import Simplex

GENERAL = ["unipdgrad", "accunipdgrad", "corrective"]
FOR_LOSSES = [*GENERAL, "frank-wolfe", "away-step", "pairwise"]
for_constraints = pytest.mark.parametrize("method", GENERAL)
for_losses = pytest.mark.parametrize("method", FOR_LOSSES)


class Broken(Exception):
    """What a user's oracle may raise."""


def raising(answer: Any) -> Any:
    raise Broken("no answer today")


BAD_ANSWERS: dict[str, Any] = {
    "raises": raising,
    "NaN atom": lambda answer: replace(answer, atom=np.full(3, np.nan), value=math.nan, objective=math.nan),
    "NaN value": lambda answer: replace(answer, value=math.nan, objective=math.nan),
    "infinite value": lambda answer: replace(answer, value=math.inf, objective=-math.inf),
    "wrong shape": lambda answer: replace(answer, atom=np.ones(5), value=math.nan),
}


@for_losses
@pytest.mark.parametrize("name", BAD_ANSWERS)
@pytest.mark.parametrize("call", [1, 4])
def test_oracles_that_go_wrong_are_an_error_with_a_name(method: str, name: str, call: int) -> None:
    oracle = Wrapped(Simplex(3), answer_at(call, BAD_ANSWERS[name]))
    problem = Problem(oracle, np.eye(3), [0.4, 0.35, 0.25], LeastSquares())
    with pytest.raises(OracleError) as caught:
        solve(problem, method, accuracy=1e-9)
    if name == "raises":
        assert isinstance(caught.value.__cause__, Broken)
        assert "no answer today" in str(caught.value)


@for_constraints
def test_an_unbounded_oracle_is_an_error_that_says_so(method: str) -> None:
    def raise_unbounded(answer: Any) -> Any:
        raise UnboundedOracle("<y, x> grows without bound over X")

    problem = Problem(Wrapped(Simplex(3), answer_at(3, raise_unbounded)), np.eye(3), [0.2, 0.3, 0.5], "=")
    with pytest.raises(UnboundedOracle, match="without bound"):
        solve(problem, method, accuracy=1e-12)


class NanMap:
    """A map whose images turn to NaN after some calls."""

    domain, codomain, dtype = (3,), (3,), np.dtype(float)

    def __init__(self, calls: int) -> None:
        self.calls = calls

    def image(self, atom: Any) -> Any:
        self.calls -= 1
        return np.asarray(atom.dense() if hasattr(atom, "dense") else atom) * (math.nan if self.calls < 0 else 1.0)

    def adjoint(self, dual: Any) -> Any:
        return dual


@for_losses
def test_a_map_that_returns_nan_is_an_error(method: str) -> None:
    problem = Problem(Simplex(3), NanMap(2), [0.4, 0.35, 0.25], LeastSquares())
    with pytest.raises(OracleError):
        solve(problem, method, accuracy=1e-12)
