"""Properties of single sets: infinite bounds, exact zeros, domains that rounding must not leave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unipd._util.arrays import l1_threshold
from unipd.couplings import (
    AtMost,
    Box,
    ConvexSet,
    Equality,
    HalfSpace,
    L1Ball,
    L2Ball,
    LInfBall,
    NuclearBall,
    Product,
    PSDCone,
    Scaled,
    SecondOrderCone,
    SpectralBall,
    Translated,
    domain_rounding,
)

from .registry import ANY, REAL, SETS, SetCase, names, sample


def test_registry_holds_every_set() -> None:
    import unipd.couplings as library

    exported = [getattr(library, name) for name in library.__all__]
    sets = {kind.__name__ for kind in exported if issubclass(kind, library.ConvexSet)} - {"ConvexSet"} | {"Product"}
    assert {type(case.coupling).__name__ for case in SETS} == sets


@pytest.mark.parametrize("case", SETS, ids=names(SETS))
def test_members_of_the_registry_obey_the_definition(case: SetCase) -> None:
    rng = np.random.default_rng(0)
    for dtype in case.dtypes:
        for _ in range(5):
            assert case.violation(case.member(rng, dtype)) <= 100 * np.finfo(dtype).eps


def test_box_support_with_infinite_bounds() -> None:
    box = Box([-np.inf, 0.0, -1.0], [1.0, np.inf, np.inf])
    assert box.conjugate(np.array([2.0, -3.0, -4.0])) == 2.0 + 0.0 + 4.0
    assert box.conjugate(np.zeros(3)) == 0.0
    for index, sign in [(0, -1.0), (1, 1.0), (2, 1.0)]:
        dual = np.zeros(3)
        dual[index] = 1e-300 * sign
        assert box.conjugate(dual) == np.inf


def test_box_residuals_inside_are_exactly_zero() -> None:
    box = Box(-np.inf, np.inf)
    vector = np.random.default_rng(0).standard_normal(1000)
    assert not box.prox_conjugate(vector, 1.0 / 3.0).any()
    half = Box(-1.0, np.inf)
    assert half.prox_conjugate(vector * 10, 1.0 / 3.0).max() == 0.0


def test_orthants_are_boxes() -> None:
    vector = np.random.default_rng(1).standard_normal(20)
    same = Box(-np.inf, 0.0)
    np.testing.assert_array_equal(AtMost().project(vector), same.project(vector))
    np.testing.assert_array_equal(AtMost().prox_conjugate(vector, 0.3), same.prox_conjugate(vector, 0.3))
    assert AtMost().conjugate(vector) == same.conjugate(vector) == np.inf


@pytest.mark.parametrize("ball", [L1Ball, L2Ball, LInfBall])
def test_a_ball_of_radius_zero_is_the_equality(ball: Any) -> None:
    vector = sample(np.random.default_rng(2), (6,), np.complex128)
    coupling = ball(0.0)
    assert not coupling.project(vector).any()
    assert coupling.conjugate(vector) == 0.0
    np.testing.assert_allclose(coupling.prox_conjugate(vector, 2.0), vector)


def test_balls_keep_the_phases() -> None:
    vector = sample(np.random.default_rng(3), (50,), np.complex128)
    for ball in (L1Ball(5.0), L2Ball(2.0), LInfBall(0.5)):
        inside = ball.project(vector)
        kept = np.abs(inside) > 0
        assert kept.any()
        np.testing.assert_allclose(np.angle(inside[kept]), np.angle(vector[kept]), atol=1e-12)


def test_l1_threshold_against_bisection() -> None:
    rng = np.random.default_rng(4)
    for size in (1, 2, 17, 300):
        moduli, radius = np.abs(rng.standard_normal(size)), 0.3 * np.sqrt(size)
        low, high = 0.0, float(moduli.max())
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if np.maximum(moduli - middle, 0).sum() > radius else (low, middle)
        assert l1_threshold(moduli, radius) == pytest.approx(high, abs=1e-13)


@pytest.mark.parametrize("dtype", ANY)
@pytest.mark.parametrize("size", [1.0, 1e10, 1e20])
def test_far_vectors_are_projected_on_the_sphere(dtype: Any, size: float) -> None:
    far = (size * np.array([[3.0, 0.0], [0.0, 1.0]])).astype(dtype)
    expected = np.array([[2.0, 0.0], [0.0, 0.0]])
    np.testing.assert_array_equal(L1Ball(2.0).project(far), expected)
    np.testing.assert_allclose(NuclearBall(2.0, (2, 2)).project(far), expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", ANY)
def test_matrix_balls_are_vector_balls_of_the_singular_values(dtype: Any) -> None:
    matrix = sample(np.random.default_rng(5), (4, 6), dtype)
    singular = np.linalg.svd(matrix, compute_uv=False)
    tolerance = 100 * float(np.finfo(dtype).eps)
    for whole, vector in [(NuclearBall(2.0, (4, 6)), L1Ball(2.0)), (SpectralBall(0.7, (4, 6)), LInfBall(0.7))]:
        for image, expected in [
            (whole.project(matrix), vector.project(singular)),
            (whole.prox_conjugate(matrix.reshape(-1), 0.9), vector.prox_conjugate(singular, 0.9)),
        ]:
            found = np.linalg.svd(image.reshape(4, 6), compute_uv=False)
            np.testing.assert_allclose(found, np.sort(expected)[::-1], atol=tolerance)
        assert whole.conjugate(matrix) == pytest.approx(vector.conjugate(singular), rel=tolerance)


def test_second_order_cone_cases() -> None:
    cone = SecondOrderCone()
    inside, polar, outside = np.array([5.0, 3.0, 4.0]), np.array([-5.0, 3.0, 4.0]), np.array([1.0, 3.0, 4.0])
    np.testing.assert_array_equal(cone.project(inside), inside)
    np.testing.assert_array_equal(cone.project(polar), np.zeros(3))
    np.testing.assert_allclose(cone.project(outside), [3.0, 1.8, 2.4])
    assert cone.conjugate(polar) == 0.0
    assert cone.conjugate(outside) == cone.conjugate(inside) == np.inf
    assert cone.conjugate(np.array([-5.0, 3.0, 4.001])) == np.inf


def test_psd_support_ignores_the_antihermitian_part_and_nothing_else() -> None:
    cone = PSDCone(2)
    negative = np.array([[-1.0, 0.5], [0.5, -1.0]])
    skew = np.array([[0.0, 3.0], [-3.0, 0.0]])
    assert cone.conjugate(negative) == cone.conjugate(negative + skew) == 0.0
    assert cone.conjugate(np.diag([-1.0, 1e-9])) == np.inf
    np.testing.assert_allclose(cone.prox_conjugate(negative + skew, 0.3), negative + skew)
    assert cone.value(skew) == np.inf


def test_psd_projection_is_exactly_hermitian() -> None:
    matrix = sample(np.random.default_rng(6), (7, 7), np.complex128)
    projected = PSDCone(7).project(matrix)
    np.testing.assert_array_equal(projected, projected.conj().T)


def test_half_space_support_is_finite_on_its_ray_alone() -> None:
    half = HalfSpace([1.0, 2.0], 3.0)
    assert half.conjugate(np.array([2.0, 4.0])) == pytest.approx(6.0)
    assert half.conjugate(np.zeros(2)) == 0.0
    assert half.conjugate(np.array([-1.0, -2.0])) == np.inf
    assert half.conjugate(np.array([2.0, 4.0 + 1e-9])) == np.inf


@pytest.mark.parametrize("dtype", REAL)
def test_long_vectors_stay_in_the_domain(dtype: Any) -> None:
    rng = np.random.default_rng(8)
    size = 50_000
    vector = sample(rng, (size,), dtype)
    vector[0] = 0.5
    normal = rng.standard_normal(size)
    for coupling in (SecondOrderCone(), HalfSpace(normal, -3.0), Translated(SecondOrderCone(), normal)):
        dual = coupling.prox_conjugate(vector, 0.7)
        assert dual.any()
        assert np.isfinite(coupling.conjugate(dual))
        assert np.isfinite(coupling.conjugate((dtype(1.0 / 3.0) * dual).astype(dtype)))


@pytest.mark.parametrize("dtype", ANY)
@pytest.mark.parametrize("shift", [0.0, 1e4, -1e4])
def test_large_matrices_stay_in_the_domain(dtype: Any, shift: float) -> None:
    matrix = sample(np.random.default_rng(9), (60, 60), dtype)
    matrix = (matrix + matrix.conj().T + shift * np.eye(60)).astype(dtype)
    dual = PSDCone(60).prox_conjugate(matrix, 1.0)
    assert PSDCone(60).conjugate(dual) == 0.0


def test_domain_rounding_is_small() -> None:
    assert domain_rounding(np.ones(100)) < 1e-12
    assert domain_rounding(np.ones(100, np.float32)) < 1e-3


def test_product_acts_slice_by_slice_on_any_shape() -> None:
    product = Product([Equality(), L2Ball(1.0), PSDCone(1)], [2, 3, 1])
    vector = np.array([[1.0, 2.0, 3.0], [0.0, 4.0, -6.0]])
    expected = np.array([[0.0, 0.0, 0.6], [0.0, 0.8, 0.0]])
    np.testing.assert_allclose(product.project(vector), expected)
    assert product.distance(vector) == pytest.approx(float(np.linalg.norm(vector - expected)))
    assert product.conjugate(-vector) == np.inf
    assert product.conjugate(vector) == pytest.approx(5.0)


def test_sets_of_sets_agree_with_the_set_they_describe() -> None:
    vector = sample(np.random.default_rng(10), (5,), np.float64)
    shift = np.arange(5.0)
    for made, plain in [
        (Scaled(L1Ball(1.0), 2.5), L1Ball(2.5)),
        (Translated(Box(-1.0, 1.0), shift), Box(shift - 1.0, shift + 1.0)),
        (Scaled(Translated(Box(-1.0, 1.0), shift), 2.0), Box(2 * shift - 2.0, 2 * shift + 2.0)),
    ]:
        np.testing.assert_allclose(made.project(vector), plain.project(vector), atol=1e-14)
        np.testing.assert_allclose(made.prox_conjugate(vector, 0.3), plain.prox_conjugate(vector, 0.3), atol=1e-14)
        assert made.conjugate(vector) == pytest.approx(plain.conjugate(vector))
        assert made.distance(vector) == pytest.approx(plain.distance(vector))


def test_a_user_supplied_set_can_be_a_part() -> None:
    class Whole(ConvexSet):
        """The whole space: a projection and a support function, all else by default."""

        def project(self, vector: Any) -> Any:
            return vector

        def conjugate(self, dual: Any) -> float:
            return np.inf if np.any(dual) else 0.0

    product = Product([Whole(), AtMost()], [1, 2])
    vector = np.array([3.0, 2.0, -1.0])
    np.testing.assert_array_equal(product.project(vector), [3.0, 0.0, -1.0])
    np.testing.assert_array_equal(Translated(Whole(), vector).project(vector), vector)
    assert product.distance(vector) == 2.0
    assert product.conjugate(product.prox_conjugate(vector, 2.0)) == 0.0
    np.testing.assert_allclose(product.prox_jacobian(vector, 2.0, np.eye(3)), np.diag([0.0, 1.0, 0.0]), atol=1e-6)
    rescaling = product.rescale(np.array([8.0, 4.0, 0.5]))
    assert rescaling is not None
    np.testing.assert_array_equal(rescaling.factors, [1.0, 0.25, 2.0])
