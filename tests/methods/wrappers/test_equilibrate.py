"""Row equilibration: which rows it scales, and that only the units change."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator

import unipd
from unipd import couplings, sharp
from unipd.couplings import Ellipsoid, finite_differences
from unipd.dual import evaluate, lower_bound
from unipd.maps import row_norms
from unipd.methods.wrappers import equilibrate

COUPLINGS = {
    "equality": couplings.Equality(),
    "at most": couplings.AtMost(),
    "at least": couplings.AtLeast(),
    "box": couplings.Box(-1.0, np.arange(6.0)),
    "half-space": couplings.HalfSpace(np.arange(1.0, 7.0), 2.0),
    "second-order cone": couplings.SecondOrderCone(),
    "ball": couplings.L2Ball(2.0),
    "ball of the largest entry": couplings.LInfBall(0.7),
    "point": couplings.L2Ball(0.0),
    "product": couplings.Product([couplings.Equality(), couplings.L1Ball(1.5), couplings.AtMost()], [2, 2, 2]),
    "translated": couplings.Translated(couplings.AtMost(), np.ones(6)),
    "scaled": couplings.Scaled(couplings.Box(-1.0, 2.0), 3.0),
}


@pytest.mark.parametrize("name", COUPLINGS)
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_membership_is_the_same_in_both_units(name: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    norms = 10.0 ** random.uniform(-3, 3, 6)
    new = COUPLINGS[name].rescale(norms)
    assert new is not None
    inside = COUPLINGS[name].prox(random.standard_normal(6), 1.0)
    outside = random.standard_normal(6)
    for vector in (inside, outside):
        there = new.factors * vector
        back = new.coupling.prox(there, 1.0) / new.factors
        near = COUPLINGS[name].distance(vector) <= 1e-9
        assert near == (np.linalg.norm(back - vector) <= 1e-9 * max(1.0, np.linalg.norm(vector)))
        dual = random.standard_normal(6)
        assert new.coupling.conjugate(dual / new.factors) == pytest.approx(COUPLINGS[name].conjugate(dual))


def test_a_congruence_keeps_the_semidefinite_cone() -> None:
    sides = 10.0 ** np.linspace(-3, 3, 4)
    new = couplings.PSDCone(4).rescale(np.outer(sides, sides).ravel())
    assert new is not None
    table = new.factors.reshape(4, 4)
    assert np.linalg.matrix_rank(table) == 1
    assert np.all((table * np.outer(sides, sides) > 0.2) & (table * np.outer(sides, sides) < 5.0))


@pytest.mark.parametrize("loss", [couplings.LeastSquares(), couplings.Huber(), couplings.Logistic()])
def test_losses_keep_their_units(loss: couplings.ConvexLoss) -> None:
    problem = unipd.Problem(sharp.L1Ball(2), np.diag([1.0, 1e6]), np.ones(2), loss)
    assert equilibrate(problem) is None


def test_well_scaled_problems_are_left_alone() -> None:
    A = np.random.default_rng(0).standard_normal((5, 9))
    assert equilibrate(unipd.Problem(sharp.Simplex(9), A, A[:, 0], "=")) is None
    assert equilibrate(unipd.Problem(sharp.Simplex(9), 1e6 * A, 1e6 * A[:, 0], "=")) is None


def test_row_norms_of_every_kind_of_map() -> None:
    random = np.random.default_rng(1)
    A, B = random.standard_normal((4, 6)) + 1j * random.standard_normal((4, 6)), random.standard_normal((4, 3))
    expected = np.linalg.norm(A, axis=1)
    maps = unipd.maps
    np.testing.assert_allclose(row_norms(maps.DenseMatrix(A)), expected)
    np.testing.assert_allclose(row_norms(maps.SparseMatrix(sp.csr_array(A))), expected)
    np.testing.assert_allclose(row_norms(maps.as_map(aslinearoperator(A))), expected)
    both = maps.BlockMap([maps.DenseMatrix(A), maps.DenseMatrix(B)])
    np.testing.assert_allclose(row_norms(both), np.hypot(expected, np.linalg.norm(B, axis=1)))
    stacked = maps.Stacked([maps.DenseMatrix(A), maps.DenseMatrix(2 * A)])
    np.testing.assert_allclose(row_norms(stacked), np.concatenate([expected, 2 * expected]))
    measurements = maps.RankOneMeasurements(B)
    np.testing.assert_allclose(row_norms(measurements), np.linalg.norm(B, axis=1) ** 2)
    entries = maps.sdp.Entries([0, 1, 1], [0, 1, 0], [0, 1, 1], [3.0, 2.0, 1.0])
    np.testing.assert_allclose(row_norms(maps.sdp.SdpMap((2, 2), entries, 2)), [3.0, np.sqrt(4 + 2)], rtol=1e-12)
    long = maps.as_map(aslinearoperator(sp.eye_array(1000)))
    assert row_norms(long) is None
    assert row_norms(maps.Stacked([long, maps.as_map(sp.eye_array(1000))])) is None


class MeasuredRows:
    """A user-supplied map with many rows, whose norms it declares."""

    domain, codomain, dtype = (1,), (1000,), np.dtype(float)

    def image(self, atom: Any) -> Any:
        return np.arange(1.0, 1001.0) * np.asarray(atom)[0]

    def adjoint(self, dual: Any) -> Any:
        return np.array([np.arange(1.0, 1001.0) @ dual])

    def row_norms(self) -> Any:
        return np.arange(1.0, 1001.0)


def test_declared_row_norms_are_used() -> None:
    problem = unipd.Problem(sharp.Box(0.0, 1.0, 1), MeasuredRows(), np.arange(1.0, 1001.0), "<=")
    np.testing.assert_array_equal(row_norms(problem.map), np.arange(1.0, 1001.0))
    scaling = equilibrate(problem)
    assert scaling is not None
    norms = row_norms(scaling.problem.map)
    assert norms is not None
    assert norms.max() <= 2.0 * norms.min()


def test_bounds_and_oracle_answers_agree_in_both_units() -> None:
    random = np.random.default_rng(2)
    A = 10.0 ** random.uniform(-4, 4, 5)[:, None] * random.standard_normal((5, 9))
    problem = unipd.Problem(sharp.Linear(random.standard_normal(9), sharp.Simplex(9)), A, A[:, 0], "<=")
    scaling = equilibrate(problem)
    assert scaling is not None
    mu = random.random(5)
    there, here = evaluate(scaling.problem, mu), evaluate(problem, scaling.factors * mu)
    assert there.value == here.value
    np.testing.assert_array_equal(there.image / scaling.factors, here.image)
    bounds = [lower_bound(scaling.problem, there).value, lower_bound(problem, here).value]
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-12)


def test_single_precision_stays_single() -> None:
    A = np.diag([1.0, 1e-4, 1e4]).astype(np.float32)
    scaling = equilibrate(unipd.Problem(sharp.Simplex(3), A, A @ np.full(3, 1 / 3, np.float32), "="))
    assert scaling is not None
    assert scaling.problem.dtype == np.float32
    assert scaling.problem.map.image(np.ones(3, np.float32)).dtype == np.float32


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6), spread=st.floats(0.0, 6.0))
def test_the_ellipsoid_projects_and_its_prox_has_the_right_derivative(seed: int, spread: float) -> None:
    random = np.random.default_rng(seed)
    sides = 10.0 ** random.uniform(-spread, spread, 5)
    ellipsoid = Ellipsoid(1.5, sides)
    vector = 3.0 * random.standard_normal(5) * sides ** random.integers(0, 2)
    nearest = ellipsoid.project(vector)
    assert np.linalg.norm(nearest / sides) <= 1.5 * (1 + 1e-9)
    for _ in range(20):
        other = random.standard_normal(5)
        other *= sides * 1.5 / np.linalg.norm(other)
        scale = np.linalg.norm(vector - nearest) * np.linalg.norm(other - nearest)
        assert (vector - nearest) @ (other - nearest) <= 1e-9 * scale + 1e-12
    step = 0.7
    exact = ellipsoid.prox_jacobian(vector, step, np.eye(5))
    near = finite_differences(
        lambda v: ellipsoid.prox_conjugate(v, step), vector, np.diag(1e-3 * np.minimum(sides, 1.0))
    )
    if spread < 2.0 and abs(np.linalg.norm(vector / step / sides) - 1.5) > 1e-2:
        np.testing.assert_allclose(exact * 1e-3 * np.minimum(sides, 1.0), near, atol=1e-3 * 1e-3)


@pytest.mark.parametrize(
    ("name", "method"), [("cost", "corrective"), ("entropy", "accunipdgrad"), ("matrix", "factored")]
)
def test_a_method_given_by_name_equilibrates_badly_scaled_rows(name: str, method: str) -> None:
    random = np.random.default_rng(0)
    shape = (8, 8) if name == "matrix" else (30,)
    rows = random.standard_normal((10, *shape))
    if name == "matrix":
        rows = rows + rows.transpose(0, 2, 1)
        factor = random.standard_normal((8, 2))
        point, cost = factor @ factor.T / np.sum(factor**2), random.standard_normal((8, 8))
        oracle: Any = sharp.Linear(cost + cost.T, sharp.Spectrahedron(8))
    else:
        point = random.dirichlet(np.full(30, 0.5))
        simplex = sharp.Linear(random.standard_normal(30), sharp.Simplex(30))
        oracle = simplex if name == "cost" else sharp.Entropy(30)
    rows[3] *= 1e6
    A = rows.reshape(10, -1)
    problem = unipd.Problem(oracle, A, A @ point.reshape(-1), "=")
    limit = unipd.MaxIterations(1000)
    assert unipd.solve(problem, method, accuracy=1e-4, stop=limit).status is unipd.Status.SOLVED
    assert unipd.solve(problem, method, accuracy=1e-4, scaling=None, stop=limit).status is not unipd.Status.SOLVED
    as_given = unipd.methods.auto.as_method(unipd.Corrective(), problem)
    assert isinstance(as_given, unipd.Corrective)  # a method object runs as it is
