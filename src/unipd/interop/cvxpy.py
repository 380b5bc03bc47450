"""Bridge to CVXPY: a problem of the template as a CVXPY model, its optimum by a conic solver, and CVXPY's SDPs here."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd import couplings, maps, sharp
from unipd._typing import Array
from unipd.apps.sdp import Block, SdpData
from unipd.atoms import apply
from unipd.errors import InvalidInput, MissingExtra
from unipd.maps.sdp import Entries
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
    try:
        return import_module("cvxpy")
    except ImportError as error:
        raise MissingExtra("cvxpy", "cvxpy", "a CVXPY model") from error


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
    sharp.NuclearBall: lambda s, x: ([cp().normNuc(x) <= s.radius], 0.0),
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


_SENSES = {"Equality": "=", "Zero": "=", "Inequality": "<=", "NonPos": "<=", "NonNeg": ">="}


def convert_sdp(problem: Any) -> tuple[SdpData, bool, float]:
    """Return the data of a CVXPY program, whether it is a maximisation, and the constant of its objective."""
    cvxpy = cp()
    if not isinstance(problem, cvxpy.Problem):
        raise InvalidInput("problem", "a cvxpy.Problem", type(problem).__name__)
    for parameter in problem.parameters():
        if parameter.value is None:
            raise InvalidInput("problem", "a value for every parameter", f"{parameter.name()} without one")
    variables: list[Any] = problem.variables()
    if not variables:
        raise InvalidInput("problem", "at least one variable", "none")
    for variable in variables:
        _check(variable, problem.constraints)
    rest = [part for part in problem.constraints if not any(_is_cone_of(part, variable) for variable in variables)]
    cost, constant = _affine(problem.objective.args[0], variables)
    maximise = isinstance(problem.objective, cvxpy.Maximize)
    rows, lower, upper = _rows(rest, variables)
    blocks = _blocks(variables)
    entries = _entries(sp.vstack([-cost if maximise else cost, rows]), variables, blocks)
    is_cost = entries.constraint == 0
    constraints = entries.select(~is_cost)
    constraints = replace(constraints, constraint=constraints.constraint - 1)
    data = SdpData(blocks[-1].rows.stop, entries.select(is_cost), constraints, lower, upper, blocks)
    return data, maximise, float(constant[0])


def _rows(constraints: Sequence[Any], variables: Sequence[Any]) -> tuple[Any, Array, Array]:
    """Return the linear constraints as rows over all entries of all variables, with their bounds."""
    matrices: list[Any] = []
    lower: list[Array] = []
    upper: list[Array] = []
    for constraint in constraints:
        name = type(constraint).__name__
        if name not in _SENSES:
            raise InvalidInput("problem", "linear equations and inequalities (and X >> 0)", f"a constraint {name}")
        sense = _SENSES[name]
        matrix, constants = _affine(constraint.expr if sense != ">=" else constraint.args[0], variables)
        matrices.append(matrix)
        lower.append(np.full(constants.size, -np.inf) if sense == "<=" else -constants)
        upper.append(np.full(constants.size, np.inf) if sense == ">=" else -constants)
    if not matrices:
        raise InvalidInput("problem", "at least one linear constraint", "none")
    return sp.csr_array(sp.vstack(matrices)), np.concatenate(lower), np.concatenate(upper)


def _blocks(variables: Sequence[Any]) -> tuple[Block, ...]:
    """Return where each variable's block lies: matrices of their order, vectors of their length."""
    blocks: list[Block] = []
    start = 0
    for variable in variables:
        size = int(variable.shape[0]) if _is_matrix(variable) else int(variable.size)
        blocks.append(Block(start, size, not _is_matrix(variable) or size == 1))
        start += size
    return tuple(blocks)


def _entries(table: Any, variables: Sequence[Any], blocks: Sequence[Block]) -> Entries:
    """Return the symmetric data matrices of rows over the entries of the variables (matrices by columns)."""
    rows: list[Array] = []
    cols: list[Array] = []
    for variable, block in zip(variables, blocks, strict=True):
        places = np.arange(variable.size)
        col, row = np.divmod(places, block.size) if _is_matrix(variable) else (places, places)
        rows.append(block.start + row)
        cols.append(block.start + col)
    row, col = np.concatenate(rows), np.concatenate(cols)
    given: Any = sp.coo_array(table)
    values = np.where(row == col, 1.0, 0.5)[given.col] * given.data
    return Entries(given.row, row[given.col], col[given.col], values).sum_duplicates(blocks[-1].rows.stop)


def _is_matrix(variable: Any) -> bool:
    return variable.ndim == 2 and variable.shape[0] == variable.shape[1] and variable.size > 1


def _check(variable: Any, constraints: Sequence[Any]) -> None:
    """Raise unless a variable is psd or nonnegative, by its attributes or by a constraint."""
    if variable.is_complex():
        raise InvalidInput("problem", "real variables", f"the complex variable {variable.name()}")
    if variable.attributes["boolean"] or variable.attributes["integer"]:
        raise InvalidInput("problem", "continuous variables", f"the integer variable {variable.name()}")
    is_declared = variable.attributes["PSD"] or (variable.is_nonneg() and not _is_matrix(variable))
    if is_declared or any(_is_cone_of(part, variable) for part in constraints):
        return
    kind = "psd (PSD=True, or X >> 0)" if _is_matrix(variable) else "nonnegative (nonneg=True, or x >= 0)"
    raise InvalidInput("problem", f"a variable that is {kind}", f"the free variable {variable.name()}")


def _is_cone_of(constraint: Any, variable: Any) -> bool:
    """Whether a constraint says that the variable itself is psd (a matrix) or nonnegative (a vector)."""
    name = type(constraint).__name__
    if [part.id for part in constraint.variables()] != [variable.id]:
        return False
    if _is_matrix(variable):
        return name == "PSD" and _is_multiple(constraint.args[0], variable, 1.0)
    if name == "Inequality":
        return _is_multiple(constraint.expr, variable, -1.0)
    return name in ("NonNeg", "PSD") and _is_multiple(constraint.args[0], variable, 1.0)


def _is_multiple(expression: Any, variable: Any, factor: float) -> bool:
    """Whether an expression is the variable times a factor, entry by entry."""
    if expression.size != variable.size or not expression.is_affine():
        return False
    matrix, constants = _affine(expression, [variable])
    return not constants.any() and abs(matrix - factor * sp.eye_array(variable.size)).max() == 0.0


def _affine(expression: Any, variables: Sequence[Any]) -> tuple[Any, Array]:
    """Return (M, c) with the entries of an affine expression equal to M x + c, x the entries of the variables."""
    if not expression.is_affine():
        raise InvalidInput("problem", "affine expressions", str(expression)[:60])
    before = [variable.value for variable in variables]
    try:
        for variable in variables:
            variable.value = np.zeros(variable.shape)
        constants = np.asarray(expression.value, np.float64).reshape(-1, order="F")
        slopes = expression.grad
        parts = [_matrix(slopes.get(variable, 0.0), variable.size, constants.size).T for variable in variables]
        return sp.csr_array(sp.hstack(parts)), constants
    finally:
        for variable, value in zip(variables, before, strict=True):
            variable.value = value


def _matrix(slope: Any, rows: int, columns: int) -> Any:
    """Return a derivative as a sparse matrix; CVXPY gives plain numbers for scalars."""
    return sp.csc_array(slope) if sp.issparse(slope) else sp.csc_array(np.broadcast_to(slope, (rows, columns)))
