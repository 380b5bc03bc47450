"""The corrective method: quadratic programs, the bundle, and high accuracy on every class of problem."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unipd
from seven import Case, seven_problems
from unipd import couplings, sharp
from unipd.dual import evaluate
from unipd.methods.corrective import Bundle, minimize_quadratic
from unipd.trackers import vertex_key


def _case_names() -> list[str]:
    return [case.name for case in seven_problems()]


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    return {case.name: case for case in seven_problems()}


@pytest.mark.parametrize("name", _case_names())
def test_auto_reaches_one_in_a_million(cases: dict[str, Case], name: str) -> None:
    case = cases[name]
    model = case.model()
    optimum = case.value(model.solve(solver="CLARABEL"))
    result = unipd.solve(case.problem, accuracy=1e-6, stop=unipd.MaxIterations(500))
    scale = max(1.0, abs(optimum))
    assert result.status is unipd.Status.SOLVED
    assert result.dual_bound <= optimum + 1e-6 * scale
    assert abs(result.objective - optimum) <= 3e-6 * scale
    assert result.infeasibility <= 1e-6


@given(st.integers(0, 10_000), st.integers(1, 8), st.integers(0, 8), st.integers(0, 8), st.booleans())
def test_quadratic_program_meets_the_kkt_conditions(
    seed: int, size: int, rank: int, limits: int, sums_to_one: bool
) -> None:
    random = np.random.default_rng(seed)
    root = random.standard_normal((rank, size))
    hessian, linear = root.T @ root, random.standard_normal(size)
    if not sums_to_one:
        hessian = hessian + np.eye(size)
    rows, offset = 3.0 * random.standard_normal((limits, size)), random.standard_normal(limits)
    start, sums = np.full(size, 1.0 / size), np.ones((1, size)) if sums_to_one else None
    likely = random.random(limits) < 0.5  # the solution does not depend on the first guess
    weights = minimize_quadratic(hessian, linear, start, sums=sums, limits=(rows, offset, likely))
    slope = hessian @ weights + linear + np.maximum(rows @ weights + offset, 0.0) @ rows
    level = slope @ weights if sums_to_one else 0.0
    assert weights.min() >= 0
    if sums_to_one:
        assert weights.sum() == pytest.approx(1.0)
    tolerance = 1e-8 * (1.0 + np.abs(hessian).max() + np.abs(linear).max())
    assert (slope - level).min() >= -tolerance
    assert np.abs((slope - level) * weights).max() <= tolerance


@given(st.integers(0, 10_000), st.integers(1, 6), st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_quadratic_program_over_several_simplices(seed: int, rank: int, sizes: list[int]) -> None:
    random = np.random.default_rng(seed)
    blocks = np.repeat(np.arange(len(sizes)), sizes)
    sums = (blocks == np.arange(len(sizes))[:, None]).astype(float)
    root = random.standard_normal((rank, blocks.size))
    linear = random.standard_normal(blocks.size)
    start = np.concatenate([np.eye(size)[random.integers(size)] for size in sizes])
    weights = minimize_quadratic(root.T @ root, linear, start, sums=sums)
    slope = root.T @ (root @ weights) + linear
    level = np.array([slope[blocks == block].min() for block in range(len(sizes))])
    np.testing.assert_allclose(sums @ weights, 1.0)
    assert weights.min() >= 0
    assert ((slope - level[blocks]) * weights).max() <= 1e-8 * (1.0 + np.abs(root).max() ** 2)


def test_the_bundle_keeps_its_limit_and_its_point() -> None:
    random = np.random.default_rng(0)
    problem = unipd.Problem(sharp.L2Ball(6), random.standard_normal((4, 6)), np.zeros(4), "=")
    points = [evaluate(problem, random.standard_normal(4)) for _ in range(5)]
    bundle = Bundle.of(problem, points[0]).with_atoms(problem, *points[1:], points[2])
    np.testing.assert_array_equal(bundle.columns.matrix.T, [point.image for point in points])
    bundle = bundle.with_weights(np.array([0.1, 0.3, 0.05, 0.25, 0.3]))
    merged = bundle.prune(3, np.zeros(4))
    assert len(merged.atoms) == 3
    np.testing.assert_allclose(merged.image(problem), bundle.image(problem))
    np.testing.assert_allclose(merged.gram, merged.columns.matrix.T @ merged.columns.matrix, atol=1e-12)
    assert merged.weights.sum() == pytest.approx(1.0)


def test_an_atom_is_not_kept_twice() -> None:
    problem = unipd.Problem(sharp.Simplex(3), np.eye(3), np.zeros(3), "=")
    point = evaluate(problem, np.zeros(3))
    assert len(Bundle.of(problem, point).with_atoms(problem, point).atoms) == 1


def test_little_memory_still_converges() -> None:
    random = np.random.default_rng(3)
    A, c = random.standard_normal((5, 40)), random.standard_normal(40)
    problem = unipd.Problem(sharp.Linear(c, sharp.Simplex(40)), A, A @ random.dirichlet(np.ones(40)), "=")
    full = unipd.solve(problem, "corrective", accuracy=1e-6)
    tight = unipd.solve(problem, "corrective", memory=9, accuracy=1e-6)
    assert full.status is tight.status is unipd.Status.SOLVED
    assert tight.objective == pytest.approx(full.objective, abs=1e-5)
    assert len(tight.state.bundle.atoms) <= 9


LOSSES = {
    "huber": (couplings.Huber(0.1), lambda r: cp.sum(cp.huber(r, 0.1)) / 2),
    "absolute": (couplings.Absolute(), cp.norm1),
    "logistic": (couplings.Logistic(), lambda r: cp.sum(cp.logistic(-r))),
    "weighted": (couplings.WeightedLeastSquares(np.linspace(1, 3, 12)), None),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_every_kind(name: str) -> None:
    random = np.random.default_rng(4)
    A, b = random.standard_normal((12, 30)), random.standard_normal(12)
    loss, atom = LOSSES[name]
    x = cp.Variable(30)
    residual = A @ x - b
    value = atom(residual) if atom else 0.5 * cp.sum(cp.multiply(np.linspace(1, 3, 12), residual**2))
    optimum = cp.Problem(cp.Minimize(value), [cp.norm1(x) <= 0.7]).solve(solver="CLARABEL")
    result = unipd.solve(unipd.Problem(sharp.L1Ball(30, 0.7), A, b, loss), accuracy=1e-7)
    assert result.status is unipd.Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=1e-5, abs=1e-6)


def test_smooth_objectives_need_no_proximal_operator() -> None:
    random = np.random.default_rng(5)
    A, mean = random.standard_normal((6, 20)), random.dirichlet(np.ones(20))
    for oracle in (sharp.Entropy(20), sharp.QuadraticBox(np.ones(20), -mean, np.zeros(20), np.ones(20))):
        result = unipd.solve(unipd.Problem(oracle, A, A @ mean, "="), accuracy=1e-6)
        assert result.status is unipd.Status.SOLVED


def test_infeasible_problems_are_recognised() -> None:
    problem = unipd.Problem(sharp.Linear(np.ones(3), sharp.Simplex(3)), np.eye(3), np.full(3, 2.0), "=")
    assert unipd.solve(problem, accuracy=1e-6).status is unipd.Status.INFEASIBLE


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_data_in_any_units(factor: float) -> None:
    random = np.random.default_rng(6)
    A, c = random.standard_normal((4, 15)), random.standard_normal(15)
    b = A @ random.dirichlet(np.ones(15))
    problem = unipd.Problem(sharp.Linear(c, sharp.Simplex(15)), factor * A, factor * b, "=")
    plain = unipd.solve(unipd.Problem(sharp.Linear(c, sharp.Simplex(15)), A, b, "="), accuracy=1e-8)
    result = unipd.solve(problem, accuracy=1e-6)
    assert result.status is unipd.Status.SOLVED
    assert result.objective == pytest.approx(plain.objective, abs=2e-6 * max(1.0, 1 / factor))


def test_redundant_rows_and_a_zero_optimum() -> None:
    A = np.vstack([np.eye(4), np.eye(4), np.ones((1, 4))])
    x = np.array([0.1, 0.2, 0.3, 0.4])
    result = unipd.solve(unipd.Problem(sharp.Simplex(4), A, A @ x, "="), accuracy=1e-8)
    assert result.status is unipd.Status.SOLVED
    np.testing.assert_allclose(result.x, x, atol=1e-6)


def test_of_idle_atoms_the_dearest_leave() -> None:
    random = np.random.default_rng(1)
    problem = unipd.Problem(sharp.L2Ball(6), random.standard_normal((4, 6)), random.standard_normal(4), "=")
    points = [evaluate(problem, random.standard_normal(4)) for _ in range(6)]
    bundle = (
        Bundle.of(problem, points[0])
        .with_atoms(problem, *points[1:])
        .with_weights(np.array([0.5, 0.0, 0.0, 0.5, 0.0, 0.0]))
    )
    dual = random.standard_normal(4)
    prices = np.array([point.image @ dual for point in points])
    kept = bundle.prune(4, dual).columns.matrix + problem.b[:, None]
    idle = sorted([1, 2, 4, 5], key=lambda place: prices[place])
    expected = sorted([0, 3, *idle[:2]])
    np.testing.assert_allclose(kept.T, [points[place].image for place in expected])


def test_merging_onto_an_atom_that_is_there_keeps_the_point() -> None:
    problem = unipd.Problem(sharp.Box(-1.0, 1.0, 2), np.eye(2), np.zeros(2), "=")
    bundle = Bundle.of(problem, evaluate(problem, np.array([-1.0, -1.0])))
    for dual in ([-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]):
        bundle = bundle.with_atoms(problem, evaluate(problem, np.array(dual)))
    bundle = bundle.with_weights(np.array([0.1, 0.2, 0.3, 0.4]))
    merged = bundle.prune(3, np.zeros(2)).prune(2, np.zeros(2))
    np.testing.assert_allclose(merged.image(problem), bundle.image(problem))


def test_low_rank_atoms_are_distinguished_without_being_formed() -> None:
    left = np.ones((4, 1))
    atom, other = (unipd.atoms.LowRank(left, right, np.ones(1)) for right in (left, 2 * left))
    assert vertex_key(atom) != vertex_key(other)
    assert len(vertex_key(atom)) == 16


@pytest.mark.parametrize("unit", [1e-14, 1e14])
def test_weights_without_a_sum_have_any_unit(unit):
    random = np.random.default_rng(5)
    columns, linear = random.standard_normal((8, 6)), -random.random(6)
    plain, scaled = (
        minimize_quadratic(columns.T @ columns, scale * linear, np.zeros(6), sums=None) for scale in (1.0, unit)
    )
    np.testing.assert_allclose(scaled / unit, plain, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_sets_with_infinitely_many_vertices_take_tens_of_iterations(seed: int) -> None:
    """Late atoms improve the master by little beside the rounding of its large Hessian; they count all the same."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((10, 30)) + 1j * rng.standard_normal((10, 30))
    point = np.zeros(30)
    point[:4] = rng.dirichlet(np.ones(4))
    oracle = sharp.Linear(rng.standard_normal(30), sharp.L1Ball(30, 2.0))
    problem = unipd.Problem(oracle, A, A @ point, "=")
    result = unipd.solve(problem, "corrective", accuracy=1e-7)
    assert result.status.success
    assert result.iterations <= 40
