"""The paper's methods on formulation (a): iterates equal to those of naive twins, and to the reference on MovieLens.

The reference is that of an exact oracle. Line searches take the same trials whatever the oracle's precision, but the
atoms of the first iterations do depend on it: see :func:`~unipd.spectral.fixed_tolerance_engine`.
"""

import numpy as np
import pytest

import unipd
from unipd.apps.completion import ball_problem
from unipd.reproduce import completion_data

from .instances import SHAPE, NaiveBall, naive_acc, naive_frank_wolfe, naive_uni, small

EPS, ITERATIONS, RADIUS = 1e-3, 10, 60.0


def methods(eps):
    return {
        "frank-wolfe": unipd.FrankWolfe("open-loop"),
        "line search": unipd.FrankWolfe("line-search"),
        "uni": unipd.UniPDGrad(eps=eps),
        "acc": unipd.AccUniPDGrad(eps=eps),
        "uni, greedy": unipd.UniPDGrad(eps=eps, weights="greedy"),
        "acc, greedy": unipd.AccUniPDGrad(eps=eps, weights="greedy"),
        "analytic": unipd.AccUniPDGrad(eps=eps, step_rule="analytic"),
    }


NAIVE = {
    "frank-wolfe": lambda problem: naive_frank_wolfe(problem, ITERATIONS, line_search=False),
    "line search": lambda problem: naive_frank_wolfe(problem, ITERATIONS, line_search=True),
    "uni": lambda problem: naive_uni(problem, EPS, ITERATIONS),
    "acc": lambda problem: naive_acc(problem, EPS, ITERATIONS),
    "uni, greedy": lambda problem: naive_uni(problem, EPS, ITERATIONS, greedy=True),
    "acc, greedy": lambda problem: naive_acc(problem, EPS, ITERATIONS, greedy=True),
    "analytic": lambda problem: naive_acc(problem, EPS, ITERATIONS, analytic=True),
}


def run(problem, method):
    return unipd.solve(problem, method, accuracy=1e-9, stop=unipd.MaxIterations(ITERATIONS), tracker="atoms")


@pytest.mark.parametrize("name", NAIVE)
def test_iterates_of_a_small_instance(name):
    users, items, values = small(noise=0.5)
    expected = NAIVE[name](NaiveBall(users, items, values, SHAPE, RADIUS))
    result = run(ball_problem(users, items, values, SHAPE, RADIUS), methods(EPS)[name])
    np.testing.assert_allclose(result.x.dense(), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


REFERENCE = {
    "frank-wolfe": (5.1538, 2.778),
    "line search": (1.7978, 1.858),
    "uni": (2.6353, 2.163),
    "acc": (2.2928, 1.884),
    "analytic": (1.6406, 1.689),
}
"""Objective and test error after 10 iterations from lam_0 = 0 with eps = 1e-3, kappa = 9975/2."""


@pytest.fixture(scope="module")
def ub():
    folder = completion_data.find_movielens()
    if folder is None:
        pytest.skip("MovieLens 100K is not in $UNIPD_DATA or the cache")
    train, test = completion_data.load_movielens_split("ub")
    assert (len(train), len(test)) == (90570, 9430)
    data = train.users - 1, train.items - 1, train.values
    return (*data, completion_data.MOVIELENS_SHAPE, completion_data.MOVIELENS_RADIUS), test


@pytest.mark.parametrize("name", REFERENCE)
def test_reference_values_of_movielens(ub, name):
    data, test = ub
    result = run(ball_problem(*data), methods(EPS)[name])
    left, right = result.x.left * result.x.weights, result.x.right
    error = np.einsum("ij,ij->i", left[test.users - 1], right[test.items - 1]) - test.values
    objective, rmse = REFERENCE[name]
    assert result.objective == pytest.approx(objective, rel=1e-4)
    assert np.sqrt(np.mean(error**2)) == pytest.approx(rmse, rel=1e-3)
    if name in ("uni", "acc"):
        assert result.history["smoothness"][0] == pytest.approx(4.796e9, rel=1e-3)


@pytest.mark.parametrize("name", ["uni", "acc"])
def test_the_search_does_not_depend_on_the_precision(ub, name):
    results = [run(ball_problem(*ub[0], precision=precision), methods(EPS)[name]) for precision in (None, 1e-6, 1e-9)]
    loose, usual, precise = results
    assert usual.objective == pytest.approx(precise.objective, rel=1e-5)
    assert loose.objective == pytest.approx(precise.objective, rel=0.05)
    assert loose.objective != pytest.approx(precise.objective, rel=1e-4)
    assert len({result.counts.trials for result in results}) == 1
    np.testing.assert_allclose(usual.history["smoothness"], precise.history["smoothness"], rtol=1e-5)
