"""Weak duality, -G(lam) <= f(x) for every feasible x: signs, supports and domains together, through a Problem."""

from __future__ import annotations

import numpy as np
import pytest

import unipd
from unipd import dual

from .registry import LOSSES, SETS, LossCase, SetCase, names, sample

REAL_SETS = [case for case in SETS if np.float64 in case.dtypes and len(case.shape) == 1]
REAL_LOSSES = [case for case in LOSSES if len(case.shape) == 1]


def bounds(problem: unipd.Problem, rng: np.random.Generator) -> list[float]:
    """Return the lower bounds at dual vectors that the methods could meet."""
    found: list[float] = []
    for scale in (0.1, 1.0, 10.0):
        vector = scale * sample(rng, problem.dual_shape, np.float64)
        vector = vector if problem.split else problem.coupling.prox_conjugate(vector, 0.7)
        found.append(dual.lower_bound(problem, dual.evaluate(problem, vector)).value)
    return found


@pytest.mark.parametrize("case", REAL_SETS, ids=names(REAL_SETS))
def test_no_bound_of_a_feasible_problem_exceeds_its_value(case: SetCase) -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        A = sample(rng, (*case.shape, 3), np.float64)
        feasible = rng.dirichlet(np.ones(3))
        b = A @ feasible - case.member(rng, np.float64)
        problem = unipd.Problem(unipd.sharp.Simplex(3), A, b, case.coupling)
        assert max(bounds(problem, rng)) <= 1e-12


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("case", REAL_LOSSES, ids=names(REAL_LOSSES))
def test_no_bound_of_a_loss_exceeds_a_value(case: LossCase, split: bool) -> None:
    split = split and case.coupling.splittable
    rng = np.random.default_rng(1)
    for _ in range(10):
        A = sample(rng, (*case.shape, 3), np.float64)
        point = rng.dirichlet(np.ones(3))
        residual = rng.uniform(-1.0, 1.0, case.shape) * (getattr(case.coupling, "slack_radius", None) or 5.0)
        residual = np.abs(residual) if case.positive else residual
        problem = unipd.Problem(unipd.sharp.Simplex(3), A, A @ point - residual, case.coupling, split=split)
        assert max(bounds(problem, rng)) <= case.coupling.value(residual) + 1e-12
