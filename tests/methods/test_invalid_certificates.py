"""Statuses that must not be reported: a point outside X, false infeasibility, success by a user-supplied rule."""

import numpy as np
import pytest

import unipd
from unipd import couplings, sharp
from unipd.atoms import one_hot
from unipd.dual import evaluate, lower_bound
from unipd.protocols import SharpAnswer


def _simplex_by_hand() -> sharp.from_callable:
    return sharp.from_callable(lambda y: one_hot((3,), int(np.argmax(y)), 1.0), 3)


@pytest.mark.parametrize("step_size", ["line-search", "short-step", "open-loop"])
def test_frank_wolfe_starts_in_a_set_whose_membership_is_unknown(step_size: str) -> None:
    problem = unipd.Problem(_simplex_by_hand(), np.eye(3), np.full(3, 0.1), couplings.LeastSquares())
    result = unipd.solve(problem, unipd.FrankWolfe(step_size), accuracy=1e-2)
    assert result.x.sum() == pytest.approx(1.0)


def test_an_answer_must_agree_with_the_objective() -> None:
    oracle = sharp.from_callable(lambda y: SharpAnswer(np.zeros(2), 0.0, objective=3.0), 2)
    with pytest.raises(unipd.errors.OracleError, match="objective"):
        oracle(np.ones(2))


def test_a_function_may_reuse_its_buffer() -> None:
    buffer = np.zeros(3)

    def maximiser(y: np.ndarray) -> np.ndarray:
        buffer[:] = 0.0
        buffer[np.argmax(y)] = 1.0
        return buffer

    target = np.array([0.2, 0.3, 0.5])
    problem = unipd.Problem(sharp.from_callable(maximiser, 3), np.eye(3), target, "=")
    np.testing.assert_allclose(unipd.solve(problem, accuracy=1e-8).x, target, atol=1e-7)


def test_cancelling_rows_do_not_prove_infeasibility() -> None:
    random = np.random.default_rng(0)
    base = random.standard_normal((3, 8))
    A = np.vstack([base, np.pi * base, np.e * base])
    problem = unipd.Problem(sharp.Simplex(8), A, A @ random.dirichlet(np.ones(8)), "=")
    for seed in range(100):
        weight = np.random.default_rng(seed).standard_normal((2, 3)) * 1e3
        dual = np.concatenate([-np.pi * weight[0] - np.e * weight[1], weight[0], weight[1]])
        point = evaluate(problem, dual)
        assert lower_bound(problem, point).value <= 1e-6


def test_a_user_supplied_rule_is_not_the_requested_accuracy() -> None:
    random = np.random.default_rng(1)
    problem = unipd.Problem(sharp.L1Ball(20), random.standard_normal((9, 20)), np.ones(9), couplings.LeastSquares())
    stop = unipd.Accuracy(1e-1) | unipd.MaxIterations(500)
    assert unipd.solve(problem, "frank-wolfe", accuracy=1e-9, stop=stop).status is unipd.Status.STOPPED


def test_costs_inside_blocks_are_not_lost() -> None:
    cost = np.diag([1.0, 2.0, 3.0])
    blocks = [sharp.Linear(cost, sharp.Spectrahedron(3)), sharp.L2NormSquared(2)]
    random = np.random.default_rng(2)
    maps = [unipd.maps.RankOneMeasurements(random.standard_normal((4, 3))), random.standard_normal((4, 2))]
    result = unipd.solve(unipd.Problem(blocks, maps, np.ones(4), "="), accuracy=1e-6)
    assert result.method == "corrective"
    assert result.status is unipd.Status.SOLVED


def test_numbers_beyond_single_precision_are_refused() -> None:
    with pytest.raises(unipd.errors.InvalidInput, match="b"):
        unipd.Problem(sharp.Simplex(1), np.ones((1, 1), np.float32), np.array([1e39]), "=")


def test_complex_maps_of_real_sets_are_refused_by_name() -> None:
    with pytest.raises(unipd.errors.InvalidInput, match="A"):
        unipd.Problem(sharp.Simplex(2), np.eye(2) * 1j, np.zeros(2, complex), "=")
