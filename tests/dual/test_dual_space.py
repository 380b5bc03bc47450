"""Operations on dual vectors and images, in every implementation of the dual space, against their formulas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import unipd
from unipd.dual import (
    DualSpace,
    FusedSpace,
    dual_space,
    function,
)
from unipd.errors import InvalidInput, OracleError
from unipd.methods import direction_between, exact_step, loss_gradient, step_along
from unipd.protocols import SharpAnswer

SIZE = 37
COUPLINGS = {
    "=": lambda: "=",
    "least squares": lambda: unipd.couplings.LeastSquares(2.5),
    "weighted": lambda: unipd.couplings.WeightedLeastSquares(np.linspace(1.0, 2.0, SIZE)),
}
CASES = [(DualSpace, name) for name in COUPLINGS] + [(FusedSpace, "="), (FusedSpace, "least squares")]
spaces = pytest.mark.parametrize(("kind", "name"), CASES, ids=lambda value: getattr(value, "__name__", value))
ANSWER = SharpAnswer(np.eye(5)[1], 1.0, 0.25, 0.5, 3, "probabilistic")


@pytest.fixture(params=[np.float32, np.float64])
def dtype(request: pytest.FixtureRequest) -> Any:
    return request.param


def problem(name: str, dtype: Any) -> unipd.Problem:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((SIZE, 5)).astype(dtype)
    return unipd.Problem(unipd.sharp.Simplex(5), A, rng.standard_normal(SIZE).astype(dtype), COUPLINGS[name]())


def vectors(dtype: Any, count: int) -> list[Any]:
    return list(np.random.default_rng(1).standard_normal((count, SIZE)).astype(dtype))


def precision(dtype: Any) -> float:
    return 1e-5 if dtype is np.float32 else 1e-12


@spaces
def test_a_point_has_value_and_gradient(kind: Any, name: str, dtype: Any) -> None:
    given, loose = problem(name, dtype), precision(dtype)
    dual, image = vectors(dtype, 2)
    point = kind(given).point(dual, ANSWER, image)
    slack, conjugate = given.loss.slack(dual) if given.loss is not None else (0.0, None)
    np.testing.assert_allclose(point.gradient, given.b - image + slack, rtol=1e-5, atol=1e-6)
    assert point.gradient.dtype == dtype
    pairing, linear = float(dual @ (given.b - image)), float(dual @ given.b)
    size = float(np.linalg.norm(dual)) * (given.norm_b + float(np.linalg.norm(image)))
    assert point.value == pytest.approx(pairing - 0.25 + (conjugate or 0.0), abs=loose * size)
    assert point.upper_value == pytest.approx(pairing - 0.25 + 0.5, abs=loose * size)
    assert point.conjugate == pytest.approx(-float(dual @ image) - 0.25 + 0.5, abs=loose * size)
    assert point.linear == pytest.approx(linear, abs=loose * size)
    assert point.dual_norm_sq == pytest.approx(float(dual @ dual), rel=loose)
    assert point.slack_conjugate == (None if conjugate is None else pytest.approx(conjugate, rel=loose))
    assert (point.error, point.matvecs, point.bound_kind) == (0.5, 4, "probabilistic")


@spaces
def test_a_step_has_its_model_and_sums(kind: Any, name: str, dtype: Any) -> None:
    given, loose = problem(name, dtype), precision(dtype)
    dual, image = vectors(dtype, 2)
    base = kind(given).point(dual, ANSWER, image)
    step = kind(given).step(base, 4.0)
    np.testing.assert_allclose(step.dual, dual - base.gradient / 4.0, rtol=1e-5, atol=1e-6)
    assert step.dual.dtype == dtype
    squared = float(base.gradient @ base.gradient)
    assert step.model == pytest.approx(base.value - squared / 8.0, rel=loose, abs=loose)
    assert step.length_sq == pytest.approx(squared / 16.0, rel=loose)
    assert step.sums == pytest.approx((float(step.dual @ given.b), float(step.dual @ step.dual)), rel=loose, abs=loose)


@spaces
def test_averages_and_their_distance_to_the_data(kind: Any, name: str, dtype: Any) -> None:
    given = problem(name, dtype)
    dual, image, other = vectors(dtype, 3)
    mean, squared = kind(given).average_image(image, 0.25, kind(given).point(dual, ANSWER, other))
    expected = 0.75 * image + 0.25 * other
    np.testing.assert_allclose(mean, expected, rtol=1e-5, atol=1e-6)
    assert mean.dtype == dtype
    if given.conjugate_curvature is None:
        assert squared is None
    else:
        assert squared == pytest.approx(float(np.sum((expected - given.b) ** 2)), rel=1e-5)


@spaces
def test_a_whole_step_leaves_nothing_of_a_large_image(kind: Any, name: str, dtype: Any) -> None:
    here, (dual, image, other) = kind(problem(name, dtype)), vectors(dtype, 3)
    mean = here.average_image(1e9 * image, 1.0, here.point(dual, ANSWER, other))[0]
    np.testing.assert_array_equal(mean, other)


@spaces
def test_combinations_and_distances(kind: Any, name: str, dtype: Any) -> None:
    here, (first, second) = kind(problem(name, dtype)), vectors(dtype, 2)
    np.testing.assert_allclose(here.lincomb(first, 0.25, second), 0.75 * first + 0.25 * second, rtol=1e-5, atol=1e-6)
    assert here.distance(first, second) == pytest.approx(float(np.linalg.norm(first - second)), rel=1e-5)
    near = first * (1.0 + 1e-3)
    assert here.distance(first, near) == pytest.approx(float(np.linalg.norm((near - first).astype(float))), rel=1e-4)


@spaces
def test_values_that_are_not_finite_are_refused(kind: Any, name: str, dtype: Any) -> None:
    dual, image = vectors(dtype, 2)
    image[3] = math.nan
    with pytest.raises(OracleError, match="nan"):
        kind(problem(name, dtype)).point(dual, ANSWER, image)


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad"])
def test_runs_are_those_of_numpy(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = problem("least squares", np.float64)
    limit = unipd.MaxIterations(20)
    expected = unipd.solve(given, method, accuracy=1e-9, stop=limit)
    monkeypatch.setattr(function, "FUSED", 1)
    found = unipd.solve(given, method, accuracy=1e-9, stop=limit)
    np.testing.assert_allclose(found.history.table[:, 3:6], expected.history.table[:, 3:6], rtol=1e-9, atol=1e-12)


def test_long_real_vectors_with_a_quadratic_coupling_are_fused() -> None:
    def chosen(coupling: Any, dtype: Any = np.float64, size: int = 1 << 14) -> type:
        ones = np.ones((size, 1), dtype)
        return type(dual_space(unipd.Problem(unipd.sharp.L2Ball(1), ones, ones[:, 0], coupling)))

    assert chosen("=") is chosen(unipd.couplings.LeastSquares(), np.float32) is FusedSpace
    assert chosen("<=") is chosen("=", np.complex128) is chosen("=", size=100) is DualSpace


def test_images_with_gaps_are_taken() -> None:
    given = problem("=", np.float64)
    dual, wide = vectors(np.float64, 1)[0], np.random.default_rng(2).standard_normal((SIZE, 2))
    gradient = FusedSpace(given).point(dual, ANSWER, wide[:, 0]).gradient
    np.testing.assert_allclose(gradient, given.b - wide[:, 0])


@pytest.mark.parametrize("scale", [1.0, 2.5, None])
def test_a_step_brings_the_slope_along(scale: float | None, dtype: Any) -> None:
    b, image, direction = vectors(dtype, 3)
    coupling: Any = unipd.couplings.WeightedLeastSquares(np.linspace(1.0, 2.0, SIZE))
    if scale is not None:
        coupling = unipd.couplings.LeastSquares(scale)
    given = unipd.Problem(unipd.sharp.Simplex(5), np.ones((SIZE, 5), dtype), b, coupling)
    moved, (lam, sums), loss = step_along(given, image, 0.25, direction.copy())
    np.testing.assert_allclose(moved, image + 0.25 * direction, rtol=1e-5, atol=1e-6)
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
def test_an_exact_step_is_the_best_one(scale: float | None, sign: float, upper: float, dtype: Any) -> None:
    b, image, tail, head = vectors(dtype, 4)
    coupling: Any = unipd.couplings.WeightedLeastSquares(np.linspace(1.0, 2.0, SIZE))
    if scale is not None:
        coupling = unipd.couplings.LeastSquares(scale)
    given = unipd.Problem(unipd.sharp.Simplex(5), np.ones((SIZE, 5), dtype), b, coupling)
    slope = float(np.vdot(coupling.gradient(image - b), head - tail))
    rise = sign * (1.0 + abs(slope)) - slope  # the objective rises, or falls, along the direction
    direction = direction_between(tail, head)
    gamma = exact_step(given, image, direction, -slope - rise, rise, upper)
    assert (gamma > 0.0) == (sign < 0.0)
    loss = step_along(given, image, gamma, direction[0])[2]
    nearby = [coupling.value(image + g * (head - tail) - b) + g * rise for g in (0.9 * gamma, 0.5 * gamma, upper)]
    assert min(nearby) >= (loss + gamma * rise) * (1.0 - 1e-6)


@pytest.mark.parametrize("name", ["least squares", "weighted"])
def test_slope_of_a_loss(name: str, dtype: Any) -> None:
    given = problem(name, dtype)
    (image,) = vectors(dtype, 1)
    lam, sums = loss_gradient(given, image)
    np.testing.assert_allclose(lam, given.loss.gradient(image - given.b), rtol=1e-5, atol=1e-6)
    assert lam.dtype == dtype
    if sums is not None:
        twins = float(np.dot(lam.astype(float), given.b)), float(np.dot(lam.astype(float), lam))
        assert sums == pytest.approx(twins, rel=1e-5 if dtype is np.float32 else 1e-12)


def test_slope_needs_a_loss() -> None:
    with pytest.raises(InvalidInput, match="a loss"):
        loss_gradient(problem("=", np.float64), vectors(np.float64, 1)[0])


def test_direction_between_two_images(dtype: Any) -> None:
    tail, head = vectors(dtype, 2)
    direction, squared = direction_between(tail, head)
    np.testing.assert_array_equal(direction, head - tail)
    exact = (head - tail).astype(float)
    loose = 1e-5 if dtype is np.float32 else 1e-12
    assert squared == pytest.approx(float(np.dot(exact, exact)), rel=loose)
