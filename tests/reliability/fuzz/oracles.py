"""Wrong oracles and adjoints of a user's own: never solved with a false answer, never a false proof."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse.linalg import LinearOperator

import unipd
from reliability.fuzz import Case, NothingToCheckError
from unipd import Problem, Status, sharp
from unipd.errors import UnipdError

SIZE, ROWS = 12, 4


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
    wrong = int(random.integers(3))
    answer = str(random.choice(list(ANSWERS))) if wrong == 0 else "right"
    value = str(random.choice(list(VALUES))) if wrong == 1 else "right"
    error = float(random.choice([1e-4, 1e-3, 1e-1])) if wrong == 2 else 0.0
    knows_set, priced = bool(random.integers(2)), bool(random.integers(2)) and value == "right"
    method, accuracy = (
        str(random.choice(["auto", "corrective", "accunipdgrad", "unipdgrad"])),
        random.choice([1e-3, 1e-6]),
    )
    seed, noise = int(random.integers(1 << 30)), error * random.standard_normal(A.shape)

    def problem() -> Problem:
        numbers, calls = np.random.default_rng(seed), iter(range(1 << 60))
        traits = {"contains": _in_simplex} if knows_set else {}

        def maximise(y: Any) -> Any:
            return ANSWERS[answer](y if priced else y - c, next(calls), numbers)

        def objective(x: Any) -> float:
            return VALUES[value](float(c @ x))

        oracle = sharp.from_callable(maximise, SIZE, None if priced else objective, **traits)
        adjoint = LinearOperator(A.shape, matvec=lambda x: A @ x, rmatvec=lambda y: (A + noise).T @ y, dtype=float)
        return Problem(sharp.Linear(c, oracle) if priced else oracle, adjoint if error else A, b, relation)

    def check(folder: Path) -> None:
        rows = {"A_eq": np.vstack([np.ones(SIZE), A]), "b_eq": np.append(1.0, b)}
        if relation == "<=":
            rows = {"A_eq": np.ones((1, SIZE)), "b_eq": [1.0], "A_ub": A, "b_ub": b}
        optimum = VALUES[value](linprog(c, **rows).fun)
        if answer.startswith("outside") and not knows_set:
            raise NothingToCheckError  # the right oracle of another set, as far as anybody knows
        try:
            result = unipd.solve(problem(), method, accuracy=accuracy, stop=unipd.MaxIterations(300))
        except UnipdError:
            assert answer != "right" or value != "right" or error, "a right oracle was accused"
            return
        assert result.status is not Status.INFEASIBLE, "infeasible, but it is not"
        excess = result.dual_bound - optimum
        is_false = excess > 1e-8 and result.bound_kind == "rigorous"
        assert not is_false, f"a rigorous bound above the optimum by {excess:.1e} ({result.status.value})"
        if value != "right" and result.bound_kind == "stated":
            return  # what no answer contradicts is taken at its word, and the result says so
        if result.status is Status.SOLVED:
            x = np.asarray(result.x)
            assert not knows_set or _in_simplex(x, 10.0 * accuracy), "solved with x outside X"
            cost, violation = VALUES[value](float(c @ x)), _violation(A @ x - b, relation)
            slack = 2.0 * accuracy * max(1.0, abs(optimum)) + 2.0 * float(np.linalg.norm(result.dual)) * violation
            assert abs(cost - optimum) <= slack, f"solved with f(x) = {cost}, the optimum is {optimum}"

    settings = f"{relation}, {'priced, ' if priced else ''}{'' if knows_set else 'no '}contains, {method}, {accuracy:g}"
    return Case(f"answers {answer}, values {value}, adjoint error {error:g}: {settings}", check)


def _in_simplex(x: Any, tolerance: float = 1e-6) -> bool:
    return bool(np.min(x) >= -tolerance and abs(np.sum(x) - 1.0) <= tolerance)


def _violation(residual: Any, relation: str) -> float:
    return float(np.linalg.norm(residual if relation == "=" else np.maximum(residual, 0.0)))
