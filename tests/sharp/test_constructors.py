"""Bad parameters are refused with the name of the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from unipd import sharp
from unipd.errors import InvalidInput

BALLS = [sharp.L1Ball, sharp.L2Ball, sharp.LInfBall, lambda *a: sharp.LpBall(a[0], 3.0, *a[1:])]
OTHERS = [lambda *a: sharp.KSupportBall(a[0], 1, *a[1:]), lambda *a: sharp.KSparsePolytope(a[0], 1, *a[1:])]
SIMPLEXES = [sharp.Simplex, sharp.UnitSimplex, sharp.Entropy]
WEIGHTED = [sharp.L1NormSquared, sharp.L2NormSquared, sharp.LInfNormSquared]
POWERS = [lambda *a: sharp.EuclideanPower(a[0], 3.0, *a[1:]), lambda *a: sharp.SeparablePower(a[0], 3.0, *a[1:])]


@pytest.mark.parametrize("build", BALLS + OTHERS + SIMPLEXES + WEIGHTED + POWERS + [sharp.L1NormOnBall])
@pytest.mark.parametrize("size", [0.0, -1.0, np.nan, np.inf, "one", None])
def test_sizes_must_be_positive(build: Callable[..., Any], size: Any) -> None:
    with pytest.raises(InvalidInput, match=r"radius|scale|weight"):
        build(3, size)


@pytest.mark.parametrize("build", BALLS + SIMPLEXES + WEIGHTED + POWERS)
@pytest.mark.parametrize("shape", [0, -3, 2.5, (), (2, 0), "three", None, (2, 1.5)])
def test_shapes_must_be_positive_integers(build: Callable[..., Any], shape: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        build(shape)
    assert caught.value.argument == ("size" if build in SIMPLEXES else "shape")


BAD = {
    "exponent": [lambda: sharp.LpBall(3, 1.0), lambda: sharp.LpBall(3, np.inf), lambda: sharp.LpBall(3, np.nan)],
    "sparsity": [
        lambda: sharp.KSupportBall(3, 0),
        lambda: sharp.KSupportBall(3, 4),
        lambda: sharp.KSupportBall(3, 1.5),  # type: ignore[arg-type]
        lambda: sharp.KSparsePolytope(3, -1),
        lambda: sharp.KSparsePolytope(3, 4),
    ],
    "labels": [
        lambda: sharp.GroupBall(3),
        lambda: sharp.GroupBall([0.0, np.nan]),
        lambda: sharp.GroupBall(np.array([1, "a", None], dtype=object)),
    ],
    "weights": [
        lambda: sharp.GroupBall([0, 1], weights=[1.0]),
        lambda: sharp.GroupBall([0, 1], weights=[1.0, 0.0]),
        lambda: sharp.GroupBall([0, 1], weights=[1.0, np.nan]),
        lambda: sharp.OWLBall([1.0, 2.0]),
        lambda: sharp.OWLBall([1.0, -1.0]),
        lambda: sharp.OWLBall([0.0, 0.0]),
        lambda: sharp.OWLBall([1.0, np.nan]),
        lambda: sharp.OWLBall([[1.0, 1.0]]),
        lambda: sharp.OWLBall([1.0, 1.0], shape=3),
    ],
    "order": [lambda: sharp.Birkhoff(0), lambda: sharp.Birkhoff(2.0)],  # type: ignore[arg-type]
    "points": [
        lambda: sharp.ConvexHull([1.0, 2.0]),
        lambda: sharp.ConvexHull([[1.0, np.nan]]),
        lambda: sharp.ConvexHull(np.zeros((0, 3))),
        lambda: sharp.ConvexHull([[1.0], [2.0, 3.0]]),
    ],
    "lower": [
        lambda: sharp.Box([np.nan, 0.0], 1.0),
        lambda: sharp.Box(-np.inf, [1.0, 1.0]),
        lambda: sharp.Box([0.0, 0.0], 1.0, shape=3),
        lambda: sharp.Box([1.0j], [2.0]),
    ],
    "upper": [
        lambda: sharp.Box([0.0, 0.0], [1.0, -1.0]),
        lambda: sharp.Box([0.0, 0.0], [1.0, 1.0, 1.0]),
        lambda: sharp.Box(0.0, "high"),
    ],
    "shape": [lambda: sharp.Box(0.0, 1.0), lambda: sharp.Box(0.0, 1.0, shape=-1)],
    "curvature": [
        lambda: sharp.QuadraticBox(-1.0, 0.0, [0.0], [1.0]),
        lambda: sharp.QuadraticBox([1.0, 1.0], 0.0, [0.0], [1.0]),
        lambda: sharp.QuadraticBox(np.nan, 0.0, [0.0], [1.0]),
        lambda: sharp.QuadraticBox([1.0, 0.0], 0.0, [0.0, 0.0], np.inf),
    ],
    "cost": [lambda: sharp.QuadraticBox(1.0, [0.0, 1.0], [0.0], [1.0])],
    "power": [
        lambda: sharp.PowerNorm(sharp.L1Ball(2), 1.5),
        lambda: sharp.EuclideanPower(2, np.inf),
        lambda: sharp.SeparablePower(2, 1.0),
    ],
    "ball": [
        lambda: sharp.PowerNorm(sharp.Simplex(2)),  # type: ignore[arg-type]
        lambda: sharp.NormSquared(3),  # type: ignore[arg-type]
        lambda: sharp.NormOnBall(sharp.Box(0.0, [1.0])),  # type: ignore[arg-type]
    ],
}


@pytest.mark.parametrize(
    ("argument", "build"),
    [pytest.param(name, build, id=f"{name}-{i}") for name in BAD for i, build in enumerate(BAD[name])],
)
def test_bad_parameters(argument: str, build: Callable[[], Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        build()
    assert caught.value.argument == argument
