"""Semidefinite programs from CVXPY: one symmetric psd variable, an affine objective, affine constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from unipd._typing import Array
from unipd.apps.sdp.program import SDP
from unipd.errors import InvalidInput, MissingExtra


def convert(problem: Any) -> SDP:
    """Return the program of a CVXPY problem; what does not fit is refused.

    The variable is declared with ``PSD=True``, or is symmetric with a constraint ``X >> 0``. Constants in the
    objective are not kept.

    >>> import cvxpy
    >>> X = cvxpy.Variable((2, 2), PSD=True)
    >>> convert(cvxpy.Problem(cvxpy.Minimize(X[0, 0]), [cvxpy.trace(X) == 1, X[0, 1] >= 0.25]))
    SDP(min, order=2, constraints=2, blocks=1)
    """
    try:
        import cvxpy
    except ImportError as error:
        raise MissingExtra("cvxpy", "dev", "SDP.from_cvxpy") from error
    if not isinstance(problem, cvxpy.Problem):
        raise InvalidInput("problem", "a cvxpy.Problem", type(problem).__name__)
    variables = problem.variables()
    if len(variables) != 1 or variables[0].ndim != 2 or variables[0].shape[0] != variables[0].shape[1]:
        raise InvalidInput(
            "problem", "one square matrix variable", f"variables of shape {[v.shape for v in variables]}"
        )
    variable = variables[0]
    rest = [part for part in problem.constraints if not _is_psd_of(part, variable)]
    if len(rest) == len(problem.constraints) and not variable.attributes["PSD"]:
        raise InvalidInput("problem", "a psd variable (PSD=True, or X >> 0)", "one that is not")
    order = int(variable.shape[0])
    maximise = isinstance(problem.objective, cvxpy.Maximize)
    cost, _ = _affine(problem.objective.args[0], variable, order)
    matrices: list[Any] = []
    right: list[float] = []
    senses: list[str] = []
    for constraint in rest:
        sense = _sense(constraint)
        found, constants = _affine(constraint.expr if sense != ">=" else constraint.args[0], variable, order)
        matrices += found
        right += [-constant for constant in constants]
        senses += [sense] * len(found)
    if not matrices:
        raise InvalidInput("problem", "at least one linear constraint", "none")
    return SDP.from_matrices(cost[0], matrices, np.array(right), senses, maximise=maximise)


def _is_psd_of(constraint: Any, variable: Any) -> bool:
    """Whether a constraint says that the variable itself is psd."""
    if type(constraint).__name__ != "PSD" or constraint.args[0].shape != variable.shape:
        return False
    gradient, constants = _derivative(constraint.args[0], variable)
    return not constants.any() and abs(gradient - sp.eye_array(gradient.shape[0])).max() == 0.0


def _sense(constraint: Any) -> str:
    senses = {"Equality": "=", "Zero": "=", "Inequality": "<=", "NonPos": "<=", "NonNeg": ">="}
    name = type(constraint).__name__
    if name not in senses:
        raise InvalidInput("problem", "linear equations and inequalities (and X >> 0)", f"a constraint {name}")
    return senses[name]


def _affine(expression: Any, variable: Any, order: int) -> tuple[list[Any], list[float]]:
    """Return the symmetric matrix of each entry of an affine expression, and its constant."""
    gradient, constants = _derivative(expression, variable)
    columns = (gradient[:, [column]] for column in range(gradient.shape[1]))
    matrices = [sp.csr_array(column.reshape((order, order), order="F")) for column in columns]
    return [(matrix + matrix.T) / 2.0 for matrix in matrices], constants.tolist()


def _derivative(expression: Any, variable: Any) -> tuple[Any, Array]:
    """Return the derivative of an affine expression (a column an entry) and its value at zero."""
    if not expression.is_affine():
        raise InvalidInput("problem", "affine expressions", str(expression)[:60])
    before = variable.value
    try:
        variable.value = np.zeros(variable.shape)
        constants = np.asarray(expression.value, np.float64).reshape(-1, order="F")
        nothing = sp.csc_array((variable.size, constants.size))
        return sp.csc_array(expression.grad.get(variable, nothing)), constants
    finally:
        variable.value = before
