"""Losses against scalar searches, entry by entry, and properties of single losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import unipd
from unipd._typing import Array
from unipd.couplings import (
    Absolute,
    ConvexLoss,
    Huber,
    LeastSquares,
    Logistic,
    MultinomialLikelihood,
    PoissonLikelihood,
    WeightedLeastSquares,
    logistic_prox,
)

from .registry import LOSSES, LossCase, names, sample

every_loss = pytest.mark.parametrize("case", LOSSES, ids=names(LOSSES))
SPLITTABLE = [case for case in LOSSES if case.coupling.splittable]
every_splittable_loss = pytest.mark.parametrize("case", SPLITTABLE, ids=names(SPLITTABLE))


def minimum(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the minimum of a convex function of one number: a grid, then Brent's method around its best point."""
    grid = np.linspace(low, high, 401)
    values = [function(float(point)) for point in grid]
    best = int(np.argmin(values))
    around = (grid[max(best - 1, 0)], grid[min(best + 1, 400)])
    found = minimize_scalar(function, bounds=around, method="bounded", options={"xatol": 1e-12})
    return min(float(found.fun), min(values))


def probe(case: LossCase, seed: int = 0) -> np.ndarray:
    """Return a vector in the domain of the loss."""
    vector = 2.0 * sample(np.random.default_rng(seed), case.shape, np.float64)
    return np.abs(vector) if case.positive else vector


@every_loss
def test_value_is_the_sum_of_the_entries(case: LossCase) -> None:
    r = probe(case)
    expected = sum(case.entry(float(x), i) for i, x in enumerate(r.reshape(-1)))
    assert case.coupling.value(r) == pytest.approx(expected, rel=1e-14)
    assert case.coupling.value(r.astype(np.float32)) == pytest.approx(expected, rel=1e-6)


@every_loss
def test_gradient_is_the_derivative(case: LossCase) -> None:
    r, small = probe(case), 1e-6
    flat, slope = r.reshape(-1), case.coupling.gradient(r).reshape(-1)
    for i, x in enumerate(flat):
        difference = case.entry(float(x) + small, i) - case.entry(float(x) - small, i)
        assert slope[i] == pytest.approx(difference / (2 * small), abs=1e-7)


@every_loss
@pytest.mark.parametrize("step", [0.05, 1.0, 30.0])
def test_prox_against_a_scalar_search(case: LossCase, step: float) -> None:
    v = 2.0 * sample(np.random.default_rng(1), case.shape, np.float64)
    r = case.coupling.prox(v, step)
    assert r.shape == v.shape
    for i, (x, target) in enumerate(zip(r.reshape(-1), v.reshape(-1), strict=True)):

        def cost(point: float, i: int = i, target: float = float(target)) -> float:
            return case.entry(point, i) + (point - target) ** 2 / (2.0 * step)

        reach = abs(float(target)) + 5.0 * step
        assert cost(float(x)) <= minimum(cost, -reach, reach) + 1e-12


@every_splittable_loss
def test_slack_against_a_scalar_search(case: LossCase) -> None:
    radius = getattr(case.coupling, "slack_radius", None)
    reach = 50.0 if radius is None else radius
    for scale in (0.1, 0.5, 3.0):
        dual = scale * probe(case, 2)
        r, value = case.coupling.slack(dual)
        assert float(np.abs(r).max()) <= reach
        expected = 0.0
        for i, slope in enumerate(dual.reshape(-1)):

            def loss(point: float, i: int = i, slope: float = float(slope)) -> float:
                return case.entry(point, i) - slope * point

            expected -= minimum(loss, -reach, reach)
        assert value == pytest.approx(expected, abs=1e-9)


@every_splittable_loss
def test_slack_maximiser_is_the_gradient_of_the_slack_value(case: LossCase) -> None:
    dual, small = 0.37 * probe(case, 3), 1e-6
    r = case.coupling.slack(dual)[0].reshape(-1)
    for i in range(dual.size):
        move = np.zeros(dual.size)
        move[i] = small
        move = move.reshape(dual.shape)
        difference = case.coupling.slack(dual + move)[1] - case.coupling.slack(dual - move)[1]
        assert r[i] == pytest.approx(difference / (2 * small), abs=1e-5)


@every_loss
def test_conjugate_against_a_scalar_search(case: LossCase) -> None:
    dual = case.coupling.gradient(probe(case, 4))
    expected = 0.0
    for i, slope in enumerate(dual.reshape(-1)):

        def loss(point: float, i: int = i, slope: float = float(slope)) -> float:
            return case.entry(point, i) - slope * point

        expected -= minimum(loss, -30.0, 30.0)
    assert case.coupling.conjugate(dual) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("loss", "outside"),
    [
        (Huber(0.5), [0.5001, 0.0]),
        (Huber(0.5), [0.0, -0.5001]),
        (Absolute(), [1.0001, 0.0]),
        (Logistic(), [-0.5, 1e-4]),
        (Logistic(), [-1.0001, -0.5]),
    ],
)
def test_conjugates_are_infinite_outside_their_domain(loss: Any, outside: list[float]) -> None:
    assert loss.conjugate(np.array(outside)) == np.inf
    assert loss.conjugate_degree is None


@pytest.mark.parametrize("loss", [Huber, Absolute, Logistic])
def test_losses_split_only_with_a_radius(loss: Any) -> None:
    assert not loss().splittable
    assert loss(slack_radius=2.0).splittable
    assert LeastSquares().splittable


def test_curvatures() -> None:
    assert LeastSquares(3.0).curvature() == 3.0
    assert WeightedLeastSquares([1.0, 5.0, 2.0]).curvature() == 5.0
    assert Huber(0.1).curvature() == 1.0
    assert Logistic().curvature() == 0.25
    assert Absolute().curvature() == np.inf


def test_likelihoods_of_all_outcomes_differ_by_the_missing_probability():
    counts, p = np.array([3.0, 0.0, 1.0]), np.array([0.5, 0.125, 0.25])
    multinomial, poisson = MultinomialLikelihood(counts, shots=4), PoissonLikelihood(counts, exposure=4.0)
    assert poisson.value(p) - multinomial.value(p) == pytest.approx(4.0 * (p.sum() - 1.0))
    assert multinomial.value(counts / 4) == poisson.value(counts / 4) == 0.0
    assert multinomial.value(np.array([0.0, 0.5, 0.5])) == np.inf
    assert np.isnan(multinomial.value(np.array([np.nan, 0.5, 0.5])))
    assert multinomial.curvature() == np.inf
    assert multinomial.is_differentiable


def test_the_gradient_of_a_likelihood_is_finite_at_zero_probability():
    loss = MultinomialLikelihood([1000.0, 0.0], shots=1000)
    for dtype in (np.float64, np.float32):
        slope = loss.gradient(np.zeros(2, dtype))
        assert np.isfinite(slope).all()
        assert slope.dtype == dtype


def test_counts_that_are_no_counts_are_refused():
    for counts, shots in (([1.0, -1.0], 4), ([0.0, 0.0], 4), ([5.0, 0.0], 4), ([], 4)):
        with pytest.raises(unipd.errors.InvalidInput):
            MultinomialLikelihood(counts, shots)
    with pytest.raises(unipd.errors.InvalidInput, match="exposure"):
        PoissonLikelihood([1.0], 0.0)


def test_complex_losses_depend_on_the_modulus_alone() -> None:
    rng = np.random.default_rng(5)
    modulus = np.abs(2.0 * rng.standard_normal(30))
    turn = np.exp(2j * np.pi * rng.uniform(size=30))
    for loss in (Huber(0.6, slack_radius=1.3), Absolute(slack_radius=1.3)):
        turned = turn * modulus
        np.testing.assert_allclose(loss.prox(turned, 0.4), turn * loss.prox(modulus, 0.4), atol=1e-15)
        np.testing.assert_allclose(loss.gradient(turned), turn * loss.gradient(modulus), atol=1e-15)
        np.testing.assert_allclose(
            loss.prox_conjugate(turned, 0.4), turn * loss.prox_conjugate(modulus, 0.4), atol=1e-15
        )
        r, value = loss.slack(turned)
        plain, same = loss.slack(modulus)
        np.testing.assert_allclose(r, turn * plain, atol=1e-14)
        assert value == pytest.approx(same)
        assert loss.value(turned) == pytest.approx(loss.value(modulus))


def test_logistic_survives_extremes() -> None:
    r = np.array([-1e4, -40.0, 0.0, 40.0, 1e4])
    loss = Logistic(slack_radius=1e3)
    assert loss.value(r) == pytest.approx(1e4 + 40.0 + np.log(2.0))
    np.testing.assert_allclose(loss.gradient(r), [-1.0, -1.0, -0.5, -np.exp(-40.0), 0.0], rtol=1e-15)
    assert loss.conjugate(np.array([-1.0, 0.0])) == 0.0
    tiny = 1e-200
    assert loss.conjugate(np.array([-tiny])) == pytest.approx(tiny * np.log(tiny) - tiny, rel=1e-14)
    maximiser, value = loss.slack(np.array([0.5, -0.5, -2.0]))
    np.testing.assert_array_equal(maximiser, [1e3, 0.0, -1e3])
    assert value == pytest.approx(500.0 - np.log(2.0) + 2000.0 - 1000.0)


@pytest.mark.parametrize("step", [1e-10, 1e-3, 0.5, 7.0, 1e4, 1e9, 1e14])
def test_logistic_prox_solves_its_equation_to_machine_precision(step: float) -> None:
    rng = np.random.default_rng(6)
    spread = np.concatenate([rng.uniform(-50, 50, 500), step * rng.uniform(-2, 1, 500), 1e5 * rng.standard_normal(50)])
    spread = np.concatenate([spread, -step * 10.0 ** rng.uniform(-16, 0, 500), [0.0, -0.5 * step, -step]])
    r = logistic_prox(spread, step)
    with np.errstate(over="ignore"):
        slope = 1.0 / (1.0 + np.exp(r))
    wrong = r - spread - step * slope
    ulps = np.finfo(float).eps * (np.abs(spread) + np.abs(r) * (1.0 + step * slope * (1.0 - slope)))
    assert np.all(np.abs(wrong) <= 8 * ulps)


def test_logistic_prox_does_not_depend_on_the_neighbours() -> None:
    v = 30.0 * np.random.default_rng(7).standard_normal(100)
    together = Logistic().prox(v, 5.0)
    alone = np.array([float(Logistic().prox(v[i : i + 1], 5.0)[0]) for i in range(100)])
    np.testing.assert_allclose(together, alone, rtol=1e-15)


def test_prox_of_the_logistic_conjugate_is_a_probability() -> None:
    v = np.concatenate([np.linspace(-1e6, 1e6, 101), np.linspace(-2.0, 2.0, 101)])
    for dtype in (np.float64, np.float32):
        for step in (1e-6, 1.0, 1e6):
            dual = Logistic().prox_conjugate(v.astype(dtype), step)
            assert dual.min() >= -1.0
            assert dual.max() <= 0.0


def test_weighted_least_squares_with_equal_weights_is_least_squares() -> None:
    v = sample(np.random.default_rng(8), (6,), np.complex128)
    weighted, plain = WeightedLeastSquares(np.full(6, 2.5)), LeastSquares(2.5)
    np.testing.assert_allclose(weighted.prox(v, 0.3), plain.prox(v, 0.3))
    np.testing.assert_allclose(weighted.prox_conjugate(v, 0.3), plain.prox_conjugate(v, 0.3))
    np.testing.assert_allclose(weighted.gradient(v), plain.gradient(v))
    assert weighted.conjugate(v) == pytest.approx(plain.conjugate(v))
    assert weighted.value(v) == pytest.approx(plain.value(v))


def test_weights_are_copied() -> None:
    weights = np.ones(2)
    loss = WeightedLeastSquares(weights)
    weights[:] = -1.0
    assert loss.value(np.ones(2)) == 1.0


def test_slack_jumps_where_the_conjugate_ends() -> None:
    r, value = Absolute(slack_radius=2.0).slack(np.array([1.01, -1.01, 0.99, -0.99]))
    np.testing.assert_array_equal(r, [2.0, -2.0, 0.0, 0.0])
    assert value == pytest.approx(2 * 2.0 * 0.01)
    r, value = Huber(0.5, slack_radius=3.0).slack(np.array([0.51, -0.49]))
    np.testing.assert_array_equal(r, [3.0, -0.49])
    assert value == pytest.approx(0.51 * 3.0 - 0.5 * (3.0 - 0.25) + 0.5 * 0.49**2)


def test_a_loss_without_slack_block_is_solved_through_its_prox() -> None:
    class Tilted(ConvexLoss):
        """||r||^2 / 2 + <r, 1>."""

        def value(self, residual: Array) -> float:
            return float(np.sum(residual**2 / 2 + residual))

        def gradient(self, residual: Array) -> Array:
            return residual + 1

        def curvature(self) -> float:
            return 1.0

        def conjugate(self, dual: Array) -> float:
            return float(np.sum((dual - 1) ** 2) / 2)

        def prox(self, vector: Array, step: float) -> Array:
            return (vector - step) / (1 + step)

    problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [1.0, 3.0], Tilted())
    assert not problem.split
    result = unipd.solve(problem, "accunipdgrad", accuracy=1e-6)
    assert result.status.success
    np.testing.assert_allclose(result.x, [0.0, 1.0], atol=1e-3)


def test_likelihoods_are_solved_to_an_absolute_gap_in_nats():
    rng = np.random.default_rng(9)
    components, counts = rng.dirichlet(np.ones(12), 4).T, rng.multinomial(500, np.full(12, 1 / 12)).astype(float)
    loss = MultinomialLikelihood(counts, shots=500)
    problem = unipd.Problem(unipd.sharp.Simplex(4), components, np.zeros(12), loss)
    result = unipd.solve(problem, accuracy=1e-3)
    weights = np.full(4, 0.25)
    for _ in range(5000):  # expectation maximisation
        weights = weights * (components.T @ (counts / (components @ weights))) / 500
    assert result.status.success
    assert result.gap == result.objective - result.dual_bound <= 1e-3
    assert result.dual_bound <= loss.value(components @ weights) <= result.objective + 1e-9


def test_poisson_values_near_the_fit_are_accurate():
    """The value is of second order at the fit, and so is what is left of it after rounding."""
    counts, deviation = np.full(4, 1e12), 1e-7 * np.array([1.0, -1.0, 2.0, -2.0])
    loss = PoissonLikelihood(counts, exposure=4e12)
    expected = float(np.sum(counts * (deviation - np.log1p(deviation))))
    assert loss.value(0.25 * (1.0 + deviation)) == pytest.approx(expected, abs=1e-3)
    assert loss.value(np.full(4, 0.25)) == 0.0
