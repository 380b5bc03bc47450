"""AccUniPDGrad at lam_0 with the image made part by part: the same state as with whole vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unipd
from unipd.atoms import LowRank
from unipd.errors import OracleError
from unipd.maps import Sampling, pattern
from unipd.methods import streamed
from unipd.methods.base import empty_certificate
from unipd.methods.streamed_measures import squared_distance
from unipd.methods.streamed_start import sloped
from unipd.primal import ImageOnly
from unipd.protocols import SharpAnswer
from unipd.run.verify import verified

SHAPE = (60, 40)


def problem(*, by_column: bool = False) -> unipd.Problem:
    """Return a noisy matrix of rank 2 with the loss ||r||^2 / 4 and a radius that it exceeds."""
    rng = np.random.default_rng(8)
    rows, cols = np.nonzero(rng.random(SHAPE) < 0.5)
    if by_column:
        order = np.argsort(cols, kind="stable")
        rows, cols = rows[order], cols[order]
    low_rank = rng.standard_normal((SHAPE[0], 2)) @ rng.standard_normal((2, SHAPE[1]))
    values = low_rank[rows, cols] + 0.1 * rng.standard_normal(rows.size)
    ball = unipd.sharp.NuclearBall(SHAPE, 60.0, engine=unipd.spectral.Engine(solver="lanczos"))
    return unipd.Problem(ball, Sampling(rows, cols, SHAPE), values, unipd.couplings.LeastSquares(0.5))


@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("dual", ["zero", "warm"])
def test_the_first_state_is_that_of_whole_vectors(monkeypatch: pytest.MonkeyPatch, dual: str, by_column: bool) -> None:
    """Smoothness, bound and counts at lam_0, and the gradient there with its sums."""
    given = problem(by_column=by_column)
    start = np.sin(np.arange(given.b.size)) if dual == "warm" else np.zeros(given.b.size)
    method = unipd.AccUniPDGrad(eps=1e-3)
    whole = method.start(given, ImageOnly(), start, 1e-3)
    monkeypatch.setattr(streamed, "LONG", 100)
    monkeypatch.setattr(pattern, "_PART_ENTRIES", 90)
    parts = method.start(given, ImageOnly(), start, 1e-3)
    assert whole.point is not None
    assert parts.point is not None
    assert whole.point.image.size > parts.point.image.size == 0
    assert parts.smoothness == pytest.approx(whole.smoothness, rel=1e-5)
    assert (parts.eps, parts.counts) == (whole.eps, whole.counts)
    assert parts.certificate.dual_bound == pytest.approx(whole.certificate.dual_bound, rel=1e-6, abs=1e-9)
    assert parts.certificate.stretch == pytest.approx(whole.certificate.stretch, rel=1e-6)
    assert parts.point.value == pytest.approx(whole.point.value, rel=1e-9)
    assert parts.point.objective == whole.point.objective
    np.testing.assert_array_equal(parts.image, whole.image)


@pytest.mark.parametrize("rank", [1, 3])
def test_the_gradient_is_that_of_numpy(monkeypatch: pytest.MonkeyPatch, rank: int) -> None:
    monkeypatch.setattr(pattern, "_PART_ENTRIES", 90)
    given, rng = problem(), np.random.default_rng(rank)
    left, right = (rng.standard_normal((size, rank)) for size in SHAPE)
    answer = SharpAnswer(LowRank(left, right, np.arange(1.0, rank + 1)), 7.0, 0.25, 0.5, 3)
    dual, image = rng.standard_normal(given.b.size), given.map.image(answer.atom)
    slope, gradient = sloped(given, dual, answer), given.b - image + 2.0 * dual
    np.testing.assert_allclose(slope.gradient, gradient)
    assert slope.value == pytest.approx(dual @ (given.b - image) - 0.25 + dual @ dual)
    assert (slope.linear, slope.energy) == pytest.approx((dual @ given.b, dual @ dual))
    assert (slope.slack, slope.reach) == pytest.approx((dual @ dual, float(np.linalg.norm(image))))
    assert (slope.squared, slope.across) == pytest.approx((gradient @ gradient, gradient @ (given.b + 2.0 * dual)))
    with pytest.raises(OracleError, match="nan"):
        sloped(given, np.where(dual > 2, np.nan, dual), answer)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 5, 1 << 14, (1 << 14) + 1, 50_001])
def test_squared_distance_is_that_of_numpy(size: int, dtype: type) -> None:
    first, second = np.random.default_rng(size).standard_normal((2, size)).astype(dtype)
    expected = float(np.sum((first - second).astype(np.float64) ** 2))
    assert squared_distance(first, second) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("coupling", [unipd.couplings.LeastSquares(0.5), "="], ids=["loss", "constraint"])
def test_results_are_measured_alike(monkeypatch: pytest.MonkeyPatch, coupling: Any) -> None:
    """What is reported of a point does not depend on whether a vector was made for its residual."""
    plain = problem()
    given = unipd.Problem(plain.sharp, plain.map, plain.b, coupling)
    x = LowRank(np.ones((SHAPE[0], 1)), np.ones((SHAPE[1], 1)), np.ones(1))
    empty = empty_certificate(given.b)
    image, whole = verified(given, x, empty)
    monkeypatch.setattr(streamed, "LONG", 100)
    other, parts = verified(given, x, empty)
    np.testing.assert_array_equal(image, other)
    assert parts.objective == pytest.approx(whole.objective, rel=1e-13)
    assert parts.infeasibility == pytest.approx(whole.infeasibility, rel=1e-13)
