"""From a method's name to the method."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from unipd import validate
from unipd.errors import InvalidInput
from unipd.methods.accunipdgrad import AccUniPDGrad
from unipd.methods.away_step import AwayStepFrankWolfe
from unipd.methods.base import Method
from unipd.methods.continued import Continued
from unipd.methods.corrective import Corrective, has_smooth_loss
from unipd.methods.curved import has_smooth_dual
from unipd.methods.factored import Factored
from unipd.methods.fallback import Fallback
from unipd.methods.frank_wolfe import FrankWolfe
from unipd.methods.pairwise import PairwiseFrankWolfe
from unipd.methods.product_factors import is_factorable
from unipd.methods.rescaled import Rescaled
from unipd.methods.unipdgrad import UniPDGrad
from unipd.problem import Problem
from unipd.scaling import equilibrated
from unipd.scaling.units import POWERS
from unipd.sharp import Product

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
"""Entries of a matrix, and rows, up to which the corrective method stands in for the factored one."""
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
    """Return the method of this name (with its options), or the given one; wrapped as asked.

    "auto" is the factored method where X is a spectral set that has factors and there is no loss with kinks, the
    accelerated one with restarts where X is strictly convex (or f, but not quadratic) and there are constraints or
    a loss with kinks, and the corrective one elsewhere; the last two stand in for each other when one gets stuck, see
    :class:`~unipd.methods.fallback.Fallback`, and the corrective one for the factored one where a small matrix is
    constrained (without a Slater point its multipliers grow too slowly).
    ``scaling`` is "rows" to equilibrate the rows of A where the coupling allows it, None to leave them, and "auto"
    (the default) to equilibrate badly scaled rows for the method "auto" alone, and a large b beside a power of a norm
    for "corrective" too. ``continuation`` and ``restart`` run a universal method in stages, see
    :class:`~unipd.methods.continued.Continued`.
    """
    if not isinstance(problem, Problem):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("problem", "a unipd.Problem", validate.described(problem))
    if not (scaling is None or (isinstance(scaling, str) and scaling in SCALINGS)):
        raise InvalidInput("scaling", 'one of "auto", "rows", None', repr(scaling))
    validate.flag("continuation", continuation)
    validate.flag("restart", restart)
    chosen = _named(method, problem, **options)
    if continuation or restart:
        if not isinstance(chosen, (UniPDGrad, AccUniPDGrad)):
            raise InvalidInput("continuation", "the method unipdgrad or accunipdgrad for stages", chosen.name)
        chosen = Continued(chosen, continuation=continuation)
    wanted = scaling == "rows" or (scaling == "auto" and _is_badly_scaled(method, problem))
    return Rescaled(chosen) if wanted and not isinstance(chosen, Rescaled) else chosen


def _is_badly_scaled(method: Method | str, problem: Problem) -> bool:
    """Whether other units pay; rows cost products to look at, so that only those who may use them do."""
    if method == "auto":
        return equilibrated(problem) is not None
    scaled = equilibrated(problem) if method == "corrective" and isinstance(problem.sharp, POWERS) else None
    return scaled is not None and scaled.cost != 1.0


def _named(method: Method | str, problem: Problem, **options: Any) -> Method:
    if not isinstance(method, str):
        if isinstance(method, type):
            raise InvalidInput("method", "a name or a method", validate.described(method))
        if options:
            raise InvalidInput("method", "a name when options are given", type(method).__name__)
        if not (callable(getattr(method, "start", None)) and callable(getattr(method, "step", None))):
            raise InvalidInput("method", "a name or a method with start and step", type(method).__name__)
        return method
    if method == "auto" and not options and _best(problem) == "factored" and _is_small_program(problem):
        return Fallback(Factored(), Corrective())
    if method == "auto" and not options and _best(problem) == "corrective":
        pair = (Corrective(), Continued(AccUniPDGrad(), continuation=False))
        return Fallback(*pair[::-1]) if not has_smooth_loss(problem) and has_smooth_dual(problem) else Fallback(*pair)
    name = _best(problem) if method == "auto" else method
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


def _is_small_program(problem: Problem) -> bool:
    """Whether a matrix under constraints is so small that atoms of all its ranks can stand in for its factors."""
    one_matrix = problem.loss is None and not isinstance(problem.sharp, Product)
    return one_matrix and math.prod(problem.sharp.shape) <= SMALL_MATRIX and problem.b.size <= FEW_ROWS


def _best(problem: Problem) -> str:
    """Return the name of the first choice: factors need a constraint, or a loss without kinks."""
    kinks = problem.loss is not None and not has_smooth_loss(problem)
    return "factored" if is_factorable(problem.sharp) and not kinks else "corrective"
