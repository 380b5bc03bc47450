"""SciPy's ARPACK, LOBPCG and PROPACK as independent references: the same eigenpairs and singular triples."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse.linalg as spla

from spectral.matrices import DTYPES, CountingOperator, eps_of, hermitian, rectangular
from unipd.spectral import Engine

LANCZOS = Engine(solver="lanczos")


def scipy_eigenvalues(solver: str, matrix: np.ndarray, count: int) -> np.ndarray:
    """Return the largest eigenvalues, largest first, by SciPy."""
    start = np.random.default_rng(0).standard_normal((len(matrix), count)).astype(matrix.dtype)
    if solver == "arpack":
        return spla.eigsh(matrix, count, which="LA", v0=start[:, 0], return_eigenvectors=False)[::-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.sort(spla.lobpcg(matrix, start, tol=1e-7, maxiter=200, largest=True)[0])[::-1]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("solver", ["arpack", "lobpcg"])
def test_eigenpairs_agree(solver: str, dtype: type) -> None:
    operator = CountingOperator(hermitian(np.r_[3.0, 2.5, np.linspace(-2.0, 2.0, 98)], dtype))
    found = LANCZOS.eigenpairs(operator, 2, tolerance=1e-6)
    assert found.matvecs == operator.products
    assert found.right.dtype == dtype
    reference = scipy_eigenvalues(solver, operator.matrix, 2)
    np.testing.assert_allclose(found.values, reference, atol=1e-5 + 100 * eps_of(dtype))
    residuals = np.linalg.norm(operator.matrix @ found.right - found.right * found.values, axis=0)
    assert np.all(residuals <= found.residuals + 100 * eps_of(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("solver", ["arpack", "propack"])
@pytest.mark.parametrize("shape", [(60, 90), (90, 60)])
def test_singular_triples_agree(solver: str, dtype: type, shape: tuple[int, int]) -> None:
    operator = CountingOperator(rectangular(*shape, np.r_[3.0, 2.5, np.linspace(0.0, 2.0, 58)], dtype))
    found = LANCZOS.singular_triples(operator, 2, tolerance=1e-6)
    assert found.matvecs == operator.products
    assert found.left.dtype == found.right.dtype == dtype
    start = np.random.default_rng(0).standard_normal(shape[0] if solver == "propack" else min(shape)).astype(dtype)
    reference = spla.svds(operator.matrix, 2, v0=start, solver=solver, return_singular_vectors=False)
    np.testing.assert_allclose(found.values, np.sort(reference)[::-1], atol=1e-4)


HARD = {
    "deep bottom": np.diag(-np.logspace(0.0, 6.0, 300)),
    "cluster": np.diag(1.0 - np.linspace(0.0, 1.0, 400) ** 2),
    "random": hermitian(np.random.default_rng(4).standard_normal(200)),
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("tolerance", [1e-2, 1e-8, 0.0])
@pytest.mark.parametrize("relative", [True, False])
def test_converged_means_that_residuals_are_within_the_tolerance(name, tolerance, relative) -> None:
    matrix, size = HARD[name], float(np.abs(np.diag(HARD[name])).max() + 4.0)
    found = LANCZOS.eigenpairs(matrix, 2, tolerance=tolerance, relative=relative)
    residuals = np.linalg.norm(matrix @ found.right - found.right * found.values, axis=0)
    assert np.all(residuals <= found.residuals + 1e-13 * size)
    assert not found.converged or residuals.max() <= tolerance * (size if relative else 1.0) + 1e-13 * size


@pytest.mark.parametrize("relative", [True, False])
def test_converged_triples_are_within_the_tolerance(relative: bool) -> None:
    matrix = HARD["cluster"][:, :300]
    for tolerance in (1e-3, 1e-9, 0.0):
        found = LANCZOS.singular_triples(matrix, 2, tolerance=tolerance, relative=relative)
        assert not found.converged or found.residuals.max() <= tolerance + 1e-13


def test_hard_spectra_need_a_larger_budget_and_subspace() -> None:
    """Where LOBPCG ends at its 200 steps with residuals of a hundred."""
    matrix = HARD["deep bottom"]
    assert not LANCZOS.eigenpairs(matrix, tolerance=1e-8).converged
    enough = Engine(solver="lanczos", max_products=40_000, subspace=200).eigenpairs(matrix, tolerance=1e-8)
    assert enough.converged
    assert enough.value == pytest.approx(-1.0, abs=1e-3)
    assert enough.residual <= 1e-8 * 1e6
