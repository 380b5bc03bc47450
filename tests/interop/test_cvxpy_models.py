"""CVXPY models of the same problem: every set, map and coupling that has one."""

from __future__ import annotations

import numpy as np
import pytest

import unipd
from unipd import couplings, sharp
from unipd.errors import InvalidInput

pytest.importorskip("cvxpy")
from unipd.interop import reference, to_cvxpy

RANDOM = np.random.default_rng(0)
A = RANDOM.standard_normal((4, 9))
INSIDE = np.full(9, 1 / 9)
B = A @ INSIDE
COST = RANDOM.standard_normal(9)
LOSS = couplings.LeastSquares()

SETS = {
    "simplex": sharp.Simplex(9),
    "unit simplex": sharp.UnitSimplex(9, 2.0),
    "l1 ball": sharp.L1Ball(9, 1.5),
    "l2 ball": sharp.L2Ball(9),
    "linf ball": sharp.LInfBall(9, 0.3),
    "lp ball": sharp.LpBall(9, 3.0),
    "box": sharp.Box(-0.2, np.full(9, 0.3)),
    "l1 squared": sharp.L1NormSquared(9, 0.3),
    "l2 squared": sharp.L2NormSquared(9, 0.7),
    "linf squared": sharp.LInfNormSquared(9),
    "l1 on a ball": sharp.L1NormOnBall(9, 2.0, 0.4),
    "linear": sharp.Linear(COST, sharp.L2Ball(9)),
    "linear on a box": sharp.Linear(COST, sharp.Box(-1.0, 1.0, 9)),
    "unbounded quadratic": sharp.QuadraticBox(1.0, COST, [-np.inf] * 8 + [0.0], np.inf),
    "quadratic": sharp.QuadraticBox(np.linspace(0, 1, 9), COST, -1.0, 1.0, 9),
    "power": sharp.EuclideanPower(9, 3.0),
}
COUPLINGS = {
    "equality": couplings.Equality(),
    "at most": couplings.AtMost(),
    "at least": couplings.AtLeast(),
    "box": couplings.Box(np.array([-0.1, -np.inf, 0.0, -0.2]), 0.1),
    "half-space": couplings.HalfSpace(np.array([1.0, 2.0, 0.0, -1.0]), 0.0),
    "l1 ball": couplings.L1Ball(0.2),
    "l2 ball": couplings.L2Ball(0.2),
    "linf ball": couplings.LInfBall(0.1),
    "product": couplings.Product([couplings.Equality(), couplings.AtMost()], [1, 3]),
    "mixed product": couplings.Product([couplings.AtMost(), couplings.LeastSquares(3.0)], [1, 3]),
    "translated": couplings.Translated(couplings.L2Ball(0.1), np.full(4, 0.01)),
    "scaled": couplings.Scaled(couplings.LInfBall(1.0), 0.1),
    "least squares": couplings.LeastSquares(2.0),
    "weighted": couplings.WeightedLeastSquares(np.arange(1.0, 5.0)),
    "huber": couplings.Huber(0.3),
    "absolute": couplings.Absolute(),
    "logistic": couplings.Logistic(),
}


def _agree(problem: unipd.Problem, tolerance: float = 2e-6) -> None:
    mine, theirs = unipd.solve(problem, accuracy=1e-7), reference(problem)
    assert mine.status is unipd.Status.SOLVED
    assert theirs.value == pytest.approx(mine.objective, abs=tolerance * max(1.0, abs(mine.objective)))


@pytest.mark.parametrize("name", SETS)
def test_sets(name: str) -> None:
    if name == "power":
        assert to_cvxpy(unipd.Problem(SETS[name], A, B, LOSS)).is_dcp()
        return
    _agree(unipd.Problem(SETS[name], A, 1.5 * B + 0.1, LOSS), 1e-5)


@pytest.mark.parametrize("name", COUPLINGS)
def test_couplings(name: str) -> None:
    _agree(unipd.Problem(sharp.Linear(COST, sharp.Simplex(9)), A, B, COUPLINGS[name]))


def test_cones() -> None:
    matrices = RANDOM.standard_normal((6, 3, 3))
    matrices += matrices.transpose(0, 2, 1)
    shift = matrices.mean(axis=0) - 0.3 * np.eye(3)
    oracle = sharp.Linear(COST[:6], sharp.Simplex(6))
    _agree(unipd.Problem(oracle, matrices.reshape(6, 9).T, shift.ravel(), couplings.PSDCone(3)))
    b = A @ INSIDE - np.array([1.0, 0.1, 0.1, 0.1])
    _agree(unipd.Problem(sharp.Linear(COST, sharp.Simplex(9)), A, b, couplings.SecondOrderCone()))


def test_spectral_sets_and_maps_without_a_matrix() -> None:
    cost = RANDOM.standard_normal((4, 4))
    cost = cost + cost.T
    diagonal = unipd.maps.RankOneMeasurements(np.eye(4))
    _agree(unipd.Problem(sharp.Linear(cost, sharp.Spectrahedron(4, 4.0)), diagonal, np.ones(4), "="))
    _agree(unipd.Problem(sharp.Linear(cost, sharp.TraceBall(4, 4.0)), diagonal, np.ones(4), "<="))
    sampled = unipd.maps.DenseMatrix(RANDOM.standard_normal((5, 12)), domain=(3, 4))
    _agree(unipd.Problem(sharp.NuclearBall((3, 4), 0.5), sampled, np.ones(5), LOSS))
    _agree(unipd.Problem(sharp.NuclearNormSquared((3, 4)), sampled, np.ones(5), LOSS))
    _agree(unipd.Problem(sharp.NuclearNormOnBall((3, 4), 9.0, 0.1), sampled, np.ones(5), LOSS))


def test_blocks() -> None:
    blocks = [sharp.Linear(COST[:5], sharp.Simplex(5)), sharp.Linear(COST[5:], sharp.L1Ball(4))]
    _agree(unipd.Problem(blocks, [A[:, :5], A[:, 5:]], B, "="))
    mixed = unipd.Problem([blocks[0], sharp.L2NormSquared(4)], [A[:, :5], A[:, 5:]], B, "=")
    result, value = unipd.solve(mixed, accuracy=1e-4), reference(mixed).value
    assert result.dual_bound - 1e-6 <= value <= result.objective + 1e-2


def test_what_has_no_model_is_said() -> None:
    with pytest.raises(InvalidInput, match="Birkhoff"):
        to_cvxpy(unipd.Problem(sharp.Birkhoff(2), np.eye(4), np.full(4, 0.5), "="))
    with pytest.raises(InvalidInput, match="complex"):
        to_cvxpy(unipd.Problem(sharp.L2Ball(2), np.eye(2) * 1j, np.ones(2), LOSS))
    with pytest.raises(InvalidInput, match="entries"):
        reference(unipd.Problem(sharp.Simplex(5000), np.ones((1, 5000)), [1.0], "="))
    with pytest.raises(InvalidInput, match="infeasible"):
        reference(unipd.Problem(sharp.Simplex(2), np.eye(2), [2.0, 2.0], "="))
