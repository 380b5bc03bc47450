"""An oracle that an atom of its own contradicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array
from unipd.dual import DualPoint, evaluate, oracle_errors
from unipd.errors import OracleError
from unipd.problem import Problem
from unipd.protocols import inner, norm
from unipd.sharp import Linear, Product
from unipd.sharp.from_callable import CallableSharp
from unipd.sharp.wrapper import Wrapper

_ROUNDING = {4: 1e-3, 8: 1e-9}
"""Relative size of what rounding may explain, by the bytes of a real number."""


def require_maximum(
    problem: Problem, model: float, point: DualPoint, tolerance: float, extent: Callable[[], float] = lambda: 0.0
) -> None:
    """Raise when the oracle's certified maximum lies below what a point of X attains.

    Every x in X gives <lam, b - A x> - f(x) <= g(lam). ``model`` is the largest such number over the atoms kept: an
    oracle that says g(lam) is smaller, by more than its certified error, rounding and ``tolerance`` explain, does
    not maximise, and every bound that rests on it may be wrong. Only errors claimed to be rigorous are judged. The
    ``extent`` bounds ||A x - b|| + |f(x)| of the atoms kept, and is asked for in case of doubt: what may have cancelled
    in the model.

    >>> import unipd
    >>> from unipd.dual import evaluate
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.0, 0.0], "=")
    >>> point = evaluate(problem, np.array([-1.0, 1.0]))
    >>> require_maximum(problem, 1.0, point, 1e-9)
    """
    if point.bound != "rigorous":
        return
    linear = inner(point.dual, problem.b)
    claimed, attained = point.conjugate, model - linear
    size = norm(point.dual) * (point.reach + problem.norm_b) + abs(point.objective) + abs(attained)
    rounding = _ROUNDING.get(np.finfo(problem.dtype).dtype.itemsize, 1e-9)
    excess = attained - claimed - tolerance - rounding * size
    if excess > 0.0 and excess > rounding * (1.0 + norm(point.dual)) * extent():
        raise OracleError(
            f"the sharp oracle's maximum {claimed:.8g} lies below {attained:.8g}, which a point of X that it returned "
            "earlier attains: it does not maximise, or the map and its adjoint do not belong together; "
            "unipd.doctor.check (unipd doctor FILE.py:NAME) finds out which"
        )


def is_foreign(oracle: Any) -> bool:
    """Whether an oracle, or one inside it, is not the library's own.

    >>> from unipd.sharp import Linear, Simplex
    >>> is_foreign(Linear(np.ones(2), Simplex(2)))
    False
    """
    if isinstance(oracle, Product):
        return any(is_foreign(part) for part in oracle.oracles)
    own = type(oracle).__module__.startswith("unipd.") and not isinstance(oracle, CallableSharp)
    return not own or (isinstance(oracle, (Linear, Wrapper)) and is_foreign(oracle.oracle))


def require_no_better(problem: Problem, dual: Array, tolerance: float) -> tuple[int, int]:
    """Ask an oracle at lam, and then along -A^* lam tilted towards its answer; return the calls and products.

    An oracle that maximises gives no better point then. One that favours the wrong point, such as the second
    best, comes out with a better one, which proves that its maximum at lam was none.
    """
    with oracle_errors:
        direction: Any = problem.map.adjoint(-dual)
    point = evaluate(problem, dual, direction=direction, tolerance=tolerance)
    if not (isinstance(direction, np.ndarray) and isinstance(point.atom, (np.ndarray, atoms.SparsePoint))):
        return 1, point.matvecs
    answer = np.asarray(atoms.dense(point.atom))
    length = norm(answer)
    if length == 0.0:
        return 1, point.matvecs
    tilted = direction + 2.0 * norm(direction) * (answer / length).astype(direction.dtype)
    other = evaluate(problem, dual, direction=tilted, tolerance=tolerance)
    require_maximum(problem, inner(dual, problem.b - other.image) - other.objective, point, tolerance)
    return 2, point.matvecs + other.matvecs
