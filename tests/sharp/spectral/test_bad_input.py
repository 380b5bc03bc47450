"""Invalid constructor arguments and directions of the matrix oracles are named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from unipd.errors import InvalidInput
from unipd.sharp import (
    Fantope,
    GroupNuclearBall,
    NuclearBall,
    NuclearNormSquared,
    SchattenSquared,
    Spectrahedron,
    SpectralBall,
    TraceBall,
    WeightedNuclearBall,
)

CASES: dict[str, tuple[str, Callable[[], Any]]] = {
    "vector shape": ("shape", lambda: NuclearBall((3,))),
    "empty shape": ("shape", lambda: NuclearBall((0, 3))),
    "fractional size": ("size", lambda: Spectrahedron(2.5)),  # type: ignore[arg-type]
    "negative radius": ("radius", lambda: NuclearBall((2, 2), -1.0)),
    "nan radius": ("radius", lambda: SpectralBall((2, 2), float("nan"))),
    "exponent of a nuclear norm": ("exponent", lambda: SchattenSquared((2, 2), 1.0)),
    "zero weight": ("weight", lambda: NuclearNormSquared((2, 2), 0.0)),
    "zero trace": ("trace", lambda: TraceBall(2, 0.0)),
    "rank too large": ("rank", lambda: Fantope(2, 3)),
    "rank zero": ("rank", lambda: Fantope(2, 0)),
    "certify": ("certify", lambda: Spectrahedron(2, certify="surely")),
    "too large for a full decomposition": ("shape", lambda: SpectralBall((30, 30), dense_limit=20)),
    "negative weights": ("row_weights", lambda: WeightedNuclearBall([1.0, -1.0], [1.0])),
    "no weights": ("column_weights", lambda: WeightedNuclearBall([1.0], [])),
    "complex weights": ("row_weights", lambda: WeightedNuclearBall([1j], [1.0])),
    "column twice": ("groups", lambda: GroupNuclearBall((2, 3), [[0, 1], [1, 2]])),
    "column missing": ("groups", lambda: GroupNuclearBall((2, 3), [[0, 1]])),
    "empty group": ("groups", lambda: GroupNuclearBall((2, 1), [[0], []])),
    "no groups": ("groups", lambda: GroupNuclearBall((2, 1), [])),
    "groups that are none": ("groups", lambda: GroupNuclearBall((2, 3), None)),  # type: ignore[arg-type]
    "groups that are a number": ("groups", lambda: GroupNuclearBall((2, 3), 3)),  # type: ignore[arg-type]
    "groups that are a word": ("groups", lambda: GroupNuclearBall((2, 3), "x")),
    "groups that are words": ("groups", lambda: GroupNuclearBall((2, 3), ["0", "1", "2"])),
    "half a column": ("groups", lambda: GroupNuclearBall((2, 3), [[0.5, 1], [2]])),
    "columns that are no numbers": ("groups", lambda: GroupNuclearBall((2, 3), [[0, None], [2]])),
    "columns that are true or false": ("groups", lambda: GroupNuclearBall((2, 2), [[False, True]])),
    "columns within columns": ("groups", lambda: GroupNuclearBall((2, 3), [[0, [1]], [2]])),
    "negative columns": ("groups", lambda: GroupNuclearBall((2, 3), [[0, 1], [-1]])),
    "direction shape": ("direction", lambda: NuclearBall((2, 3))(np.ones((3, 2)))),
    "direction text": ("direction", lambda: NuclearBall((1, 1))([["a"]])),
    "direction nan": ("operator", lambda: NuclearBall((1, 2))(np.array([[1.0, np.nan]]))),
    "negative tolerance": ("tolerance", lambda: Spectrahedron(2)(np.eye(2), tolerance=-1.0)),
    "objective of a wrong shape": ("x", lambda: NuclearNormSquared((2, 2)).objective(np.ones((2, 3)))),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_named(name: str) -> None:
    argument, call = CASES[name]
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.argument == argument
