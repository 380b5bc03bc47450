"""Random semidefinite programs: in other units, and against Clarabel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import unipd
from reliability.fuzz import Case, NothingToCheckError
from unipd import Status

Generator = np.random.Generator
ACCURACY = 1e-6
ENDS = (Status.SOLVED, Status.INFEASIBLE, Status.UNBOUNDED)
"""What a run may find; every other status says that it found nothing, which units may change."""


@dataclass(frozen=True)
class Program:
    """min <C, X> subject to <A_i, X> (=, <=, >=) b_i, X psd, in some units."""

    cost: Any
    rows: Any
    b: Any
    senses: list[str]

    def in_units(self, unit: float, factors: Any, size: float) -> Program:
        """Return the program with cost, rows and X in other units."""
        rows = (factors * (self.rows / size).T).T
        return replace(self, cost=unit * self.cost / size, rows=rows, b=factors * self.b)

    def solve(self, method: str) -> Any:
        """Return the result."""
        program = unipd.SDP.from_matrices(self.cost, list(self.rows), self.b, self.senses)
        return program.solve(ACCURACY, method, stop=unipd.MaxIterations(300))

    def violation(self, x: Any) -> Any:
        """Return by how much each constraint is violated."""
        residual = np.tensordot(self.rows, x, 2) - self.b
        low, high = np.maximum(-residual, 0.0), np.maximum(residual, 0.0)
        return np.array([{"=": a + z, "<=": z, ">=": a}[s] for a, z, s in zip(low, high, self.senses, strict=True)])


def _draw_program(random: Generator) -> tuple[str, Program]:
    """Draw a program: strictly feasible on both sides, feasible, or with an arbitrary right-hand side."""
    n, m = int(random.integers(2, 9)), int(random.integers(1, 7))
    rows = _symmetric(random.standard_normal((m, n, n)))
    senses = [str(sense) for sense in random.choice(["=", "=", "<=", ">="], m)]
    half, slack = random.standard_normal((2, n, n))
    inner, kind = half @ half.T + 0.1 * np.eye(n), str(random.choice(["well posed", "well posed", "feasible", "any"]))
    room = np.array([{"=": 0.0, "<=": 1.0, ">=": -1.0}[sense] for sense in senses])
    b = random.standard_normal(m) if kind == "any" else np.tensordot(rows, inner, 2) + room * random.uniform(0, 1, m)
    cost = _symmetric(random.standard_normal((n, n)))
    if kind == "well posed":
        signs = np.where(room == 0.0, random.standard_normal(m), room)
        cost = slack @ slack.T + 0.1 * np.eye(n) - np.tensordot(signs * random.uniform(0, 1, m), rows, 1)
    return f"{kind}, n={n}, m={m}", Program(cost, rows, b, senses)


def _symmetric(matrices: Any) -> Any:
    return 0.5 * (matrices + matrices.swapaxes(-1, -2))


def draw_program(random: Generator) -> Case:
    """Draw a program and other units of its cost, its rows, one of them, and X."""
    name, plain = _draw_program(random)
    method = str(random.choice(["auto", "interior", "interior"]))
    units = {each: 10.0 ** int(random.integers(-12, 13)) for each in ("cost", "rows", "one row", "size")}
    units = {each: unit if random.random() < 0.5 else 1.0 for each, unit in units.items()}
    factors = units["rows"] * np.where(np.arange(plain.b.size) == 0, units["one row"], 1.0)
    other = plain.in_units(units["cost"], factors, units["size"])

    def check(folder: Path) -> None:
        one, two = plain.solve(method), other.solve(method)
        _compare(plain, one)
        if one.status not in ENDS:
            return
        assert one.status is two.status, f"{one.status.value} became {two.status.value}"
        if one.status is not Status.SOLVED:
            return
        x = two.x.dense() / units["size"]
        scale = one.gap_scale + np.linalg.norm(one.dual) * np.linalg.norm(plain.b)
        error = abs(two.objective / units["cost"] - one.objective)
        assert error <= 4.0 * ACCURACY * scale, f"objective {one.objective} became {two.objective / units['cost']}"
        left = np.linalg.norm(plain.violation(x)) / one.feasibility_scale
        assert left <= 4.0 * ACCURACY, f"infeasible by {left} in the plain units"

    changed = ", ".join(f"{each} x {unit:g}" for each, unit in units.items() if unit != 1.0)
    return Case(f"{name}, {method}, {changed or 'plain units'}", check)


def _compare(program: Program, result: Any) -> None:
    """Assert that status, bound and point agree with what Clarabel finds."""
    import cvxpy as cp

    x = cp.Variable(program.cost.shape, PSD=True)
    sides = [
        {"=": value == b, "<=": value <= b, ">=": value >= b}[sense]
        for value, b, sense in zip((cp.trace(a @ x) for a in program.rows), program.b, program.senses, strict=True)
    ]
    reference = cp.Problem(cp.Minimize(cp.trace(program.cost @ x)), sides)
    try:
        reference.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    except cp.SolverError:
        raise NothingToCheckError from None
    has_found = result.status in ENDS or (reference.status == cp.OPTIMAL and np.isfinite(result.dual_bound))
    if not has_found:
        raise NothingToCheckError
    if reference.status in (cp.INFEASIBLE, cp.UNBOUNDED):
        assert result.status is not Status.SOLVED, f"solved, but {reference.status}"
        if reference.status == cp.UNBOUNDED:
            assert result.status is not Status.INFEASIBLE, "infeasible, but unbounded"
        else:
            assert result.status is not Status.UNBOUNDED or "if none is" in result.message, "a feasible point is known"
        return
    if reference.status != cp.OPTIMAL:
        raise NothingToCheckError
    optimum, (values, vectors) = float(reference.value), np.linalg.eigh(x.value)
    nearest = (vectors * np.maximum(values, 0.0)) @ vectors.T
    attained = float(np.vdot(program.cost, nearest))  # where X is not quite psd, above what Clarabel says
    assert result.status not in (Status.INFEASIBLE, Status.UNBOUNDED), f"{result.status.value}, optimum {optimum}"
    length = np.linalg.norm(result.dual)
    rounding = 1e-6 * abs(optimum) + 1e-8 + 2.0 * length * np.linalg.norm(program.violation(nearest))
    excess = result.dual_bound - max(optimum, attained)
    assert excess <= rounding, f"{result.bound_kind} bound {result.dual_bound} above the optimum {optimum} by {excess}"
    if result.status is Status.SOLVED:
        point = result.x.dense()
        violation = np.linalg.norm(program.violation(point))
        assert violation <= 2.0 * ACCURACY * result.feasibility_scale, f"solved with a violation of {violation}"
        assert np.linalg.eigvalsh(point)[0] >= -1e-9 * np.trace(point), "x is not psd"
        slack = ACCURACY * result.gap_scale + 2.0 * length * violation + rounding
        error = max(optimum - result.objective, result.objective - max(optimum, attained))  # the truth lies between
        assert error <= slack, f"solved with {result.objective}, optimum {optimum}"
