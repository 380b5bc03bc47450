"""Iteration bounds, oracle counts, and the exponents by which work grows as eps shrinks."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.known_optima import KNOWN, Known, box_program, power_problem, simplex_program
from support.oracles import EntrywisePower, EuclideanPower, Wrapped
from unipd import AccUniPDGrad, Problem, UniPDGrad, iterate, theory
from unipd._typing import Array
from unipd.methods import State
from unipd.run import History

METHODS = {"unipdgrad": UniPDGrad, "accunipdgrad": AccUniPDGrad}
every_method = pytest.mark.parametrize("method", METHODS)


def iterations_to(known: Known, method: UniPDGrad | AccUniPDGrad, eps: float, limit: int, start: Array | None) -> State:
    """Return the first state whose xbar is an eps-solution in the sense of the paper's k_max."""
    weight = max(1.0, known.dual_norm)
    for state in islice(iterate(known.problem, method, start=start), limit):
        excess = known.problem.sharp.objective(state.primal.point()) - known.optimum
        if abs(excess) <= eps and weight * state.certificate.violation <= eps:
            return state
    pytest.fail(f"no {eps}-solution in {limit} iterations")


@every_method
@pytest.mark.parametrize(
    ("name", "eps"), [("nu=0 simplex <=", 0.5), ("nu=1 =", 0.05), ("nu=1/2 =", 0.1), ("nu=1/3 =", 0.2)]
)
def test_an_eps_solution_comes_within_k_max(method: str, name: str, eps: float) -> None:
    known = KNOWN[name]()
    count = theory.unipdgrad_iterations if method == "unipdgrad" else theory.accunipdgrad_iterations
    k_max = count(eps, known.dual_norm, {known.nu: known.holder})
    assert k_max < 20_000
    state = iterations_to(known, METHODS[method](eps=eps), eps, k_max + 1, None)
    assert 1 < state.iteration <= k_max + 1


@every_method
@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("power", [0, 5])
def test_trials_and_oracle_calls_are_exactly_the_papers(method: str, name: str, power: int) -> None:
    known, eps = KNOWN[name](), 0.02
    first = theory.smoothness_bound(known.nu, known.holder, eps) / 2**power
    counter = Wrapped(known.problem.sharp, lambda call, answer, direction: answer)
    problem = Problem(counter, known.problem.map, known.problem.b, known.problem.coupling)
    universal = method == "unipdgrad"
    trials = theory.unipdgrad_trials if universal else theory.accunipdgrad_trials
    calls = theory.unipdgrad_oracle_calls if universal else theory.accunipdgrad_oracle_calls
    for state in islice(iterate(problem, METHODS[method](eps=eps, smoothness=first)), 60):
        k = state.iteration - 1
        assert state.counts.trials == trials(k, state.smoothness, first)
        assert state.counts.oracle_calls == calls(k, state.smoothness, first) == counter.calls
        if universal:
            pairs = {known.nu: known.holder}
            assert state.counts.trials <= theory.unipdgrad_oracle_bound(k, eps, first, pairs)
        else:
            bound = theory.accunipdgrad_oracle_bound(k, eps, first, known.nu, known.holder)
            assert state.counts.oracle_calls <= bound


@every_method
def test_an_estimated_first_smoothness_is_at_most_m_bar(method: str) -> None:
    for make in KNOWN.values():
        known = make()
        for eps in (1.0, 1e-3):
            state = METHODS[method](eps=eps).start(
                known.problem, next(iterate(known.problem)).primal, np.zeros_like(known.dual), 1e-3
            )
            assert 0 < state.smoothness <= theory.smoothness_bound(known.nu, known.holder, eps)


def singular_problem(q: float) -> tuple[Known, Array]:
    """min ||x||^q / q with A x = 0: the dual optimum is the point where grad g is Hölder of degree 1/(q-1) only."""
    known = power_problem(EuclideanPower(8, q), scale=0.0)
    return known, np.random.default_rng(5).standard_normal(known.dual.size)


def slope(x: list[float], y: list[float]) -> float:
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


GRIDS = {
    ("unipdgrad", 2.0): [0.1, 0.03, 0.01, 0.003],
    ("unipdgrad", 3.0): [0.1, 0.05, 0.02, 0.01],
    ("unipdgrad", 4.0): [0.2, 0.1, 0.06, 0.04],
    ("accunipdgrad", 2.0): [0.1, 0.01, 0.001, 0.0001],
    ("accunipdgrad", 3.0): [0.1, 0.03, 0.01, 0.003],
    ("accunipdgrad", 4.0): [0.1, 0.03, 0.01, 0.005],
}


@pytest.mark.parametrize(("method", "q"), GRIDS)
def test_work_grows_by_the_predicted_exponent_though_nu_is_unknown(method: str, q: float) -> None:
    known, start = singular_problem(q)
    nu, grid = known.nu, GRIDS[method, q]
    states = [iterations_to(known, METHODS[method](eps=eps), eps, 6000, start) for eps in grid]
    accelerated = method == "accunipdgrad"
    predicted = -2.0 / (1.0 + (3.0 if accelerated else 1.0) * nu)
    assert slope(grid, [float(s.iteration) for s in states]) == pytest.approx(predicted, abs=0.25)


@pytest.mark.parametrize(("method", "q"), GRIDS)
def test_the_accepted_smoothness_grows_by_the_exponent_of_m_bar(method: str, q: float) -> None:
    known, start = singular_problem(q)
    nu, grid = known.nu, [0.1, 0.01, 0.001]
    largest = [
        max(s.smoothness for s in islice(iterate(known.problem, METHODS[method](eps=eps), start=start), 400))
        for eps in grid
    ]
    assert slope(grid, largest) == pytest.approx(-(1.0 - nu) / (1.0 + nu), abs=0.15)


@every_method
@pytest.mark.parametrize("make", [simplex_program, box_program])
def test_at_nu_zero_iterations_grow_like_one_over_eps_squared(method: str, make: Callable[[], Known]) -> None:
    known, grid = make(), [0.4, 0.2, 0.1]
    states = [iterations_to(known, METHODS[method](eps=eps), eps, 8000, None) for eps in grid]
    assert slope(grid, [float(s.iteration) for s in states]) == pytest.approx(-2.0, abs=0.5)


def running_exponent(problem: Problem, method: UniPDGrad | AccUniPDGrad, start: Array | None) -> Array:
    history = History()
    for state in islice(iterate(problem, method, start=start), 200):
        history.record(problem, state, 0.0)
    return history["nu"]


@every_method
def test_the_running_estimate_tells_smooth_from_nonsmooth_duals(method: str) -> None:
    universal = METHODS[method](eps=0.05)
    smooth, start = singular_problem(2.0)
    assert running_exponent(smooth.problem, universal, start)[-1] >= 0.85
    assert running_exponent(simplex_program().problem, universal, None)[-1] <= 0.15
    assert running_exponent(box_program().problem, universal, None)[-1] <= 0.15


@given(nu=st.floats(0.0, 1.0), constant=st.floats(1e-3, 1e3), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=50)
def test_the_exponent_of_an_exact_power_law_is_recovered(nu: float, constant: float, seed: int) -> None:
    steps = 10.0 ** np.random.default_rng(seed).uniform(-6.0, 2.0, 20)
    assert theory.holder_exponent(steps, constant * steps**nu) == pytest.approx(nu, abs=1e-6)


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 30))
@settings(max_examples=50)
def test_running_exponents_are_those_of_every_beginning(seed: int, count: int) -> None:
    random = np.random.default_rng(seed)
    steps, changes = 10.0 ** random.uniform(-4.0, 2.0, (2, count))
    steps[random.random(count) < 0.2] = np.nan
    changes[random.random(count) < 0.2] = 0.0
    slow = [theory.holder_exponent(steps[: k + 1], changes[: k + 1]) for k in range(count)]
    np.testing.assert_allclose(theory.running_exponents(steps, changes), slow, atol=1e-8)


def test_the_exponent_is_unknown_when_steps_do_not_vary() -> None:
    steps = np.array([1.0, 1.5, np.nan, 0.0])
    assert math.isnan(theory.holder_exponent(steps, steps))
    assert math.isnan(theory.holder_exponent(steps[:0], steps[:0]))


def test_uniform_convexity_gives_the_hoelder_constant() -> None:
    random = np.random.default_rng(3)
    for oracle in (EuclideanPower(6, 2.0), EuclideanPower(6, 3.0), EntrywisePower(6, 3.0), EntrywisePower(6, 4.0)):
        A = random.standard_normal((4, 6))
        nu, constant = theory.uniform_convexity_constant(oracle.q, oracle.modulus, float(np.linalg.norm(A, 2)))
        ratios = []
        for _ in range(300):
            scale = 10.0 ** random.uniform(-3, 1)
            first, second = random.standard_normal((2, 4)) * scale
            if random.random() < 0.3:
                second = -first
            change = A @ (oracle.maximiser(-A.T @ first) - oracle.maximiser(-A.T @ second))
            ratios.append(np.linalg.norm(change) / np.linalg.norm(first - second) ** nu)
        assert 0.1 * constant <= max(ratios) <= constant * (1.0 + 1e-12)
