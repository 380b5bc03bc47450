"""Bridge to CVXPY: a problem of the template as a CVXPY model, and its optimum by a conic solver."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd import couplings, maps, sharp
from unipd._typing import Array
from unipd._util.lazy import import_extra
from unipd.atoms import apply
from unipd.errors import InvalidInput
from unipd.problem import Problem
from unipd.protocols import LinearMap


class NoModel(Exception):
    """A part of a problem that has no CVXPY model here."""


@dataclass(frozen=True)
class SetModel:
    """Variables of the blocks of x, the constraints of X, and f."""

    variables: tuple[Any, ...]
    constraints: list[Any]
    objective: Any


def cp() -> Any:
    """Return the module cvxpy."""
    return import_extra("cvxpy", "cvxpy", "a CVXPY model")


def flatten(expression: Any) -> Any:
    """Return an expression as a vector, in the order in which maps read arrays."""
    return expression if expression.ndim == 1 else cp().reshape(expression, (expression.size,), order="C")


def model_set(oracle: Any) -> SetModel:
    """Return the CVXPY form of an oracle, or raise :class:`NoModel`."""
    if isinstance(oracle, sharp.Product):
        parts = [model_set(part) for part in oracle.oracles]
        variables = tuple(variable for part in parts for variable in part.variables)
        constraints = [constraint for part in parts for constraint in part.constraints]
        return SetModel(variables, constraints, sum(part.objective for part in parts))
    if isinstance(oracle, sharp.Linear):
        return _add_linear(model_set(oracle.oracle), oracle.cost)
    kind = next((kind for kind in type(oracle).__mro__ if kind in _FORMULAS), None)
    if kind is None or isinstance(oracle, (sharp.WeightedNuclearBall, sharp.GroupNuclearBall)):
        raise NoModel(f"the set {type(oracle).__name__}")
    shape = tuple(oracle.shape)
    is_psd = isinstance(oracle, sharp.Spectrahedron)
    x = cp().Variable(shape if len(shape) <= 2 else math.prod(shape), PSD=is_psd)
    return SetModel((x,), *_FORMULAS[kind](oracle, x))


def _add_linear(inside: SetModel, cost: Any) -> SetModel:
    """Return the model with a linear objective added."""
    if len(inside.variables) != 1:
        raise NoModel("a linear objective over several blocks")
    array = cost.toarray() if sp.issparse(cost) else cost
    if not isinstance(array, np.ndarray) or array.dtype.kind == "c":
        raise NoModel("a linear objective that is no real array")
    return replace(inside, objective=inside.objective + array.reshape(-1) @ flatten(inside.variables[0]))


def _norm(ball: Any, x: Any) -> Any:
    orders: dict[type, Any] = {sharp.L1Ball: 1, sharp.L2Ball: 2, sharp.LInfBall: "inf"}
    if type(ball) is sharp.NuclearBall:
        return cp().normNuc(x)
    if type(ball) is sharp.LpBall:
        return cp().pnorm(flatten(x), ball.exponent)
    if type(ball) not in orders:
        raise NoModel(f"the norm of {type(ball).__name__}")
    return cp().norm(flatten(x), orders[type(ball)])


def _quadratic(f: sharp.QuadraticBox, x: Any) -> tuple[list[Any], Any]:
    cost = 0.5 * cp().sum(cp().multiply(f.curvature, cp().square(x))) + cp().sum(cp().multiply(f.cost, x))
    flat, low, high = flatten(x), f.lower.reshape(-1), f.upper.reshape(-1)
    below, above = np.flatnonzero(np.isfinite(low)), np.flatnonzero(np.isfinite(high))
    bounds = [flat[below] >= low[below]] if below.size else []
    return [*bounds, flat[above] <= high[above]] if above.size else bounds, cost


def _norm_power(f: sharp.PowerNorm, x: Any) -> tuple[list[Any], Any]:
    return [], f.coefficient / f.power * cp().power(_norm(f.ball, x), f.power)


def _separable_power(f: sharp.SeparablePower, x: Any) -> tuple[list[Any], Any]:
    return [], f.coefficient / f.power * cp().sum(cp().power(cp().abs(flatten(x)), f.power))


_FORMULAS: dict[type, Callable[[Any, Any], tuple[list[Any], Any]]] = {
    sharp.Simplex: lambda s, x: ([x >= 0, cp().sum(x) == s.scale], 0.0),
    sharp.UnitSimplex: lambda s, x: ([x >= 0, cp().sum(x) <= s.scale], 0.0),
    sharp.NormBall: lambda s, x: ([_norm(s, x) <= s.radius], 0.0),
    sharp.Box: lambda s, x: ([x >= s.lower, x <= s.upper], 0.0),
    sharp.QuadraticBox: _quadratic,
    sharp.PowerNorm: _norm_power,
    sharp.SeparablePower: _separable_power,
    sharp.NormOnBall: lambda f, x: ([_norm(f.ball, x) <= f.ball.radius], f.weight * _norm(f.ball, x)),
    sharp.Spectrahedron: lambda s, x: ([cp().trace(x) == s.trace], 0.0),
    sharp.TraceBall: lambda s, x: ([cp().trace(x) <= s.trace], 0.0),
    sharp.NuclearBall: lambda s, x: ([_norm(s, x) <= s.radius], 0.0),
    sharp.NuclearNormSquared: lambda f, x: ([], f.scale * cp().square(cp().normNuc(x))),
}
"""Constraints and objective at x of an oracle of this class."""


def model_coupling(coupling: Any, residual: Any) -> tuple[list[Any], Any]:
    """Return the constraints and the loss of a coupling at r = A x - b (flat), or raise :class:`NoModel`."""
    kind = type(coupling)
    if kind is couplings.Product:
        return _model_parts(coupling, residual)
    if kind in _SETS:
        return _SETS[kind](coupling, residual), 0.0
    if kind in _LOSSES:
        return [], _LOSSES[kind](coupling, residual)
    raise NoModel(f"the coupling {kind.__name__}")


def _box(box: couplings.Box, residual: Any) -> list[Any]:
    lower, upper = (np.broadcast_to(side.reshape(-1), residual.size) for side in (box.lower, box.upper))
    below, above = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))
    constraints = [residual[below] >= lower[below]] if below.size else []
    return constraints + ([residual[above] <= upper[above]] if above.size else [])


def _psd(cone: couplings.PSDCone, residual: Any) -> list[Any]:
    matrix = cp().reshape(residual, (cone.size, cone.size), order="C")
    return [matrix == matrix.T, 0.5 * (matrix + matrix.T) >> 0]


def _model_parts(product: Any, residual: Any) -> tuple[list[Any], Any]:
    """Return the constraints and the losses of all parts."""
    ends = np.cumsum(product.sizes)
    pieces = [residual[int(end - size) : int(end)] for end, size in zip(ends, product.sizes, strict=True)]
    models = [model_coupling(part, piece) for part, piece in zip(product.parts, pieces, strict=True)]
    return [constraint for constraints, _ in models for constraint in constraints], sum(loss for _, loss in models)


_SETS: dict[type, Callable[[Any, Any], list[Any]]] = {
    couplings.Equality: lambda k, r: [r == 0],
    couplings.AtLeast: lambda k, r: [r >= 0],
    couplings.AtMost: lambda k, r: [r <= 0],
    couplings.Box: _box,
    couplings.HalfSpace: lambda k, r: [np.asarray(k.normal).reshape(-1) @ r <= k.offset],
    couplings.L1Ball: lambda k, r: [cp().norm(r, 1) <= k.radius],
    couplings.L2Ball: lambda k, r: [cp().norm(r, 2) <= k.radius],
    couplings.LInfBall: lambda k, r: [cp().norm(r, "inf") <= k.radius],
    couplings.SecondOrderCone: lambda k, r: [cp().norm(r[1:], 2) <= r[0]],
    couplings.PSDCone: _psd,
    couplings.Translated: lambda k, r: model_coupling(k.part, r - np.asarray(k.shift).reshape(-1))[0],
    couplings.Scaled: lambda k, r: model_coupling(k.part, r / k.factor)[0],
}
"""The constraints of a set K at a residual r."""
_LOSSES: dict[type, Callable[[Any, Any], Any]] = {
    couplings.LeastSquares: lambda k, r: 0.5 * k.scale * cp().sum_squares(r),
    couplings.WeightedLeastSquares: lambda k, r: (
        0.5 * cp().sum_squares(cp().multiply(np.sqrt(k.weights).reshape(-1), r))
    ),
    couplings.Huber: lambda k, r: 0.5 * cp().sum(cp().huber(r, k.delta)),
    couplings.Absolute: lambda k, r: cp().norm(r, 1),
    couplings.Logistic: lambda k, r: cp().sum(cp().logistic(-r)),
}
"""A loss at a residual r."""

ENTRIES = 4_000
"""Entries of x up to which a problem is small."""
ROWS = 1_000
"""Rows of A up to which a problem is small."""
_PRECISE = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


@dataclass(frozen=True)
class Reference:
    """CVXPY's solution of a problem."""

    value: float
    """The optimal value."""
    solver: str
    """The solver that CVXPY used."""
    seconds: float
    """Wall time, compilation included."""


def to_cvxpy(problem: Problem) -> Any:
    """Return the problem as a ``cvxpy.Problem``, or raise when a part of it has no model.

    Known are the simplex, norm balls (l1, l2, l-infinity, lp), boxes, powers of norms, norms on balls, separable
    quadratics, the spectrahedron, trace and nuclear balls, linear objectives and products of these; every linear map
    of a small problem; all sets K and losses of :mod:`unipd.couplings` but the matrix balls. Real data only.

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.2, 0.4], unipd.couplings.LeastSquares())
    >>> model = to_cvxpy(problem)
    >>> round(float(model.solve()), 4)
    0.04
    """
    try:
        if problem.dtype.kind == "c":
            raise NoModel("complex data")
        inside = model_set(problem.sharp)
        image = _image(problem.map, inside.variables)
        constraints, loss = model_coupling(problem.coupling, image - np.asarray(problem.b, np.float64).reshape(-1))
    except NoModel as error:
        raise InvalidInput("problem", "parts that have a CVXPY model", str(error)) from None
    return cp().Problem(cp().Minimize(inside.objective + loss), [*inside.constraints, *constraints])


def reference(problem: Problem) -> Reference:
    """Return CVXPY's optimal value of a small problem, by Clarabel to 1e-10 where that is installed.

    Raises an error of the library when CVXPY is missing, the problem is too large or has no model.

    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.L1NormSquared(2), np.array([[1.0, 2.0]]), [4.0], "=")
    >>> round(reference(problem).value, 6)
    4.0
    """
    entries, rows = _entry_count(problem.sharp.shape), problem.b.size
    if entries > ENTRIES or rows > ROWS:
        size = f"{entries} entries and {rows} rows"
        raise InvalidInput("problem", f"at most {ENTRIES} entries of x and {ROWS} rows of A", size)
    begun = time.perf_counter()
    model = to_cvxpy(problem)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            settings: dict[str, Any] = {"solver": "CLARABEL", **_PRECISE}
            value = model.solve(**settings) if "CLARABEL" in cp().installed_solvers() else model.solve()
        except cp().error.SolverError as error:
            raise InvalidInput("problem", "one that CVXPY's solver manages", str(error)) from error
    if model.status not in ("optimal", "optimal_inaccurate"):
        raise InvalidInput("problem", "one with an optimal value", model.status)
    return Reference(float(value), str(model.solver_stats.solver_name), time.perf_counter() - begun)


def _entry_count(shape: Any) -> int:
    if shape and not isinstance(shape[0], (int, np.integer)):
        return sum(_entry_count(part) for part in shape)
    return math.prod(shape)


def _image(linear_map: LinearMap, variables: tuple[Any, ...]) -> Any:
    """Return A x as a flat expression."""
    if isinstance(linear_map, maps.BlockMap):
        pairs = zip(linear_map.maps, variables, strict=True)
        return sum(_image(part, (variable,)) for part, variable in pairs)
    if isinstance(linear_map, (maps.DenseMatrix, maps.SparseMatrix)):
        return linear_map.matrix @ flatten(variables[0])
    rows = _matrices(linear_map, len(variables))
    return sum(matrix @ flatten(variable) for matrix, variable in zip(rows, variables, strict=True))


def _matrices(linear_map: LinearMap, blocks: int) -> list[Array]:
    """Return the matrices of a map, one per block, row by row from the adjoints of the unit vectors."""
    rows: list[list[Array]] = [[] for _ in range(blocks)]
    for index in range(math.prod(linear_map.codomain)):
        unit = np.zeros(linear_map.codomain, linear_map.dtype)
        unit.reshape(-1)[index] = 1.0
        adjoint = linear_map.adjoint(unit)
        parts = adjoint if isinstance(adjoint, tuple) else (adjoint,)
        for place, part in enumerate(parts):
            array = part if isinstance(part, np.ndarray) else apply(part, np.eye(part.shape[1]))
            rows[place].append(np.reshape(array, -1))
    matrices = [np.stack(block) for block in rows]
    if any(matrix.dtype.kind == "c" for matrix in matrices):
        raise NoModel("complex data")
    return matrices
