"""Constructors and checks refuse invalid input, and the message names the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unipd
from unipd.couplings import (
    Absolute,
    AtLeast,
    AtMost,
    Box,
    Equality,
    HalfSpace,
    Huber,
    L1Ball,
    L2Ball,
    LeastSquares,
    LInfBall,
    Logistic,
    NuclearBall,
    Product,
    PSDCone,
    Scaled,
    SecondOrderCone,
    SpectralBall,
    Translated,
    WeightedLeastSquares,
)
from unipd.errors import InvalidInput

REAL, COMPLEX = np.dtype(np.float64), np.dtype(np.complex128)

BAD: dict[str, tuple[str, Callable[[], Any]]] = {
    "box NaN": ("lower", lambda: Box(np.nan, 1.0)),
    "box text": ("upper", lambda: Box(0.0, "high")),
    "box complex": ("lower", lambda: Box(1j, 1.0)),
    "box empty": ("upper", lambda: Box([0.0, 2.0], 1.0)),
    "box at infinity": ("upper", lambda: Box(np.inf, np.inf)),
    "box at minus infinity": ("upper", lambda: Box(-np.inf, -np.inf)),
    "box shapes": ("upper", lambda: Box(np.zeros(2), np.ones(3))),
    "l1 negative": ("radius", lambda: L1Ball(-1.0)),
    "l2 NaN": ("radius", lambda: L2Ball(np.nan)),
    "linf infinite": ("radius", lambda: LInfBall(np.inf)),
    "nuclear negative": ("radius", lambda: NuclearBall(-1.0, (2, 2))),
    "nuclear shape": ("shape", lambda: NuclearBall(1.0, 4)),  # type: ignore[arg-type]
    "spectral shape": ("shape", lambda: SpectralBall(1.0, (2, 0))),
    "normal zero": ("normal", lambda: HalfSpace(np.zeros(3))),
    "normal NaN": ("normal", lambda: HalfSpace([1.0, np.nan])),
    "offset infinite": ("offset", lambda: HalfSpace([1.0], np.inf)),
    "psd size": ("size", lambda: PSDCone(0)),
    "psd fraction": ("size", lambda: PSDCone(2.5)),  # type: ignore[arg-type]
    "product empty": ("parts", lambda: Product([], [])),
    "translated product with a loss": (
        "part",
        lambda: Translated(Product([Equality(), LeastSquares()], [1, 1]), np.ones(2)),
    ),
    "product of nothing": ("parts", lambda: Product([None], [3])),  # type: ignore[list-item]
    "product of one set": ("parts", lambda: Product(Equality(), [3])),  # type: ignore[arg-type]
    "product one size": ("sizes", lambda: Product([Equality()], 3)),  # type: ignore[arg-type]
    "product count": ("sizes", lambda: Product([Equality()], [1, 2])),
    "product size": ("sizes", lambda: Product([Equality()], [0])),
    "translated loss": ("part", lambda: Translated(Absolute(), [1.0])),
    "shift NaN": ("shift", lambda: Translated(Equality(), [np.nan])),
    "scaled loss": ("part", lambda: Scaled(Huber(), 2.0)),
    "factor zero": ("factor", lambda: Scaled(Equality(), 0.0)),
    "scale zero": ("scale", lambda: LeastSquares(0.0)),
    "weights zero": ("weights", lambda: WeightedLeastSquares([1.0, 0.0])),
    "weights empty": ("weights", lambda: WeightedLeastSquares([])),
    "weights complex": ("weights", lambda: WeightedLeastSquares([1j])),
    "delta": ("delta", lambda: Huber(0.0)),
    "huber slack": ("slack_radius", lambda: Huber(1.0, slack_radius=0.0)),
    "logistic slack": ("slack_radius", lambda: Logistic(slack_radius=-1.0)),
    "absolute slack": ("slack_radius", lambda: Absolute(slack_radius=np.inf)),
    "no slack radius": ("slack_radius", lambda: Absolute().slack(np.ones(2))),
}

MISFIT: dict[str, tuple[str, Any, tuple[int, ...], np.dtype[Any]]] = {
    "orthant complex": ("b", AtLeast(), (3,), COMPLEX),
    "orthant below complex": ("b", AtMost(), (3,), COMPLEX),
    "box complex": ("b", Box(0.0, 1.0), (3,), COMPLEX),
    "box lower": ("lower", Box(np.zeros(2), 1.0), (3,), REAL),
    "box upper": ("upper", Box(0.0, np.ones(2)), (3,), REAL),
    "half-space": ("normal", HalfSpace([1.0, 2.0]), (3,), REAL),
    "half-space complex": ("normal", HalfSpace([1j, 2.0]), (2,), REAL),
    "cone complex": ("b", SecondOrderCone(), (3,), COMPLEX),
    "cone matrix": ("b", SecondOrderCone(), (3, 3), REAL),
    "cone empty": ("b", SecondOrderCone(), (0,), REAL),
    "psd": ("b", PSDCone(2), (3,), REAL),
    "psd oblong": ("b", PSDCone(2), (1, 4), REAL),
    "nuclear": ("b", NuclearBall(1.0, (2, 3)), (3, 2), REAL),
    "spectral": ("b", SpectralBall(1.0, (2, 3)), (5,), REAL),
    "product sizes": ("sizes", Product([Equality(), AtMost()], [1, 1]), (3,), REAL),
    "product part": ("b", Product([Equality(), PSDCone(2)], [1, 3]), (4,), REAL),
    "product complex": ("b", Product([Equality(), AtMost()], [1, 2]), (3,), COMPLEX),
    "shift": ("shift", Translated(Equality(), [1.0, 2.0]), (3,), REAL),
    "shift complex": ("shift", Translated(Equality(), [1j]), (1,), REAL),
    "moved part": ("b", Translated(AtMost(), [1.0]), (1,), COMPLEX),
    "scaled part": ("b", Scaled(AtMost(), 2.0), (1,), COMPLEX),
    "weights": ("weights", WeightedLeastSquares([1.0, 2.0]), (3,), REAL),
    "logistic complex": ("b", Logistic(), (3,), COMPLEX),
}


@pytest.mark.parametrize("name", BAD)
def test_constructors_refuse(name: str) -> None:
    argument, build = BAD[name]
    with pytest.raises(InvalidInput) as caught:
        build()
    assert caught.value.argument == argument


@pytest.mark.parametrize("name", MISFIT)
def test_checks_refuse(name: str) -> None:
    argument, coupling, shape, dtype = MISFIT[name]
    with pytest.raises(InvalidInput) as caught:
        coupling.check(shape, dtype)
    assert caught.value.argument == argument


def test_a_problem_asks_the_coupling() -> None:
    with pytest.raises(InvalidInput, match="normal"):
        unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), np.ones(3), HalfSpace([1.0, 2.0]))
    with pytest.raises(InvalidInput, match="slack_radius"):
        unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), np.ones(3), Absolute(), split=True)


def test_a_problem_splits_a_loss_with_a_radius() -> None:
    simplex = unipd.sharp.Simplex(3)
    assert unipd.Problem(simplex, np.eye(3), np.ones(3), Huber(1.0, slack_radius=2.0)).split
    assert not unipd.Problem(simplex, np.eye(3), np.ones(3), Huber(1.0)).split
