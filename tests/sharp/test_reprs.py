"""Evaluating the repr of an oracle gives the same oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unipd import sharp

ORACLES = [
    sharp.Simplex(5, 2.0),
    sharp.Simplex((2, 3), 0.1),
    sharp.UnitSimplex((2, 2), 1.0 / 3.0),
    sharp.CappedSimplex(4, 0.2 / 3.0, 0.2),
    sharp.CappedSimplex((2, 3), 0.4),
    sharp.Entropy((2, 2), np.pi),
    sharp.L1Ball(5, 1.5),
    sharp.L2Ball((2, 3), 1.0 / 7.0),
    sharp.LInfBall(5, 1e-12),
    sharp.LpBall((2, 2), 4.0 / 3.0, 2.0),
    sharp.KSupportBall(5, 2, 1.5),
    sharp.KSparsePolytope(5, 2, 1.5),
    sharp.L1NormSquared(5),
    sharp.L2NormSquared(5, 3.0),
    sharp.LInfNormSquared((2, 2), 1.0 / 3.0),
    sharp.EuclideanPower(4, 2.5, 2.0),
    sharp.SeparablePower(4, 3.0, 1.5),
    sharp.L1NormOnBall(5, 2.0, 0.3),
    sharp.NuclearBall((2, 3), 1.0 / 3.0),
    sharp.NuclearNormOnBall((2, 3), 2.0, 3.0),
    sharp.NuclearNormSquared((2, 3), 3.0),
    sharp.SchattenSquared((2, 3), 3.0, 0.5),
    sharp.SpectralBall((2, 3), 2.0),
    sharp.Counted(sharp.L2NormSquared(3, 0.7)),
]


@pytest.mark.parametrize("oracle", ORACLES, ids=repr)
def test_a_printed_oracle_evaluates_to_the_same_function(oracle: Any) -> None:
    again = eval(repr(oracle), {name: getattr(sharp, name) for name in sharp.__all__})
    direction = np.random.default_rng(0).standard_normal(oracle.shape)
    assert type(again) is type(oracle)
    assert repr(again) == repr(oracle)
    assert again.shape == oracle.shape
    assert again(direction).value == pytest.approx(oracle(direction).value, rel=1e-12)
    assert again.objective(direction) == pytest.approx(oracle.objective(direction), rel=1e-12)


def test_squared_norms_keep_the_weight_they_are_given() -> None:
    assert sharp.L2NormSquared(5, 3.0).weight == 3.0
    assert repr(sharp.L2NormSquared(5)) == "L2NormSquared(shape=(5,), weight=1)"
    squared = sharp.NormSquared(sharp.LInfBall(2), 3.0)
    assert squared.weight == 3.0
    assert "weight=3" in repr(squared)
    assert squared.objective(np.array([2.0, 1.0])) == 12.0
