"""The factored method calls its oracle again when its error far exceeds the tolerance, or its bound is refuted."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import unipd
from unipd import sharp
from unipd.maps import sdp
from unipd.spectral import RESIDUAL


def test_a_cut_of_a_random_graph_is_certified_in_few_calls() -> None:
    random, nodes = np.random.default_rng(5), 120
    weights = np.triu(random.random((nodes, nodes)) < 0.3, 1).astype(float)
    weights += weights.T
    cost = -(np.diag(weights.sum(1)) - weights) / 4
    places = np.arange(nodes)
    entries = sdp.Entries(places, places, places, np.ones(nodes))
    oracle = sharp.Linear(cost, sharp.Spectrahedron(nodes, float(nodes)))
    problem = unipd.Problem(oracle, sdp.SdpMap((nodes, nodes), entries, nodes), np.ones(nodes), "=")
    result = unipd.solve(problem, accuracy=1e-6, stop=unipd.MaxOracleCalls(40))
    assert result.status is unipd.Status.SOLVED
    exact = nodes * np.linalg.eigvalsh(cost + np.diag(result.dual))[0] - result.dual.sum()
    assert result.dual_bound <= exact + 1e-7 * abs(exact)


@pytest.mark.parametrize("claimed", [0.0, 0.9])
def test_a_refuted_bound_is_computed_again(claimed: float) -> None:
    """A run that goes on although a bound by residuals claims its accuracy has been refused by a certificate."""
    random = np.random.default_rng(3)
    rows, cols = np.divmod(random.choice(600, 250, replace=False), 20)
    b = (random.standard_normal((30, 2)) @ random.standard_normal((2, 20)))[rows, cols]
    sampling, ball = unipd.maps.Sampling(rows, cols, (30, 20)), sharp.NuclearBall((30, 20), 15.0)
    problem = unipd.Problem(ball, sampling, b, unipd.couplings.LeastSquares())
    exact = unipd.solve(problem, accuracy=1e-9)
    method = unipd.Factored(rank=4)
    state = next(itertools.islice(unipd.iterate(problem, method, accuracy=1e-2), 4, None))
    value = state.here.value
    assert value > exact.objective + 1e-6 * problem.loss_at_zero  # else no bound could be false
    wrong = value - claimed * 1e-2 * problem.typical_objective
    false = replace(state.certificate, dual_bound=wrong, bound_kind=RESIDUAL)
    moved = method.step(problem, replace(state, certificate=false))
    assert moved.counts.oracle_calls > state.counts.oracle_calls
    assert moved.certificate.dual_bound <= exact.objective * (1.0 + 1e-9)
    assert moved.certificate.bound_kind != RESIDUAL
