"""Wrong oracles, adjoints and conjugates of a user's own: never solved with a false answer, never a false proof."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse.linalg import LinearOperator

import unipd
from reliability.fuzz import Case, NothingToCheckError
from unipd import Problem, Status, couplings, sharp
from unipd.errors import UnipdError

SIZE, ROWS, RADIUS = 12, 4, 0.1


def _corner(place: Any, length: float = 1.0) -> Any:
    return length * np.eye(SIZE)[int(place)]


Answer = Callable[[Any, int, np.random.Generator], Any]
"""From y - c, the number of the call and random numbers to a point; the right one is the corner of the largest."""
ANSWERS: dict[str, Answer] = {
    "right": lambda v, call, random: _corner(np.argmax(v)),
    "one in a hundred at random": lambda v, call, random: _corner(
        random.integers(SIZE) if random.random() < 0.01 else np.argmax(v)
    ),
    "once the worst": lambda v, call, random: _corner(np.argmin(v) if call == 7 else np.argmax(v)),
    "second best": lambda v, call, random: _corner(np.argsort(v)[-2]),
    "at times second best": lambda v, call, random: _corner(np.argsort(v)[-1 - (random.random() < 0.3)]),
    "outside by 1e-4": lambda v, call, random: _corner(np.argmax(v), 1.0001),
    "outside by 1 %": lambda v, call, random: _corner(np.argmax(v), 1.01),
    "once NaN": lambda v, call, random: _corner(np.argmax(v)) * (np.nan if call == 9 else 1.0),
    "minimiser": lambda v, call, random: _corner(np.argmin(v)),
}
VALUES: dict[str, Callable[[float], float]] = {
    "right": lambda value: value,
    "plus 1e-3": lambda value: value + 1e-3,
    "times 1.01": lambda value: 1.01 * value,
    "times 2": lambda value: 2.0 * value,
}
"""From <c, x>, which the oracle minimises, to the objective; all but a constant term make it a wrong oracle."""


def draw(random: np.random.Generator) -> Case:
    """Draw a linear program over the simplex and one thing that is wrong about it."""
    A, c = random.standard_normal((ROWS, SIZE)), random.standard_normal(SIZE)
    relation = str(random.choice(["=", "<="]))
    b = A @ random.dirichlet(np.ones(SIZE)) + (0.05 if relation == "<=" else 0.0)
    wrong = int(random.integers(4))
    answer = str(random.choice(list(ANSWERS))) if wrong == 0 else "right"
    value = str(random.choice(list(VALUES))) if wrong == 1 else "right"
    error = float(random.choice([1e-4, 1e-3, 1e-1])) if wrong == 2 else 0.0
    share = float(random.choice([0.5, 0.9, 0.999])) if wrong == 3 else 1.0
    knows_set, priced = bool(random.integers(2)), bool(random.integers(2)) and value == "right"
    is_own = wrong >= 2 and bool(random.integers(2))  # then the oracle is the library's
    method = str(random.choice(["auto", "corrective", "accunipdgrad", "unipdgrad"]))
    accuracy, limit = float(random.choice([1e-3, 1e-6])), int(random.choice([5, 30, 300]))
    seed, noise = int(random.integers(1 << 30)), error * random.standard_normal(A.shape)

    def problem() -> Problem:
        numbers, calls = np.random.default_rng(seed), iter(range(1 << 60))
        traits = {"contains": _in_simplex} if knows_set else {}

        def maximise(y: Any) -> Any:
            return ANSWERS[answer](y if priced else y - c, next(calls), numbers)

        def objective(x: Any) -> float:
            return VALUES[value](float(c @ x))

        oracle: Any = sharp.from_callable(maximise, SIZE, None if priced else objective, **traits)
        if is_own:
            oracle = sharp.Linear(c, sharp.Simplex(SIZE))
        elif priced:
            oracle = sharp.Linear(c, oracle)
        adjoint = LinearOperator(A.shape, matvec=lambda x: A @ x, rmatvec=lambda y: (A + noise).T @ y, dtype=float)
        coupling = Shrunken(RADIUS, share) if share < 1.0 else relation
        return Problem(oracle, adjoint if error else A, b, coupling)

    def check(folder: Path) -> None:
        rows: dict[str, Any] = {"A_eq": np.vstack([np.ones(SIZE), A]), "b_eq": np.append(1.0, b)}
        if share < 1.0:
            rows = {"A_eq": np.ones((1, SIZE)), "b_eq": [1.0], "A_ub": np.vstack([A, -A])}
            rows["b_ub"] = np.append(b + RADIUS, RADIUS - b)
        elif relation == "<=":
            rows = {"A_eq": np.ones((1, SIZE)), "b_eq": [1.0], "A_ub": A, "b_ub": b}
        optimum = VALUES[value](linprog(c, **rows).fun)
        if answer.startswith("outside") and not knows_set:
            raise NothingToCheckError  # the right oracle of another set, as far as anybody knows
        try:
            result = unipd.solve(problem(), method, accuracy=accuracy, stop=unipd.MaxIterations(limit))
        except UnipdError:
            assert answer != "right" or value != "right" or error or share < 1.0, "a right oracle was accused"
            return
        assert result.status is not Status.INFEASIBLE, "infeasible, but it is not"
        excess = result.dual_bound - optimum
        is_false = excess > 1e-8 and result.bound_kind == "rigorous"
        assert not is_false, f"a rigorous bound above the optimum by {excess:.1e} ({result.status.value})"
        if result.bound_kind == "rigorous" and result.status is not Status.SOLVED:
            return
        if result.status is not Status.SOLVED or value != "right":
            raise NothingToCheckError  # what no answer contradicts is taken at its word, and the result says so
        x = np.asarray(result.x)
        assert not knows_set or _in_simplex(x, 10.0 * accuracy), "solved with x outside X"
        cost, violation = float(c @ x), _violation(A @ x - b, relation if share == 1.0 else "ball")
        slack = 2.0 * accuracy * max(1.0, abs(optimum)) + 2.0 * float(np.linalg.norm(result.dual)) * violation
        assert abs(cost - optimum) <= slack, f"solved with f(x) = {cost}, the optimum is {optimum}"

    settings = f"{relation}, {'own, ' if is_own else 'priced, ' if priced else ''}{'' if knows_set else 'no '}contains"
    wrongs = f"answers {answer}, values {value}, adjoint error {error:g}, conjugate times {share:g}"
    return Case(f"{wrongs}: {settings}, {method}, {accuracy:g}, {limit} iterations", check)


class Shrunken(couplings.ConvexSet):
    """The box |r_i| <= radius, with a support function that is too small by a factor."""

    def __init__(self, radius: float, share: float) -> None:
        self.radius, self.share = radius, share

    def project(self, vector: Any) -> Any:
        return np.clip(vector, -self.radius, self.radius)

    def conjugate(self, dual: Any) -> float:
        return self.share * self.radius * float(np.abs(dual).sum())


def _in_simplex(x: Any, tolerance: float = 1e-6) -> bool:
    return bool(np.min(x) >= -tolerance and abs(np.sum(x) - 1.0) <= tolerance)


def _violation(residual: Any, relation: str) -> float:
    if relation == "ball":
        residual = np.maximum(np.abs(residual) - RADIUS, 0.0)
    return float(np.linalg.norm(residual if relation == "=" else np.maximum(residual, 0.0)))
