"""Random models over CVXPY's atoms by `unipd.cvxpy.Solver` and Clarabel, then large ones beside SCS.

    python benchmarks/cvxpy_models.py [--models 150] [--seed 0] [--quick] [--large [--only MODEL ...]]

Every model is solved by both to 1e-8 or better. It counts as right if both report the same status, the values agree to
1e-5 (relative to the larger of 1 and the value), and the constraints hold to 1e-5 at the variables that were written
back, recomputed by CVXPY. Models without a solution count as right if both say so. With --large, MaxCut, the
completion of a matrix of rank 3, theta numbers, sparse PCA and programs over balls to 1e-4, in CPU seconds of one
thread, CVXPY's compilation included.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

import unipd
from figures import note

ACCURACY = 1e-8
AGREEMENT = 1e-5

Draw = np.random.Generator


def symmetric(draw: Draw, order: int) -> Any:
    matrix = draw.standard_normal((order, order))
    return matrix + matrix.T


def positive_definite(draw: Draw, order: int) -> Any:
    factor = draw.standard_normal((order, order))
    return factor @ factor.T + np.eye(order)


def rows(draw: Draw, x: Any, count: int) -> tuple[Any, Any]:
    """Return random linear forms of x, and their values at a random point."""
    matrix = draw.standard_normal((count, x.size))
    return matrix @ cp.vec(x, order="F"), matrix @ draw.standard_normal(x.size)


def lasso(draw: Draw) -> Any:
    x = cp.Variable(int(draw.integers(4, 9)))
    form, value = rows(draw, x, 12)
    return cp.Problem(cp.Minimize(cp.sum_squares(form - value) + draw.random() * 5 * cp.norm1(x)))


def robust_regression(draw: Draw) -> Any:
    x = cp.Variable(5)
    form, value = rows(draw, x, 15)
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(form - 3 * value, 1.0))), [cp.norm_inf(x) <= 2])


def norms(draw: Draw) -> Any:
    x = cp.Variable(6)
    form, value = rows(draw, x, 9)
    norm = [cp.norm1, cp.norm2, cp.norm_inf][int(draw.integers(3))]
    equation, right = rows(draw, x, 2)
    return cp.Problem(cp.Minimize(norm(form - value)), [equation == right, cp.norm2(x) <= 3 + np.linalg.norm(right)])


def fractional(draw: Draw) -> Any:
    x, y = cp.Variable(4), cp.Variable()
    form, value = rows(draw, x, 6)
    limits = [y >= 0.5, cp.sum(x) + y == 3, x >= -2]
    return cp.Problem(cp.Minimize(cp.quad_over_lin(form - value, y) + y), limits)


def matrix_fractional(draw: Draw) -> Any:
    x, P = cp.Variable(4), cp.Variable((3, 3), PSD=True)
    form, value = rows(draw, x, 3)
    limits = [cp.trace(P) <= 4, P >> 0.1 * np.eye(3), cp.norm2(x) <= 1]
    return cp.Problem(cp.Minimize(cp.matrix_frac(form - value, P)), limits)


def eigenvalues(draw: Draw) -> Any:
    x = cp.Variable(4)
    matrices = [symmetric(draw, 5) for _ in range(5)]
    form = matrices[0] + sum(x[k] * matrices[k + 1] for k in range(4))
    kind = int(draw.integers(4))
    if kind == 0:
        return cp.Problem(cp.Minimize(cp.lambda_max(form) + cp.sum_squares(x)))
    if kind == 1:
        return cp.Problem(cp.Maximize(cp.lambda_min(form)), [cp.norm_inf(x) <= 1])
    if kind == 2:
        return cp.Problem(cp.Minimize(cp.lambda_sum_largest(form, 2)), [cp.norm2(x) <= 2])
    return cp.Problem(cp.Minimize(cp.sigma_max(form)), [cp.sum(x) == 1])


def nuclear(draw: Draw) -> Any:
    X = cp.Variable((4, 5))
    data, mask = draw.standard_normal((4, 5)), draw.random((4, 5)) < 0.6
    if draw.random() < 0.5:
        return cp.Problem(cp.Minimize(cp.normNuc(X)), [cp.multiply(mask, X) == mask * data])
    fit = cp.sum_squares(cp.multiply(mask, X - data))
    return cp.Problem(cp.Minimize(fit + draw.random() * cp.normNuc(X)), [cp.abs(X) <= 2])


def standard_sdp(draw: Draw) -> Any:
    order = int(draw.integers(3, 7))
    X, point = cp.Variable((order, order), PSD=True), positive_definite(draw, order)
    matrices = [symmetric(draw, order) for _ in range(3)]
    limits = [cp.trace(matrix @ X) == np.sum(matrix * point) for matrix in matrices]
    limits += [cp.trace(X) <= 2 * np.trace(point), X[0, 1] >= point[0, 1] - 1]
    return cp.Problem(cp.Minimize(cp.trace(symmetric(draw, order) @ X)), limits)


def matrix_inequality(draw: Draw) -> Any:
    x = cp.Variable(4)
    form = positive_definite(draw, 5) + sum(x[k] * symmetric(draw, 5) for k in range(4))
    return cp.Problem(cp.Minimize(draw.standard_normal(4) @ x), [form >> 0, cp.norm2(x) <= 5])


def hermitian(draw: Draw) -> Any:
    X = cp.Variable((3, 3), hermitian=True)
    parts = [symmetric(draw, 3) + 1j * np.triu(draw.standard_normal((3, 3)), 1) for _ in range(2)]
    cost, limit = (part + part.conj().T for part in parts)
    limits = [X >> 0, cp.real(cp.trace(X)) == 1, cp.real(cp.trace(limit @ X)) <= np.real(np.trace(limit)) / 3]
    return cp.Problem(cp.Minimize(cp.real(cp.trace(cost @ X))), limits)


def portfolio(draw: Draw) -> Any:
    w = cp.Variable(8, nonneg=True)
    risk = cp.quad_form(w, positive_definite(draw, 8))
    limits = [cp.sum(w) == 1, w <= 0.4, cp.norm1(w - 1 / 8) <= 1]
    return cp.Problem(cp.Maximize(draw.standard_normal(8) @ w - draw.random() * risk), limits)


def linear_program(draw: Draw) -> Any:
    """Return a linear program that is bounded, unbounded or infeasible."""
    x = cp.Variable(6)
    form, value = rows(draw, x, 7)
    limits = [form <= value + draw.normal() / 2] + ([x >= -1, x <= 1] if draw.random() < 0.6 else [])
    return cp.Problem(cp.Minimize(draw.standard_normal(6) @ x), limits)


def piecewise(draw: Draw) -> Any:
    x = cp.Variable(5)
    form, value = rows(draw, x, 8)
    cost = cp.max(form - value) + cp.sum(cp.pos(x)) + cp.sum_largest(cp.abs(x), 2) + cp.tv(x)
    return cp.Problem(cp.Minimize(cost), [cp.sum(x) >= 1])


def powers(draw: Draw) -> Any:
    x = cp.Variable(4)
    form, value = rows(draw, x, 5)
    cost = cp.sum(cp.power(cp.abs(form - value), 1.5)) + cp.mixed_norm(cp.reshape(x, (2, 2), order="C"), 2, 1)
    return cp.Problem(cp.Minimize(cost), [cp.norm(x, "inf") <= 3])


def balls(draw: Draw) -> Any:
    """Return a linear, squared or absolute cost over a simplex or a ball, with rows: the template of this library."""
    x, X, Y = cp.Variable(6), cp.Variable((3, 3), PSD=True), cp.Variable((3, 4))
    sets = [(x, [x >= 0, cp.sum(x) == 1]), (x, [x >= 0, cp.sum(x) <= 2]), (x, [cp.norm1(x) <= 1])]
    sets += [(x, [cp.norm2(x) <= 1]), (x, [cp.norm_inf(x) <= 0.5]), (X, [cp.trace(X) == 1])]
    sets += [(X, [cp.trace(X) <= 2]), (Y, [cp.normNuc(Y) <= 1])]
    variable, limits = sets[int(draw.integers(len(sets)))]
    form, value = rows(draw, variable, 8)
    cost = [cp.sum(form), cp.sum_squares(form - value), cp.norm1(form - value)][int(draw.integers(3))]
    return cp.Problem(cp.Minimize(draw.random() * cost + form[0]), [*limits, form[1] <= 0.1, form[2] == 0.0])


def mixture(draw: Draw) -> Any:
    """Return random atoms under random constraints: bounded, unbounded or infeasible."""
    x, S = cp.Variable(3), cp.Variable((3, 3), symmetric=True)

    def form() -> Any:
        return draw.standard_normal((4, 3)) @ x + draw.standard_normal((4, 9)) @ cp.vec(S, order="F") + draw.normal()

    atoms = [cp.sum_squares, cp.norm1, cp.norm2, cp.max, cp.norm_inf, cp.sum, lambda v: cp.sum(cp.huber(v))]
    cost = sum(atoms[kind](form()) for kind in draw.integers(len(atoms), size=2)) + draw.integers(2) * cp.lambda_max(S)
    limits = [cp.norm2(form()) <= 10, S >> -3 * np.eye(3), cp.geo_mean(cp.hstack([2, x[0] + 3])) >= 0.1]
    limits += [form()[0] == 1, cp.norm1(x) <= 3, form() <= 1, cp.sum_squares(form()) <= 9]
    return cp.Problem(cp.Minimize(cost), [limit for limit in limits if draw.random() < 0.4])


FAMILIES: tuple[Callable[[Draw], Any], ...] = (
    *(lasso, robust_regression, norms, fractional, matrix_fractional, eigenvalues, nuclear, standard_sdp),
    *(matrix_inequality, hermitian, portfolio, linear_program, piecewise, powers, balls, mixture),
)


def compare(problem: Any, solver: Any, accuracy: float = ACCURACY) -> str:
    """Return "right", or what is wrong with the solution of a model."""
    peer = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, status = problem.solve(solver="CLARABEL", **peer), problem.status
        try:
            value = problem.solve(solver=solver, accuracy=accuracy)
        except cp.error.SolverError as error:
            return f"error: {error}"
    if problem.status.removesuffix("_inaccurate") != status.removesuffix("_inaccurate"):
        return f"{problem.status}, not {status}"
    if not np.isfinite(expected):
        return "right"
    difference = abs(value - expected) / max(1.0, abs(expected))
    violation = max((float(np.max(limit.violation())) for limit in problem.constraints), default=0.0)
    size = max(1.0, *(float(np.abs(variable.value).max()) for variable in problem.variables()))
    if difference > AGREEMENT or violation > AGREEMENT * size:
        return f"value off by {difference:.1e}, constraints violated by {violation:.1e} ({problem.status})"
    return "right" if problem.status == cp.OPTIMAL else f"right, but {problem.status}"


def maxcut(order: int) -> Any:
    """Return MaxCut of a random graph with 16 edges a vertex."""
    graph = sp.random_array((order, order), density=8 / order, rng=np.random.default_rng(0))
    graph.data[:] = 1.0
    weights = sp.csr_array(graph + graph.T)
    laplacian = sp.diags_array(np.asarray(weights.sum(axis=1)).ravel()) - weights
    X = cp.Variable((order, order), PSD=True)
    return cp.Problem(cp.Maximize(cp.trace(sp.csc_array(laplacian / 4) @ X)), [cp.diag(X) == 1])


def completion(order: int) -> Any:
    """Return the search for the least nuclear norm with 30 % of the entries of a matrix of rank 3."""
    draw = np.random.default_rng(0)
    truth = draw.standard_normal((order, 3)) @ draw.standard_normal((3, order))
    seen = np.nonzero(draw.random((order, order)) < 0.3)
    X = cp.Variable((order, order))
    return cp.Problem(cp.Minimize(cp.normNuc(X)), [X[seen] == truth[seen]])


def theta(order: int, density: float = 0.1) -> Any:
    """Return the theta number of a random graph: the sparser it is, the lower is the rank of the solution."""
    edges = np.nonzero(np.triu(np.random.default_rng(0).random((order, order)) < density, 1))
    X = cp.Variable((order, order), PSD=True)
    return cp.Problem(cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, X[edges] == 0])


def sparse_components(order: int) -> Any:
    """Return sparse principal components: a spike with ten entries in noise, entries of X penalised."""
    draw = np.random.default_rng(0)
    noise, spike = draw.standard_normal((order, order // 2)), np.repeat([1.0, 0.0], [10, order - 10])
    covariance = noise @ noise.T / order + 0.5 * np.outer(spike, spike)
    X = cp.Variable((order, order), PSD=True)
    return cp.Problem(cp.Maximize(cp.trace(covariance @ X) - 0.2 * cp.sum(cp.abs(X))), [cp.trace(X) == 1])


def nuclear_ball(order: int) -> Any:
    """Return the least squares of 30 % of the entries of a matrix of rank 3 over nine tenths of its nuclear ball."""
    draw = np.random.default_rng(0)
    truth = draw.standard_normal((order, 3)) @ draw.standard_normal((3, order))
    seen = np.nonzero(draw.random((order, order)) < 0.3)
    X = cp.Variable((order, order))
    return cp.Problem(
        cp.Minimize(cp.sum_squares(X[seen] - truth[seen])), [cp.normNuc(X) <= 0.9 * np.linalg.norm(truth, "nuc")]
    )


def simplex(count: int, order: int) -> Any:
    """Return least squares over the simplex, noisy data of a point with twenty entries."""
    draw = np.random.default_rng(0)
    x, matrix = cp.Variable(order), draw.standard_normal((count, order))
    right = matrix[:, :20].mean(axis=1) + 0.1 * draw.standard_normal(count)
    return cp.Problem(cp.Minimize(cp.sum_squares(matrix @ x - right)), [x >= 0, cp.sum(x) == 1])


def linear_simplex(count: int, order: int) -> Any:
    """Return a linear program over the simplex."""
    draw = np.random.default_rng(0)
    x, matrix = cp.Variable(order), draw.standard_normal((count, order))
    return cp.Problem(cp.Minimize(draw.standard_normal(order) @ x), [x >= 0, cp.sum(x) == 1, matrix @ x <= 0.3])


LARGE: dict[str, Callable[[], Any]] = {
    "MaxCut 1000": lambda: maxcut(1000),
    "completion 300 x 300": lambda: completion(300),
    "theta 150": lambda: theta(150),
    "theta 250, sparse": lambda: theta(250, 0.02),
    "sparse PCA 40": lambda: sparse_components(40),
    "sparse PCA 200": lambda: sparse_components(200),
    "nuclear ball 300 x 300": lambda: nuclear_ball(300),
    "least squares, simplex": lambda: simplex(500, 3000),
    "linear, simplex": lambda: linear_simplex(100, 3000),
}
"""The large models."""


def time_large(models: dict[str, Any]) -> None:
    """Print CPU seconds of the solvers at 1e-4."""
    solvers: dict[str, dict[str, Any]] = {
        "unipd": {"solver": unipd.cvxpy.Solver(), "accuracy": 1e-4},
        "SCS": {"solver": "SCS", "eps": 1e-4},
    }
    maxcut(10).solve(**solvers["unipd"])  # compiled kernels
    for name, make in models.items():
        for solver, options in solvers.items():
            problem, begun = make(), time.process_time()
            value = problem.solve(**options)
            seconds = time.process_time() - begun
            variable = problem.variables()[0].value
            rank = np.linalg.matrix_rank(variable, rtol=1e-3) if variable.ndim == 2 else 0
            print(f"{name:24} {solver:16} {problem.status:20} {value:14.6f} {seconds:8.2f} s  rank {rank}", flush=True)
            note(f"{name}: {solver}", seconds, "CPU s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="one model of each family, small ones only")
    parser.add_argument("--large", action="store_true", help="time large models beside SCS, too")
    parser.add_argument("--only", nargs="+", choices=LARGE, help="these of the large models")
    given = parser.parse_args()
    solver, outcomes = unipd.cvxpy.Solver(), Counter()
    for index in range(len(FAMILIES) if given.quick else given.models):
        family = FAMILIES[index % len(FAMILIES)]
        outcome = compare(family(np.random.default_rng([given.seed, index])), solver)
        outcomes[outcome.split(":")[0].split(",")[0]] += 1
        if outcome != "right":
            print(f"{index:4} {family.__name__:20} {outcome}", flush=True)
    print(f"{outcomes.total()} models: {dict(outcomes)}")
    note("models that agree with Clarabel", outcomes["right"] / max(outcomes.total(), 1), "share", 1.0, at_least=True)
    if given.large:
        time_large(LARGE if given.only is None else {name: LARGE[name] for name in given.only})


if __name__ == "__main__":
    main()
