"""Clustering by semidefinite programming: k-means (Peng and Wei, 2007) and communities of a graph.

The relaxation, min <C, Z> subject to Z 1 = 1, tr Z = k, Z >= 0 and Z psd, is solved by alternating projections with
multipliers (ADMM): without Z >= 0 its set is 1 1^T / n plus a spectrahedron on the complement of 1, onto which one
eigendecomposition projects. Multipliers N >= 0 of the entries give a bound for any partition from one more, k - 1 times
the least eigenvalue of C - N on that complement plus the mean row sum of C - N.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.errors import InvalidInput, MissingExtra
from unipd.io.graphs import as_graph
from unipd.run import Result, recheck
from unipd.run.result import ProblemFacts
from unipd.scales import ZERO_OBJECTIVE
from unipd.spectral import RIGOROUS
from unipd.status import Status

try:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
except ImportError as error:
    raise MissingExtra("scikit-learn", "learn", "clustering") from error

LARGEST_POINTS = 1000
"""Largest number of points: hundreds of eigendecompositions of this order take minutes."""
MOST_STEPS = 20_000
"""Most steps of the alternating projections."""
CHECK_EVERY = 20
"""Steps between two bounds, which cost as much as a step."""
RELAXATION = 1.6
"""Over-relaxation of the alternating projections; values from 1.5 to 1.8 are customary."""
BALANCE, LAST_BALANCE = 5.0, 400
"""Ratio of the two residuals beyond which the penalty changes by a factor of two, up to this step."""
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


def _check_clusters(clusters: Any, points: int) -> int:
    if points > LARGEST_POINTS:
        raise InvalidInput("points", f"at most {LARGEST_POINTS}", str(points))
    k = validate.integer("clusters", clusters, minimum=1)
    if k > points:
        raise InvalidInput("clusters", f"at most as many clusters as points, {points}", str(k))
    return k


def kmeans(points: Any, clusters: int, accuracy: float = 1e-4) -> ClusteringResult:
    """Cluster points by k-means, with a lower bound on the cost of any clustering.

    ``cost`` and ``sdp_bound`` are sums of squared distances to the centres. The relaxation is rounded from several
    starts, each followed by Lloyd's iteration on the points; the best clustering, also among those from starts
    without the relaxation, is returned.

    Parameters
    ----------
    points
        Array of shape (n, d), n up to 1000.
    clusters
        k.
    accuracy
        Requested relative accuracy of the relaxation.

    Returns
    -------
    ClusteringResult

    Raises
    ------
    InvalidInput
        If ``points`` is not an array of finite real numbers with at most 1000 rows, ``clusters`` not an integer from 1
        to their number, or ``accuracy`` not above zero.

    See Also
    --------
    communities

    Examples
    --------
    >>> found = kmeans(np.array([[0.0], [0.1], [5.0], [5.2]]), 2)
    >>> sorted(np.bincount(found.labels).tolist()), round(found.cost, 3)
    ([2, 2], 0.025)
    """
    data = validate.real_array("points", points, ndim=2).astype(np.float64)
    data -= data.mean(axis=0) if len(data) else 0.0  # far from 0 the distances would be lost to rounding
    squares = np.sum(data**2, axis=1)
    distances = np.maximum(squares[:, None] + squares - 2.0 * data @ data.T, 0.0)
    return _solve_and_round(0.25 * (distances + distances.T), clusters, accuracy, data)


def _move_points(points: Array, labels: IntArray) -> IntArray:
    """Return labels after Lloyd's iteration from the centres of the given ones."""
    centres = np.stack([points[labels == label].mean(axis=0) for label in np.unique(labels)])
    return _fit_kmeans(points, len(centres), init=centres)


def communities(graph: Any, clusters: int, accuracy: float = 1e-4) -> ClusteringResult:
    """Split a graph into communities with as much weight inside, relative to their size, as possible.

    Parameters
    ----------
    graph
        A :class:`unipd.io.Graph`, a networkx graph, a symmetric sparse matrix, or (edges, weights).
    clusters
        Number of communities.
    accuracy
        The relative accuracy requested of gap and infeasibility.

    Returns
    -------
    ClusteringResult

    See Also
    --------
    kmeans, unipd.apps.graphs.bisect

    Examples
    --------
    >>> from unipd.io import Graph
    >>> found = communities(Graph.of(6, [0, 1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3, 3], np.ones(7)), 2)
    >>> sorted(np.bincount(found.labels).tolist())
    [3, 3]
    """
    return _solve_and_round(-as_graph(graph).adjacency().toarray(), clusters, accuracy, None)


def _solve_and_round(cost: Array, clusters: int, accuracy: float, points: Array | None) -> ClusteringResult:
    """Solve the relaxation, round it from several starts, and keep the clustering of least cost.

    With ``points``, Lloyd's iteration on them follows, and starts among them are tried as well.
    """
    result = solve_partition(cost, clusters, accuracy)
    rounded = list(_round(result.x, clusters))
    if points is not None:
        rounded = [*(_move_points(points, labels) for labels in rounded), *_round(points, clusters)]
    labels = min(rounded, key=lambda each: _cost(cost, each))
    value, bound = _cost(cost, labels), result.dual_bound
    return ClusteringResult(labels, value, bound, result.with_extras(cost=value, sdp_bound=bound, labels=labels))


def solve_partition(cost: Any, clusters: int, accuracy: float = 1e-4) -> Result:
    """Return the least <C, Z> subject to Z 1 = 1, tr Z = k, Z >= 0, Z psd, with a rigorous bound.

    Z satisfies all but Z >= 0 by construction; the infeasibility is ||min(Z, 0)|| / ||Z||.

    Parameters
    ----------
    cost
        The symmetric matrix C.
    clusters
        The number k of clusters.
    accuracy
        Relative duality gap and infeasibility to reach.

    Raises
    ------
    InvalidInput
        ``accuracy``: expected a number above zero; ``cost``: expected an array of finite real numbers.

    See Also
    --------
    kmeans

    Examples
    --------
    >>> solve_partition(np.array([[0.0, 1.0], [1.0, 0.0]]), 2).status.value
    'solved'
    """
    begin, matrix = time.perf_counter(), validate.real_array("cost", cost, ndim=2).astype(np.float64)
    order, accuracy = len(matrix), validate.positive("accuracy", accuracy)
    k, size = _check_clusters(clusters, order), float(np.linalg.norm(matrix)) or 1.0
    penalty, positive, multiplier = size / k, np.full(matrix.shape, 1.0 / order), np.zeros_like(matrix)
    bound, step = -math.inf, 0
    while True:
        step += 1
        point = _nearest_partition(positive - multiplier - matrix / penalty, k)
        total = RELAXATION * point + (1.0 - RELAXATION) * positive + multiplier
        before, positive = positive, np.maximum(total, 0.0)
        multiplier = total - positive
        if step % CHECK_EVERY and step < MOST_STEPS:
            continue
        length, value = float(np.linalg.norm(point)), float(np.sum(matrix * point))
        bound = max(bound, partition_bound(matrix, -penalty * multiplier, k))
        infeasibility = float(np.linalg.norm(np.minimum(point, 0.0))) / length
        scale = max(abs(value), ZERO_OBJECTIVE * size)
        gap = (value - bound) / scale
        if max(abs(gap), infeasibility) <= accuracy or step >= MOST_STEPS:
            break
        if step <= LAST_BALANCE:
            primal = float(np.linalg.norm(point - positive)) / length
            factor = _balance(primal, penalty * float(np.linalg.norm(positive - before)) / size)
            penalty, multiplier = penalty * factor, multiplier / factor
    result = Result(
        Status.SOLVED,
        x=point,
        objective=value,
        infeasibility=infeasibility,
        violation=infeasibility * length,
        dual_bound=bound,
        gap=gap,
        bound_kind=RIGOROUS,
        accuracy=accuracy,
        method="alternating projections",
        iterations=step,
        seconds=time.perf_counter() - begin,
        facts=ProblemFacts(f"partition of {order} points into {k} clusters", scale=scale, feasibility_scale=length),
    )
    return recheck(result, Status.ITERATION_LIMIT)


def _balance(primal: float, dual: float) -> float:
    """Return the factor of the penalty that evens out the residuals."""
    return 2.0 if primal > BALANCE * dual else 0.5 if dual > BALANCE * primal else 1.0


def _centre(matrix: Array) -> Array:
    """Return P M P for the projection P onto the complement of 1."""
    return matrix - matrix.mean(axis=0) - matrix.mean(axis=1)[:, None] + matrix.mean()


def _nearest_partition(matrix: Array, clusters: int) -> Array:
    """Return the projection onto the psd matrices Z with Z 1 = 1 and trace k."""
    values, vectors = np.linalg.eigh(_centre(matrix))
    falling = values[::-1]
    excess = (np.cumsum(falling) - (clusters - 1)) / np.arange(1, values.size + 1)
    values = np.maximum(values - excess[np.flatnonzero(falling >= excess)[-1]], 0.0)
    used = vectors[:, values > 0.0]
    return (used * values[values > 0.0]) @ used.T + 1.0 / len(matrix)


def partition_bound(cost: Array, multipliers: Array, clusters: int) -> float:
    """Return a lower bound on <C, Z> over the relaxation, from multipliers N >= 0 of its entries.

    >>> -1e-12 < partition_bound(np.array([[0.0, 1.0], [1.0, 0.0]]), np.zeros((2, 2)), 2) <= 0.0
    True
    """
    matrix = cost - np.maximum(multipliers, 0.0)
    inner = _centre(0.5 * (matrix + matrix.T))
    order, size = len(inner), float(np.abs(inner).sum(axis=1).max())
    least = float(np.linalg.eigvalsh(inner + size / order)[0])  # 1 has the eigenvalue ``size``, never the least
    rounding = clusters * float(np.finfo(np.float64).eps) * (order * size + float(np.abs(matrix).sum()))
    return float(matrix.sum()) / order + (clusters - 1) * least - rounding


def _round(rows: Array, clusters: int) -> Iterator[IntArray]:
    """Return labels by Lloyd's iteration on rows (of Z), from several starts (k-means++)."""
    return (_fit_kmeans(rows, clusters, random_state=seed) for seed in range(ROUNDINGS))


def _fit_kmeans(rows: Array, clusters: int, **options: Any) -> IntArray:
    """Return the labels of Lloyd's iteration, run until none changes."""
    lloyd: Any = KMeans(clusters, n_init=1, tol=0.0, **options)  # pyright: ignore[reportArgumentType]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # rows that coincide are fewer clusters
        return lloyd.fit(rows).labels_


def _cost(cost: Array, labels: IntArray) -> float:
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    return float(sum(cost[np.ix_(group, group)].sum() / group.size for group in groups))
