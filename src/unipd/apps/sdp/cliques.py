"""Theta programs that are solved by an independent set and a fractional cover of the nodes by cliques of the same size.

The theta number of a graph (max <11^T, X>, tr X = 1, X_ij = 0 for its edges) lies between the two, which agree for
perfect graphs and for many sparse ones; a linear program over the maximal cliques finds both. Semidefinite methods are
slow on these programs, whose solutions are far from unique.

M. Grötschel, L. Lovász, A. Schrijver, The ellipsoid method and its consequences in combinatorial optimization,
Combinatorica 1 (1981); D. E. Knuth, The sandwich theorem, Electronic Journal of Combinatorics 1 (1994).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array, IntArray
from unipd.apps.sdp.data import PSD, SdpData
from unipd.apps.sdp.formulation import WarmStart, find_binary_lifting
from unipd.atoms import LowRank

CLIQUES_PER_NODE = 40
"""Most maximal cliques, relative to the nodes: dense graphs have exponentially many."""
BRANCHES_PER_CLIQUE = 4
"""Most branches of their enumeration, relative to that number."""
FRACTIONAL_SHARE, MOST_SEARCH_NODES = 0.1, 100
"""Share of the nodes for which the linear program may leave open whether they are in the independent set, and nodes of
the search that decides it."""
INTEGRAL = 1e-6
"""Distance from an integer up to which a number of the linear program is meant to be one."""


@dataclass(frozen=True, eq=False)
class ThetaProgram:
    """A theta program in one of two forms, with a graph whose edges ij have constraints v X_ij = 0.

    Either min <-c 11^T, X>, a tr X = b, or min -c sum_i X_ii, X_ii = X_0i, a X_00 = b with a border 0; the costs of the
    latter may also be those of X_0i.
    """

    nodes: IntArray
    """Rows of X, without the border."""
    edges: dict[tuple[int, int], tuple[int, float]]
    """Constraint and v of every edge (i, j), i < j."""
    price: float
    """c"""
    constraint: int
    """That of the trace or of the corner, ..."""
    coefficient: float
    """... a ..."""
    scale: float
    """... and b / a."""
    dual: Array
    """Multipliers that do not depend on the cliques."""
    border: int | None = None

    def combine(self, independent: Array, weights: dict[frozenset[int], float]) -> WarmStart:
        """Return X of an independent set, and multipliers of weights that cover every node once.

        S / c = t I - 11^T + t sum_ij w_ij E_ij for the sum t of all weights and w_ij of those of cliques with i and j,
        which is psd since (1^T s)^2 = (sum_Q w_Q 1_Q^T s)^2 <= t sum_Q w_Q (1_Q^T s)^2; it is the Schur complement
        times t in the form with a border.
        """
        size, dual, count = sum(weights.values()), self.dual.copy(), np.count_nonzero(independent)
        dual[self.constraint] += self.price * size / self.coefficient
        factor = np.zeros((self.nodes.size + (self.border is not None), 1))
        factor[self.nodes[independent]] = np.sqrt(self.scale / (count if self.border is None else 1))
        if self.border is not None:
            factor[self.border] = np.sqrt(self.scale)
        price = self.price * (size if self.border is None else 1.0)
        for clique, weight in weights.items():
            for pair in combinations(sorted(self.nodes[list(clique)].tolist()), 2):
                constraint, value = self.edges[pair]
                dual[constraint] += price * weight / value
        return WarmStart(dual, LowRank(factor, factor, np.ones(1)))


def find_theta_program(data: SdpData) -> ThetaProgram | None:
    """Return the graph of a theta program, None for other programs.

    >>> from unipd.maps.sdp import Entries
    >>> entries = Entries([0, 0, 0, 1], [0, 1, 2, 0], [0, 1, 2, 1], np.ones(4))
    >>> cost, b = Entries.from_matrices([-np.ones((3, 3))]), np.array([1.0, 0.0])
    >>> find_theta_program(SdpData(3, cost, entries, b, b)).edges
    {(0, 1): (1, 1.0)}
    """
    if len(data.blocks) != 1 or data.blocks[0].kind != PSD or not data.equal.all():
        return None
    return _find_plain_form(data) or _find_bordered_form(data)


def _find_plain_form(data: SdpData) -> ThetaProgram | None:
    n, cost, entries = data.order, data.cost.value, data.constraints
    if cost.size != n * (n + 1) // 2 or cost[0] >= 0.0 or (cost != cost[0]).any():
        return None
    is_diagonal = entries.row == entries.col
    if np.count_nonzero(is_diagonal) != n or np.ptp(entries.value[is_diagonal]) != 0.0:
        return None
    row, size = int(entries.constraint[is_diagonal][0]), float(entries.value[is_diagonal][0])
    edges = _read_edges(data, entries.constraint != row)
    if edges is None or not (entries.constraint[is_diagonal] == row).all() or data.b[row] * size <= 0.0:
        return None
    return ThetaProgram(np.arange(n), edges, -float(cost[0]), row, size, data.b[row] / size, np.zeros(data.size))


def _find_bordered_form(data: SdpData) -> ThetaProgram | None:
    lifting = find_binary_lifting(data)
    if lifting is None:
        return None
    border, others = lifting.border, np.delete(np.arange(data.order), lifting.border)
    is_tie = np.isin(data.constraints.constraint, lifting.relations)
    edges, cost = _read_edges(data, ~is_tie), data.cost
    is_outside = (cost.row != cost.col) & (cost.row != border) & (cost.col != border)
    is_outside |= (cost.row == border) & (cost.col == border)
    if edges is None or is_outside.any() or (lifting.halves[others] != 0.5).any():
        return None
    diagonal, side = np.zeros(data.order), np.zeros(data.order)
    is_diagonal = cost.row == cost.col
    diagonal[cost.row[is_diagonal]] = cost.value[is_diagonal]
    side[(cost.row + cost.col - border)[~is_diagonal]] = cost.value[~is_diagonal]
    prices = -(diagonal + 2.0 * side)[others]
    if prices.size == 0 or prices[0] <= 0.0 or (prices != prices[0]).any():
        return None
    dual, price = np.zeros(data.size), float(prices[0])
    dual[lifting.relations[others]] = 2.0 * (price + side[others]) / lifting.weights[others]
    corner, coefficient = int(lifting.relations[border]), float(lifting.weights[border])
    return ThetaProgram(others, edges, price, corner, coefficient, lifting.value, dual, border)


def _read_edges(data: SdpData, is_edge: Array) -> dict[tuple[int, int], tuple[int, float]] | None:
    """Return constraint and value of each of these entries, None unless each says that X_ij = 0."""
    rest = data.constraints.select(is_edge)
    alone = np.bincount(data.constraints.constraint, minlength=data.size)[rest.constraint] == 1
    if not (alone & (rest.row != rest.col) & (data.b[rest.constraint] == 0.0)).all():
        return None
    places = zip(rest.row.tolist(), rest.col.tolist(), strict=True)
    return dict(zip(places, zip(rest.constraint.tolist(), rest.value.tolist(), strict=True), strict=True))


def solve_by_cliques(data: SdpData) -> WarmStart | None:
    """Return an optimal X and multipliers of a theta program, if an independent set is as large as a clique cover.

    The path of three nodes has theta = 2:

    >>> from unipd.maps.sdp import Entries
    >>> entries = Entries([0, 0, 0, 1, 2], [0, 1, 2, 0, 1], [0, 1, 2, 1, 2], np.ones(5))
    >>> cost, b = Entries.from_matrices([-np.ones((3, 3))]), np.array([1.0, 0.0, 0.0])
    >>> found = solve_by_cliques(SdpData(3, cost, entries, b, b))
    >>> found.x.left[:, 0].round(3), round(float(found.dual.sum()), 9)
    (array([0.707, 0.   , 0.707]), 4.0)
    """
    program = find_theta_program(data)
    if program is None:
        return None
    neighbours: list[set[int]] = [set() for _ in range(program.nodes.size)]
    number = np.zeros(data.order, np.int64)
    number[program.nodes] = np.arange(program.nodes.size)
    for edge in program.edges:
        first, second = number[list(edge)].tolist()
        neighbours[first].add(second)
        neighbours[second].add(first)
    cliques = list_maximal_cliques(neighbours, CLIQUES_PER_NODE * program.nodes.size)
    found = None if cliques is None else find_equal_pair(cliques, program.nodes.size)
    return None if found is None else program.combine(*found)


def list_maximal_cliques(neighbours: list[set[int]], most: int) -> list[tuple[int, ...]] | None:
    """Return the maximal cliques of a graph by the algorithm of Bron and Kerbosch, None if there are too many.

    >>> list_maximal_cliques([{1, 2}, {0, 2}, {0, 1, 3}, {2}], 10)
    [(2, 3), (2, 0, 1)]
    """
    found: list[tuple[int, ...]] = []
    stack: list[tuple[tuple[int, ...], set[int], set[int]]] = [((), set(range(len(neighbours))), set())]
    branches = 0
    while stack:
        clique, candidates, excluded = stack.pop()
        branches += 1
        if not candidates and not excluded:
            found.append(clique)
        if len(found) > most or branches > BRANCHES_PER_CLIQUE * most:
            return None
        if not candidates:
            continue
        pivot = max(candidates | excluded, key=lambda node: len(candidates & neighbours[node]))
        for node in sorted(candidates - neighbours[pivot]):
            stack.append(((*clique, node), candidates & neighbours[node], excluded & neighbours[node]))
            candidates.remove(node)
            excluded.add(node)
    return found


def find_equal_pair(cliques: list[tuple[int, ...]], nodes: int) -> tuple[Array, dict[frozenset[int], float]] | None:
    """Return an independent set, as a mask, and weights of cliques that sum to its size and to 1 at every node."""
    from scipy.optimize import Bounds, LinearConstraint, linprog, milp

    lengths = [len(clique) for clique in cliques]
    place: IntArray = np.array([node for clique in cliques for node in clique])
    matrix = sp.csr_array((np.ones(place.size), place, np.cumsum([0, *lengths])), shape=(len(cliques), nodes))
    solution: Any = linprog(-np.ones(nodes), A_ub=matrix, b_ub=np.ones(len(cliques)), method="highs")
    if solution.status != 0 or abs(solution.fun - round(solution.fun)) > INTEGRAL:
        return None
    size, x = -round(solution.fun), solution.x
    is_open = np.abs(x - np.rint(x)) > INTEGRAL
    if np.count_nonzero(is_open) > FRACTIONAL_SHARE * nodes:
        return None
    if is_open.any():
        rows, options = LinearConstraint(matrix, -np.inf, 1.0), {"node_limit": MOST_SEARCH_NODES}
        lower: Any = np.where(is_open, 0.0, np.rint(x))
        upper: Any = np.where(is_open, 1.0, np.rint(x))
        x = milp(
            -np.ones(nodes), integrality=np.ones(nodes), bounds=Bounds(lower, upper), constraints=rows, options=options
        ).x
    if x is None or np.count_nonzero(x > 0.5) != size:
        return None
    prices = np.maximum(-solution.ineqlin.marginals, 0.0)
    weights = {frozenset(cliques[index]): float(prices[index]) for index in np.flatnonzero(prices)}
    return x > 0.5, cover_once(weights, nodes)


def cover_once(weights: dict[frozenset[int], float], nodes: int) -> dict[frozenset[int], float]:
    """Return weights of the same sum that cover every node once, from some that cover it at least once.

    A share of a clique without a node is a clique as well.

    >>> weights = cover_once({frozenset([0, 1]): 1.0, frozenset([1, 2]): 1.0}, 3)
    >>> [(sorted(clique), weight) for clique, weight in weights.items()]
    [([1, 2], 1.0), ([0], 1.0)]
    """
    result = dict(weights)
    for node in range(nodes):
        owners = [clique for clique in result if node in clique]
        excess = sum(result[clique] for clique in owners) - 1.0
        for clique in owners:
            moved = min(excess, result[clique])
            if moved <= 0.0:
                break
            rest = clique - {node}
            result[rest] = result.get(rest, 0.0) + moved
            result[clique] -= moved
            excess -= moved
            if result[clique] <= 0.0:
                del result[clique]
    return result
