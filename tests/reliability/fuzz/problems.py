"""Random small problems: in other units, and against Clarabel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import unipd
from reliability.fuzz import Case, NothingToCheckError
from sharp.registry import OBJECTIVES, SETS
from unipd import Problem, Status, couplings, sharp
from unipd.atoms import dense
from unipd.errors import InvalidInput

Generator = np.random.Generator
ACCURACY = 1e-6
LIMIT = 1000
"""Iterations in the plain units; in others it may take four times as many."""


@dataclass(frozen=True)
class Coupling:
    """A right-hand side with a set or loss, in the units of the rows of A and of the objective, and a CVXPY model."""

    b: Any
    make: Callable[[Any, float], Any]
    """From units of rows and cost to the coupling."""
    model: Callable[[Any, Any], tuple[Any, list[Any]]]
    """From the module cvxpy and r = A x - b to a value and constraints."""
    units: str = "rows"
    """The units that may change: those of every row, one common to all rows, or none."""
    is_loss: bool = False


def all_couplings(random: Generator, image: Any) -> dict[str, Coupling]:
    """Return every kind of coupling with random data; ``image`` is A x of a point of X, which satisfies it."""
    m, z = image.size, random.standard_normal(image.size)
    size, weights, half = float(random.uniform(0.1, 1.0)), random.uniform(0.1, 5.0, image.size), image.size // 2
    low, high, delta = -0.1 * np.abs(z), 0.2 * np.abs(z), 0.4
    first, slack = np.eye(m)[0], 0.05 * np.abs(z)
    loss = {"is_loss": True, "b": image + z}
    found = {
        "=": Coupling(image, lambda r, c: "=", lambda cp, e: (0, [e == 0])),
        "<=": Coupling(image + slack, lambda r, c: "<=", lambda cp, e: (0, [e <= 0])),
        ">=": Coupling(image - slack, lambda r, c: ">=", lambda cp, e: (0, [e >= 0])),
        "box": Coupling(image, lambda r, c: couplings.Box(r * low, r * high), lambda cp, e: (0, [e >= low, e <= high])),
        "half-space": Coupling(
            image, lambda r, c: couplings.HalfSpace(z / (r * np.ones(m)), 0.1), lambda cp, e: (0, [z @ e <= 0.1])
        ),
        "least squares": Coupling(
            make=lambda r, c: couplings.LeastSquares(c / r**2),
            model=lambda cp, e: (0.5 * cp.sum_squares(e), []),
            units="one",
            **loss,
        ),
        "weighted": Coupling(
            make=lambda r, c: couplings.WeightedLeastSquares(c * weights / (r * np.ones(m)) ** 2),
            model=lambda cp, e: (0.5 * cp.sum(cp.multiply(weights, cp.square(e))), []),
            **loss,
        ),
        "huber": Coupling(
            make=lambda r, c: couplings.Huber(delta),
            model=lambda cp, e: (0.5 * cp.sum(cp.huber(e, delta)), []),
            units="none",
            **loss,
        ),
        "logistic": Coupling(
            make=lambda r, c: couplings.Logistic(),
            model=lambda cp, e: (cp.sum(cp.logistic(-e)), []),
            units="none",
            **loss,
        ),
        "absolute": Coupling(
            make=lambda r, c: couplings.Absolute(), model=lambda cp, e: (cp.norm1(e), []), units="none", **loss
        ),
    }
    balls = (("l1", couplings.L1Ball, 1), ("l2", couplings.L2Ball, 2), ("linf", couplings.LInfBall, "inf"))
    for name, ball, order in balls:
        found[f"{name} ball"] = Coupling(
            image,
            lambda r, c, ball=ball: ball(r * size),
            lambda cp, e, order=order: (0, [cp.norm(e, order) <= size]),
            "one",
        )
    if m >= 2:
        found["cone"] = Coupling(
            image - 0.4 * first,
            lambda r, c: couplings.SecondOrderCone(),
            lambda cp, e: (0, [cp.SOC(e[0], e[1:])]),
            "one",
        )
        found["product"] = Coupling(
            np.concatenate([image[:half], image[half:] + 0.01]),
            lambda r, c: couplings.Product([couplings.Equality(), couplings.AtMost()], [half, m - half]),
            lambda cp, e: (0, [e[:half] == 0, e[half:] <= 0]),
        )
        found["mixed"] = Coupling(
            np.concatenate([image[:half], (image + z)[half:]]),
            lambda r, c: couplings.Product(
                [
                    couplings.Equality(),
                    couplings.WeightedLeastSquares((c * weights / (r * np.ones(m)) ** 2)[half:]),
                ],
                [half, m - half],
            ),
            lambda cp, e: (0.5 * cp.sum(cp.multiply(weights[half:], cp.square(e[half:]))), [e[:half] == 0]),
        )
    return found


# Units: the same problem twice.

Oracles = Callable[[float, float], Any]
"""From the unit of the cost and that of x to an oracle."""


def scalable_oracles(random: Generator) -> dict[str, Oracles]:
    """Return every kind of set and objective that is known in all units."""
    n = int(random.integers(4, 25))
    c, radius, width = random.standard_normal(n), float(random.uniform(0.5, 3.0)), random.uniform(0.2, 3.0, n)
    square, wide = random.standard_normal((4, 4)), random.standard_normal((3, 5))

    def on(cost: Any, make: Callable[[float], Any]) -> Oracles:
        return lambda unit, size: sharp.Linear(unit * cost / size, make(size))

    return {
        "simplex": on(c, lambda s: sharp.Simplex(n, radius * s)),
        "l1 ball": on(c, lambda s: sharp.L1Ball(n, radius * s)),
        "l2 ball": on(c, lambda s: sharp.L2Ball(n, radius * s)),
        "linf ball": on(c, lambda s: sharp.LInfBall(n, radius * s)),
        "box": on(c, lambda s: sharp.Box(-s * width, 2.0 * s * width)),
        "hull": on(c[:4], lambda s: sharp.ConvexHull(s * square)),
        "capped simplex": on(c, lambda s: sharp.CappedSimplex(n, 0.5 * radius * s, radius * s)),
        "spectrahedron": on(square + square.T, lambda s: sharp.Spectrahedron(4, radius * s)),
        "nuclear ball": on(wide, lambda s: sharp.NuclearBall((3, 5), radius * s)),
        "l1 squared": lambda u, s: sharp.L1NormSquared(n, u / s**2),
        "l2 squared": lambda u, s: sharp.L2NormSquared(n, u / s**2),
        "fourth power": lambda u, s: sharp.EuclideanPower(n, 4.0, u / s**4),
        "l1 on ball": lambda u, s: sharp.L1NormOnBall(n, 3.0 * radius * s, u / s),
        "quadratic": lambda u, s: sharp.QuadraticBox(u * width / s**2, u * c / s, -s * np.ones(n), s * np.ones(n)),
    }


def as_matrix(rows: Any, oracle: Any) -> Any:
    """Return rows as a map from points of the oracle's shape, symmetric where these are."""
    shape = oracle.shape
    return rows if len(shape) == 1 else unipd.maps.DenseMatrix(rows, domain=shape)


def draw_rows(random: Generator, count: int, oracle: Any) -> Any:
    """Return random rows; those of square matrices are symmetric."""
    rows = random.standard_normal((count, *oracle.shape))
    if len(oracle.shape) == 2 and oracle.shape[0] == oracle.shape[1]:
        rows = 0.5 * (rows + rows.swapaxes(1, 2))
    return rows.reshape(count, -1)


def draw_point(random: Generator, oracle: Any) -> Any:
    """Return the mean of four answers of the oracle."""
    answers = [oracle(3.0 * random.standard_normal(oracle.shape)).atom for _ in range(4)]
    return sum(np.asarray(dense(atom), float) for atom in answers).reshape(-1) / 4.0


def draw_units(random: Generator) -> Case:
    """Draw a problem and other units of its objective, its rows, one of them, or x: of one or of several at once."""
    every = scalable_oracles(random)
    kind = str(random.choice(list(every)))
    make = every[kind]
    plain = make(1.0, 1.0)
    m = int(random.integers(1, 9))
    rows, point = draw_rows(random, m, plain), draw_point(random, plain)
    image = rows @ point
    if random.random() < 0.2 and point.any():  # b is 0 in the row whose unit may change, and does not grow with it
        rows[0] -= point * (image[0] / (point @ point))
        image[0] = 0.0
    known = {name: each for name, each in all_couplings(random, image).items() if each.units != "none"}
    relation = str(random.choice(list(known)))
    coupling = known[relation]
    changes = ["cost", "rows", "size", *(["one row"] if coupling.units == "rows" else [])]
    what = [str(each) for each in random.permutation(changes)[: random.integers(1, len(changes) + 1)]]
    units = {each: 10.0 ** int(random.integers(-12, 13)) for each in sorted(what)}
    cost, size = units.get("cost", 1.0), units.get("size", 1.0)
    factors: Any = units.get("rows", 1.0)
    if "one row" in units:
        factors = factors * np.where(np.arange(m) == 0, units["one row"], 1.0)
    shift = 100.0 if random.random() < 0.1 and not coupling.is_loss else 0.0  # infeasible for most bounded sets
    universal = [] if "one row" in units and coupling.is_loss else ["accunipdgrad", "unipdgrad"]  # not equilibrated
    method = str(random.choice(["auto", "auto", "corrective", *universal]))
    accuracy = 1e-2 if "unipdgrad" in method else ACCURACY
    settings: dict[str, Any] = {"accuracy": accuracy}
    if "one row" in units and method != "auto":
        settings["scaling"] = "rows"  # which a method given by name leaves alone unless told

    def problem(cost: float, factors: Any, size: float) -> Problem:
        oracle = make(cost, size)
        scaled = (factors * rows.T).T / size
        b = factors * (coupling.b + shift)
        return Problem(oracle, as_matrix(scaled, oracle), b, coupling.make(factors, cost))

    def check(folder: Path) -> None:
        one = unipd.solve(problem(1.0, 1.0, 1.0), method, stop=unipd.MaxIterations(LIMIT), **settings)
        if one.status not in (Status.SOLVED, Status.INFEASIBLE):
            raise NothingToCheckError
        two = unipd.solve(problem(cost, factors, size), method, stop=unipd.MaxIterations(4 * LIMIT), **settings)
        if two.status is Status.ITERATION_LIMIT and "unipdgrad" in method and "one row" in units:
            # rows are equilibrated to a power of two: another path, and eps leaves a multiple of itself at its end
            raise NothingToCheckError
        assert one.status is two.status, f"{one.status.value} became {two.status.value}"
        if one.status is Status.INFEASIBLE:
            return
        error = abs(two.objective / cost - one.objective)
        slack = 4.0 * accuracy * one.problem.scale(one.objective) + _sensitivity(one) + _sensitivity(two) / cost
        assert error <= slack, f"objective {one.objective} became {two.objective / cost}"
        left = one.problem.infeasibility(two.image / factors - one.problem.b)
        assert left <= 2.0 * accuracy, f"infeasible by {left} in the plain units"

    changed = ", ".join(f"{each} x {unit:g}" for each, unit in units.items())
    return Case(f"{kind}, {relation}, {changed}, n={rows.shape[1]}, m={m}, {method}, shift {shift:g}", check)


def _sensitivity(result: Any, x: Any = None) -> float:
    """Return ||lam|| dist(A x - b, K), by which an infeasible point may lie below the optimum (twice, to be safe)."""
    problem, image = result.problem, result.image if x is None else result.problem.map.image(x)
    violation = 0.0 if problem.loss else problem.coupling.distance(image - problem.b)
    return 2.0 * float(np.linalg.norm(result.dual)) * violation


# Optima: the same problem by another solver.


def _symmetric(cp: Any, x: Any) -> list[Any]:
    return [x == x.T, x >> 0]


SPECTRAL: dict[str, tuple[Any, Callable[[Any, Any], tuple[Any, list[Any]]]]] = {
    "spectrahedron": (sharp.Spectrahedron(4, 2.0), lambda cp, x: (0, [*_symmetric(cp, x), cp.trace(x) == 2.0])),
    "trace ball": (sharp.TraceBall(4, 2.0), lambda cp, x: (0, [*_symmetric(cp, x), cp.trace(x) <= 2.0])),
    "fantope": (
        sharp.Fantope(4, 2),
        lambda cp, x: (0, [*_symmetric(cp, x), np.eye(4) - x >> 0, cp.trace(x) == 2.0]),
    ),
    "nuclear ball": (sharp.NuclearBall((3, 4), 1.5), lambda cp, x: (0, [cp.normNuc(x) <= 1.5])),
    "spectral ball": (sharp.SpectralBall((3, 4), 1.5), lambda cp, x: (0, [cp.sigma_max(x) <= 1.5])),
    "nuclear squared": (sharp.NuclearNormSquared((3, 4), 0.5), lambda cp, x: (0.5 * cp.square(cp.normNuc(x)), [])),
}
VECTORS = {
    case.name: (case.oracle, case.model)
    for case in (*SETS, *OBJECTIVES)
    if not case.complex_values and case.name not in ("from-callable", "counted")
}
ORACLES = VECTORS | SPECTRAL


def draw_optimum(random: Generator) -> Case:
    """Draw a set, a linear cost on it, and a coupling."""
    import cvxpy as cp

    kind = str(random.choice(list(ORACLES)))
    oracle, model = ORACLES[kind]
    cost = random.standard_normal(oracle.shape) * float(oracle.linear)
    cost = cost + cost.T if kind in ("spectrahedron", "trace ball", "fantope") else cost
    m = int(random.integers(1, 9))
    rows, unit = draw_rows(random, m, oracle), 10.0 ** float(random.uniform(-2.0, 2.0))
    every = all_couplings(random, rows @ draw_point(random, oracle))
    relation = str(random.choice(list(every)))
    coupling = every[relation]
    unit = 1.0 if coupling.units == "none" else unit
    shift = float(random.choice([0.0, 0.0, 0.0, 0.3, 30.0])) * (not coupling.is_loss)
    methods = ["auto", "auto", "corrective", "accunipdgrad", *(["pairwise", "frank-wolfe"] if coupling.is_loss else [])]
    method = str(random.choice(methods))
    x = cp.Variable(oracle.shape)
    objective, members = model(cp, x)
    value, constraints = coupling.model(cp, rows @ cp.vec(x, order="C") - (coupling.b + shift))
    program = cp.Problem(cp.Minimize(objective + cp.sum(cp.multiply(cost, x)) + value), [*members, *constraints])

    def check(folder: Path) -> None:
        over = sharp.Linear(cost, oracle) if oracle.linear else oracle
        given = coupling.make(unit, 1.0)
        problem = Problem(over, as_matrix(unit * rows, oracle), unit * (coupling.b + shift), given)
        try:
            result = unipd.solve(problem, method, accuracy=ACCURACY, stop=unipd.MaxIterations(300))
        except InvalidInput:
            if method not in ("pairwise", "frank-wolfe"):  # these are not for every loss
                raise
            raise NothingToCheckError from None
        _compare(result, program, x, cp, lambda: _length_of_multipliers(constraints) / unit)

    name = f"{kind}, {relation}, m={m}, {method}, unit {unit:.1e}, shift {shift:g}"
    return Case(name, check)


def _length_of_multipliers(constraints: list[Any]) -> float:
    """Return the norm of Clarabel's multipliers."""
    values = [np.ravel(part.value) for each in constraints for part in each.dual_variables]
    return float(np.linalg.norm(np.concatenate([np.zeros(1), *values])))


def _compare(result: Any, program: Any, x: Any, cp: Any, length_of_multipliers: Callable[[], float]) -> None:
    """Assert that bound, status and point agree with what Clarabel finds."""
    try:
        program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    except cp.SolverError:
        raise NothingToCheckError from None
    is_optimal, is_conclusive = program.status == cp.OPTIMAL, result.status in (Status.SOLVED, Status.INFEASIBLE)
    if not (is_conclusive or (is_optimal and np.isfinite(result.dual_bound))):
        raise NothingToCheckError
    if program.status == cp.INFEASIBLE:
        assert result.status is not Status.SOLVED, f"solved, but infeasible: {result.infeasibility}"
        return
    if not is_optimal:
        raise NothingToCheckError
    optimum, scale = float(program.value), result.problem.scale(result.objective)
    rounding = 1e-6 * max(abs(optimum), scale) + 1e-8 + _sensitivity(result, x.value)  # that of Clarabel
    attained = _value_at(result.problem, x.value)  # where power cones are met inexactly, above what Clarabel says
    assert result.status is not Status.INFEASIBLE, f"infeasible, but the optimum is {optimum}"
    excess = result.dual_bound - max(optimum, attained)
    assert excess <= rounding, f"{result.bound_kind} bound {result.dual_bound} above the optimum {optimum} by {excess}"
    assert result.problem.sharp.contains(result.x, 1e-6), "x lies outside X"
    if result.status is Status.SOLVED:
        assert result.infeasibility <= ACCURACY
        error = min(abs(result.objective - optimum), abs(result.objective - attained))
        # its multipliers count too: those that prove the bound within the accuracy may be shorter than optimal ones
        violation = 0.0 if result.problem.loss else result.problem.coupling.distance(result.image - result.problem.b)
        sensitivity = max(_sensitivity(result), 2.0 * length_of_multipliers() * violation)
        slack = ACCURACY * scale + sensitivity + rounding
        assert error <= slack, f"solved with objective {result.objective}, optimum {optimum}"


def _value_at(problem: Problem, x: Any) -> float:
    """Return f(x) plus the losses, if there are any."""
    loss = problem.coupling.penalty(problem.map.image(x) - problem.b) if problem.has_penalty else 0.0
    return problem.sharp.objective(x) + loss
