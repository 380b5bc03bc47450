"""Maps whose adjoints are not Hermitian, over sets of Hermitian matrices: only the Hermitian part counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unipd
from unipd import maps, sharp

SIZE = 6
RNG = np.random.default_rng(0)
COST = RNG.standard_normal((SIZE, SIZE))
SQUARE = RNG.standard_normal((SIZE, SIZE))
POINT = SQUARE @ SQUARE.T / np.trace(SQUARE @ SQUARE.T)
ROWS, COLUMNS = np.array([0, 0, 1, 2, 3, 0]), np.array([1, 2, 4, 5, 4, 0])
MATRICES = RNG.standard_normal((7, SIZE, SIZE))


def one_sided() -> dict[str, tuple[Any, np.ndarray]]:
    """Return maps that see one side of the diagonal, or unequal sides, with the matrices of their entries."""
    entries = np.zeros((ROWS.size, SIZE, SIZE))
    entries[np.arange(ROWS.size), ROWS, COLUMNS] = 1.0
    left, right = RNG.standard_normal((5, SIZE)), RNG.standard_normal((5, SIZE))
    return {
        "sampling": (maps.Sampling(ROWS, COLUMNS, (SIZE, SIZE)), entries),
        "dense": (maps.DenseMatrix(MATRICES.reshape(7, -1), domain=(SIZE, SIZE)), MATRICES),
        "inner products": (maps.InnerProducts(list(MATRICES)), MATRICES),
        "rank one": (maps.RankOneMeasurements(left, right), left[:, :, None] * right[:, None, :]),
    }


@pytest.mark.parametrize("method", ["auto", "corrective"])
@pytest.mark.parametrize("name", sorted(one_sided()))
def test_solutions_are_those_of_cvxpy(name: str, method: str) -> None:
    cp = pytest.importorskip("cvxpy")
    linear_map, matrices = one_sided()[name]
    b = np.einsum("kij,ij->k", matrices, POINT)
    x = cp.Variable((SIZE, SIZE), PSD=True)
    values = cp.hstack([cp.sum(cp.multiply(matrix, x)) for matrix in matrices])
    optimum = cp.Problem(cp.Minimize(cp.sum(cp.multiply(COST, x))), [cp.trace(x) == 1, values == b]).solve("CLARABEL")
    problem = unipd.Problem(sharp.Linear(COST, sharp.Spectrahedron(SIZE)), linear_map, b, "=")
    result = unipd.solve(problem, method, accuracy=1e-5)
    assert result.status is unipd.Status.SOLVED
    assert result.objective == pytest.approx(optimum, abs=1e-4)
    assert result.dual_bound <= optimum + 1e-6


@pytest.mark.parametrize("name", sorted(one_sided()))
def test_the_oracle_maximises_over_the_hermitian_part(name: str) -> None:
    linear_map, matrices = one_sided()[name]
    dual = np.random.default_rng(3).standard_normal(len(matrices))
    direction = np.einsum("k,kij->ij", dual, matrices)
    answer = sharp.Spectrahedron(SIZE)(linear_map.adjoint(dual))
    assert answer.value == pytest.approx(np.linalg.eigvalsh(0.5 * (direction + direction.T))[-1])
