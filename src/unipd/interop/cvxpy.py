"""A problem as a CVXPY model, for a second opinion on small problems."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from unipd import maps
from unipd._typing import Array
from unipd.atoms import apply
from unipd.errors import InvalidInput, MissingExtra
from unipd.interop.cvxpy_couplings import coupled
from unipd.interop.cvxpy_sets import NotDescribed, cp, described, flat
from unipd.problem import Problem
from unipd.protocols import LinearMap

ENTRIES = 4_000
"""Entries of x up to which a problem is small."""
ROWS = 1_000
"""Rows of A up to which a problem is small."""
_PRECISE = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


@dataclass(frozen=True)
class Reference:
    """What CVXPY says of a problem."""

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
        cvxpy = cp()
    except ImportError as error:
        raise MissingExtra("cvxpy", "cvxpy", "a CVXPY model") from error
    try:
        if problem.dtype.kind == "c":
            raise NotDescribed("complex data")
        inside = described(problem.sharp)
        image = _image(problem.map, inside.variables)
        outside = coupled(problem.coupling, image - np.asarray(problem.b, np.float64).reshape(-1))
    except NotDescribed as error:
        raise InvalidInput("problem", "parts that have a CVXPY model", str(error)) from None
    goal = cvxpy.Minimize(inside.objective + outside.objective)
    return cvxpy.Problem(goal, [*inside.constraints, *outside.constraints])


def reference(problem: Problem) -> Reference:
    """Return CVXPY's optimal value of a small problem, by Clarabel to 1e-10 where that is installed.

    Raises an error of the library when CVXPY is missing, the problem is too large or has no model.

    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.L1NormSquared(2), np.array([[1.0, 2.0]]), [4.0], "=")
    >>> round(reference(problem).value, 6)
    4.0
    """
    entries, rows = _entries(problem.sharp.shape), problem.b.size
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


def _entries(shape: Any) -> int:
    if shape and not isinstance(shape[0], (int, np.integer)):
        return sum(_entries(part) for part in shape)
    return math.prod(shape)


def _image(linear_map: LinearMap, variables: tuple[Any, ...]) -> Any:
    """Return A x as a flat expression."""
    if isinstance(linear_map, maps.BlockMap):
        pairs = zip(linear_map.maps, variables, strict=True)
        return sum(_image(part, (variable,)) for part, variable in pairs)
    if isinstance(linear_map, (maps.DenseMatrix, maps.SparseMatrix)):
        return linear_map.matrix @ flat(variables[0])
    rows = _rows(linear_map, len(variables))
    return sum(matrix @ flat(variable) for matrix, variable in zip(rows, variables, strict=True))


def _rows(linear_map: LinearMap, blocks: int) -> list[Array]:
    """Return the matrices of a map, one a block, row by row from the adjoints of the unit vectors."""
    rows: list[list[Array]] = [[] for _ in range(blocks)]
    for index in range(math.prod(linear_map.codomain)):
        unit = np.zeros(linear_map.codomain, linear_map.dtype)
        unit.reshape(-1)[index] = 1.0
        adjoint = linear_map.adjoint(unit)
        parts = adjoint if isinstance(adjoint, tuple) else (adjoint,)
        for place, part in enumerate(parts):
            rows[place].append(_array(part).reshape(-1))
    matrices = [np.stack(block) for block in rows]
    if any(matrix.dtype.kind == "c" for matrix in matrices):
        raise NotDescribed("complex data")
    return matrices


def _array(adjoint: Any) -> Array:
    if isinstance(adjoint, np.ndarray):
        return adjoint
    if scipy.sparse.issparse(adjoint) or hasattr(adjoint, "toarray"):
        return np.asarray(adjoint.toarray())
    return np.asarray(apply(adjoint, np.eye(int(adjoint.shape[1]))))
