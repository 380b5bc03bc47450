"""The instances of ``walls.py``: problems with a strong specialist, and that specialist.

A further row is an entry in :data:`WALLS`: a function that returns an :class:`Instance` for the full or the quick size.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog, minimize
from scipy.special import logsumexp

import unipd
from unipd import couplings, maps, sharp

Peer = Callable[[float, float], Any]
"""Takes an accuracy and the multiplier of the norm that our run found (for penalised forms); returns x.

It raises ImportError where a package is not installed.
"""


@dataclass(frozen=True)
class Instance:
    """A problem and the alternatives to unipd for it."""

    problem: unipd.Problem
    peers: dict[str, Peer] = field(default_factory=dict)
    goal: tuple[str, float] | float | None = None
    """A peer and the multiple of its time at 1e-6 that ours should not exceed; or CPU seconds."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of ``unipd.solve`` for this row."""
    accuracies: tuple[float, ...] = (1e-4, 1e-6)


def basis_pursuit(quick: bool) -> Instance:
    """Basis pursuit whose solution has as many nonzeros as there are rows."""
    rows, columns = (80, 400) if quick else (800, 4000)
    random = np.random.default_rng(1)
    A = random.standard_normal((rows, columns)) / np.sqrt(rows)
    b = A @ random.standard_normal(columns)

    def spgl1(accuracy: float, _: float) -> Any:
        from spgl1 import spg_bp  # type: ignore[import-not-found]

        return spg_bp(A, b, opt_tol=accuracy, bp_tol=accuracy, iter_lim=20_000)[0]

    def highs(accuracy: float, _: float) -> Any:
        del accuracy
        x = linprog(np.ones(2 * columns), A_eq=np.hstack([A, -A]), b_eq=b, method="highs-ds").x
        return x[:columns] - x[columns:]

    problem = unipd.Problem(sharp.L1NormSquared(columns), A, b, "=")
    return Instance(problem, {"spgl1": spgl1, "HiGHS dual simplex": highs}, ("spgl1", 1.0))


def clouds(size: int) -> Any:
    """Return the squared distances of two random clouds of points in the unit square."""
    random = np.random.default_rng(0)
    sources, sinks = random.random((size, 2)), random.random((size, 2))
    return ((sources[:, None] - sinks[None]) ** 2).sum(-1)


def network_simplex(costs: Any) -> Any:
    """Return the optimal plan between uniform marginals by POT's network simplex method."""
    import ot  # type: ignore[import-not-found]

    share = np.full(len(costs), 1.0 / len(costs))
    return ot.emd(share, share, costs, numItermax=10_000_000)


def flat_transport(quick: bool) -> Instance:
    """Transport as one simplex of n^2 points with 2n equations, as a newcomer writes it."""
    size = 60 if quick else 300
    costs, ones = clouds(size), np.ones((1, size))
    A = sp.vstack([sp.kron(sp.eye_array(size), ones), sp.kron(ones, sp.eye_array(size))]).tocsc()
    problem = unipd.Problem(
        sharp.Linear(costs.ravel(), sharp.Simplex(size * size)), A, np.full(2 * size, 1.0 / size), "="
    )
    return Instance(problem, {"POT emd": lambda *_: network_simplex(costs).ravel()})


def transport(quick: bool) -> Instance:
    """Transport with one simplex per source: a million variables."""
    size = 200 if quick else 1000
    costs = clouds(size)
    blocks = [sharp.Linear(row, sharp.Simplex(size)) for row in costs]
    problem = unipd.Problem(blocks, [maps.Identity(size)] * size, np.ones(size), "=")

    def emd(*_: float) -> Any:
        return unipd.atoms.Blocks(tuple(size * network_simplex(costs)))

    return Instance(problem, {"POT emd": emd}, None if quick else 10.0)


def entropic_transport(quick: bool) -> Instance:
    """Transport with an entropy of 0.05, one block per source."""
    size, strength = 60 if quick else 300, 0.05
    costs = clouds(size)
    blocks = [sharp.Linear(row / strength, sharp.Entropy(size)) for row in costs]

    def sinkhorn(accuracy: float, _: float) -> Any:
        """POT's Sinkhorn iteration in the logarithmic domain."""
        import ot  # type: ignore[import-not-found]

        share = np.full(size, 1.0 / size)
        options = {"method": "sinkhorn_log", "stopThr": accuracy / size, "numItermax": 10_000, "warn": False}
        return unipd.atoms.Blocks(tuple(size * ot.sinkhorn(share, share, costs, strength, **options)))

    problem = unipd.Problem(blocks, [maps.Identity(size)] * size, np.ones(size), "=")
    return Instance(problem, {"POT sinkhorn_log": sinkhorn}, ("POT sinkhorn_log", 4.0))


def maximum_entropy(quick: bool) -> Instance:
    """Largest entropy with 100 given moments."""
    size, rows = (5_000, 50) if quick else (100_000, 100)
    random = np.random.default_rng(0)
    A, weights = random.standard_normal((rows, size)), np.exp(2.0 * random.standard_normal(size))
    b = A @ (weights / weights.sum())

    def softmax(dual: Any) -> tuple[float, Any]:
        y = -(A.T @ dual)
        total = logsumexp(y)
        return float(total), np.exp(y - total)

    def lbfgs(accuracy: float, _: float) -> Any:
        """SciPy's L-BFGS-B on the dual, until the residual is within the accuracy."""

        def dual(lam: Any) -> tuple[float, Any]:
            total, x = softmax(lam)
            return total + float(lam @ b), b - A @ x

        options = {"gtol": accuracy * np.linalg.norm(b) / np.sqrt(rows), "ftol": 1e-16, "maxcor": 20}
        return softmax(minimize(dual, np.zeros(rows), jac=True, method="L-BFGS-B", options=options).x)[1]

    problem = unipd.Problem(sharp.Entropy(size), A, b, "=")
    return Instance(problem, {"L-BFGS on the dual": lbfgs}, ("L-BFGS on the dual", 2.0))


def grid_edges(side: int) -> tuple[Any, Any]:
    """Return tails and heads of a grid whose edges go down and right, with some diagonals."""
    tails, heads = [], []
    for i in range(side):
        for j in range(side):
            here = i * side + j
            if i + 1 < side:
                tails, heads = [*tails, here], [*heads, here + side]
            if j + 1 < side:
                tails, heads = [*tails, here], [*heads, here + 1]
            if i + 1 < side and j + 1 < side and (i + j) % 3 == 0:
                tails, heads = [*tails, here], [*heads, here + side + 1]
    return np.array(tails), np.array(heads)


def multicommodity_flow(quick: bool) -> Instance:
    """Cheapest flows of many commodities on a grid whose edges have capacities."""
    side, count = (12, 10) if quick else (30, 60)
    random = np.random.default_rng(0)
    tails, heads = grid_edges(side)
    size, nodes, half = tails.size, side * side, side // 2
    lengths, demands = random.uniform(1.0, 2.0, size), random.uniform(0.5, 1.5, count)
    sources = random.integers(0, half, (count, 2)) @ [side, 1]
    sinks = random.integers(half, side, (count, 2)) @ [side, 1]
    flows = [sharp.FlowPolytope(tails, heads, *ends, nodes=nodes) for ends in zip(sources, sinks, strict=True)]
    mixture = np.zeros(size)
    for demand, flow in zip(demands, flows, strict=True):
        mixture += demand * sum(flow(0.6 * random.standard_normal(size)).atom.dense() for _ in range(6)) / 6.0
    capacities = np.maximum(1.1 * mixture, 0.3 * mixture.mean())
    blocks = [sharp.Linear(demand * lengths, flow) for demand, flow in zip(demands, flows, strict=True)]
    diagonals = [sp.diags_array(np.full(size, demand)).tocsc() for demand in demands]

    def highs(*_: float) -> Any:
        places = np.arange(size)
        signs, ends = np.repeat([1.0, -1.0], size), (np.append(tails, heads), np.append(places, places))
        balance = sp.block_diag([sp.csc_array((signs, ends), shape=(nodes, size))] * count, format="csc")
        supply = np.zeros((count, nodes))
        supply[np.arange(count), sources] = 1.0
        supply[np.arange(count), sinks] -= 1.0
        costs = np.concatenate([demand * lengths for demand in demands])
        limits = sp.hstack(diagonals, format="csc")
        x = linprog(costs, limits, capacities, balance, supply.ravel(), method="highs-ipm").x
        return unipd.atoms.Blocks(tuple(x.reshape(count, size)))

    problem = unipd.Problem(blocks, [maps.SparseMatrix(diagonal) for diagonal in diagonals], capacities, "<=")
    return Instance(problem, {"HiGHS interior point": highs}, None if quick else 20.0)


def lasso(quick: bool) -> Instance:
    """Least squares over the l1 ball."""
    rows, columns = (200, 500) if quick else (2000, 5000)
    random = np.random.default_rng(0)
    X, w = random.standard_normal((rows, columns)), np.zeros(columns)
    w[: columns // 20] = random.standard_normal(columns // 20)
    y = X @ w + 5.0 * random.standard_normal(rows)

    def celer(accuracy: float, multiplier: float) -> Any:
        from celer import Lasso  # type: ignore[import-not-found]

        return Lasso(alpha=multiplier / rows, tol=accuracy, fit_intercept=False).fit(X, y).coef_

    def skglm(accuracy: float, multiplier: float) -> Any:
        from skglm import Lasso  # type: ignore[import-not-found]

        return Lasso(alpha=multiplier / rows, tol=accuracy, fit_intercept=False).fit(X, y).coef_

    problem = unipd.Problem(sharp.L1Ball(columns, 0.9 * np.abs(w).sum()), X, y, couplings.LeastSquares())
    return Instance(problem, {"celer": celer, "skglm": skglm}, ("celer", 3.0))


def l1_logistic(quick: bool) -> Instance:
    """Logistic regression over the l1 ball with sparse data and more than 2,000 nonzeros."""
    rows, columns = (500, 5000) if quick else (5000, 50_000)
    random = np.random.default_rng(0)
    X = sp.random(rows, columns, 0.002, random_state=1, format="csc", data_rvs=random.random)
    w = np.zeros(columns)
    w[:200] = 5.0 * random.standard_normal(200)
    y = np.where(X @ w + 0.1 * random.standard_normal(rows) > 0, 1.0, -1.0)
    signed = (sp.diags_array(y) @ X).tocsc()

    def celer(accuracy: float, multiplier: float) -> Any:
        from celer import LogisticRegression  # type: ignore[import-not-found]

        fitted = LogisticRegression(C=1.0 / multiplier, tol=accuracy * rows, fit_intercept=False).fit(X, y)
        return fitted.coef_.ravel()

    problem = unipd.Problem(sharp.L1Ball(columns, rows / 5), signed, np.zeros(rows), couplings.Logistic())
    return Instance(problem, {"celer": celer}, ("celer", 3.0))


def group_ball(quick: bool) -> Instance:
    """Least squares over the ball of the group norm, with more than three times as many nonzeros as rows."""
    rows, columns = (100, 1000) if quick else (1000, 10_000)
    random = np.random.default_rng(0)
    X, w = random.standard_normal((rows, columns)), random.standard_normal(columns)
    labels = np.arange(columns) // 10
    y = X @ w + 5.0 * random.standard_normal(rows)
    ball = sharp.GroupBall(labels, 0.2 * sharp.GroupBall(labels).norm(w))

    def celer(accuracy: float, multiplier: float) -> Any:
        from celer import GroupLasso  # type: ignore[import-not-found]

        return GroupLasso(groups=10, alpha=multiplier / rows, tol=accuracy, fit_intercept=False).fit(X, y).coef_

    return Instance(unipd.Problem(ball, X, y, couplings.LeastSquares()), {"celer": celer}, ("celer", 3.0))


def least_norm(shape: tuple[int, int], rank: int, seed: int) -> Instance:
    """Least squared nuclear norm with 60 % of the entries given: the paper's second formulation."""
    random = np.random.default_rng(seed)
    rows, columns = np.nonzero(random.random(shape) < 0.6)
    truth = random.standard_normal((shape[0], rank)) @ random.standard_normal((rank, shape[1]))
    entries = maps.Sampling(rows, columns, shape)
    problem = unipd.Problem(sharp.NuclearNormSquared(shape), entries, truth[rows, columns], "=")
    return Instance(problem, {"CVXPY with SCS": lambda accuracy, _: by_cvxpy(problem, "SCS", eps=accuracy)}, 0.5)


def by_cvxpy(problem: unipd.Problem, solver: str, **options: Any) -> Any:
    """Return the solution of the problem's CVXPY model."""
    import cvxpy  # type: ignore[import-not-found]

    from unipd.interop.cvxpy_models import to_cvxpy

    model = to_cvxpy(problem)
    model.solve(solver=getattr(cvxpy, solver), **options)
    return model.variables()[0].value


def movielens(quick: bool) -> Instance | None:
    """Least squared nuclear norm with the ratings of MovieLens 100K, ub split; None where $UNIPD_DATA is not set."""
    folder = os.environ.get("UNIPD_DATA")
    if folder is None or quick:
        return None
    lines = np.loadtxt(Path(folder, "ml-100k", "ub.base"), dtype=int)
    shape = (943, 1682)
    entries = maps.Sampling(lines[:, 0] - 1, lines[:, 1] - 1, shape)
    target = lines[:, 2].astype(float)
    objective = sharp.NuclearNormSquared(shape, 1.0 / target.size)
    return Instance(unipd.Problem(objective, entries, target, "="), {}, None, {}, (1e-3, 1e-4))


def mixed_rows(quick: bool) -> Instance:
    """Sparse regression with side conditions: 20 rows hold exactly, 30 are upper limits, 150 are least squares."""
    size, sizes = (200, [5, 10, 40]) if quick else (2_000, [20, 30, 150])
    random = np.random.default_rng(0)
    A = random.standard_normal((sum(sizes), size))
    truth = np.where(np.arange(size) < 20, random.standard_normal(size), 0.0)
    b = A @ truth
    b[-sizes[2] :] += 0.1 * random.standard_normal(sizes[2])
    coupling = couplings.Product([couplings.Equality(), couplings.AtMost(), couplings.LeastSquares()], sizes)
    problem = unipd.Problem(sharp.L1Ball(size, float(np.abs(truth).sum())), A, b, coupling)
    return Instance(problem, {"CVXPY with Clarabel": lambda *_: by_cvxpy(problem, "CLARABEL")})


class CountedSet(couplings.ConvexSet):
    """A set as a user writes it, projection and support function alone, that counts its projections."""

    def __init__(self, model: couplings.ConvexSet) -> None:
        self.model, self.projections = model, 0

    def project(self, vector: Any) -> Any:
        """Return the nearest point of the set."""
        self.projections += 1
        return self.model.project(vector)

    def conjugate(self, dual: Any) -> float:
        """Return the support function."""
        return self.model.conjugate(dual)


def own_coupling(quick: bool, *, is_polyhedral: bool = False) -> Instance:
    """Constrain by a user-supplied set K: how often it is projected on matters more than the time."""
    rows, columns = (30, 100) if quick else (100, 1000)
    random = np.random.default_rng(0)
    A = random.standard_normal((rows, columns))
    truth = np.where(np.arange(columns) < 10, random.standard_normal(columns), 0.0)
    b = A @ truth + 0.1 * random.standard_normal(rows)
    model = couplings.LInfBall(0.1) if is_polyhedral else couplings.L2Ball(0.1 * math.sqrt(rows))
    return Instance(unipd.Problem(sharp.L1NormSquared(columns), A, b, CountedSet(model)))


WALLS: dict[str, Callable[[bool], Instance | None]] = {
    "basis pursuit": basis_pursuit,
    "flat transport": flat_transport,
    "transport": transport,
    "entropic transport": entropic_transport,
    "maximum entropy": maximum_entropy,
    "multicommodity flow": multicommodity_flow,
    "l1 least squares": lasso,
    "l1 logistic": l1_logistic,
    "group ball": group_ball,
    "nuclear 12 x 10": lambda _: least_norm((12, 10), 2, 1),
    "nuclear 60 x 50": lambda _: least_norm((60, 50), 3, 0),
    "nuclear, MovieLens": movielens,
    "mixed rows": mixed_rows,
    "user-supplied ball": own_coupling,
    "user-supplied box": partial(own_coupling, is_polyhedral=True),
}
"""The rows of the table."""


def _linear_programs(rows: int, columns: int, random: Any) -> dict[str, list[unipd.Problem]]:
    """Return chains of linear programs over a simplex with rows A x <= b."""
    A, b = random.random((rows, columns)), np.zeros(rows)
    costs, other, cut = random.random(columns), random.standard_normal(columns), random.random(columns)
    b = A @ random.dirichlet(np.ones(columns))

    def program(
        k: int = 0, *, b_step: float = 0.0, cost_step: float = 0.0, count: int = rows, size: float = 1.0
    ) -> Any:
        objective = sharp.Linear(costs + cost_step * k * other, sharp.Simplex(columns, size))
        return unipd.Problem(objective, A[:count], (1.0 + b_step * k) * b[:count], "<=")

    optimum = unipd.solve(program(), accuracy=1e-6).x
    stacked, depths = np.vstack([A, cut]), (1.0, 0.998, 0.996)
    cuts = [unipd.Problem(program().sharp, stacked, np.append(b, depth * (cut @ optimum)), "<=") for depth in depths]
    return {
        "changed b": [program(k, b_step=1e-3) for k in range(4)],
        "changed cost": [program(k, cost_step=2e-3) for k in range(4)],
        "added row": [program(count=rows - 10 + k) for k in range(4)],
        "added cut": [program(), *cuts],
        "ten b": [program(k, b_step=1e-3) for k in range(10)],
        "ten costs": [program(k, cost_step=1e-3) for k in range(10)],
        "ten sizes": [program(size=1.0 - 1e-3 * k) for k in range(10)],
    }


def _regressions(rows: int, columns: int, random: Any) -> dict[str, list[unipd.Problem]]:
    """Return chains of least squares over l1 and group balls, and of logistic regression."""
    X, w = random.standard_normal((rows, columns)), np.zeros(columns)
    w[: columns // 20] = random.standard_normal(columns // 20)
    y, change, shares = X @ w + random.standard_normal(rows), random.standard_normal(rows), np.linspace(0.5, 0.95, 10)
    labels, radius, squares = np.arange(columns) // 10, float(np.abs(w).sum()), couplings.LeastSquares()
    signed, length = np.sign(y)[:, None] * X, sharp.GroupBall(labels).norm(w)

    def fit(share: float = 0.7, k: int = 0, count: int = rows) -> unipd.Problem:
        return unipd.Problem(sharp.L1Ball(columns, share * radius), X[:count], (y + 0.02 * k * change)[:count], squares)

    return {
        "changed b": [fit(k=k) for k in range(4)],
        "added row": [fit(count=rows - 4 + k) for k in range(4)],
        "ten radii": [fit(share) for share in shares],
        "ten b": [fit(k=k) for k in range(10)],
        "ten radii, groups": [
            unipd.Problem(sharp.GroupBall(labels, share * length), X, y, squares) for share in shares
        ],
        "ten radii, logistic": [
            unipd.Problem(sharp.L1Ball(columns, 0.1 * share * radius), signed, 0.0 * y, couplings.Logistic())
            for share in shares
        ],
    }


def _basis_pursuits(rows: int, columns: int, random: Any) -> dict[str, list[unipd.Problem]]:
    """Return chains of least l1 norms with A x = b, or A x near b."""
    A, x, other = random.standard_normal((rows, columns)), np.zeros(columns), np.zeros(columns)
    x[: rows // 10] = random.standard_normal(rows // 10)
    other[: rows // 10] = random.standard_normal(rows // 10)
    noisy, norm, cut = (
        A @ x + random.standard_normal(rows),
        sharp.L1NormSquared(columns),
        random.standard_normal(columns),
    )

    def pursuit(k: int = 0, count: int = rows) -> unipd.Problem:
        return unipd.Problem(norm, A[:count], (A @ (x + 0.02 * k * other))[:count], "=")

    coupling = couplings.Product([couplings.Equality(), couplings.AtMost()], [rows, 1])
    cuts = [
        unipd.Problem(norm, np.vstack([A, cut]), np.append(A @ x, cut @ x - depth), coupling)
        for depth in (0.1, 0.2, 0.3)
    ]
    return {
        "changed b": [pursuit(k) for k in range(4)],
        "added row": [pursuit(count=rows - 4 + k) for k in range(4)],
        "added cut": [pursuit(), *cuts],
        "ten b": [pursuit(k) for k in range(10)],
        "ten noise levels": [
            unipd.Problem(norm, A, noisy, couplings.L2Ball(math.sqrt(rows) * (1.5 - share)))
            for share in np.linspace(0.5, 0.95, 10)
        ],
    }


def _matrix_problems(side: int, random: Any) -> dict[str, list[unipd.Problem]]:
    """Return chains of completions over nuclear balls, and of semidefinite programs with diagonal 1 (MaxCut)."""
    shape, places = (3 * side, 2 * side), np.arange(side)
    truth = random.standard_normal((shape[0], 5)) @ random.standard_normal((5, shape[1]))
    rows, columns = np.nonzero(random.random(shape) < 0.3)
    y, change = truth[rows, columns] + 0.1 * random.standard_normal(rows.size), random.standard_normal(rows.size)
    radius, squares = float(np.linalg.norm(truth, "nuc")), couplings.LeastSquares()
    edges = np.triu(random.random((side, side)) < 8.0 / side, 1)

    def complete(share: float = 0.7, k: int = 0, count: int = rows.size) -> unipd.Problem:
        entries = maps.Sampling(rows[:count], columns[:count], shape)
        return unipd.Problem(
            sharp.NuclearBall(shape, share * radius), entries, (y + 0.05 * k * change)[:count], squares
        )

    def cut(k: int) -> unipd.Problem:
        weights = edges * (1.0 + 0.02 * k * other)
        laplacian = np.diag((weights + weights.T).sum(axis=0)) - weights - weights.T
        objective = sharp.Linear(-0.25 * laplacian, sharp.Spectrahedron(side, float(side)))
        return unipd.Problem(
            objective,
            maps.SdpMap((side, side), maps.sdp.Entries(places, places, places, np.ones(side)), side),
            np.ones(side),
            "=",
        )

    other = random.standard_normal((side, side))
    return {
        "changed b": [complete(k=k) for k in range(4)],
        "changed cost, MaxCut": [cut(k) for k in range(4)],
        "added row": [complete(count=rows.size - 4 + k) for k in range(4)],
        "ten radii": [complete(share) for share in np.linspace(0.5, 0.95, 10)],
        "ten b": [complete(k=k) for k in range(10)],
        "ten costs, MaxCut": [cut(k) for k in range(10)],
    }


def warm_chains(quick: bool) -> dict[str, dict[str, list[unipd.Problem]]]:
    """Return problems that change little from one to the next, by kind and by what changes."""
    size, random = (300 if quick else 2_000), np.random.default_rng(0)
    return {
        "linear program": _linear_programs(60, size, random),
        "regression": _regressions(size // 4, size, random),
        "basis pursuit": _basis_pursuits(size // 10, size, random),
        "matrix": _matrix_problems(size // 20, random),
    }
