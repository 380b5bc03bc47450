"""Warm starts: an earlier solution of the same program, or of one with other costs or fewer constraints."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from apps.sdp.checks import check
from unipd import Status
from unipd.apps.graphs import maxcut_program
from unipd.apps.sdp import SDP
from unipd.errors import InvalidInput


def theta(graph, rows):
    """Theta of a graph with its first edges only, as a maximisation over X of trace 1."""
    matrices = [np.eye(graph.nodes)]
    for i, j in list(zip(graph.rows, graph.cols, strict=True))[:rows]:
        matrix = np.zeros((graph.nodes, graph.nodes))
        matrix[i, j] = matrix[j, i] = 1.0
        matrices.append(matrix)
    return SDP.from_matrices(np.ones((graph.nodes, graph.nodes)), matrices, np.eye(len(matrices))[0], maximise=True)


@pytest.mark.parametrize("make", [maxcut_program, lambda graph: theta(graph, 30)])
def test_the_same_program_takes_less_work(graph, make):
    program = make(graph)
    first = program.solve(1e-6, "factored")
    again = program.solve(1e-6, "factored", start=first)
    check(program, again, 1e-6)
    assert again.counts.matvecs < 0.6 * first.counts.matvecs


@pytest.mark.parametrize("rows", [33, 66])
def test_constraints_may_be_appended(graph, rows):
    first, longer = theta(graph, 30).solve(1e-6, "factored"), theta(graph, rows)
    warm, cold = longer.solve(1e-6, "factored", start=first), longer.solve(1e-6, "factored")
    check(longer, warm, 1e-6)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-5)
    assert warm.counts.matvecs < 1.1 * cold.counts.matvecs


def cut_program(seed, cuts=()):
    """MaxCut of a random graph with cuts X_ij + X_ik + X_jk >= -1."""
    random, size = np.random.default_rng(seed), 30
    weights = np.triu(random.random((size, size)) < 0.2, 1).astype(float)
    matrices = [*(np.diag(row) for row in np.eye(size)), *np.zeros((len(cuts), size, size))]
    for matrix, cut in zip(matrices[size:], cuts, strict=True):
        for i, j in combinations(cut, 2):
            matrix[i, j] = matrix[j, i] = 0.5
    b, senses = np.r_[np.ones(size), -np.ones(len(cuts))], ["="] * size + [">="] * len(cuts)
    return SDP.from_matrices(weights + weights.T, matrices, b, senses)


def test_cuts_may_be_appended():
    products = []
    for seed in range(4):
        first = cut_program(seed).solve(1e-6, "factored")
        x = first.x.dense()
        triangles = combinations(range(x.shape[0]), 3)
        cuts = sorted(triangles, key=lambda cut, x=x: sum(x[i, j] for i, j in combinations(cut, 2)))[:3]
        longer = cut_program(seed, cuts)
        warm, cold = longer.solve(1e-6, "factored", start=first), longer.solve(1e-6, "factored")
        check(longer, warm, 1e-6)
        assert warm.objective == pytest.approx(cold.objective, rel=1e-5)
        products.append((warm.counts.matvecs, cold.counts.matvecs))
    warm_products, cold_products = np.sum(products, axis=0)
    assert warm_products < 0.9 * cold_products, products


def test_starts_that_do_not_fit_are_refused(graph):
    program = maxcut_program(graph)
    result = program.solve(1e-4)
    with pytest.raises(InvalidInput, match="multipliers"):
        program.solve(start=np.ones(graph.nodes + 1))
    with pytest.raises(InvalidInput, match="X of order"):
        theta(graph, graph.nodes + 5).solve(
            start=replace(result, x=result.x.__class__(*[np.ones((2, 1))] * 2, np.ones(1)))
        )
    with pytest.raises(InvalidInput, match="infeasible"):
        program.solve(start=replace(result, status=Status.INFEASIBLE))
