"""Semidefinite programs from CVXPY: psd matrices and nonnegative vectors, affine objective and constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array
from unipd.apps.sdp.data import Block, SdpData
from unipd.apps.sdp.program import SDP
from unipd.errors import InvalidInput, MissingExtra
from unipd.maps.sdp import Entries

_SENSES = {"Equality": "=", "Zero": "=", "Inequality": "<=", "NonPos": "<=", "NonNeg": ">="}


def convert(problem: Any) -> SDP:
    """Return the program of a CVXPY problem; what does not fit is refused.

    Every variable is a block: a matrix declared with ``PSD=True`` (or symmetric with a constraint ``X >> 0``), or a
    vector or number declared with ``nonneg=True`` (or with a constraint ``x >= 0``).

    >>> import cvxpy
    >>> X, t = cvxpy.Variable((2, 2), PSD=True), cvxpy.Variable(nonneg=True)
    >>> convert(cvxpy.Problem(cvxpy.Minimize(X[0, 0] + t), [cvxpy.trace(X) == 1, X[0, 1] + t >= 0.25]))
    SDP(min, order=3, constraints=2, blocks=2)
    """
    try:
        import cvxpy
    except ImportError as error:
        raise MissingExtra("cvxpy", "cvxpy", "SDP.from_cvxpy") from error
    if not isinstance(problem, cvxpy.Problem):
        raise InvalidInput("problem", "a cvxpy.Problem", type(problem).__name__)
    for parameter in problem.parameters():
        if parameter.value is None:
            raise InvalidInput("problem", "a value for every parameter", f"{parameter.name()} without one")
    variables: list[Any] = problem.variables()
    if not variables:
        raise InvalidInput("problem", "at least one variable", "none")
    rest = [part for part in problem.constraints if not any(_is_cone_of(part, variable) for variable in variables)]
    for variable in variables:
        _check(variable, problem.constraints)
    cost, constant = _affine(problem.objective.args[0], variables)
    maximise = isinstance(problem.objective, cvxpy.Maximize)
    rows, lower, upper = _rows(rest, variables)
    blocks = _blocks(variables)
    data = SdpData(
        blocks[-1].rows.stop,
        _entries(-cost if maximise else cost, variables, blocks),
        _entries(rows, variables, blocks),
        lower,
        upper,
        blocks,
    )
    return SDP(data, maximise, float(constant[0]))


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


def _entries(rows: Any, variables: Sequence[Any], blocks: Sequence[Block]) -> Entries:
    """Return the symmetric data matrices of rows over the entries of the variables (matrices by columns)."""
    parts: list[tuple[Array, ...]] = []
    table: Any = sp.csc_array(rows)
    place = 0
    for variable, block in zip(variables, blocks, strict=True):
        part: Any = table[:, place : place + variable.size].tocoo()
        place += variable.size
        if not _is_matrix(variable):
            parts.append((part.row, block.start + part.col, block.start + part.col, part.data))
            continue
        col, row = np.divmod(part.col, block.size)
        low, high = np.minimum(row, col), np.maximum(row, col)
        halves = np.where(row == col, 1.0, 0.5) * part.data
        size = block.size
        joined: Any = sp.coo_array((halves, (part.row, low.astype(np.int64) * size + high)), (table.shape[0], size**2))
        joined.sum_duplicates()
        low, high = np.divmod(joined.col, size)
        parts.append((joined.row, block.start + low, block.start + high, joined.data))
    constraint, row, col, value = (np.concatenate([part[place] for part in parts]) for place in range(4))
    kept = value != 0.0
    return Entries(constraint[kept], np.zeros(int(kept.sum()), np.int64), row[kept], col[kept], value[kept])


def _is_matrix(variable: Any) -> bool:
    return variable.ndim == 2 and variable.shape[0] == variable.shape[1] and variable.size > 1


def _check(variable: Any, constraints: Sequence[Any]) -> None:
    """Raise unless a variable is psd or nonnegative, by its attributes or by a constraint."""
    if variable.is_complex():
        raise InvalidInput("problem", "real variables", f"the complex variable {variable.name()}")
    if variable.attributes["boolean"] or variable.attributes["integer"]:
        raise InvalidInput("problem", "continuous variables", f"the integer variable {variable.name()}")
    declared = (
        variable.attributes["PSD"] if _is_matrix(variable) else variable.is_nonneg() or variable.attributes["PSD"]
    )
    if declared or any(_is_cone_of(part, variable) for part in constraints):
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
