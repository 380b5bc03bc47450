"""MaxCut: the certified Goemans-Williamson bound, and a cut by hyperplane rounding and local search."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unipd._typing import Array, IntArray
from unipd._util import validate
from unipd._util.context import is_stop_requested
from unipd._util.lazy import can_compile
from unipd._util.printing import ReprMixin
from unipd._util.threads import available_threads, run_chunks
from unipd.apps.sdp import SDP, SdpData
from unipd.errors import InvalidInput
from unipd.io import Graph
from unipd.io.graphs import as_graph
from unipd.maps.sdp import Entries
from unipd.run import Result, downgrade
from unipd.status import Status

BATCH = 64
"""Most hyperplanes per batch."""
BATCH_ENTRIES = 1 << 24
"""Most sides per batch, one byte each."""
HYPERPLANES, MOST_ROUNDED = 200, 40_000_000
"""Hyperplanes by default, and most sides that they give in all (but at least a batch of 16 hyperplanes)."""
FLOOR = 1e-9
"""Improvements below this share of the largest weight count as rounding errors."""
POOL = 8
"""Number of best rounded cuts that are combined and start annealing."""
CHAINS = 4
"""Annealing runs per round, from the same cut."""
CHAIN_SWEEPS = 3000
"""Sweeps of a run; fewer on graphs so large that the effort is less than a round of these. A few slow runs find better
cuts of large grids than many quick ones, and as good ones of small graphs."""
LEAST_SWEEPS = 20
"""Fewest sweeps of a run."""
VISITS, VISITS_PER_NODE = 1_000_000_000, 250_000
"""Limits of the visits at effort 1: in total (7 s of one core; 40 s on a million nodes) and per node."""
INTERPRETED_SHARE = 1.0 / 400.0
"""Share of the visits where Python runs the search, without Numba: each takes some 400 times as long."""
FIRST_HOT, HOT, COLD = 0.6, (0.15, 0.2, 0.3, 0.4), 0.05
"""Temperatures at which runs begin (in the first round, then by chain) and end, over the typical norm of a row."""
ANNEALING_STREAM = 1
"""Second word of the seeds of annealing runs."""


Cut = tuple[float, Array]
"""Value of a cut and side of every node."""


def hyperplane_cuts(factor: Array, count: int, seed: int = 0) -> Iterator[IntArray]:
    """Yield batches of cuts by random hyperplanes, one per column: the signs of R g for Gaussian g.

    Parameters
    ----------
    factor
        R with X = R R^T, one row per node.
    count
        Number of hyperplanes.
    seed
        Seed of the random numbers; equal seeds give equal results.

    Raises
    ------
    InvalidInput
        ``count``: expected an integer of at least 1.

    See Also
    --------
    best_cut, cut_value

    Examples
    --------
    >>> [cuts.shape for cuts in hyperplane_cuts(np.array([[1.0], [-1.0]]), 70, seed=1)]
    [(2, 64), (2, 6)]
    """
    rng = np.random.default_rng(seed)
    batch = max(1, min(BATCH, BATCH_ENTRIES // factor.shape[0]))
    for first in range(0, validate.integer("count", count, minimum=1), batch):
        directions = rng.standard_normal((factor.shape[1], min(batch, count - first))).astype(factor.dtype, copy=False)
        yield np.where(factor @ directions >= 0.0, np.int8(1), np.int8(-1))


def best_cut(
    graph: Graph, factor: Array, *, hyperplanes: int | None = None, effort: float = 1.0, seed: int = 0
) -> IntArray:
    """Return the sides (+1 or -1) of the best cut found from the factors of the semidefinite bound.

    Every rounded cut is improved by single flips. Rounds of simulated annealing start from the best cut; it then takes
    over every connected group of nodes whose sides another run has chosen better, so it never becomes worse. Runs are
    divided among Numba's number of threads; the result does not depend on it. After Ctrl-C
    the best cut so far is returned.

    Parameters
    ----------
    graph
        The graph.
    factor
        R of the solution X = R R^T, one row per node.
    hyperplanes
        Number of random hyperplanes; default 200, fewer for more than 200,000 nodes.
    effort
        Work of the annealing, to which its time is proportional: 1 takes about 7 s of one core from 4,000 nodes on,
        less on smaller graphs; 0 is rounding and single flips only.
    seed
        Seed of the hyperplanes and of the annealing.

    Raises
    ------
    InvalidInput
        If ``factor`` is not a real matrix with a row for every node, ``hyperplanes`` not an integer of at least 1, or
        ``effort`` a negative number.

    See Also
    --------
    hyperplane_cuts, cut_value

    Examples
    --------
    >>> path = Graph.of(3, [0, 1], [1, 2], [1.0, 1.0])
    >>> sides = best_cut(path, np.array([[1.0, 0.1], [-1.0, 0.2], [1.0, 0.0]]), hyperplanes=3)
    >>> int(abs(np.diff(sides)).sum())
    4
    """
    rows, work = validate.real_array("factor", factor, ndim=2), validate.nonnegative("effort", effort)
    if len(rows) != graph.nodes:
        raise InvalidInput("factor", f"{graph.nodes} rows, one per node", f"shape {rows.shape}")
    usual = max(16, min(HYPERPLANES, MOST_ROUNDED // graph.nodes))
    count = usual if hyperplanes is None else validate.integer("hyperplanes", hyperplanes, minimum=1)
    search = _LocalSearch(graph)
    pool: list[Cut] = []
    for cuts in hyperplane_cuts(rows, count, seed):
        pool = _best_distinct(pool + _in_parallel(search.climb, [(cut,) for cut in cuts.T]))
        if is_stop_requested():
            break
    best = search.combine(pool) if work > 0.0 else pool[0]
    starts = [pool[chain % len(pool)][1] for chain in range(CHAINS)]
    rounds, sweeps = plan_annealing(graph.nodes, work)
    for number in range(rounds):
        if is_stop_requested():
            break
        hot = [FIRST_HOT] * CHAINS if number == 0 else HOT
        runs = [(side, hot[k], sweeps, [seed, ANNEALING_STREAM, number, k]) for k, side in enumerate(starts)]
        best = search.combine([best, *_in_parallel(search.anneal, runs)])
        starts = [best[1]] * CHAINS
    return best[1].astype(np.int64)


def _best_distinct(cuts: list[Cut]) -> list[Cut]:
    """Return the best distinct cuts, best first."""
    best: list[Cut] = []
    for value, side in sorted(cuts, key=lambda cut: -cut[0]):
        if len(best) < POOL and all(abs(float(side @ other)) < side.size for _, other in best):
            best.append((value, side))
    return best


def plan_annealing(nodes: int, effort: float) -> tuple[int, int]:
    """Return the rounds of annealing and the sweeps of each run.

    >>> plan_annealing(1000, 1.0), plan_annealing(20_000, 1.0), plan_annealing(2**20, 1.0), plan_annealing(100, 0.0)
    ((20, 3000), (4, 3000), (1, 238), (0, 0))
    """
    share = 1.0 if can_compile() else INTERPRETED_SHARE
    sweeps = share * effort * min(VISITS / nodes, VISITS_PER_NODE) / CHAINS
    if sweeps == 0.0:
        return 0, 0
    each = max(LEAST_SWEEPS, min(CHAIN_SWEEPS, int(sweeps)))
    return max(1, int(sweeps / each)), each


def _in_parallel(search: Callable[..., Cut], arguments: list[tuple[Any, ...]]) -> list[Cut]:
    """Return the cuts of several searches in order; after an interruption the first and those completed before."""
    cuts: list[Cut | None] = [None] * len(arguments)

    def run(index: int) -> None:
        if index == 0 or not is_stop_requested():
            cuts[index] = search(*arguments[index])

    run_chunks(run, len(arguments), available_threads(None))
    return [cut for cut in cuts if cut is not None]


class _LocalSearch:
    """Local search on one graph."""

    def __init__(self, graph: Graph) -> None:
        self._matrix = matrix = graph.adjacency()
        self._csr = (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.float64))
        self._floor = FLOOR * float(np.abs(graph.weights).max()) if graph.edges else 0.0
        squares = float(np.sum(np.square(graph.weights)))
        self._scale = math.sqrt(2.0 * squares / graph.nodes) or 1.0
        """Root mean square of the norms of the rows: the typical size of a gain."""
        self._graph = graph

    def climb(self, side: Array) -> Cut:
        """Return the local optimum of single flips, with its value."""
        from unipd.apps.graphs import kernels

        out = side.astype(np.float64)
        kernels.ascend(*self._csr, out, out * (self._matrix @ out), self._floor)
        return cut_value(self._graph, out), out

    def anneal(self, side: Array, hot: float, sweeps: int, seed: list[int]) -> Cut:
        """Return the best cut of a run of simulated annealing, with its value."""
        from unipd.apps.graphs import kernels

        out = side.astype(np.float64)
        gain = out * (self._matrix @ out)
        bits = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] | np.uint64(1)
        scale = self._scale
        kernels.anneal(*self._csr, out, gain, hot * scale, COLD * scale, sweeps, bits, self._floor)
        return self.climb(out)

    def combine(self, cuts: list[Cut]) -> Cut:
        """Return the best cut with every group of nodes that another cut has on a better side."""
        from unipd.apps.graphs import kernels

        ranked = sorted(cuts, key=lambda cut: -cut[0])
        best = ranked[0][1].copy()
        for _, other in ranked[1:]:
            for sides in (other, -other):
                kernels.combine(*self._csr, best, sides, self._floor)
        return cut_value(self._graph, best), best


def cut_value(graph: Graph, sides: Any) -> float:
    """Return the total weight of the edges between the two sides (+1 and -1).

    Parameters
    ----------
    graph
        A :class:`unipd.io.Graph`, a networkx graph, a symmetric sparse matrix, or (edges, weights).
    sides
        +1 or -1 for every node.

    See Also
    --------
    best_cut, unipd.MaxCut

    Examples
    --------
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
    """A cut and an upper bound on every cut.

    Parameters
    ----------
    sides
        +1 or -1 for each node.
    cut_value
        Total weight of the edges between the sides.
    sdp_bound
        No cut is larger: the certified bound from the semidefinite relaxation.
    labels
        Names of the nodes.
    result
        Result of the relaxation, with the figures of the cut among its extras.

    See Also
    --------
    maxcut, unipd.apps.graphs.cut_value

    Examples
    --------
    >>> triangle = maxcut(([(0, 1), (1, 2), (0, 2)], [1.0, 1.0, 1.0]))
    >>> triangle.cut_value, round(triangle.sdp_bound, 3)
    (2.0, 2.25)
    """

    sides: IntArray
    cut_value: float
    sdp_bound: float
    labels: Any = field(repr=False)
    result: Result = field(repr=False)

    @property
    def ratio(self) -> float:
        """Cut over bound: a lower bound on the share of the maximum cut."""
        return cut_ratio(self.cut_value, self.sdp_bound)


def maxcut_program(graph: Any) -> SDP:
    """Return max <L / 4, X> subject to diag(X) = 1, X psd, for the graph's Laplacian L.

    Parameters
    ----------
    graph
        A :class:`unipd.io.Graph`, a networkx graph, a symmetric sparse matrix, or (edges, weights).

    See Also
    --------
    bisection_program, theta_program, unipd.SDP

    Examples
    --------
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
    hyperplanes: int | None = None,
    effort: float = 1.0,
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
    hyperplanes, effort, seed
        Parameters of the rounding, see :func:`~unipd.apps.graphs.maxcut.best_cut`.
    options
        As in :meth:`unipd.apps.sdp.SDP.solve`.

    Returns
    -------
    MaxCutResult

    Raises
    ------
    InvalidInput
        ``effort``: expected a number of at least zero.

    See Also
    --------
    MaxCutResult, unipd.MaxCut, unipd.apps.graphs.best_cut

    Examples
    --------
    The cycle of five nodes has a cut of 4 edges and the bound 4.52:

    >>> from unipd.io import Graph
    >>> found = maxcut(Graph.of(5, [0, 1, 2, 3, 4], [1, 2, 3, 4, 0], np.ones(5)))
    >>> found.cut_value, round(found.sdp_bound, 2)
    (4.0, 4.52)
    """
    content = as_graph(graph)
    effort = validate.nonnegative("effort", effort)
    result = maxcut_program(content).solve(accuracy, method, seed=seed, **options)
    if result.status is Status.INTERRUPTED:
        effort = 0.0  # after an interruption no long search
    sides = best_cut(content, result.x.left, hyperplanes=hyperplanes, effort=effort, seed=seed)
    if is_stop_requested():  # perhaps during the rounding
        result = downgrade(result, Status.INTERRUPTED)
    value, bound = cut_value(content, sides), result.dual_bound
    figures: dict[str, Any] = {"cut_value": value, "sdp_bound": bound, "ratio": cut_ratio(value, bound), "sides": sides}
    result = result.with_extras(**figures, nodes=content.nodes, edges=content.edges)
    return MaxCutResult(sides, value, bound, content.labels, result)


class MaxCut:
    """MaxCut with scikit-learn's interface: ``fit`` a graph, read ``labels_``, ``cut_value_`` and ``bound_``.

    ``result_`` is the :class:`unipd.Result` of the relaxation, as in other estimators.

    Parameters
    ----------
    accuracy
        The relative accuracy requested of gap and infeasibility.
    hyperplanes
        Number of random hyperplanes that round the relaxation.
    effort
        How long to search for a better cut, relative to the default of 1.
    seed
        Seed of the random numbers; equal seeds give equal results.

    See Also
    --------
    unipd.apps.graphs.maxcut.maxcut, unipd.io.read_graph

    Examples
    --------
    >>> from unipd.io import Graph
    >>> model = MaxCut().fit(Graph.of(2, [0], [1], [3.0]))
    >>> model.cut_value_, int(model.labels_.sum())
    (3.0, 1)
    """

    def __init__(
        self, accuracy: float = 1e-4, hyperplanes: int | None = None, effort: float = 1.0, seed: int = 0
    ) -> None:
        self.accuracy = accuracy
        self.hyperplanes = hyperplanes
        self.effort = effort
        self.seed = seed

    def fit(self, graph: Any) -> MaxCut:
        """Solve the relaxation and round it."""
        found = maxcut(graph, self.accuracy, hyperplanes=self.hyperplanes, effort=self.effort, seed=self.seed)
        self.result_ = found.result
        self.labels_ = (found.sides > 0).astype(np.int64)
        self.cut_value_, self.bound_ = found.cut_value, found.sdp_bound
        return self
