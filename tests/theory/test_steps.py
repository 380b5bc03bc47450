"""Step rules: the analytic and the fixed step meet the line-search condition; quadratic duals have a finite M_bar."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from support.known_optima import KNOWN
from unipd import AccUniPDGrad, Problem, UniPDGrad, iterate, theory
from unipd._typing import Array
from unipd._util.arrays import inner
from unipd.couplings import LeastSquares, WeightedLeastSquares
from unipd.dual import evaluate, proximal_step
from unipd.methods.universal import analytic_smoothness
from unipd.sharp import Box, L1Ball, Simplex

SETS: dict[str, Any] = {
    "simplex": Simplex(7, scale=2.0),
    "l1 ball": L1Ball(7, radius=1.5),
    "box": Box(-0.5, 1.0, 7),
}
every_set = pytest.mark.parametrize("name", SETS)


def quadratic_problem(name: str, loss: Any = None, seed: int = 0) -> Problem:
    random = np.random.default_rng(seed)
    A, b = random.standard_normal((5, 7)), random.standard_normal(5)
    return Problem(SETS[name], A, b, loss if loss is not None else LeastSquares())


def excess(problem: Problem, dual: Array, smoothness: float, delta: float) -> float:
    """Return g(lam_+) - Q_M(lam_+; lam) - delta/2 for the step from lam with M: at most 0 when M is accepted."""
    base = evaluate(problem, dual)
    trial = proximal_step(problem, dual, base.gradient, smoothness)
    step = trial - dual
    model = base.value + inner(base.gradient, step) + 0.5 * smoothness * inner(step, step)
    return evaluate(problem, trial).value - model - 0.5 * delta


@every_set
@pytest.mark.parametrize("loss", [LeastSquares(), LeastSquares(4.0), WeightedLeastSquares([1.0, 2.0, 3.0, 0.5, 1.0])])
def test_the_analytic_step_needs_no_search(name: str, loss: Any) -> None:
    problem = quadratic_problem(name, loss)
    random = np.random.default_rng(4)
    longer_steps_accepted = 0
    for trial in range(60):
        dual = random.standard_normal(5) * 10.0 ** random.uniform(-3, 1)
        delta = 10.0 ** random.uniform(-6, 1)
        found = analytic_smoothness(problem, evaluate(problem, dual), delta)
        assert excess(problem, dual, found.smoothness, delta) <= 1e-9 * (1.0 + inner(dual, dual)), trial
        longer_steps_accepted += excess(problem, dual, found.smoothness / 4.0, delta) <= 0
    assert longer_steps_accepted < 60


@every_set
def test_the_analytic_method_spends_one_trial_an_iteration(name: str) -> None:
    problem = quadratic_problem(name)
    for method in (UniPDGrad(eps=1e-2, step_rule="analytic"), AccUniPDGrad(eps=1e-2, step_rule="analytic")):
        for state in islice(iterate(problem, method), 30):
            assert state.counts.trials == state.iteration
            assert state.failure is None


@every_set
@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_quadratic_duals_are_searched_below_twice_their_m_bar(name: str, scale: float) -> None:
    problem, eps = quadratic_problem(name, LeastSquares(scale)), 1e-2
    diameter = image_diameter(problem)
    for state in islice(iterate(problem, UniPDGrad(eps=eps)), 100):
        assert state.smoothness <= 2.0 * theory.quadratic_smoothness_bound(scale, diameter, eps)
    for state in islice(iterate(problem, AccUniPDGrad(eps=eps)), 100):
        delta = eps / state.iteration
        assert state.smoothness <= 2.0 * theory.quadratic_smoothness_bound(scale, diameter, delta)


@every_set
def test_the_quadratic_m_bar_is_accepted_everywhere_and_much_less_is_not(name: str) -> None:
    problem, random = quadratic_problem(name, LeastSquares(2.0)), np.random.default_rng(8)
    diameter, delta = image_diameter(problem), 1e-2
    m_bar = theory.quadratic_smoothness_bound(2.0, diameter, delta)
    points = random.standard_normal((200, 5))
    assert max(excess(problem, dual, m_bar, delta) for dual in points) <= 1e-9
    assert max(excess(problem, dual, 1e-3 * m_bar, delta) for dual in points) > 0


def image_diameter(problem: Problem) -> float:
    """Return diam A(X) over the vertices of X."""
    sharp = problem.sharp
    random = np.random.default_rng(0)
    if isinstance(sharp, Box):
        corners = np.array(np.meshgrid(*[(-0.5, 1.0)] * 7)).reshape(7, -1).T
        return float(pdist(corners @ problem.map.matrix.T).max())
    vertices = {sharp(random.standard_normal(7)).atom.dense().tobytes() for _ in range(500)}
    corners = np.array([np.frombuffer(vertex) for vertex in vertices])
    return float(pdist(corners @ problem.map.matrix.T).max())


@pytest.mark.parametrize("name", KNOWN)
def test_the_fixed_step_of_a_known_exponent_keeps_the_theorems(name: str) -> None:
    known, eps = KNOWN[name](), 0.05
    m_bar = theory.smoothness_bound(known.nu, known.holder, eps)
    method = UniPDGrad(eps=eps, step_rule="fixed", holder={known.nu: known.holder})
    dual = np.zeros_like(known.dual)
    for state in islice(iterate(known.problem, method), 60):
        k = state.iteration - 1
        assert state.smoothness == m_bar
        assert state.counts.trials == k + 1
        assert state.counts.oracle_calls == k + 2
        assert excess(known.problem, dual, m_bar, eps) <= 1e-9
        gap = theory.unipdgrad_feasibility_bound(k, m_bar, eps, known.dual_norm)
        assert state.certificate.violation <= gap
        dual = state.dual


@pytest.mark.parametrize("name", KNOWN)
def test_the_fixed_step_of_the_accelerated_method(name: str) -> None:
    known, eps, t = KNOWN[name](), 0.05, 1.0
    m_bar = theory.smoothness_bound(known.nu, known.holder, eps)
    method = AccUniPDGrad(eps=eps, step_rule="fixed", holder={known.nu: known.holder})
    for state in islice(iterate(known.problem, method), 60):
        k = state.iteration - 1
        assert state.smoothness == pytest.approx(theory.smoothness_bound(known.nu, known.holder, eps / t))
        bound = theory.accunipdgrad_feasibility_bound(k, known.nu, m_bar, eps, known.dual_norm)
        assert state.certificate.violation <= bound
        t = state.t


def test_the_fixed_step_takes_the_best_of_several_known_pairs() -> None:
    method = UniPDGrad(step_rule="fixed", holder={0.0: 10.0, 1.0: 3.0})
    assert method.fixed_smoothness(1e-3) == 3.0
    assert method.fixed_smoothness(1e3) == pytest.approx(0.1)
