"""Submodular minimisation by the point of least norm in the base polytope (Fujishige, 1980), with a proof."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd import validate
from unipd._typing import Array, IntArray
from unipd.couplings import LeastSquares
from unipd.errors import InvalidInput
from unipd.io.graphs import as_graph
from unipd.problem import Problem
from unipd.run import MaxIterations, Moment, Result, StoppingRule, solve
from unipd.sharp import BasePolytope

POLISH = 1e-12
"""Accuracy asked of the least norm: so small that the gap of the sets ends the run."""


@dataclass(frozen=True)
class SubmodularMinimum:
    """A set, its value, and a bound that no set goes below."""

    members: IntArray
    """The elements of the set."""
    value: float
    """F of the set."""
    bound: float
    """Sum of min(x_i, 0) at a point x of the base polytope: at most F of any set."""
    accuracy: float
    """What was asked, relative to max(1, |value|)."""
    result: Result = field(repr=False)
    """The run that found the point of least norm."""

    @property
    def gap(self) -> float:
        """(value - bound) / max(1, |value|): how far the set can be from the best one."""
        return (self.value - self.bound) / max(1.0, abs(self.value))

    @property
    def certified(self) -> bool:
        """Whether the gap is as small as was asked."""
        return self.gap <= self.accuracy


class CutFunction:
    """F(S) = weight of the edges between S and the other nodes, plus the prices of the nodes of S.

    Minimising it is a minimum cut with terminals: image segmentation, closure problems.

    Parameters
    ----------
    graph
        As in :class:`unipd.MaxCut`; weights must not be negative.
    prices
        One number a node, 0 by default; a negative one draws its node into the set.

    Examples
    --------
    >>> from unipd.io import Graph
    >>> path = CutFunction(Graph.of(3, [0, 1], [1, 2], [2.0, 1.0]), prices=[-3.0, 0.5, 0.5])
    >>> path.along(np.array([0, 1, 2]))
    array([-1. , -1.5, -2. ])
    """

    def __init__(self, graph: Any, prices: Any = None) -> None:
        self.graph = as_graph(graph)
        if (self.graph.weights < 0).any():
            raise InvalidInput("graph", "weights >= 0 (submodular)", f"{self.graph.weights.min():g}")
        given = np.zeros(self.graph.nodes) if prices is None else prices
        self.prices = validate.real_array("prices", given, shape=(self.graph.nodes,)).astype(np.float64)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return self.graph.nodes

    def along(self, order: IntArray) -> Array:
        """Return F on the growing sets of an order: an edge counts from its first to its second end."""
        place = np.empty(order.size, np.intp)
        place[order] = np.arange(order.size)
        ends = place[self.graph.rows], place[self.graph.cols]
        opened = np.bincount(np.minimum(*ends), self.graph.weights, order.size)
        closed = np.bincount(np.maximum(*ends), self.graph.weights, order.size)
        return np.cumsum(opened - closed + self.prices[order])


def minimise(
    function: Any,
    size: int | None = None,
    accuracy: float = 1e-6,
    *,
    method: str = "auto",
    stop: StoppingRule | None = None,
    verbose: bool = False,
) -> SubmodularMinimum:
    """Return a set with the least value of a submodular function, and a bound that proves it.

    min over S of F(S) = max over the base polytope of sum min(x_i, 0). The run looks for x of least norm; the sets
    {x_i <= t} of a point on the way are tried, and it ends when the best of them meets the bound.

    Parameters
    ----------
    function, size
        As in :class:`unipd.sharp.BasePolytope`; the size may be left out when the function has one. F of no elements
        is 0.
    accuracy
        The gap to prove, relative to max(1, |F|). If all values are integers, anything below 1 / max(1, |F|) is exact.
    method, stop, verbose
        As in :func:`unipd.solve`.

    Examples
    --------
    >>> from unipd.io import Graph
    >>> square = CutFunction(Graph.of(4, [0, 1, 2, 3], [1, 2, 3, 0], np.ones(4)), prices=[-3.0, 1.0, -2.0, 2.5])
    >>> found = minimise(square)
    >>> found.members, found.value, found.certified
    (array([0, 1, 2]), -2.0, True)
    """
    tolerance = validate.positive("accuracy", accuracy)
    count = getattr(function, "size", None) if size is None else size
    if count is None:
        raise InvalidInput("size", "the number of elements", "None, and the function has no size")
    polytope = BasePolytope(function, count)
    problem = Problem(polytope, sp.eye_array(polytope.size, format="csr"), np.zeros(polytope.size), LeastSquares())
    best = _Best(polytope, tolerance)
    result = solve(
        problem, method, accuracy=POLISH, stop=stop or MaxIterations(10_000), callback=best.look, verbose=verbose
    )
    return SubmodularMinimum(best.members, best.value, best.bound, tolerance, result)


class _Best:
    """The best set and the best bound of a run."""

    def __init__(self, polytope: BasePolytope, accuracy: float) -> None:
        self.polytope = polytope
        self.accuracy = accuracy
        self.members: IntArray = np.empty(0, np.intp)
        self.value = 0.0
        self.bound = -np.inf

    def look(self, moment: Moment) -> bool:
        """Try the sets {x_i <= t} of the point; return whether the best one is proved good enough."""
        x = moment.state.image
        order = np.argsort(x, kind="stable")
        values = self.polytope.along(order)
        count = int(np.argmin(values))
        if values[count] < self.value:
            self.members, self.value = np.sort(order[: count + 1]), float(values[count])
        self.bound = max(self.bound, float(np.minimum(x, 0.0).sum()))
        return self.value - self.bound <= self.accuracy * max(1.0, abs(self.value))
