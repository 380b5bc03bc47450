"""Theorems 4.1 and 4.2 and the supplement's dual theorem, asserted at every iteration for nu = 0, 1/3, 1/2 and 1."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from support.known_optima import KNOWN, Known
from unipd import AccUniPDGrad, QuasiNewton, UniPDGrad, iterate, theory
from unipd._typing import Array
from unipd.dual import evaluate
from unipd.methods import State
from unipd.methods.universal import QuasiNewtonState

ITERATIONS = 150
ROUNDING = 1e-9

every_problem = pytest.mark.parametrize("name", KNOWN)
every_eps = pytest.mark.parametrize("eps", [0.3, 1e-2])
every_start = pytest.mark.parametrize("far", [False, True], ids=["from zero", "from afar"])


def start_of(known: Known, far: bool) -> Array:
    """Return lam_0: zero, or a vector of dom h away from both zero and the optimum."""
    if not far:
        return np.zeros_like(known.dual)
    direction = np.random.default_rng(9).standard_normal(known.dual.size)
    return known.problem.coupling.prox_conjugate(3.0 * direction, 1.0)


def errors(known: Known, state: State) -> tuple[float, float]:
    """Return f(xbar) - f^* and dist(A xbar - b, K), computed from xbar itself."""
    problem, x = known.problem, state.primal.point()
    residual = problem.map.image(x) - problem.b
    return problem.sharp.objective(x) - known.optimum, problem.coupling.distance(residual)


@every_problem
def test_the_reference_solutions_are_optimal(name: str) -> None:
    known = KNOWN[name]()
    point = evaluate(known.problem, known.dual)
    total = point.value + known.problem.coupling.conjugate(known.dual)
    assert -total == pytest.approx(known.optimum, abs=ROUNDING)


@every_problem
@every_eps
@every_start
def test_theorem_4_1(name: str, eps: float, far: bool) -> None:
    known = KNOWN[name]()
    start = start_of(known, far)
    m_bar = theory.smoothness_bound(known.nu, known.holder, eps)
    distance = float(np.linalg.norm(start - known.dual))
    for state in islice(iterate(known.problem, UniPDGrad(eps=eps), start=start), ITERATIONS):
        k = state.iteration - 1
        excess, gap = errors(known, state)
        assert -known.dual_norm * gap - ROUNDING <= excess
        assert excess <= theory.unipdgrad_objective_bound(k, m_bar, eps, float(np.linalg.norm(start))) + ROUNDING
        assert gap <= theory.unipdgrad_feasibility_bound(k, m_bar, eps, distance) + ROUNDING
        assert state.smoothness <= 2.0 * m_bar


@every_problem
@every_eps
@every_start
def test_theorem_4_2(name: str, eps: float, far: bool) -> None:
    known = KNOWN[name]()
    nu, start = known.nu, start_of(known, far)
    m_bar = theory.smoothness_bound(nu, known.holder, eps)
    distance, length = float(np.linalg.norm(start - known.dual)), float(np.linalg.norm(start))
    last = 0.0
    for state in islice(iterate(known.problem, AccUniPDGrad(eps=eps), start=start), ITERATIONS):
        k = state.iteration - 1
        excess, gap = errors(known, state)
        assert -known.dual_norm * gap - ROUNDING <= excess
        assert excess <= theory.accunipdgrad_objective_bound(k, nu, m_bar, eps, length) + ROUNDING
        assert gap <= theory.accunipdgrad_feasibility_bound(k, nu, m_bar, eps, distance) + ROUNDING
        assert last <= state.smoothness <= 2.0 * theory.smoothness_bound(nu, known.holder, eps / (k + 1))
        last = state.smoothness


@every_problem
@every_eps
@every_start
def test_theorem_4_2_holds_whatever_the_quasi_newton_steps_do(name: str, eps: float, far: bool) -> None:
    """The universal steps start at the lam of the first of them, and continue from the better of z and lam."""
    known = KNOWN[name]()
    nu, start = known.nu, start_of(known, far)
    m_bar = theory.smoothness_bound(nu, known.holder, eps)
    states = islice(iterate(known.problem, QuasiNewton(period=3, eps=eps), start=start), ITERATIONS)
    distance = length = best = 0.0
    steps = 0
    for state in states:
        assert isinstance(state, QuasiNewtonState)
        universal = state.universal
        if universal is None:
            start = state.dual
        elif universal.iteration > steps:
            steps = universal.iteration
            if steps == 1:
                distance, length = float(np.linalg.norm(start - known.dual)), float(np.linalg.norm(start))
            excess, gap = errors(known, universal)
            assert excess <= theory.accunipdgrad_objective_bound(steps - 1, nu, m_bar, eps, length) + ROUNDING
            assert gap <= theory.accunipdgrad_feasibility_bound(steps - 1, nu, m_bar, eps, distance) + ROUNDING
            assert universal.smoothness <= 2.0 * theory.smoothness_bound(nu, known.holder, eps / steps)
        value = state.point.value
        assert steps == 0 or value <= best + ROUNDING
        best = value
    assert steps >= ITERATIONS // 3


@every_problem
@every_start
def test_the_averaged_dual_sequence_of_the_supplement(name: str, far: bool) -> None:
    known, eps = KNOWN[name](), 0.05
    start = start_of(known, far)
    m_bar = theory.smoothness_bound(known.nu, known.holder, eps)
    distance = float(np.linalg.norm(start - known.dual))
    weights: list[float] = []
    values: list[float] = []
    duals: list[Array] = []
    for state in islice(iterate(known.problem, UniPDGrad(eps=eps), start=start), 80):
        weights.append(1.0 / state.smoothness)
        values.append(dual_objective(known, state.dual))
        duals.append(state.dual)
        np.testing.assert_allclose(state.average_dual, np.average(duals, axis=0, weights=weights), atol=ROUNDING)
        assert state.average_dual_value == pytest.approx(np.average(values, weights=weights), abs=ROUNDING)
        assert dual_objective(known, state.average_dual) <= state.average_dual_value + ROUNDING
        bound = theory.unipdgrad_dual_bound(state.iteration - 1, m_bar, eps, distance)
        assert -ROUNDING <= state.average_dual_value + known.optimum <= bound + ROUNDING


def dual_objective(known: Known, dual: Array) -> float:
    """Return G = g + h."""
    return evaluate(known.problem, dual).value + known.problem.coupling.conjugate(dual)


@every_problem
@pytest.mark.parametrize("method", [UniPDGrad, AccUniPDGrad])
def test_every_dual_bound_lies_below_the_optimum(name: str, method: type[UniPDGrad] | type[AccUniPDGrad]) -> None:
    known = KNOWN[name]()
    states = list(islice(iterate(known.problem, method(eps=0.05)), ITERATIONS))
    bounds = np.array([state.certificate.dual_bound for state in states])
    assert np.all(np.diff(bounds) >= 0)
    assert np.all(bounds <= known.optimum + ROUNDING)
    attained = dual_objective(known, states[-1].certificate.dual)
    assert -attained == pytest.approx(bounds[-1], abs=ROUNDING)
