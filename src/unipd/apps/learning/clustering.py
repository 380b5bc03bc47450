"""Clustering by semidefinite programming: k-means (Peng and Wei, 2007) and communities of a graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, IntArray
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.apps.sdp import SDP
from unipd.errors import InvalidInput
from unipd.io.graphs import as_graph
from unipd.run import Result

LARGEST_POINTS = 200
"""Largest number of points: the relaxation has n^2 / 2 inequalities."""
ROUNDINGS = 20
"""Starts of the rounding; the best clustering counts."""


@dataclass(frozen=True, repr=False)
class ClusteringResult(ReprMixin):
    """Labels of the points, and a lower bound on the cost of any clustering."""

    labels: IntArray
    cost: float
    """<C, Z> of the clustering, Z = sum over clusters of 1 1^T / size."""
    sdp_bound: float
    """Lower bound on the cost of any clustering."""
    result: Result = field(repr=False)
    """Result of the relaxation, with the figures of the clustering among its extras."""


def partition_program(cost: Any, clusters: int) -> SDP:
    """Return min <C, Z> subject to Z 1 = 1, tr Z = k, Z >= 0, Z psd.

    >>> partition_program(np.zeros((3, 3)), 2)
    SDP(min, order=3, constraints=7, blocks=1)
    """
    matrix = validate.real_array("cost", cost, ndim=2)
    order = matrix.shape[0]
    if order > LARGEST_POINTS:
        raise InvalidInput("cost", f"at most {LARGEST_POINTS} points", str(order))
    k = validate.integer("clusters", clusters, minimum=1)
    if k > order:
        raise InvalidInput("clusters", f"at most as many clusters as points, {order}", str(k))
    sums = [_row_sum(order, row) for row in range(order)]
    pairs = [(i, j) for i in range(order) for j in range(i + 1, order)]
    places = [sp.csr_array(([1.0, 1.0], ([i, j], [j, i])), shape=(order, order)) for i, j in pairs]
    b = np.concatenate([np.ones(order), [float(k)], np.zeros(len(pairs))])
    senses = ["="] * (order + 1) + [">="] * len(pairs)
    return SDP.from_matrices(matrix, [*sums, sp.eye_array(order, format="csr"), *places], b, senses)


def _row_sum(order: int, row: int) -> Any:
    """Return (e 1^T + 1 e^T) / 2 for the unit vector e of a row."""
    matrix = np.zeros((order, order))
    matrix[row] = 0.5
    matrix[:, row] += 0.5
    return sp.csr_array(matrix)


def kmeans(points: Any, clusters: int, accuracy: float = 1e-4, **options: Any) -> ClusteringResult:
    """Cluster points by k-means, with a lower bound on the cost of any clustering.

    ``cost`` and ``sdp_bound`` are sums of squared distances to the centres. The relaxation is rounded from several
    starts, each followed by Lloyd's iteration on the points; the best clustering, also among those from starts
    without the relaxation, is returned.

    Parameters
    ----------
    points
        Array of shape (n, d).
    clusters
        k.
    accuracy, options
        As in :meth:`unipd.apps.sdp.SDP.solve`.

    Examples
    --------
    >>> found = kmeans(np.array([[0.0], [0.1], [5.0], [5.2]]), 2)
    >>> sorted(np.bincount(found.labels).tolist()), round(found.cost, 3)
    ([2, 2], 0.025)
    """
    data = validate.real_array("points", points, ndim=2).astype(np.float64)
    squares = np.sum(data**2, axis=1)
    distances = np.maximum(squares[:, None] + squares - 2.0 * data @ data.T, 0.0)
    return _solve_and_round(0.25 * (distances + distances.T), clusters, accuracy, data, **options)


def lloyd(points: Array, labels: IntArray) -> IntArray:
    """Return labels after Lloyd's iteration: every point goes to its nearest centre until none moves.

    A cluster that loses all its points gets the one farthest from its centre.

    >>> lloyd(np.array([[0.0], [1.0], [5.0], [6.0]]), np.array([0, 1, 1, 1]))
    array([0, 0, 1, 1])
    """
    clusters, places = int(labels.max()) + 1, np.arange(len(points))
    while True:
        members = np.arange(clusters)[:, None] == labels
        centres = (members @ points) / members.sum(axis=1)[:, None]
        distances = np.sum((points[:, None, :] - centres) ** 2, axis=2)
        nearest = np.argmin(distances, axis=1)
        moved = distances[places, labels] > distances[places, nearest]  # an equally near centre is no reason to move
        if not moved.any():
            return labels
        labels = np.where(moved, nearest, labels)
        for empty in np.setdiff1d(np.arange(clusters), labels):
            sizes = np.bincount(labels, minlength=clusters)[labels]
            labels[int(np.argmax(np.where(sizes > 1, distances[places, labels], -1.0)))] = empty


def communities(graph: Any, clusters: int, accuracy: float = 1e-4, **options: Any) -> ClusteringResult:
    """Split a graph into communities with as much weight inside, relative to their size, as possible.

    Examples
    --------
    >>> from unipd.io import Graph
    >>> found = communities(Graph.of(6, [0, 1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3, 3], np.ones(7)), 2)
    >>> sorted(np.bincount(found.labels).tolist())
    [3, 3]
    """
    return _solve_and_round(-as_graph(graph).adjacency().toarray(), clusters, accuracy, None, **options)


def _solve_and_round(
    cost: Array, clusters: int, accuracy: float, points: Array | None, **options: Any
) -> ClusteringResult:
    """Solve the relaxation, round it from several starts, and keep the clustering of least cost.

    With ``points``, Lloyd's iteration on them follows, and starts among them are tried as well.
    """
    result = partition_program(cost, clusters).solve(accuracy, **options)
    rows = result.x.left * np.sqrt(result.x.weights)
    rounded = list(_round(rows @ rows.T, clusters))
    if points is not None:
        rounded = [*(lloyd(points, labels) for labels in rounded), *_round(points, clusters)]
    labels = min(rounded, key=lambda each: _cost(cost, each))
    value, bound = _cost(cost, labels), result.dual_bound
    return ClusteringResult(labels, value, bound, result.with_extras(cost=value, sdp_bound=bound, labels=labels))


def _round(rows: Array, clusters: int) -> Iterator[IntArray]:
    """Yield labels by Lloyd's iteration on rows (of Z), from farthest ones and from random ones (k-means++)."""
    rng = np.random.default_rng(0)
    for start in range(ROUNDINGS):
        chosen = [int(np.argmax(np.sum(rows**2, axis=1))) if start == 0 else int(rng.integers(len(rows)))]
        nearest = np.full(len(rows), np.inf)
        while len(chosen) < clusters:
            nearest = np.minimum(nearest, np.sum((rows - rows[chosen[-1]]) ** 2, axis=1))
            nearest[chosen] = 0.0
            chances = nearest / nearest.sum() if nearest.any() else _others(len(rows), chosen)
            chosen.append(int(np.argmax(chances)) if start == 0 else int(rng.choice(len(rows), p=chances)))
        labels = np.argmin(np.sum((rows[:, None, :] - rows[chosen]) ** 2, axis=2), axis=1)
        labels[chosen] = np.arange(clusters)
        yield lloyd(rows, labels)


def _others(count: int, chosen: list[int]) -> Array:
    """Return equal probabilities for the points not chosen yet: all rows coincide with chosen ones."""
    chances = np.ones(count)
    chances[chosen] = 0.0
    return chances / chances.sum()


def _cost(cost: Array, labels: IntArray) -> float:
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    return float(sum(cost[np.ix_(group, group)].sum() / group.size for group in groups))
