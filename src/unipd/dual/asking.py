"""One oracle call at a dual vector: g, its gradient and the atom, or the value alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.dual import passes
from unipd.dual.failures import blame
from unipd.dual.joining import attach
from unipd.dual.point import DualPoint, DualValue
from unipd.errors import OracleError, UnboundedOracle
from unipd.problem import Problem
from unipd.protocols import SharpAnswer, inner
from unipd.records import made


def evaluate(
    problem: Problem,
    dual: Array,
    *,
    direction: Any = None,
    tolerance: float = 0.0,
    start: Any = None,
    certified: bool = False,
) -> DualPoint:
    """Call the sharp oracle at -A^* lam and return g, its gradient and the atom (paper, (7)).

    Parameters are those of :func:`asked`.
    """
    answer = asked(problem, dual, direction=direction, tolerance=tolerance, start=start, certified=certified)
    return attach(problem, dual, answer, pictured(problem, answer.atom))


def asked(
    problem: Problem,
    dual: Array,
    *,
    direction: Any = None,
    tolerance: float = 0.0,
    start: Any = None,
    certified: bool = False,
    alone: bool = False,
) -> SharpAnswer:
    """Call the sharp oracle at -A^* lam.

    Parameters
    ----------
    problem, dual
        The problem, and lam.
    direction
        -A^* lam, where it is at hand.
    tolerance, start
        Absolute error allowed to an inexact oracle, and an atom to start from.
    certified
        Whether to ask an oracle that has one for its strongest affordable certificate.
    alone
        Whether the value alone will do; the atom may then be None.
    """
    oracle = problem.sharp.value if alone else problem.sharp
    if certified:
        oracle = getattr(problem.sharp, "certified", oracle)
    return asked_along(problem, dual, direction, oracle, tolerance, start)[1]


def asked_along(
    problem: Problem, dual: Array, direction: Any, oracle: Callable[..., SharpAnswer], tolerance: float, start: Any
) -> tuple[Any, SharpAnswer]:
    """Return -A^* lam, which the map's class makes where it knows how, and an oracle's answer there.

    Parameters are those of :func:`asked`. What a map only passes on from one that it wraps is not its own.
    """
    linear_map: Any = problem.map
    try:
        if direction is None:
            negates = getattr(type(linear_map), "negates", False)
            direction = linear_map.opposite_adjoint(dual) if negates else linear_map.adjoint(-1.0 * dual)
        answer = oracle(direction, tolerance=tolerance, start=start)
        if not math.isfinite(answer.value):
            require_bounded(answer)
    except Exception as error:
        blame(error)
    return direction, answer


def pictured(problem: Problem, atom: Any) -> Array:
    """Return A x of an atom."""
    try:
        image = problem.map.image(atom)
        if type(image) is not np.ndarray or image.dtype is not problem.b.dtype:
            image = np.asarray(image, problem.b.dtype)
    except Exception as error:
        blame(error)
    if image.shape != problem.b.shape:
        raise OracleError(f"the image of an atom has shape {image.shape}, not {problem.b.shape}")
    return image


def value_only(problem: Problem, dual: Array, *, tolerance: float = 0.0, start: Any = None) -> DualValue:
    """Return g(lam) through the oracle's value alone: one product with A^*, none with A."""
    return valued(problem, dual, asked(problem, dual, tolerance=tolerance, start=start, alone=True))


def valued(problem: Problem, dual: Array, answer: SharpAnswer, sums: tuple[float, float] | None = None) -> DualValue:
    """Return g(lam) as an oracle's answer tells it: no product. ``sums`` are <lam, b> and ||lam||^2, where at hand."""
    if sums is not None:
        linear, energy = sums
    elif dual.size < passes.COMPILED:
        linear, energy = inner(dual, problem.b), inner(dual, dual)
    else:
        linear, energy = passes.linear_and_energy(problem, dual)
    value, conjugate = answer.value + linear, None
    if problem.split and problem.loss is not None:
        inverse = problem.inverse
        conjugate = problem.loss.slack(dual)[1] if inverse is None else 0.5 * inverse * energy
        value += conjugate
    if not math.isfinite(value):
        raise OracleError(f"the sharp oracle returned a value that is {value}")
    return made(
        DualValue,
        dual=dual,
        value=value,
        conjugate=answer.value + answer.error,
        matvecs=answer.matvecs or 1,
        bound=answer.bound,
        slack_conjugate=conjugate,
        linear=linear,
        energy=energy,
        atom=answer.atom,
    )


def require_bounded(answer: SharpAnswer) -> None:
    """Raise when an oracle says that there is no maximiser."""
    if answer.value == math.inf or (isinstance(answer.atom, np.ndarray) and np.isinf(answer.atom).any()):
        raise UnboundedOracle(
            "the sharp operator has no maximiser: <-A^* lam, x> - f(x) is unbounded above over X; "
            "bound X, or use an objective that grows faster (a squared norm)"
        )
