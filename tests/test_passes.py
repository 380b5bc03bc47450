"""Compiled passes over dual vectors against the same formulas in NumPy, which short vectors go through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unipd
from unipd.dual import (
    between,
    difference_along,
    distance,
    folded_in,
    loss_slope,
    mixed,
    moved_along,
    passes,
    residual_slope,
    stepped,
    stepped_twice,
    way_between,
)
from unipd.errors import InvalidInput
from unipd.methods.weights import best_step, exact_step

SIZE = 37
COUPLINGS = {
    "=": lambda: "=",
    "least squares": lambda: unipd.couplings.LeastSquares(2.5),
    "weighted": lambda: unipd.couplings.WeightedLeastSquares(np.linspace(1.0, 2.0, SIZE)),
}


@pytest.fixture(params=[np.float32, np.float64])
def dtype(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(params=[True, False], ids=["compiled", "numpy"])
def _threshold(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "COMPILED", 1 if request.param else 10**9)


def problem(name: str, dtype: Any) -> unipd.Problem:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((SIZE, 5)).astype(dtype)
    return unipd.Problem(unipd.sharp.Simplex(5), A, rng.standard_normal(SIZE).astype(dtype), COUPLINGS[name]())


def vectors(dtype: Any, count: int) -> list[Any]:
    return list(np.random.default_rng(1).standard_normal((count, SIZE)).astype(dtype))


@pytest.mark.usefixtures("_threshold")
@pytest.mark.parametrize("name", COUPLINGS)
def test_gradient_and_sums(name: str, dtype: Any) -> None:
    given = problem(name, dtype)
    dual, image, other = vectors(dtype, 3)
    gradient, rest, conjugate, energy, steepness, pairings, change = passes.joined(given, dual, image, other)
    slack, expected = given.loss.slack(dual) if given.loss is not None else (0.0, None)
    loose: Any = {"rel": 1e-5 if dtype is np.float32 else 1e-12}
    np.testing.assert_allclose(gradient, given.b - image + slack, rtol=1e-5, atol=1e-6)
    assert gradient.dtype == dtype
    assert rest == pytest.approx(float(np.dot(dual, given.b - image)), **loose)
    assert conjugate == (None if expected is None else pytest.approx(expected, **loose))
    assert energy == pytest.approx(float(np.dot(dual, dual)), **loose)
    assert steepness == pytest.approx(float(np.dot(gradient, gradient)), **loose)
    assert (pairings is None) == (given.inverse is None)
    assert change is None or change == pytest.approx(float(np.linalg.norm(gradient - other)), **loose)
    assert (change is None) == (given.inverse is None or passes.COMPILED > SIZE)
    assert passes.joined(given, dual, image)[-1] is None
    if pairings is not None:
        twins = (dual, given.b), (gradient, given.b), (dual, gradient)
        for found, (one, other) in zip(pairings, twins, strict=True):
            size = float(np.linalg.norm(one) * np.linalg.norm(other))
            assert found == pytest.approx(float(np.dot(one, other)), abs=loose["rel"] * size)


@pytest.mark.usefixtures("_threshold")
@pytest.mark.parametrize("name", COUPLINGS)
def test_averages_and_their_distance_to_the_data(name: str, dtype: Any) -> None:
    given = problem(name, dtype)
    image, other = vectors(dtype, 2)
    mean, squared = mixed(given, image, 0.25, other)
    expected = 0.75 * image + 0.25 * other
    np.testing.assert_allclose(mean, expected, rtol=1e-5, atol=1e-6)
    assert mean.dtype == dtype
    if given.inverse is None:
        assert squared is None
    else:
        assert squared == pytest.approx(float(np.sum((expected - given.b) ** 2)), rel=1e-5)


@pytest.mark.usefixtures("_threshold")
@pytest.mark.parametrize("scale", [1.0, 2.5, None])
def test_a_step_brings_the_slope_along(scale: float | None, dtype: Any) -> None:
    b, image, way = vectors(dtype, 3)
    coupling: Any = unipd.couplings.WeightedLeastSquares(np.linspace(1.0, 2.0, SIZE))
    if scale is not None:
        coupling = unipd.couplings.LeastSquares(scale)
    given = unipd.Problem(unipd.sharp.Simplex(5), np.ones((SIZE, 5), dtype), b, coupling)
    moved, (lam, sums), loss = moved_along(given, image, 0.25, way.copy())
    np.testing.assert_allclose(moved, image + 0.25 * way, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(lam, coupling.gradient(moved - b), rtol=1e-5, atol=1e-6)
    assert moved.dtype == lam.dtype == dtype
    assert loss == pytest.approx(coupling.value((moved - b).astype(np.float64)), rel=1e-6)
    assert (sums is None) == (scale is None)
    if sums is not None:
        exact = lam.astype(np.float64)
        assert sums == pytest.approx((float(exact @ b), float(exact @ exact)), rel=1e-10)


@pytest.mark.parametrize("upper", [1e-3, 1.0])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("scale", [1.0, 2.5, None])
def test_an_exact_step_is_the_step_that_is_best_and_the_move_along_it(
    scale: float | None, sign: float, upper: float, dtype: Any
) -> None:
    b, image, tail, head = vectors(dtype, 4)
    coupling: Any = unipd.couplings.WeightedLeastSquares(np.linspace(1.0, 2.0, SIZE))
    if scale is not None:
        coupling = unipd.couplings.LeastSquares(scale)
    given = unipd.Problem(unipd.sharp.Simplex(5), np.ones((SIZE, 5), dtype), b, coupling)
    slope = float(np.vdot(coupling.gradient(image - b), head - tail))
    rise = sign * (1.0 + abs(slope)) - slope  # the way goes up, or down
    gamma, moved, (lam, sums), loss = exact_step(given, image, tail, head, -slope - rise, rise, upper)
    way = way_between(tail, head)
    assert gamma == best_step(given, image, way, -slope - rise, rise, upper)
    assert (gamma > 0.0) == (sign < 0.0)
    there, (twin, twins), value = moved_along(given, image, gamma, way[0])
    np.testing.assert_array_equal(moved, there)
    np.testing.assert_array_equal(lam, twin)
    assert (sums, loss) == (twins, value)
    beside = [coupling.value(image + g * (head - tail) - b) + g * rise for g in (0.9 * gamma, 0.5 * gamma, upper)]
    assert min(beside) >= (loss + gamma * rise) * (1.0 - 1e-6)


@pytest.mark.usefixtures("_threshold")
@pytest.mark.parametrize("name", COUPLINGS)
def test_a_whole_step_leaves_nothing_of_a_large_image(name: str, dtype: Any) -> None:
    image, other = vectors(dtype, 2)
    np.testing.assert_array_equal(mixed(problem(name, dtype), 1e9 * image, 1.0, other)[0], other)


@pytest.mark.usefixtures("_threshold")
def test_sums_of_two_vectors(dtype: Any) -> None:
    given, (first, second) = problem("=", dtype), vectors(dtype, 2)
    np.testing.assert_allclose(between(first, 0.25, second), 0.75 * first + 0.25 * second, rtol=1e-5, atol=1e-6)
    length, sizes = float(np.linalg.norm(first - second)), (float(first @ first), float(second @ second))
    assert distance(first, second, None, None) == pytest.approx(length, rel=1e-5)
    assert distance(first, second, *sizes) == pytest.approx(length, rel=1e-5)
    np.testing.assert_allclose(stepped(first, 0.25, second), first - 0.25 * second, rtol=1e-5, atol=1e-6)
    linear, energy = passes.linear_and_energy(given, first)
    assert linear == pytest.approx(float(np.dot(first, given.b)), rel=1e-4)
    assert energy == pytest.approx(float(np.dot(first, first)), rel=1e-5)


@pytest.mark.usefixtures("_threshold")
@pytest.mark.parametrize("method", ["frank-wolfe", "away-step", "unipdgrad", "accunipdgrad"])
def test_runs_are_those_of_numpy(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = problem("least squares", np.float64)
    limit = unipd.MaxIterations(20)
    found = unipd.solve(given, method, accuracy=1e-9, stop=limit)
    monkeypatch.setattr(passes, "COMPILED", 10**9)
    expected = unipd.solve(given, method, accuracy=1e-9, stop=limit)
    np.testing.assert_allclose(found.history.table[:, 2:5], expected.history.table[:, 2:5], rtol=1e-9, atol=1e-12)


def test_close_vectors_are_told_apart() -> None:
    first = np.random.default_rng(3).standard_normal(SIZE)
    second = first * (1.0 + 1e-11)
    found = distance(first, second, float(first @ first), float(second @ second))
    assert found == pytest.approx(1e-11 * np.linalg.norm(first), rel=1e-4)


def test_vectors_with_gaps_are_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "COMPILED", 1)
    wide = np.random.default_rng(2).standard_normal((SIZE, 2))
    np.testing.assert_allclose(between(wide[:, 0], 0.5, wide[:, 1]), wide.mean(axis=1))


@pytest.mark.usefixtures("_threshold")
@pytest.mark.parametrize("name", ["least squares", "weighted"])
def test_slope_of_a_loss(name: str, dtype: Any) -> None:
    given = problem(name, dtype)
    (image,) = vectors(dtype, 1)
    lam, sums = loss_slope(given, image)
    np.testing.assert_allclose(lam, given.loss.gradient(image - given.b), rtol=1e-5, atol=1e-6)
    assert lam.dtype == dtype
    if sums is not None:
        twins = float(np.dot(lam.astype(float), given.b)), float(np.dot(lam.astype(float), lam))
        assert sums == pytest.approx(twins, rel=1e-5 if dtype is np.float32 else 1e-12)


def test_slope_needs_a_loss() -> None:
    with pytest.raises(InvalidInput, match="a loss"):
        loss_slope(problem("=", np.float64), vectors(np.float64, 1)[0])


@pytest.mark.usefixtures("_threshold")
def test_way_between_two_images(dtype: Any) -> None:
    tail, head = vectors(dtype, 2)
    way, squared = way_between(tail, head)
    np.testing.assert_array_equal(way, head - tail)
    exact = (head - tail).astype(float)
    loose = 1e-5 if dtype is np.float32 else 1e-12
    assert squared == pytest.approx(float(np.dot(exact, exact)), rel=loose)
    given = problem("=", dtype)
    slope, again = residual_slope(given, tail, head)
    residual = (tail - given.b).astype(float)
    size = float(np.linalg.norm(exact) * np.linalg.norm(residual))
    assert slope == pytest.approx(float(np.dot(residual, exact)), abs=loose * size)
    assert again == pytest.approx(squared, rel=loose)


@pytest.mark.usefixtures("_threshold")
def test_two_steps_in_one_pass(dtype: Any) -> None:
    dual, gradient = vectors(dtype, 2)
    for one, other in ((dual, gradient), (dual[::2], gradient[::2])):
        near, far = stepped_twice(one, 0.5, other)
        np.testing.assert_allclose(near, stepped(one, 0.25, other), rtol=1e-6)
        np.testing.assert_allclose(far, stepped(one, 0.5, other), rtol=1e-6)
        assert near.dtype == far.dtype == dtype


@pytest.mark.usefixtures("_threshold")
def test_two_vectors_enter_an_average_in_one_pass(dtype: Any) -> None:
    for average, one, other in (vectors(dtype, 3), [vector[::2] for vector in vectors(dtype, 3)]):
        found = folded_in(average, 0.25, one, 0.125, other)
        np.testing.assert_allclose(found, 0.875 * (0.75 * average + 0.25 * one) + 0.125 * other, rtol=1e-4, atol=1e-6)
        assert found.dtype == dtype


@pytest.mark.usefixtures("_threshold")
def test_a_difference_along_a_vector(dtype: Any) -> None:
    for dual, first, second in (vectors(dtype, 3), [vector[::2] for vector in vectors(dtype, 3)]):
        way = (first - second).astype(float)
        size = float(np.linalg.norm(dual.astype(float)) * np.linalg.norm(way))
        found = difference_along(dual, first, second)
        assert found == pytest.approx(float(np.dot(dual.astype(float), way)), abs=1e-13 * size)
