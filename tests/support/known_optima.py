"""Problems whose optimal value, dual optimum and Hölder constant are known independently of the code under test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.spatial.distance import pdist

from support.oracles import EntrywisePower, EuclideanPower
from unipd import Problem
from unipd._typing import Array
from unipd.sharp import Box, Linear, Simplex
from unipd.theory import uniform_convexity_constant


@dataclass(frozen=True)
class Known:
    """A problem, f^*, a dual optimum, and (nu, M_nu) of the dual function."""

    problem: Problem
    optimum: float
    dual: Array
    nu: float
    holder: float

    @property
    def dual_norm(self) -> float:
        return float(np.linalg.norm(self.dual))


def simplex_program(relation: str = "=", seed: int = 0, n: int = 4, p: int = 12) -> Known:
    """min <c, x> over the simplex, A x = b or A x <= b: nu = 0, M_0 = diam A(X), the largest distance of columns."""
    random = np.random.default_rng(seed)
    A, c = random.standard_normal((n, p)), random.standard_normal(p)
    b = A @ random.dirichlet(np.ones(p)) + (0.0 if relation == "=" else 0.05)
    optimum, dual = _linear_program(c, A, b, relation, (0.0, 1.0), np.ones((1, p)), np.ones(1))
    return Known(Problem(Linear(c, Simplex(p)), A, b, relation), optimum, dual, 0.0, float(pdist(A.T).max()))


def box_program(relation: str = "=", seed: int = 1, n: int = 4, p: int = 10) -> Known:
    """min <c, x> over [-1, 1]^p with A x = b or A x <= b: nu = 0, M_0 <= 2 sqrt(p) ||A||."""
    random = np.random.default_rng(seed)
    A, c = random.standard_normal((n, p)), random.standard_normal(p)
    b = A @ random.uniform(-0.8, 0.8, p)
    optimum, dual = _linear_program(c, A, b, relation, (-1.0, 1.0), np.zeros((0, p)), np.zeros(0))
    diameter = 2.0 * np.sqrt(p) * float(np.linalg.norm(A, 2))
    return Known(Problem(Linear(c, Box(-1.0, 1.0, p)), A, b, relation), optimum, dual, 0.0, diameter)


def power_problem(
    oracle: EuclideanPower | EntrywisePower, relation: str = "=", seed: int = 2, n: int = 5, scale: float = 1.0
) -> Known:
    """min f(x) with A x = b or A x <= b, built from its solution: pick lam^*, take x^* = x^*(lam^*), then b."""
    random = np.random.default_rng(seed)
    A = random.standard_normal((n, oracle.size)) / np.sqrt(oracle.size)
    dual = scale * random.standard_normal(n)
    slack = np.zeros(n)
    if relation == "<=":
        dual, slack = np.maximum(dual, 0.0), np.where(dual > 0, 0.0, random.uniform(0.1, 0.5, n))
    x = oracle.maximiser(-A.T @ dual)
    nu, holder = uniform_convexity_constant(oracle.q, oracle.modulus, float(np.linalg.norm(A, 2)))
    return Known(Problem(oracle, A, A @ x + slack, relation), oracle.objective(x), dual, nu, holder)


def _linear_program(
    c: Array, A: Array, b: Array, relation: str, bounds: tuple[float, float], fixed: Array, total: Array
) -> tuple[float, Array]:
    """Solve min <c, x> and return the value and lam^* = -(sensitivity to b)."""
    n = b.size
    if relation == "=":
        solution = linprog(c, A_eq=np.vstack([A, fixed]), b_eq=np.concatenate([b, total]), bounds=bounds)
        return solution.fun, -solution.eqlin.marginals[:n]
    equalities = {"A_eq": fixed, "b_eq": total} if total.size else {}
    solution = linprog(c, A_ub=A, b_ub=b, bounds=bounds, **equalities)
    return solution.fun, -solution.ineqlin.marginals


KNOWN: dict[str, Callable[[], Known]] = {
    "nu=0 simplex =": simplex_program,
    "nu=0 simplex <=": lambda: simplex_program("<="),
    "nu=0 box =": box_program,
    "nu=0 box <=": lambda: box_program("<="),
    "nu=1 =": lambda: power_problem(EuclideanPower(8, 2.0)),
    "nu=1 <=": lambda: power_problem(EuclideanPower(8, 2.0), "<="),
    "nu=1/2 =": lambda: power_problem(EuclideanPower(8, 3.0)),
    "nu=1/2 <=": lambda: power_problem(EuclideanPower(8, 3.0), "<="),
    "nu=1/2 entrywise": lambda: power_problem(EntrywisePower(8, 3.0)),
    "nu=1/3 =": lambda: power_problem(EuclideanPower(8, 4.0)),
    "nu=1/3 entrywise": lambda: power_problem(EntrywisePower(8, 4.0)),
}
"""The problems by name; their nu runs over 0, 1/3, 1/2 and 1."""
