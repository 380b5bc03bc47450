"""Submodular minimisation by the minimum-norm point of the base polytope (Fujishige, 1980), with a certificate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, IntArray
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.couplings import LeastSquares
from unipd.errors import InvalidInput
from unipd.io.graphs import as_graph
from unipd.problem import Problem
from unipd.run import IterationInfo, MaxIterations, Result, StoppingRule, solve
from unipd.sharp import BasePolytope

POLISH = 1e-12
"""Accuracy of the minimum-norm point, so small that the gap of the sets ends the run."""


@dataclass(frozen=True, repr=False)
class SubmodularMinimum(ReprMixin):
    """A set, its value, and a lower bound on the value of any set.

    Parameters
    ----------
    members
        The elements of the set.
    value
        F of the set.
    bound
        Sum of min(x_i, 0) at a point x of the base polytope: at most F of any set.
    accuracy
        Requested accuracy, relative to max(1, |value|).
    result
        Result of the minimum-norm problem, with the figures of the set among its extras.

    See Also
    --------
    minimise

    Examples
    --------
    Two nodes joined by an edge, one of which is worth taking:

    >>> from unipd.apps.learning import CutFunction
    >>> found = minimise(CutFunction(([(0, 1)], [1.0]), [-3.0, 0.5]), 2)
    >>> found.members, found.value
    (array([0, 1]), -2.5)
    """

    members: IntArray
    value: float
    bound: float
    accuracy: float
    result: Result = field(repr=False)

    @property
    def gap(self) -> float:
        """(value - bound) / max(1, |value|), a bound on the suboptimality of the set."""
        return (self.value - self.bound) / max(1.0, abs(self.value))

    @property
    def is_certified(self) -> bool:
        """Whether the gap is within the requested accuracy."""
        return self.gap <= self.accuracy


class CutFunction:
    """F(S) = weight of the edges between S and the other nodes, plus the prices of the nodes of S.

    Minimising it is a minimum cut with terminals: image segmentation, closure problems.

    Parameters
    ----------
    graph
        As in :class:`unipd.MaxCut`; weights must not be negative.
    prices
        Price of every node, 0 by default; a negative price favours the node.

    Raises
    ------
    InvalidInput
        ``graph``: expected weights >= 0 (submodular); ``prices``: expected an array of finite real numbers.

    See Also
    --------
    unipd.apps.learning.submodular.minimise

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
        values = np.zeros(self.graph.nodes) if prices is None else prices
        self.prices = validate.real_array("prices", values, shape=(self.graph.nodes,)).astype(np.float64)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return self.graph.nodes

    def along(self, order: IntArray) -> Array:
        """Return F on the prefixes of an order: an edge counts between its first and its second end."""
        position = np.empty(order.size, np.intp)
        position[order] = np.arange(order.size)
        ends = position[self.graph.rows], position[self.graph.cols]
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
    """Minimise a submodular function, with a bound that certifies the minimum.

    min over S of F(S) = max over the base polytope of sum min(x_i, 0). The solver minimises the norm of x; the sets
    {x_i <= t} of every iterate are tried, and the run ends when the best of them meets the bound.

    Parameters
    ----------
    function, size
        As in :class:`unipd.sharp.BasePolytope`; the size may be omitted if the function has one. F of the empty set is
        0.
    accuracy
        Requested gap, relative to max(1, |F|). For integer values, anything below 1 / max(1, |F|) is exact.
    method, stop, verbose
        As in :func:`unipd.solve`.

    Returns
    -------
    SubmodularMinimum

    Raises
    ------
    InvalidInput
        ``accuracy``: expected a number above zero; ``size``: expected the number of elements.

    See Also
    --------
    SubmodularMinimum, unipd.apps.learning.CutFunction, unipd.sharp.BasePolytope

    Examples
    --------
    >>> from unipd.io import Graph
    >>> square = CutFunction(Graph.of(4, [0, 1, 2, 3], [1, 2, 3, 0], np.ones(4)), prices=[-3.0, 1.0, -2.0, 2.5])
    >>> found = minimise(square)
    >>> found.members, found.value, found.is_certified
    (array([0, 1, 2]), -2.0, True)
    """
    tolerance = validate.positive("accuracy", accuracy)
    count = getattr(function, "size", None) if size is None else size
    if count is None:
        raise InvalidInput("size", "the number of elements", "None, and the function has no size")
    polytope = BasePolytope(function, count)
    problem = Problem(polytope, sp.eye_array(polytope.size, format="csr"), np.zeros(polytope.size), LeastSquares())
    best = _Best(polytope, tolerance)
    result = solve(problem, method, accuracy=POLISH, stop=stop or MaxIterations(10_000), callback=best, verbose=verbose)
    found = SubmodularMinimum(best.members, best.value, best.bound, tolerance, result)
    extras: dict[str, Any] = {"value": found.value, "bound": found.bound, "members": found.members}
    return replace(found, result=result.with_extras(**extras, is_certified=found.is_certified))


class _Best:
    """Callback that keeps the best set and the best bound of a run."""

    def __init__(self, polytope: BasePolytope, accuracy: float) -> None:
        self.polytope = polytope
        self.accuracy = accuracy
        self.members: IntArray = np.empty(0, np.intp)
        self.value = 0.0
        self.bound = -np.inf

    def __call__(self, info: IterationInfo) -> bool:
        """Try the sets {x_i <= t} of the iterate; return whether the gap is closed."""
        x = info.state.image
        order = np.argsort(x, kind="stable")
        values = self.polytope.along(order)
        count = int(np.argmin(values))
        if values[count] < self.value:
            self.members, self.value = np.sort(order[: count + 1]), float(values[count])
        self.bound = max(self.bound, float(np.minimum(x, 0.0).sum()))
        return self.value - self.bound <= self.accuracy * max(1.0, abs(self.value))
