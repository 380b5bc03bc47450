"""Badly scaled rows: solved to 1e-6 in each of seven families, and reported in the original units."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import unipd
from unipd import Status, couplings, sharp
from unipd.maps import sdp


def _sparse(oracle: sharp.Sharp, coupling: couplings.ConvexSet) -> unipd.Problem:
    random = np.random.default_rng(1)
    A = random.standard_normal((12, 40))
    truth = np.zeros(40)
    truth[[3, 17]] = [1.0, -2.0]
    return unipd.Problem(oracle, A, A @ truth, coupling)


def _program(oracle: sharp.Sharp) -> unipd.Problem:
    random = np.random.default_rng(2)
    A = random.standard_normal((8, 30))
    b = A @ random.dirichlet(np.ones(30))
    return unipd.Problem(sharp.Linear(random.standard_normal(30), oracle), A, b, "<=")


def _inclusion() -> unipd.Problem:
    random = np.random.default_rng(4)
    matrices = random.standard_normal((12, 4, 4))
    matrices = matrices + matrices.transpose(0, 2, 1)
    shift = np.tensordot(random.dirichlet(np.ones(12)), matrices, 1) - 0.2 * np.eye(4)
    oracle = sharp.Linear(random.standard_normal(12), sharp.Simplex(12))
    return unipd.Problem(oracle, matrices.reshape(12, -1).T, shift.ravel(), couplings.PSDCone(4))


def _maxcut(row_factors: np.ndarray) -> unipd.Problem:
    random = np.random.default_rng(5)
    weights = np.triu(random.random((10, 10)) < 0.5, 1).astype(float)
    weights += weights.T
    cost = -(np.diag(weights.sum(1)) - weights) / 4
    entries = sdp.Entries(np.arange(10), np.arange(10), np.arange(10), row_factors)
    oracle = sharp.Linear(cost, sharp.Spectrahedron(10, 10.0))
    return unipd.Problem(oracle, sdp.SdpMap((10, 10), entries, 10), row_factors, "=")


FAMILIES: dict[str, Callable[[], unipd.Problem]] = {
    "l1 squared, Ax = b": lambda: _sparse(sharp.L1NormSquared(40), couplings.Equality()),
    "l1 on a ball, Ax = b": lambda: _sparse(sharp.L1NormOnBall(40, 6.0), couplings.Equality()),
    "l1 squared, box": lambda: _sparse(sharp.L1NormSquared(40), couplings.Box(-0.1, 0.1)),
    "simplex, Ax <= b": lambda: _program(sharp.Simplex(30)),
    "l1 ball, Ax <= b": lambda: _program(sharp.L1Ball(30)),
    "semidefinite inclusion": _inclusion,
}


def _badly_scaled(problem: unipd.Problem, factors: np.ndarray) -> unipd.Problem:
    coupling = problem.coupling
    if isinstance(coupling, couplings.Box):
        coupling = couplings.Box(factors * coupling.lower, factors * coupling.upper)
    matrix = factors[:, None] * problem.map.matrix
    return unipd.Problem(problem.sharp, matrix, factors * problem.b, coupling)


def _check(result: unipd.Result, optimum: float) -> None:
    assert result.status is Status.SOLVED
    assert abs(result.objective - optimum) <= 3e-6 * max(1.0, abs(optimum))
    problem = result.problem
    np.testing.assert_allclose(result.image, problem.map.image(result.x), rtol=1e-12)
    assert result.infeasibility == pytest.approx(problem.infeasibility(result.image - problem.b), rel=1e-9)
    assert result.history["infeasibility"][-1] == pytest.approx(result.infeasibility, rel=1e-3, abs=1e-12)
    answer = problem.sharp(problem.map.adjoint(-result.dual))
    bound = -(answer.value + float(result.dual @ problem.b) + problem.coupling.conjugate(result.dual))
    assert bound == pytest.approx(result.dual_bound, abs=1e-5 * max(1.0, abs(optimum)))


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("spread", [2.0, 6.0])
def test_badly_scaled_rows_are_solved(name: str, spread: float) -> None:
    problem = FAMILIES[name]()
    optimum = unipd.solve(problem, accuracy=1e-8).objective
    random = np.random.default_rng(7)
    factors = 10.0 ** random.uniform(-spread, spread, problem.b.size)
    if isinstance(problem.coupling, couplings.PSDCone):
        sides = 10.0 ** random.uniform(-spread / 2, spread / 2, problem.coupling.size)
        factors = np.outer(sides, sides).ravel()
    _check(unipd.solve(_badly_scaled(problem, factors), accuracy=1e-6), optimum)


def test_badly_scaled_maxcut_is_solved() -> None:
    optimum = unipd.solve(_maxcut(np.ones(10)), accuracy=1e-8).objective
    factors = 10.0 ** np.random.default_rng(8).uniform(-6, 6, 10)
    result = unipd.solve(_maxcut(factors), accuracy=1e-6)
    assert result.status is Status.SOLVED
    assert abs(result.objective - optimum) <= 3e-6 * abs(optimum)
    np.testing.assert_allclose(np.diag(result.x.dense()), 1.0, atol=1e-4)


def test_a_badly_scaled_noise_ball_is_solved() -> None:
    """Rows inside a Euclidean ball have units of their own: another problem, solved in the units of an ellipsoid."""
    plain = _sparse(sharp.L1NormSquared(40), couplings.L2Ball(0.3))
    for seed in range(3):
        factors = 10.0 ** np.random.default_rng(seed).uniform(-6, 6, 12)
        result = unipd.solve(_badly_scaled(plain, factors), accuracy=1e-6)
        _check(result, result.dual_bound)


@pytest.mark.parametrize("method", ["unipdgrad", "accunipdgrad"])
def test_universal_methods_gain_as_well(method: str) -> None:
    problem = FAMILIES["simplex, Ax <= b"]()
    bad = _badly_scaled(problem, 10.0 ** np.random.default_rng(7).uniform(-4, 4, 8))
    stop = unipd.MaxIterations(400)
    errors = []
    optimum = unipd.solve(problem, accuracy=1e-8).objective
    for scaling in (None, "rows"):
        result = unipd.solve(bad, method, accuracy=1e-6, eps=0.3, stop=stop, scaling=scaling)
        scaled = (result.image - bad.b) / np.linalg.norm(bad.map.matrix, axis=1)
        errors.append(abs(result.objective - optimum) + np.maximum(scaled, 0.0).max())
    assert errors[1] < 0.5 * errors[0]


def test_infeasibility_is_recognised_in_the_original_units() -> None:
    A = np.diag([1e5, 1e-5, 1.0])
    problem = unipd.Problem(sharp.Simplex(3), A, [2e5, 0.0, 0.0], "=")
    assert unipd.solve(problem, accuracy=1e-6).status is Status.INFEASIBLE


def test_a_warm_start_is_in_the_original_units() -> None:
    bad = _badly_scaled(FAMILIES["simplex, Ax <= b"](), 10.0 ** np.random.default_rng(7).uniform(-4, 4, 8))
    first = unipd.solve(bad, accuracy=1e-6)
    again = unipd.solve(bad, accuracy=1e-6, start=first)
    assert again.status is Status.SOLVED
    assert again.dual_bound >= first.dual_bound - 1e-9
    assert again.settings["scaling"] == "rows"


def test_scaling_is_checked() -> None:
    problem = unipd.Problem(sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    with pytest.raises(unipd.errors.InvalidInput, match="scaling"):
        unipd.solve(problem, scaling="columns")
    wrapped = unipd.Rescaling(unipd.Corrective())
    assert unipd.solve(problem, wrapped, accuracy=1e-6).status is Status.SOLVED


def test_the_work_of_checks_outside_is_not_forgotten() -> None:
    bad = _badly_scaled(FAMILIES["simplex, Ax <= b"](), 10.0 ** np.linspace(-3, 3, 8))
    ridge = unipd.Problem(sharp.L2NormSquared(40), bad.map.matrix[:, :1] * np.ones(40), bad.b, couplings.LeastSquares())
    for method, problem in (
        (unipd.Rescaling(unipd.Corrective()), bad),
        (unipd.Restarts(unipd.AccUniPDGrad()), ridge),
    ):
        state = method.start(problem, unipd.trackers.ImageOnly(), np.zeros(8), 1e-6)
        state = method.step(problem, state)
        checked = replace(state, counts=state.counts.plus(oracle_calls=1000, matvecs=2000))
        after = method.step(problem, checked).counts
        assert after.oracle_calls > 1000
        assert after.matvecs > 2000
