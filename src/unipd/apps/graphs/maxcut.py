"""MaxCut: the certified Goemans-Williamson bound, and a cut by hyperplane rounding and local search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd._util.thread_pool import available_threads, run_chunks
from unipd.apps.sdp import SDP, SdpData
from unipd.io import Graph
from unipd.io.graphs import as_graph
from unipd.maps.sdp import Entries
from unipd.run import Result, downgrade, interruption
from unipd.status import Status

BATCH = 64
"""Hyperplanes per batch."""
FLOOR = 1e-9
"""Improvements below this share of the largest weight count as rounding errors."""
POOL = 8
"""Number of best cuts that start tabu searches and take part in crossover."""
GENERATIONS = 5
"""Rounds of crossover; the flips are divided evenly among them."""
CROSSING_STREAM = 1
"""Second word of the seed of the crossovers."""
TENURE = 20
"""A flipped node is tabu for nodes / TENURE flips; long tenures suit sparse graphs."""


Cut = tuple[float, Array]
"""Value of a cut and side of every node."""


def hyperplane_cuts(factor: Array, count: int, seed: int = 0) -> Iterator[IntArray]:
    """Yield batches of cuts by random hyperplanes, one per column: the signs of R g for Gaussian g.

    >>> [cuts.shape for cuts in hyperplane_cuts(np.array([[1.0], [-1.0]]), 70, seed=1)]
    [(2, 64), (2, 6)]
    """
    rng = np.random.default_rng(seed)
    for first in range(0, validate.integer("count", count, minimum=1), BATCH):
        directions = rng.standard_normal((factor.shape[1], min(BATCH, count - first)))
        yield np.where(factor @ directions >= 0.0, 1, -1).astype(np.int8)


def best_cut(
    graph: Graph, factor: Array, *, hyperplanes: int = 200, steps: int | None = None, seed: int = 0
) -> IntArray:
    """Return the sides (+1 or -1) of the best cut found from the factors of the semidefinite bound.

    Every rounded cut is improved by single flips; tabu search continues from the best few and from their crossovers,
    which keep the sides on which both parents agree. Cuts are processed in parallel by Numba's number of threads; the
    result does not depend on it. After an interruption (:mod:`unipd.run.interruption`) the best cut so far is returned.

    Parameters
    ----------
    graph
        The graph.
    factor
        R of the solution X = R R^T, one row per node.
    hyperplanes
        Number of random hyperplanes.
    steps
        Flips of tabu search per best cut, including its successors; by default 250 per node, at most 200,000, fewer
        for large graphs.
    seed
        Seed of the hyperplanes and of tie breaking.

    Examples
    --------
    >>> path = Graph.of(3, [0, 1], [1, 2], [1.0, 1.0])
    >>> sides = best_cut(path, np.array([[1.0, 0.1], [-1.0, 0.2], [1.0, 0.0]]), hyperplanes=3)
    >>> int(abs(np.diff(sides)).sum())
    4
    """
    search = _LocalSearch(graph)
    flips = default_steps(graph.nodes) if steps is None else validate.integer("steps", steps, minimum=0)
    best: list[Cut] = []
    for cuts in hyperplane_cuts(factor, hyperplanes, seed):
        improved = _in_parallel(search.climb, [(cut,) for cut in cuts.T])
        best = _best_distinct(best + improved)
        if interruption.is_stop_requested():
            break
    starts, rng = [side for _, side in best], np.random.default_rng([seed, CROSSING_STREAM])
    for generation in range(GENERATIONS + 1 if flips else 0):
        if interruption.is_stop_requested():
            break
        seeds, share = seed + POOL * generation, -(-flips // (GENERATIONS + 1))
        improved = _in_parallel(search.tabu_search, [(side, share, seeds + k) for k, side in enumerate(starts)])
        best = _best_distinct(best + improved)
        starts = [_crossover(best, rng) for _ in range(POOL)]
    return best[0][1].astype(np.int64)


def _best_distinct(cuts: list[Cut]) -> list[Cut]:
    """Return the best distinct cuts, best first."""
    best: list[Cut] = []
    for value, side in sorted(cuts, key=lambda cut: -cut[0]):
        if len(best) < POOL and all(abs(float(side @ other)) < side.size for _, other in best):
            best.append((value, side))
    return best


def _crossover(cuts: list[Cut], rng: np.random.Generator) -> Array:
    """Return the sides of two random cuts where they agree, and either one's where they do not."""
    first, second = (cuts[place][1] for place in rng.choice(len(cuts), 2, replace=len(cuts) < 2))
    return np.where(rng.random(first.size) < 0.5, first, second if first @ second >= 0.0 else -second)


def default_steps(nodes: int) -> int:
    """Return the number of flips of a tabu search, whose work is nodes times flips.

    >>> default_steps(100), default_steps(20_000)
    (25000, 12500)
    """
    return int(min(250 * nodes, 200_000, max(250_000_000 // nodes, 1000)))


def _in_parallel(search: Callable[..., Cut], arguments: list[tuple[Any, ...]]) -> list[Cut]:
    """Return the cuts of several searches in order; after an interruption the first and those completed before."""
    cuts: list[Cut | None] = [None] * len(arguments)

    def run(index: int) -> None:
        if index == 0 or not interruption.is_stop_requested():
            cuts[index] = search(*arguments[index])

    run_chunks(run, len(arguments), available_threads(None))
    return [cut for cut in cuts if cut is not None]


class _LocalSearch:
    """Local search on one graph."""

    def __init__(self, graph: Graph) -> None:
        self._matrix = matrix = graph.adjacency()
        self._csr = (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.float64))
        self._floor = FLOOR * float(np.abs(graph.weights).max()) if graph.edges else 0.0
        self._graph = graph

    def climb(self, side: Array) -> Cut:
        """Return the local optimum of single flips, with its value."""
        out, _ = self._ascend(side)
        return cut_value(self._graph, out), out

    def tabu_search(self, side: Array, steps: int, seed: int) -> Cut:
        """Return the best cut of single flips and tabu search, with its value."""
        from unipd.apps.graphs import kernels

        out, gain = self._ascend(side)
        tenure = max(3, out.size // TENURE)
        noise = np.random.default_rng(seed).integers(0, 2**31, 65_521)
        kernels.tabu(*self._csr, out, gain, steps, tenure, noise, self._floor)
        return cut_value(self._graph, out), out

    def _ascend(self, side: Array) -> tuple[Array, Array]:
        """Return the sides after single flips, and the gains of further ones."""
        from unipd.apps.graphs import kernels

        out = side.astype(np.float64)
        gain = out * (self._matrix @ out)
        kernels.ascend(*self._csr, out, gain, self._floor)
        return out, gain


def cut_value(graph: Graph, sides: Any) -> float:
    """Return the total weight of the edges between the two sides (+1 and -1).

    >>> cut_value(Graph.of(3, [0, 1], [1, 2], [1.0, 2.5]), np.array([1, 1, -1]))
    2.5
    """
    side = np.asarray(sides)
    return float(graph.weights[side[graph.rows] != side[graph.cols]].sum())


def cut_ratio(value: float, bound: float) -> float:
    """Return cut over bound, 1 for a bound of zero.

    >>> cut_ratio(3.0, 4.0), cut_ratio(0.0, 0.0)
    (0.75, 1.0)
    """
    return value / bound if bound > 0.0 else 1.0


@dataclass(frozen=True, repr=False)
class MaxCutResult(ReprMixin):
    """A cut and an upper bound on every cut."""

    sides: IntArray
    """+1 or -1 for each node."""
    cut_value: float
    """Total weight of the edges between the sides."""
    sdp_bound: float
    """No cut is larger: the certified bound from the semidefinite relaxation."""
    labels: Any = field(repr=False)
    """Names of the nodes."""
    result: Result = field(repr=False)
    """Result of the relaxation, with the figures of the cut among its extras."""

    @property
    def ratio(self) -> float:
        """Cut over bound: a lower bound on the share of the maximum cut."""
        return cut_ratio(self.cut_value, self.sdp_bound)


def maxcut_program(graph: Any) -> SDP:
    """Return max <L / 4, X> subject to diag(X) = 1, X psd, for the graph's Laplacian L.

    >>> from unipd.io import Graph
    >>> maxcut_program(Graph.of(2, [0], [1], [1.0]))
    SDP(max, order=2, constraints=2, blocks=1)
    """
    content = as_graph(graph)
    upper: Any = content.laplacian().tocoo()
    keep = (upper.row <= upper.col) & (upper.data != 0.0)
    row, col, value = upper.row[keep], upper.col[keep], upper.data[keep]
    cost = Entries(np.zeros_like(row), row, col, -0.25 * value)
    nodes = np.arange(content.nodes)
    ones = np.ones(content.nodes)
    diagonal = Entries(nodes, nodes, nodes, ones)
    return SDP(SdpData(content.nodes, cost, diagonal, ones, ones), maximise=True)


def maxcut(
    graph: Any,
    accuracy: float = 1e-4,
    method: Any = "auto",
    *,
    hyperplanes: int = 200,
    steps: int | None = None,
    seed: int = 0,
    **options: Any,
) -> MaxCutResult:
    """Bound the maximum cut of a graph and find a large cut.

    Parameters
    ----------
    graph
        A :class:`~unipd.io.Graph`, a networkx graph, a symmetric SciPy sparse matrix or (edges, weights).
    accuracy
        Relative accuracy of the bound.
    method
        Method for the relaxation.
    hyperplanes, steps, seed
        Parameters of the rounding, see :func:`~unipd.apps.graphs.maxcut.best_cut`.
    options
        As in :meth:`unipd.apps.sdp.SDP.solve`.

    Examples
    --------
    The cycle of five nodes has a cut of 4 edges and the bound 4.52:

    >>> from unipd.io import Graph
    >>> found = maxcut(Graph.of(5, [0, 1, 2, 3, 4], [1, 2, 3, 4, 0], np.ones(5)))
    >>> found.cut_value, round(found.sdp_bound, 2)
    (4.0, 4.52)
    """
    content = as_graph(graph)
    result = maxcut_program(content).solve(accuracy, method, seed=seed, **options)
    if steps is None and result.status is Status.INTERRUPTED:
        steps = 0  # after an interruption no long search
    sides = best_cut(content, result.x.left, hyperplanes=hyperplanes, steps=steps, seed=seed)
    if interruption.is_stop_requested():  # perhaps during the rounding
        result = downgrade(result, Status.INTERRUPTED)
    value, bound = cut_value(content, sides), result.dual_bound
    figures: dict[str, Any] = {"cut_value": value, "sdp_bound": bound, "ratio": cut_ratio(value, bound), "sides": sides}
    result = result.with_extras(**figures, nodes=content.nodes, edges=content.edges)
    return MaxCutResult(sides, value, bound, content.labels, result)


class MaxCut:
    """MaxCut with scikit-learn's interface: ``fit`` a graph, read ``labels_``, ``cut_value_`` and ``bound_``.

    ``result_`` is the :class:`unipd.Result` of the relaxation, as in other estimators.

    >>> from unipd.io import Graph
    >>> model = MaxCut().fit(Graph.of(2, [0], [1], [3.0]))
    >>> model.cut_value_, int(model.labels_.sum())
    (3.0, 1)
    """

    def __init__(self, accuracy: float = 1e-4, hyperplanes: int = 200, seed: int = 0) -> None:
        self.accuracy = accuracy
        self.hyperplanes = hyperplanes
        self.seed = seed

    def fit(self, graph: Any) -> MaxCut:
        """Solve the relaxation and round it."""
        found = maxcut(graph, self.accuracy, hyperplanes=self.hyperplanes, seed=self.seed)
        self.result_ = found.result
        self.labels_ = (found.sides > 0).astype(np.int64)
        self.cut_value_, self.bound_ = found.cut_value, found.sdp_bound
        return self
