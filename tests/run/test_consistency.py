"""Consistency checks detect oracles that do not maximise, by the atoms returned earlier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unipd
from unipd import atoms, couplings, sharp
from unipd.errors import OracleError


class SecondBest(sharp.Simplex):
    """A simplex whose oracle always returns the second best vertex."""

    def maximiser(self, direction: Any) -> Any:
        """Return the wrong vertex."""
        return atoms.one_hot(self.shape, int(np.argsort(direction)[-2]), self.scale, direction.dtype)


def program(oracle: sharp.Simplex, seed: int, coupling: Any = "<=") -> unipd.Problem:
    random = np.random.default_rng(seed)
    A = random.standard_normal((6, 20))
    b = A @ random.dirichlet(np.ones(20))
    return unipd.Problem(sharp.Linear(random.standard_normal(20), oracle), A, b, coupling)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("coupling", ["<=", "=", couplings.L2Ball(0.1), couplings.LeastSquares()])
def test_an_oracle_that_returns_the_second_best_vertex_is_detected(seed: int, coupling: Any) -> None:
    with pytest.raises(OracleError, match="doctor"):
        unipd.solve(program(SecondBest(20), seed, coupling), accuracy=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_rounding_passes_the_consistency_checks(dtype: Any, size: float) -> None:
    honest = program(sharp.Simplex(20), 0)
    oracle = sharp.Linear(np.asarray(size * honest.sharp.cost, dtype), sharp.Simplex(20))
    problem = unipd.Problem(oracle, (size * honest.map.matrix).astype(dtype), (size * honest.b).astype(dtype), "<=")
    unipd.solve(problem, "corrective", accuracy=1e-12, stop=unipd.MaxIterations(60))
