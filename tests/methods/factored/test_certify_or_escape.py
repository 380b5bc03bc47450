"""The factored method calls its oracle again when the certified error far exceeds the tolerance."""

import numpy as np

import unipd
from unipd import sharp
from unipd.maps import sdp


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
