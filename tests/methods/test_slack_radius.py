"""A slack radius too small for the residuals must not give a bound above the optimum."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unipd
from unipd import couplings, sharp

LOSSES = {
    "huber": lambda radius: couplings.Huber(0.1, slack_radius=radius),
    "absolute": lambda radius: couplings.Absolute(slack_radius=radius),
    "logistic": lambda radius: couplings.Logistic(slack_radius=radius),
}
METHODS = ["auto", "unipdgrad", "accunipdgrad"]


def _data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    A = random.standard_normal((8, 12))
    return A, 3.0 * random.standard_normal(8)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=6)
@given(seed=st.integers(0, 1000), radius=st.sampled_from([1e-3, 0.1, 1.0]))
def test_the_bound_is_never_above_the_optimum(name: str, method: str, seed: int, radius: float) -> None:
    A, b = _data(seed)
    truth = unipd.solve(unipd.Problem(sharp.L1Ball(12), A, b, LOSSES[name](None)), accuracy=1e-8)
    assert truth.status is unipd.Status.SOLVED
    problem = unipd.Problem(sharp.L1Ball(12), A, b, LOSSES[name](radius))
    assert problem.split
    result = unipd.solve(problem, method, accuracy=1e-3, stop=unipd.MaxIterations(150))
    assert result.dual_bound <= truth.objective * (1 + 1e-7)
    assert result.objective >= truth.dual_bound * (1 - 1e-7)


@pytest.mark.parametrize("name", LOSSES)
def test_a_radius_that_fits_still_gives_a_bound(name: str) -> None:
    A, b = _data(0)
    problem = unipd.Problem(sharp.L1Ball(12), A, b, LOSSES[name](20.0))
    result = unipd.solve(problem, "unipdgrad", accuracy=1e-3, stop=unipd.MaxIterations(2000))
    assert math.isfinite(result.dual_bound)
    assert result.gap < 0.5


def test_without_homogeneity_there_is_no_bound_outside_the_domain() -> None:
    A, b = _data(1)
    oracle = sharp.Linear(np.ones(12), sharp.L1Ball(12))
    problem = unipd.Problem(oracle, A, b, couplings.Absolute(slack_radius=0.5))
    point = unipd.dual.evaluate(problem, np.full(8, 3.0))
    assert unipd.dual.lower_bound(problem, point).value == -math.inf
