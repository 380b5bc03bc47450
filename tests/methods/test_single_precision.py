"""Data in single precision: accuracy 1e-5 is reached, and holds when it is measured in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy

from unipd import MaxIterations, Problem, Status, sharp, solve
from unipd._util.arrays import norm
from unipd.atoms import as_array
from unipd.couplings import Huber, LeastSquares

ACCURACY = 1e-5
Parts = tuple[Any, Any, Any, Any]


def gaussian(rng: np.random.Generator, shape: tuple[int, ...], is_complex: bool) -> Any:
    real = rng.standard_normal(shape)
    return real + 1j * rng.standard_normal(shape) if is_complex else real


def vectors(name: str, coupling: Any, *, is_complex: bool = False) -> Callable[[int], Parts]:
    """A problem with 30 variables and 10 rows."""

    def make(seed: int) -> Parts:
        rng = np.random.default_rng(seed)
        A, cost, point = gaussian(rng, (10, 30), is_complex), rng.standard_normal(30), np.zeros(30)
        used = 30 if name == "entropy" else 4
        point[:used] = rng.random(used)
        point /= point.sum()
        oracle = {
            "simplex": sharp.Simplex(30),
            "cost on simplex": sharp.Linear(cost, sharp.Simplex(30)),
            "cost on box": sharp.Linear(cost, sharp.Box(np.zeros(30), np.ones(30))),
            "entropy": sharp.Entropy(30),
            "l1": sharp.L1Ball(30, 0.7),
            "cost on l1": sharp.Linear(cost, sharp.L1Ball(30, 2.0)),
            "squared l1": sharp.L1NormSquared(30),
            "cost on l2": sharp.Linear(cost, sharp.L2Ball(30, 2.0)),
        }[name]
        noise = 0.0 if isinstance(coupling, str) else 0.2 * rng.standard_normal(10)
        return oracle, A, A @ point + (0.05 if coupling == "<=" else noise), coupling

    return make


def product(coupling: Any) -> Callable[[int], Parts]:
    """Three simplices."""

    def make(seed: int) -> Parts:
        rng = np.random.default_rng(seed)
        A = [rng.standard_normal((8, 12)) for _ in range(3)]
        oracles = [sharp.Linear(rng.standard_normal(12), sharp.Simplex(12)) for _ in range(3)]
        b = sum(part @ rng.dirichlet(np.full(12, 0.3)) for part in A)
        return oracles, A, b, coupling

    return make


def matrices(name: str, coupling: Any, *, is_complex: bool) -> Callable[[int], Parts]:
    """A matrix of 8 rows and 25 measurements."""

    def make(seed: int) -> Parts:
        rng = np.random.default_rng(seed)
        shape = (8, 8) if name == "spectrahedron" else (8, 10)
        A, point = gaussian(rng, (25, *shape), is_complex), gaussian(rng, (8, 2), is_complex)
        cost = gaussian(rng, shape, is_complex)
        if name == "spectrahedron":
            A, cost = A + A.conj().transpose(0, 2, 1), cost + cost.conj().T
            X = point @ point.conj().T / norm(point) ** 2
            oracle: Any = sharp.Spectrahedron(8)
            oracle = sharp.Linear(cost, oracle) if coupling == "=" else oracle
        else:
            X = point @ gaussian(rng, (2, 10), is_complex)
            radius = float(np.linalg.norm(X, "nuc"))
            oracle = sharp.NuclearNormSquared(shape) if coupling == "=" else sharp.NuclearBall(shape, 0.8 * radius)
        A = A.reshape(25, -1).conj()
        noise = 0.0 if coupling == "=" else 0.05 * rng.standard_normal(25)
        return oracle, A, A @ X.reshape(-1) + noise, coupling

    return make


CASES: dict[str, tuple[Callable[[int], Parts], tuple[str, ...]]] = {
    "simplex, =": (vectors("cost on simplex", "="), ("corrective",)),
    "simplex, <=": (vectors("cost on simplex", "<="), ("corrective",)),
    "simplex, least squares": (vectors("simplex", LeastSquares()), ("corrective", "pairwise")),
    "box, =": (vectors("cost on box", "="), ("corrective",)),
    "entropy, =": (vectors("entropy", "="), ("auto", "corrective", "accunipdgrad")),
    "entropy, <=": (vectors("entropy", "<="), ("auto", "accunipdgrad")),
    "l1, least squares": (vectors("l1", LeastSquares()), ("corrective",)),
    "l1, Huber": (vectors("l1", Huber(0.3)), ("corrective",)),
    "l1, Huber, complex": (vectors("l1", Huber(0.3), is_complex=True), ("corrective",)),
    "l1, =, complex": (vectors("cost on l1", "=", is_complex=True), ("auto",)),
    "squared l1, =": (vectors("squared l1", "="), ("auto", "corrective")),
    "squared l1, =, complex": (vectors("squared l1", "=", is_complex=True), ("auto", "corrective")),
    "l2, =, complex": (vectors("cost on l2", "=", is_complex=True), ("auto", "accunipdgrad")),
    "product, =": (product("="), ("auto",)),
    "product, least squares": (product(LeastSquares()), ("auto",)),
} | {
    f"{name}, {title}{', complex' if is_complex else ''}": (
        matrices(name, coupling, is_complex=is_complex),
        methods if (name, title) != ("nuclear", "=") else ("corrective",),
    )
    for name in ("spectrahedron", "nuclear")
    for title, coupling, methods in (
        ("=", "=", ("factored", "corrective")),
        ("least squares", LeastSquares(), ("factored", "corrective")),
    )
    for is_complex in (False, True)
}


def with_precision(parts: Parts, real: Any, convert: Callable[[Any], Any] = lambda A: A) -> Problem:
    """The problem with its data rounded to single precision, stored in another one."""
    oracle, A, b, coupling = parts
    is_complex = np.iscomplexobj(A if not isinstance(A, list) else A[0])
    single, dtype = (
        np.complex64 if is_complex else np.float32,
        np.result_type(real, np.complex64 if is_complex else real),
    )

    def store(array: Any) -> Any:
        return array.astype(single).astype(dtype)

    return Problem(oracle, [store(a) for a in A] if isinstance(A, list) else convert(store(A)), store(b), coupling)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("case", "method"), [(case, m) for case, (_, methods) in CASES.items() for m in methods])
def test_single_precision_reaches_its_accuracy(case: str, method: str, seed: int) -> None:
    parts = CASES[case][0](seed)
    single, double = with_precision(parts, np.float32), with_precision(parts, np.float64)
    found = solve(single, method, accuracy=ACCURACY, stop=MaxIterations(4000))
    exact = solve(double, accuracy=1e-7)
    assert found.status is Status.SOLVED
    assert exact.status is Status.SOLVED
    x = found.x if isinstance(parts[0], list) else as_array(found.x).astype(double.dtype)
    assert found.dual.dtype == found.image.dtype == single.dtype
    scale, residual = double.scale(exact.objective), double.map.image(x) - double.b
    loss = 0.0 if double.loss is None else double.loss.value(residual)
    objective, slack = double.sharp.objective(x) + loss, 1e-6 * scale
    assert double.infeasibility(residual) <= 1.1 * ACCURACY
    assert found.dual_bound <= exact.objective + slack  # a bound, up to the accuracy of the reference
    assert objective <= exact.objective + ACCURACY * scale + slack
    assert abs(objective - found.dual_bound) <= 1.2 * ACCURACY * scale
    below = norm(exact.dual) * double.coupling.distance(residual)  # what the violation of x is worth
    assert objective >= exact.objective - below - slack


@pytest.mark.parametrize("method", ["corrective", "auto"])
def test_sparse_data_in_single_precision(method: str) -> None:
    parts = vectors("squared l1", "=")(0)
    found = solve(with_precision(parts, np.float32, scipy.sparse.csc_array), method, accuracy=ACCURACY)
    exact = solve(with_precision(parts, np.float64), accuracy=1e-8)
    assert found.status is Status.SOLVED
    assert found.dual_bound == pytest.approx(exact.objective, rel=1.1 * ACCURACY)


@pytest.mark.parametrize("name", ["dense", "sparse", "complex"])
def test_mixed_products_are_in_double_precision(name: str) -> None:
    rng = np.random.default_rng(0)
    A = gaussian(rng, (700, 300), name == "complex").astype(np.complex64 if name == "complex" else np.float32)
    A[:, 7] = 0.0
    wide = A.astype(np.result_type(A, np.float64))
    problem = Problem(sharp.L1Ball(300), scipy.sparse.csc_array(A) if name == "sparse" else A, A[:, 0], "=")
    dual, x = gaussian(rng, (700,), name == "complex"), rng.standard_normal(300)
    assert problem.map.has_mixed_products
    np.testing.assert_allclose(problem.map.adjoint(dual), wide.conj().T @ dual, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(problem.map.image(x), wide @ x, rtol=1e-12, atol=1e-11)


def test_the_penalty_stops_growing_at_the_rounding_of_the_residual() -> None:
    """A user-supplied operator in single precision: the run ends, and no multiplier overflows."""
    oracle, A, b, _ = matrices("spectrahedron", "=", is_complex=False)(1)
    single = A.astype(np.float32)
    operator = scipy.sparse.linalg.LinearOperator(
        A.shape, lambda x: single @ x.astype(np.float32), lambda y: single.T @ y.astype(np.float32), dtype=np.float32
    )
    result = solve(Problem(oracle, operator, b, "="), "factored", accuracy=1e-7, stop=MaxIterations(600))
    assert result.infeasibility <= 1e-5
    assert result.gap <= 1e-2
