"""The dual function against its definition: g, its gradient, h, and the bounds that certify."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from support.known_optima import KNOWN
from support.oracles import Wrapped
from support.references import LOSSES, SETS, constrained_reference, loss_reference
from unipd import Problem
from unipd._typing import Array
from unipd._util.arrays import inner
from unipd.couplings import AtMost, Equality
from unipd.dual import DualValue, call_oracle, dual_space, dual_value, evaluate, lower_bound, proximal_step
from unipd.methods import Certificate
from unipd.sharp import L1Ball, L2NormSquared, Simplex, UnitSimplex

seeds = st.integers(0, 2**32 - 1)
scales = st.sampled_from([1e-3, 0.1, 1.0, 10.0])
examples = settings(max_examples=25)


def random_dual(problem: Problem, seed: int, scale: float) -> Array:
    """Return a random dual vector in the domain of h."""
    vector = scale * np.random.default_rng(seed).standard_normal(problem.b.size)
    return problem.coupling.prox_conjugate(vector, 1.0) if not problem.split else vector


def total(problem: Problem, dual: Array) -> float:
    """Return G(lam) = g(lam) + h(lam), whatever the form in which a loss enters."""
    value = evaluate(problem, dual).value
    return value if problem.split else value + problem.coupling.conjugate(dual)


def value_alone(problem: Problem, dual: Array) -> DualValue:
    """Return g(lam) through the oracle's value alone."""
    return dual_value(problem, dual, call_oracle(problem, dual, without_atom=True))


@given(seed=seeds, scale=scales)
@examples
def test_g_is_the_maximum_over_the_vertices(seed: int, scale: float) -> None:
    problem, _ = constrained_reference("linear on the simplex", "equality")
    dual = scale * np.random.default_rng(seed).standard_normal(6)
    columns, cost = problem.map.matrix, problem.sharp.cost
    expected = max(-dual @ columns[:, i] - cost[i] for i in range(cost.size)) + dual @ problem.b
    point = evaluate(problem, dual)
    assert point.value == pytest.approx(expected, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(point.gradient, problem.b - problem.map.image(point.atom))
    assert value_alone(problem, dual).value == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", ["nu=1 =", "nu=1/2 =", "nu=1/3 entrywise"])
@given(seed=seeds)
@examples
def test_the_gradient_is_that_of_g(name: str, seed: int) -> None:
    problem = KNOWN[name]().problem
    random = np.random.default_rng(seed)
    dual, direction = random.standard_normal((2, problem.b.size))
    step = 1e-6
    slope = (evaluate(problem, dual + step * direction).value - evaluate(problem, dual - step * direction).value) / 2e-6
    assert inner(evaluate(problem, dual).gradient, direction) == pytest.approx(slope, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("split", [True, False])
@given(seed=seeds, scale=scales)
@examples
def test_g_is_convex_with_the_returned_subgradient(split: bool, seed: int, scale: float) -> None:
    problem, _ = loss_reference("simplex", "least squares", split)
    random = np.random.default_rng(seed)
    first, second = scale * random.standard_normal((2, problem.b.size))
    base = evaluate(problem, first)
    line = base.value + inner(base.gradient, second - first)
    assert evaluate(problem, second).value >= line - 1e-9 * (1.0 + abs(line))


@pytest.mark.parametrize("coupling", SETS)
@pytest.mark.parametrize("point", ["linear on the simplex", "squared norm"])
@given(seed=seeds, scale=scales)
@examples
def test_weak_duality_with_constraints(point: str, coupling: str, seed: int, scale: float) -> None:
    problem, optimum = constrained_reference(point, coupling)
    dual = random_dual(problem, seed, scale)
    bound = lower_bound(problem, evaluate(problem, dual))
    assert -total(problem, dual) - 1e-9 <= bound.value <= optimum + 1e-6


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("split", [True, False])
@given(seed=seeds, scale=scales)
@example(seed=27889, scale=1e-3)
@examples
def test_weak_duality_with_losses(loss: str, split: bool, seed: int, scale: float) -> None:
    """The bound is at least -g - h with the conjugate h itself: a slack block cut off at its radius proves nothing."""
    problem, optimum = loss_reference("l1 ball", loss, split)
    dual = random_dual(problem, seed, scale)
    bound = lower_bound(problem, evaluate(problem, dual))
    whole, _ = loss_reference("l1 ball", loss, False)
    assert -total(whole, dual) - 1e-9 <= bound.value <= optimum + 1e-6


@pytest.mark.parametrize("split", [True, False])
@given(seed=seeds, scale=scales)
@examples
def test_the_ray_search_finds_the_best_scale(split: bool, seed: int, scale: float) -> None:
    problem, _ = loss_reference("l1 ball", "least squares", split)
    dual = random_dual(problem, seed, scale)
    bound = lower_bound(problem, evaluate(problem, dual))

    def along(t: float) -> float:
        return total(problem, t * dual)

    best = minimize_scalar(along, bounds=(0.0, 10.0 * max(bound.ray_scale, 1.0)), method="bounded")
    assert bound.value >= -best.fun - 1e-9
    assert -along(bound.ray_scale) == pytest.approx(bound.value, abs=1e-9)


def test_a_ray_that_proves_infeasibility_has_an_infinite_bound() -> None:
    problem = Problem(Simplex(2), np.eye(2), [2.0, 0.0], "=")
    dual = np.array([-1.0, 0.0])
    bound = lower_bound(problem, evaluate(problem, dual))
    assert bound.value == bound.ray_scale == math.inf


@pytest.mark.parametrize("oracle", [UnitSimplex(6), L1Ball(6), L2NormSquared(6)])
@pytest.mark.parametrize("length", [1.0, 1e6])
def test_a_sum_that_rounding_explains_bounds_by_zero_at_zero(oracle: Any, length: float) -> None:
    """A^* lam = 0 and b in the image: <lam, b> is zero but for rounding, which lam of any length can make large."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows, mixture, weights = 1e5 * rng.standard_normal((3, 6)), rng.standard_normal((3, 3)), rng.standard_normal(3)
        matrix = np.concatenate([rows, mixture @ rows])
        b = matrix @ (rng.dirichlet(np.ones(6)) / 7.0)
        dual = length * np.concatenate([-mixture.T @ weights, weights])
        problem = Problem(oracle, matrix, b, "=")
        point = evaluate(problem, dual)
        bound = lower_bound(problem, point)
        assert (bound.value, bound.ray_scale) == (0.0, 0.0)
        certificate = Certificate(0.0, 0.0, 0.0, -math.inf, dual).update_bound(problem, point)
        assert -total(problem, certificate.dual) == certificate.dual_bound
        assert not certificate.proves_infeasible(problem)


def test_outside_the_domain_of_h_there_is_no_bound() -> None:
    problem = Problem(Simplex(2), np.eye(2), [0.5, 0.5], AtMost())
    dual = np.array([-1.0, 0.5])
    assert lower_bound(problem, evaluate(problem, dual)).value == -math.inf


@given(seed=seeds)
@examples
def test_a_known_atom_bounds_g_elsewhere_from_below(seed: int) -> None:
    problem, _ = loss_reference("simplex", "least squares")
    first, second = np.random.default_rng(seed).standard_normal((2, problem.b.size))
    answer = call_oracle(problem, first)
    model = dual_space(problem).lower_model(evaluate(problem, second), answer)
    np.testing.assert_array_equal(model.dual, second)
    assert model.value == pytest.approx(second @ (problem.b - problem.map.image(answer.atom)) + 0.5 * second @ second)
    assert model.value <= evaluate(problem, second).value + 1e-12
    assert model.error == math.inf


@pytest.mark.parametrize("coupling", SETS)
def test_the_proximal_step_minimises_its_model(coupling: str) -> None:
    problem, _ = constrained_reference("squared norm", coupling)
    random = np.random.default_rng(0)
    smoothness = 2.5
    for seed in range(10):
        dual = random_dual(problem, seed, 1.0)
        gradient = evaluate(problem, dual).gradient
        new = proximal_step(problem, dual, gradient, smoothness)

        def model(lam: Array, dual: Array = dual, gradient: Array = gradient) -> float:
            step = lam - dual
            return inner(gradient, step) + 0.5 * smoothness * inner(step, step) + problem.coupling.conjugate(lam)

        best = model(new)
        assert math.isfinite(best)
        for _ in range(20):
            other = problem.coupling.prox_conjugate(new + 0.1 * random.standard_normal(new.size), 1e-3)
            assert model(other) >= best - 1e-9


def test_certified_errors_weaken_the_bound() -> None:
    problem, _ = constrained_reference("linear on the simplex", "equality")
    spoiled = Wrapped(problem.sharp, lambda call, answer, direction: replace(answer, error=0.25), exact=False)
    unsure = Problem(spoiled, problem.map, problem.b, problem.coupling)
    dual = np.random.default_rng(0).standard_normal(6)
    sure_bound = lower_bound(problem, evaluate(problem, dual)).value
    unsure_bound = lower_bound(unsure, evaluate(unsure, dual)).value
    assert unsure_bound == pytest.approx(sure_bound - 0.25)
    assert value_alone(unsure, dual).conjugate == pytest.approx(evaluate(unsure, dual).conjugate)


def test_products_are_counted() -> None:
    problem, _ = constrained_reference("squared norm", "equality")
    dual = np.ones(6)
    assert evaluate(problem, dual).matvecs == 2
    assert value_alone(problem, dual).matvecs == 1


def test_a_conjugate_that_is_not_a_number_bounds_nothing() -> None:
    class Broken(Equality):
        def conjugate(self, dual: Any) -> float:
            return math.nan

    problem = Problem(Simplex(2), np.eye(2), [0.5, 0.5], Broken())
    assert lower_bound(problem, evaluate(problem, np.array([1.0, -1.0]))).value == -math.inf
