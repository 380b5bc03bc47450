"""SciPy's solvers behind the same answers: twins of ours, and fallbacks where they cannot answer."""

from __future__ import annotations

import numpy as np
import pytest

from spectral.matrices import DTYPES, CountingOperator, eps_of, hermitian, rectangular
from unipd.spectral import Engine

EIGEN = ("arpack", "lobpcg")
SINGULAR = ("arpack", "lobpcg", "propack")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("solver", EIGEN)
def test_eigenpairs_agree(solver: str, dtype: type) -> None:
    operator = CountingOperator(hermitian(np.r_[3.0, 2.5, np.linspace(-2.0, 2.0, 98)], dtype))
    found = Engine(solver=solver).eigenpairs(operator, 2, tolerance=1e-6)
    ours = Engine(solver="lanczos").eigenpairs(operator.matrix, 2, tolerance=1e-6)
    assert found.solver == solver
    assert found.matvecs == operator.products
    assert found.vectors.dtype == dtype
    np.testing.assert_allclose(found.values, ours.values, atol=1e-5 + 100 * eps_of(dtype))
    residuals = np.linalg.norm(operator.matrix @ found.vectors - found.vectors * found.values, axis=0)
    np.testing.assert_allclose(residuals, found.residuals, atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("solver", SINGULAR)
@pytest.mark.parametrize("shape", [(60, 90), (90, 60)])
def test_singular_triples_agree(solver: str, dtype: type, shape: tuple[int, int]) -> None:
    operator = CountingOperator(rectangular(*shape, np.r_[3.0, 2.5, np.linspace(0.0, 2.0, 58)], dtype))
    found = Engine(solver=solver).singular_triples(operator, 2, tolerance=1e-4)
    ours = Engine(solver="lanczos").singular_triples(operator.matrix, 2, tolerance=1e-6)
    assert found.solver == solver
    assert found.matvecs == operator.products
    np.testing.assert_allclose(found.values, ours.values, atol=1e-4)
    assert found.left.dtype == found.right.dtype == dtype


@pytest.mark.parametrize("solver", EIGEN)
@pytest.mark.parametrize("size", [1, 3, 40])
def test_zero_and_tiny_operators_fall_back(solver: str, size: int) -> None:
    engine = Engine(solver=solver)
    assert engine.eigenpairs(np.zeros((size, size))).value == 0.0
    assert engine.singular_triples(np.zeros((size, 2 * size))).value == 0.0
    assert engine.eigenpairs(np.eye(2)).value == pytest.approx(1.0)


@pytest.mark.parametrize("solver", EIGEN)
def test_warm_start_and_value_tolerance_are_taken(solver: str) -> None:
    matrix = hermitian(np.linspace(0.0, 1.0, 80))
    start = Engine(solver="lanczos").eigenpairs(matrix).vector
    found = Engine(solver=solver).eigenpairs(matrix, start=start, tolerance=0.1, value_tolerance=1e-8)
    assert found.value == pytest.approx(1.0, abs=1e-6)


HARD = {
    "deep bottom": np.diag(-np.logspace(0.0, 6.0, 300)),
    "cluster": np.diag(1.0 - np.linspace(0.0, 1.0, 400) ** 2),
    "random": hermitian(np.random.default_rng(4).standard_normal(200)),
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("solver", EIGEN)
@pytest.mark.parametrize("tolerance", [1e-2, 1e-8, 0.0])
@pytest.mark.parametrize("relative", [True, False])
def test_converged_means_that_residuals_are_within_the_tolerance(name, solver, tolerance, relative) -> None:
    matrix, size = HARD[name], float(np.abs(np.diag(HARD[name])).max() + 4.0)
    found = Engine(solver=solver).eigenpairs(matrix, 2, tolerance=tolerance, relative=relative)
    residuals = np.linalg.norm(matrix @ found.vectors - found.vectors * found.values, axis=0)
    assert np.all(residuals <= found.residuals + 1e-13 * size)
    assert not found.converged or residuals.max() <= tolerance * (size if relative else 1.0) + 1e-13 * size


@pytest.mark.parametrize("solver", SINGULAR)
@pytest.mark.parametrize("relative", [True, False])
def test_converged_triples_are_within_the_tolerance(solver: str, relative: bool) -> None:
    matrix = HARD["cluster"][:, :300]
    for tolerance in (1e-3, 1e-9, 0.0):
        found = Engine(solver=solver).singular_triples(matrix, 2, tolerance=tolerance, relative=relative)
        assert not found.converged or found.residuals.max() <= tolerance + 1e-13


def test_where_scipy_does_not_converge_ours_answers() -> None:
    """LOBPCG ends at its 200 steps with residuals of a hundred."""
    matrix = HARD["deep bottom"]
    few = Engine(solver="lobpcg").eigenpairs(matrix, tolerance=1e-8)
    assert few.solver == "lanczos"
    assert not few.converged
    enough = Engine(solver="lobpcg", max_products=40_000, subspace=200).eigenpairs(matrix, tolerance=1e-8)
    assert enough.solver == "lanczos"
    assert enough.converged
    assert enough.value == pytest.approx(-1.0, abs=1e-3)
    assert enough.residual <= 1e-8 * 1e6


def test_arpack_spends_no_more_than_it_may() -> None:
    operator = CountingOperator(HARD["deep bottom"])
    Engine(solver="arpack", max_products=500).eigenpairs(operator)
    assert operator.products <= 1100  # its own, and those of ours after it
