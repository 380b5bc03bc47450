"""The factored method: gradients, factors that stay in the set, low-rank and noisy fits, certified bounds."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unipd
from unipd import couplings, maps, sharp
from unipd._util.arrays import inner
from unipd.atoms import LowRank
from unipd.methods import LBFGSMemory
from unipd.methods.factored import AugmentedLagrangian, RowFactors
from unipd.sharp import ProductFactors, SpectralFactors

FACTORS = {
    "trace": SpectralFactors(5, 0, 2.0, False),
    "trace ball": SpectralFactors(5, 0, 2.0, True),
    "nuclear ball": SpectralFactors(5, 3, 2.0, True),
    "rows": RowFactors(np.array([0, 0, 1, 2, 2]), np.array([1.0, 0.5, 2.0]), np.arange(3), np.ones(3)),
}


def _factor(name: str, seed: int, rank: int = 2) -> np.ndarray:
    rows = getattr(FACTORS[name], "rows", 5)
    return np.random.default_rng(seed).standard_normal((rows, rank))


@pytest.mark.parametrize("name", FACTORS)
@given(seed=st.integers(0, 1000))
def test_gradient_is_the_derivative(name: str, seed: int) -> None:
    factors, factor = FACTORS[name], _factor(name, seed)
    random = np.random.default_rng(seed + 1)
    shape = factors.point(factor).shape
    matrix = random.standard_normal(shape)
    matrix = matrix + matrix.T if shape[0] == shape[1] else matrix
    direction = random.standard_normal(factor.shape)

    def value(t: float) -> float:
        return float(np.vdot(matrix, factors.point(factor + t * direction).dense()))

    slope = inner(factors.gradient(matrix, factor), direction)
    assert slope == pytest.approx((value(1e-6) - value(-1e-6)) / 2e-6, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("name", FACTORS)
def test_points_lie_in_the_set(name: str) -> None:
    factors = FACTORS[name]
    x = factors.point(_factor(name, 0)).dense()
    singular = np.linalg.svd(x, compute_uv=False)
    if name == "rows":
        np.testing.assert_allclose(np.bincount(factors.groups, np.diag(x)), factors.targets)
    elif name == "trace":
        assert np.trace(x) == pytest.approx(2.0)
    else:
        assert singular.sum() <= 2.0 + 1e-12


@pytest.mark.parametrize("name", ["trace", "trace ball", "nuclear ball"])
def test_joining_an_atom_is_a_mixture(name: str) -> None:
    factors, factor = FACTORS[name], _factor(name, 1)
    shape = factors.point(factor).shape
    u, v = np.eye(shape[0])[:, :1], np.eye(shape[1])[:, :1]
    atom = LowRank(u, u, np.array([2.0])) if shape[0] == shape[1] else LowRank(u, v, np.array([2.0]))
    mixed = factors.point(factors.mix_atom(factor, atom, 0.3)).dense()
    np.testing.assert_allclose(mixed, 0.7 * factors.point(factor).dense() + 0.3 * atom.dense(), atol=1e-10)


def test_quasi_newton_directions_solve_a_quadratic() -> None:
    random = np.random.default_rng(0)
    root = random.standard_normal((4, 4))
    hessian = root @ root.T + np.eye(4)
    x, memory = random.standard_normal(4), LBFGSMemory()
    for _ in range(12):
        gradient = hessian @ x
        direction = memory.direction(gradient)
        step = -(gradient @ direction) / (direction @ hessian @ direction) * direction
        memory = memory.add_pair(step, hessian @ step)
        x = x + step
    assert np.linalg.norm(x) < 1e-8


def _measurement_problem(rank: int, noise: float, *, complex_data: bool) -> tuple[unipd.Problem, np.ndarray]:
    random = np.random.default_rng(7)
    size, count = 6, 60
    left = random.standard_normal((count, size)).astype(complex if complex_data else float)
    root = random.standard_normal((size, rank)).astype(left.dtype)
    if complex_data:
        left = left + 1j * random.standard_normal(left.shape)
        root = root + 1j * random.standard_normal(root.shape)
    truth = root @ root.conj().T
    truth /= np.trace(truth).real
    measure = maps.RankOneMeasurements(left)
    b = np.einsum("ki,ij,kj->k", left.conj(), truth, left).real + noise * random.standard_normal(count)
    return unipd.Problem(sharp.Spectrahedron(size), measure, b, couplings.LeastSquares()), truth


@pytest.mark.parametrize("complex_data", [False, True])
@pytest.mark.parametrize("rank", [1, 3])
def test_noiseless_low_rank_states_are_recovered(rank: int, complex_data: bool) -> None:
    problem, truth = _measurement_problem(rank, 0.0, complex_data=complex_data)
    result = unipd.solve(problem, accuracy=1e-12)
    assert result.method == "factored"
    assert result.status is unipd.Status.SOLVED
    np.testing.assert_allclose(result.x.dense(), truth, atol=1e-5)


def test_noisy_fit_matches_an_interior_point_solver() -> None:
    problem, _ = _measurement_problem(2, 0.3, complex_data=False)
    left = problem.map.left
    x = cp.Variable((6, 6), PSD=True)
    residual = cp.sum(cp.multiply(left @ x, left), axis=1) - problem.b
    optimum = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(residual)), [cp.trace(x) == 1]).solve(solver="CLARABEL")
    result = unipd.solve(problem, accuracy=1e-7)
    assert result.status is unipd.Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=1e-5)
    assert result.dual_bound <= optimum * (1 + 1e-8)


def test_nuclear_ball_with_biases_as_blocks() -> None:
    random = np.random.default_rng(8)
    rows, cols = np.divmod(np.arange(40), 5)
    ratings = random.standard_normal(40)
    blocks = [sharp.NuclearBall((8, 5), 2.0), sharp.L2NormSquared(8, 0.5)]
    incidence = np.eye(8)[rows]
    problem = unipd.Problem(blocks, [maps.Sampling(rows, cols, (8, 5)), incidence], ratings, couplings.LeastSquares())
    assert isinstance(problem.sharp.factors(), ProductFactors)
    x, bias = cp.Variable((8, 5)), cp.Variable(8)
    fit = cp.vec(x, order="C") + incidence @ bias - ratings
    value = 0.5 * cp.sum_squares(fit) + 0.5 * cp.sum_squares(bias)
    optimum = cp.Problem(cp.Minimize(value), [cp.normNuc(x) <= 2.0]).solve(solver="CLARABEL")
    result = unipd.solve(problem, accuracy=1e-6)
    assert result.status is unipd.Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=1e-5)


def test_rows_kept_by_construction_have_closed_form_multipliers() -> None:
    random = np.random.default_rng(9)
    cost = random.standard_normal((5, 5))
    cost = cost + cost.T
    entries = maps.sdp.Entries(np.arange(5), np.arange(5), np.arange(5), np.ones(5))
    problem = unipd.Problem(
        sharp.Linear(cost, sharp.Spectrahedron(5, 5.0)), maps.sdp.SdpMap((5, 5), entries, 5), np.ones(5), "="
    )
    kept = RowFactors(np.arange(5), np.ones(5), np.arange(5), np.ones(5))
    result = unipd.solve(problem, unipd.Factored(factors=kept), accuracy=1e-8)
    x = cp.Variable((5, 5), PSD=True)
    optimum = cp.Problem(cp.Minimize(cp.trace(cost @ x)), [cp.diag(x) == 1]).solve(solver="CLARABEL")
    assert result.status is unipd.Status.SOLVED
    assert result.infeasibility <= 1e-12
    assert result.objective == pytest.approx(optimum, rel=1e-6)
    slack = cost + np.diag(result.dual)
    assert np.linalg.eigvalsh(slack)[0] >= -1e-6
    assert np.linalg.norm(slack @ result.x.left) <= 1e-3


def test_best_gamma_minimises_along_the_segment() -> None:
    problem, _ = _measurement_problem(2, 0.1, complex_data=False)
    factors = problem.sharp.factors()
    model = AugmentedLagrangian(problem, factors, np.zeros(60), 0.0)
    here = model.evaluate(np.eye(6)[:, :2])
    image = problem.map.image(LowRank(np.eye(6)[:, 3:4], np.eye(6)[:, 3:4], np.ones(1)))
    gamma = model.best_gamma(here, image, 0.0)

    def value(t: float) -> float:
        return problem.loss.value((1 - t) * here.image + t * image - problem.b)

    grid = np.linspace(0, 1, 1001)
    assert value(gamma) <= min(value(t) for t in grid) + 1e-9


def test_factors_of_rows_refuse_complex_data() -> None:
    atom = LowRank(np.ones((5, 1), complex), np.ones((5, 1), complex), np.ones(1))
    with pytest.raises(unipd.errors.InvalidInput, match="real data"):
        FACTORS["rows"].start(atom, 2, 0)


class _FailingLater(maps.DenseMatrix):
    """A map whose adjoint fails after a few calls, as a user's own map may."""

    calls = 0

    def adjoint(self, dual: np.ndarray) -> np.ndarray:
        type(self).calls += 1
        if type(self).calls > 2:
            raise RuntimeError("no more")
        return super().adjoint(dual)


@pytest.mark.parametrize("coupling", [couplings.LeastSquares(), couplings.Equality()])
def test_a_map_that_fails_is_named(coupling: object) -> None:
    _FailingLater.calls = 0
    problem = unipd.Problem(sharp.Spectrahedron(2), _FailingLater(np.eye(4), domain=(2, 2)), np.ones(4) / 4, coupling)
    with pytest.raises(unipd.errors.OracleError, match="no more"):
        unipd.solve(problem, "factored", accuracy=1e-9)


@pytest.mark.parametrize("rows", [6, 9000])
def test_directions_do_not_depend_on_the_layout_of_arrays(rows: int) -> None:
    random = np.random.default_rng(5)
    memory, other = LBFGSMemory(), LBFGSMemory()
    for _ in range(4):
        step = random.standard_normal((rows, 3))
        change = step + 0.1 * random.standard_normal((rows, 3))
        memory = memory.add_pair(step, change)
        other = other.add_pair(np.asfortranarray(step), np.asfortranarray(change))
    gradient = random.standard_normal((rows, 3))
    kept = gradient.copy()
    np.testing.assert_allclose(memory.direction(gradient), other.direction(np.asfortranarray(gradient)), rtol=1e-12)
    assert np.array_equal(gradient, kept)


@pytest.mark.parametrize("rank", [1, 2])
def test_a_rank_at_which_the_constraints_cannot_hold_is_raised(rank: int) -> None:
    spectrum = np.array([0.4, 0.3, 0.2, 0.1])
    ball = sharp.Linear(np.eye(4), sharp.TraceBall(4))
    problem = unipd.Problem(ball, maps.DenseMatrix(np.eye(16), domain=(4, 4)), np.diag(spectrum).ravel(), "=")
    result = unipd.solve(problem, unipd.Factored(rank=rank), accuracy=1e-5, stop=unipd.MaxIterations(300))
    assert result.status.success, result
    assert result.objective == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("method", ["auto", "factored"])
def test_a_nuclear_norm_over_a_ball_has_the_minimiser_of_its_square(method: str) -> None:
    random = np.random.default_rng(0)
    rows, columns = np.nonzero(random.random((15, 12)) < 0.7)
    truth = random.standard_normal((15, 2)) @ random.standard_normal((2, 12))
    entries, b = unipd.maps.Sampling(rows, columns, (15, 12)), truth[rows, columns]
    size = float(np.linalg.norm(truth, "nuc"))
    norm = unipd.sharp.NuclearNormOnBall((15, 12), 1.5 * size)
    plain = unipd.solve(unipd.Problem(norm, entries, b), method, accuracy=1e-6)
    squared = unipd.solve(unipd.Problem(unipd.sharp.NuclearNormSquared((15, 12)), entries, b), accuracy=1e-7)
    assert plain.method == ("barrier" if method == "auto" else method)
    assert plain.status.success
    assert squared.status.success
    assert plain.objective**2 == pytest.approx(squared.objective, rel=1e-5)
    np.testing.assert_allclose(unipd.atoms.dense(plain.x), unipd.atoms.dense(squared.x), atol=1e-2 * size)
