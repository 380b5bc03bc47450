"""MaxCut: the bound of Goemans and Williamson with its certificate, and a cut from its solution."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unipd._typing import IntArray
from unipd.apps.maxcut.rounding import best_cut, cut_value
from unipd.apps.sdp import SDP, SdpResult
from unipd.apps.sdp.data import Block, SdpData
from unipd.io.graphs import as_graph
from unipd.maps.sdp import Entries
from unipd.run import interruption
from unipd.status import Status

__all__ = ["MaxCut", "MaxCutResult", "cut_value", "maxcut", "maxcut_program"]


@dataclass(frozen=True)
class MaxCutResult:
    """A cut, and an upper bound of every cut."""

    sides: IntArray
    """+1 or -1 for each node."""
    cut_value: float
    """Total weight of the edges between the sides."""
    sdp_bound: float
    """No cut is larger: the certified bound of the semidefinite relaxation."""
    labels: Any = field(repr=False)
    """What the nodes are called."""
    sdp: SdpResult = field(repr=False)
    """The relaxation's own result."""

    @property
    def ratio(self) -> float:
        """Cut over bound: the cut is at least this share of the largest one."""
        return self.cut_value / self.sdp_bound if self.sdp_bound > 0.0 else 1.0

    def summary(self) -> dict[str, Any]:
        """Return the headline figures."""
        figures = self.sdp.summary()
        return {**figures, "cut_value": self.cut_value, "sdp_bound": self.sdp_bound, "ratio": self.ratio}


def maxcut_program(graph: Any) -> SDP:
    """Return max <L / 4, X> subject to diag(X) = 1, X psd, for the graph's Laplacian L.

    >>> from unipd.io import Graph
    >>> maxcut_program(Graph.of(2, [0], [1], [1.0]))
    SDP(max, order=2, constraints=2, blocks=1)
    """
    found = as_graph(graph)
    laplacian = found.laplacian()
    upper: Any = laplacian.tocoo()
    keep = (upper.row <= upper.col) & (upper.data != 0.0)
    row, col, value = upper.row[keep], upper.col[keep], upper.data[keep]
    cost = Entries(np.zeros_like(row), np.zeros_like(row), row, col, -0.25 * value)
    nodes = np.arange(found.nodes)
    ones = np.ones(found.nodes)
    diagonal = Entries(nodes, np.zeros_like(nodes), nodes, nodes, ones)
    return SDP(SdpData(found.nodes, cost, diagonal, ones, ones, (Block(0, found.nodes, False),)), maximise=True)


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
    """Bound the maximum cut of a graph and find a good one.

    Parameters
    ----------
    graph
        A :class:`~unipd.io.Graph`, a networkx graph, a symmetric SciPy sparse matrix or (edges, weights).
    accuracy
        Relative accuracy of the bound.
    method
        Method for the relaxation.
    hyperplanes, steps, seed
        Of the rounding, see :func:`~unipd.apps.maxcut.rounding.best_cut`.
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
    known = as_graph(graph)
    result = maxcut_program(known).solve(accuracy, method, seed=seed, **options)
    if steps is None and result.status is Status.INTERRUPTED:
        steps = 0  # whoever interrupts waits for no long search: the cuts climb, and that is all
    sides = best_cut(known, result.x.left, hyperplanes=hyperplanes, steps=steps, seed=seed)
    if interruption.requested():  # perhaps while it rounded: there may be better cuts
        result = replace(result, status=Status.INTERRUPTED)
    return MaxCutResult(sides, cut_value(known, sides), result.dual_bound, known.labels, result)


class MaxCut:
    """MaxCut in the style of scikit-learn: ``fit`` a graph, read ``labels_`` and ``bound_``.

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
        self.result_ = maxcut(graph, self.accuracy, hyperplanes=self.hyperplanes, seed=self.seed)
        self.labels_ = (self.result_.sides > 0).astype(np.int64)
        self.cut_value_ = self.result_.cut_value
        self.bound_ = self.result_.sdp_bound
        return self
