"""From a method's name to the method; "auto" chooses by the structure of the problem."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from unipd._util import validate
from unipd.errors import InvalidInput
from unipd.methods.base import Method
from unipd.methods.corrective.corrective import Corrective
from unipd.methods.factored.factored import Factored, is_factorable
from unipd.methods.frank_wolfe import AwayStepFrankWolfe, PairwiseFrankWolfe
from unipd.methods.frank_wolfe.frank_wolfe import FrankWolfe
from unipd.methods.universal.accunipdgrad import AccUniPDGrad
from unipd.methods.universal.common import UniversalMethod
from unipd.methods.universal.unipdgrad import UniPDGrad
from unipd.methods.wrappers.fallback import Fallback
from unipd.methods.wrappers.rescaling import Rescaling
from unipd.methods.wrappers.restarts import Restarts
from unipd.problem import Problem

METHODS: dict[str, Callable[..., Method]] = {
    "unipdgrad": UniPDGrad,
    "accunipdgrad": AccUniPDGrad,
    "frank-wolfe": FrankWolfe,
    "away-step": AwayStepFrankWolfe,
    "pairwise": PairwiseFrankWolfe,
    "corrective": Corrective,
    "factored": Factored,
}
"""Methods by the names used in :func:`unipd.solve` and on the command line; "auto" chooses among them."""


SMALL_MATRIX, FEW_ROWS = 100 * 100, 500
"""Largest matrix (entries) and number of rows for which the corrective method is an alternative to the factored one."""
SCALINGS = ("auto", "rows", None)
"""Values of the option ``scaling``."""


def as_method(
    method: Method | str,
    problem: Problem,
    *,
    scaling: str | None = "auto",
    continuation: bool = False,
    restart: bool = False,
    **options: Any,
) -> Method:
    """Return the method of this name (with its options), or the given one, in the wrappers requested.

    "auto" is the factored method where X is a spectral set with factors and there is no nonsmooth loss, the accelerated
    one with restarts where X is strictly convex (or f, but not quadratic) and there are constraints or a nonsmooth
    loss, and the corrective one elsewhere. The last two are alternatives to each other when one stalls, see
    :class:`~unipd.methods.wrappers.Fallback`; the corrective one is the alternative to the factored one for a small
    constrained matrix (without a Slater point its multipliers grow too slowly).
    ``scaling`` is "rows" to equilibrate the rows of A where the coupling allows it, None to leave them, and "auto"
    (the default) to equilibrate badly scaled rows for methods given by name. ``continuation`` and ``restart`` run a
    universal method in stages, see :class:`~unipd.methods.wrappers.Restarts`.
    """
    if not isinstance(problem, Problem):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("problem", "a unipd.Problem", validate.describe_type(problem))
    if not (scaling is None or (isinstance(scaling, str) and scaling in SCALINGS)):
        raise InvalidInput("scaling", 'one of "auto", "rows", None', repr(scaling))
    validate.flag("continuation", continuation)
    validate.flag("restart", restart)
    chosen = _find_method(method, problem, **options)
    if continuation or restart:
        if not isinstance(chosen, UniversalMethod):
            raise InvalidInput("continuation", "the method unipdgrad or accunipdgrad for stages", chosen.name)
        chosen = Restarts(chosen, continuation=continuation)
    should_scale = scaling == "rows" or (scaling == "auto" and isinstance(method, str) and problem.rows is not None)
    return Rescaling(chosen) if should_scale and not isinstance(chosen, Rescaling) else chosen


def _find_method(method: Method | str, problem: Problem, **options: Any) -> Method:
    """Return the method of this name, or the given one."""
    if not isinstance(method, str):
        validate.has_parts("method", method, "a name or a method", ("name", "start", "step"))
        if options:
            raise InvalidInput("method", "a name when options are given", type(method).__name__)
        return method
    if method == "auto" and not options:
        return _choose_method(problem)
    name = _choose_name(problem) if method == "auto" else method
    if name not in METHODS:
        raise InvalidInput("method", f"one of auto, {', '.join(METHODS)}", repr(method))
    try:
        return METHODS[name](**options)
    except TypeError as error:
        known = {field.name for field in fields(METHODS[name])}  # type: ignore[arg-type]
        wrong = ", ".join(sorted(set(options) - known)) or str(error)
        has = f"{name} has {', '.join(sorted(known))}" if known else f"{name} has none"
        limits = "limits are given as stop=, e.g. stop=MaxIterations(100)"
        raise InvalidInput("options", f"options of solve or of the method ({has}; {limits})", wrong) from error


def _choose_method(problem: Problem) -> Method:
    """Return the method "auto", with an alternative where it may stall."""
    if _choose_name(problem) == "factored":
        return Fallback(Factored(), Corrective()) if _is_small_program(problem) else Factored()
    corrective, restarts = Corrective(), Restarts(AccUniPDGrad(), continuation=False)
    if not problem.has_smooth_loss and has_smooth_dual(problem):
        return Fallback(restarts, corrective)
    return Fallback(corrective, restarts)


def _is_small_program(problem: Problem) -> bool:
    """Whether a constrained matrix is so small that atoms of all its ranks can replace its factors."""
    is_one_matrix = problem.loss is None and not problem.sharp.block_oracles
    return is_one_matrix and math.prod(problem.sharp.shape) <= SMALL_MATRIX and problem.b.size <= FEW_ROWS


def _choose_name(problem: Problem) -> str:
    """Return the name of the first choice: factors need a constraint or a differentiable loss."""
    is_nonsmooth = problem.loss is not None and not problem.has_differentiable_loss
    return "factored" if is_factorable(problem.sharp) and not is_nonsmooth else "corrective"


def has_smooth_dual(problem: Problem) -> bool:
    """Whether X is bounded, f or X strictly convex, and f not quadratic: x^*(lam) depends continuously on lam.

    The solution is not a combination of few atoms of such a set: a corrective method keeps adding atoms, while the
    accelerated method with restarts converges linearly where the constraints are well conditioned. For a quadratic f
    the model of the corrective method is exact, and needs fewer oracle calls.

    >>> import numpy as np, unipd
    >>> oracle = unipd.sharp.Linear(np.ones(2), unipd.sharp.L2Ball(2))
    >>> has_smooth_dual(unipd.Problem(oracle, np.eye(2), [0.1, 0.2], "="))
    True
    """
    sharp = problem.sharp
    return sharp.is_strictly_convex and (sharp.linear_cost is not None or not sharp.linear)
