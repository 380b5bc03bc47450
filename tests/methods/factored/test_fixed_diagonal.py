"""Diagonal constraints satisfied by construction, and constraints that only resemble them."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import unipd
from unipd.maps import Entries, SdpMap
from unipd.methods.factored import fixed_diagonal_factors
from unipd.sharp import Linear, Spectrahedron, SpectralFactors, TraceBall

NODES = 12


def _cost():
    random = np.random.default_rng(3)
    weights = np.triu(random.random((NODES, NODES)) < 0.5, 1).astype(float)
    weights += weights.T
    return weights - np.diag(weights.sum(axis=1))


def _diagonal(values=None):
    places = np.arange(NODES)
    given = np.ones(NODES) if values is None else values
    return SdpMap((NODES, NODES), Entries(places, places, places, given), NODES)


def _problem(cost=None, oracle=None, rows=None, b=None, coupling="="):
    cost = _cost() if cost is None else cost
    oracle = Spectrahedron(NODES, float(NODES)) if oracle is None else oracle
    return unipd.Problem(
        Linear(cost, oracle), _diagonal() if rows is None else rows, np.ones(NODES) if b is None else b, coupling
    )


def test_the_kept_rows_give_what_multipliers_give():
    problem = _problem()
    plain = unipd.Factored(factors=SpectralFactors(NODES, 0, float(NODES), False))
    slow = unipd.solve(problem, plain, accuracy=1e-7)
    quick = unipd.solve(problem, "auto", accuracy=1e-7)
    assert quick.status.value == slow.status.value == "solved"
    assert quick.objective == pytest.approx(slow.objective, rel=1e-6)
    assert quick.infeasibility <= 1e-13
    assert quick.iterations < slow.iterations


@pytest.mark.parametrize("cost", [_cost(), sp.csr_array(_cost())], ids=["array", "sparse"])
def test_coefficients_and_right_hand_sides_count(cost):
    scale = np.linspace(-1.0, 3.0, NODES)
    problem = _problem(cost, rows=_diagonal(scale), b=scale)
    found = fixed_diagonal_factors(problem)
    assert found is not None
    np.testing.assert_allclose(found.targets, 1.0)
    result = unipd.solve(problem, "factored", accuracy=1e-7)
    assert result.status.value == "solved"
    assert result.objective == pytest.approx(unipd.solve(_problem(), accuracy=1e-7).objective, rel=1e-6)


LOOK_ALIKES = {
    "inequalities": {"coupling": "<="},
    "a ball": {"oracle": TraceBall(NODES, float(NODES))},
    "another trace": {"oracle": Spectrahedron(NODES, NODES + 1.0)},
    "an operator": {"cost": aslinearoperator(_cost())},
    "single precision": {"cost": _cost().astype(np.float32)},
    "zeros": {"b": np.concatenate([[0.0], np.ones(NODES - 1)]), "oracle": Spectrahedron(NODES, NODES - 1.0)},
    "one matrix is no diagonal": {
        "rows": SdpMap(
            (NODES, NODES),
            Entries.from_matrices(
                [np.diag(row) for row in np.eye(NODES)[1:]] + [np.eye(NODES, k=1) + np.eye(NODES, k=-1)]
            ),
            NODES,
        )
    },
}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_nothing_is_kept_by_others(name):
    assert fixed_diagonal_factors(_problem(**LOOK_ALIKES[name])) is None


def test_diagonals_are_those_of_diagonal_matrices():
    random = np.random.default_rng(0)
    matrices = [np.diag(random.standard_normal(4)), np.ones((4, 4)), np.diag([0.0, 2.0, 0.0, 0.0]), np.eye(4) + 0.5]
    found = SdpMap((4, 4), Entries.from_matrices(matrices), 4).diagonals().toarray()
    zero = np.zeros(4)
    np.testing.assert_allclose(found, [np.diag(matrices[0]), zero, np.diag(matrices[2]), zero])


def test_rank_one_measurements_of_the_diagonal_are_kept_too():
    rows = unipd.maps.RankOneMeasurements(np.eye(NODES)[::-1] * 2.0)
    factors = fixed_diagonal_factors(_problem(rows=rows, b=np.full(NODES, 4.0)))
    assert factors is not None
    np.testing.assert_allclose(factors.targets, 1.0)
    entries = unipd.solve(_problem(), accuracy=1e-7)
    vectors = unipd.solve(_problem(rows=unipd.maps.RankOneMeasurements(np.eye(NODES))), accuracy=1e-7)
    assert vectors.status is unipd.Status.SOLVED
    assert vectors.counts.oracle_calls == entries.counts.oracle_calls
    assert vectors.objective == pytest.approx(entries.objective, rel=1e-6)


@pytest.mark.parametrize("field", [float, complex])
def test_diagonal_measurements_are_those_without_other_entries(field):
    left = np.array([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 3.0]], field) * (1.0 if field is float else 1j)
    right = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, -1.0]], field)
    measurements = unipd.maps.RankOneMeasurements(left, right)
    dense = [
        np.diag(part) if np.count_nonzero(part - np.diag(np.diag(part))) == 0 else np.zeros(2)
        for part in (np.outer(u, v.conj()) for u, v in zip(left, right, strict=True))
    ]
    np.testing.assert_array_equal(measurements.diagonals().toarray(), np.real(dense))
