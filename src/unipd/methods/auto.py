"""From a method's name to the method; "auto" chooses by the structure of the problem."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from types import ModuleType
from typing import Any

from unipd import methods
from unipd._util import validate
from unipd.errors import InvalidInput
from unipd.methods import coordinate, corrective, factored, frank_wolfe, universal, wrappers
from unipd.methods.base import Method
from unipd.problem import Problem
from unipd.protocols import OracleDefaults

_HOMES: dict[str, tuple[ModuleType, str]] = {
    "unipdgrad": (universal, "UniPDGrad"),
    "accunipdgrad": (universal, "AccUniPDGrad"),
    "quasi-newton": (universal, "QuasiNewton"),
    "frank-wolfe": (frank_wolfe, "FrankWolfe"),
    "away-step": (frank_wolfe, "AwayStepFrankWolfe"),
    "pairwise": (frank_wolfe, "PairwiseFrankWolfe"),
    "blended-pairwise": (frank_wolfe, "BlendedPairwise"),
    "cgal": (methods, "CGAL"),
    "coordinate": (coordinate, "CoordinateDescent"),
    "corrective": (corrective, "Corrective"),
    "factored": (factored, "Factored"),
    "barrier": (methods, "NormBarrier"),
}


class _Methods(Mapping[str, Callable[..., Method]]):
    """The classes of the methods, imported on first use."""

    def __getitem__(self, name: str) -> Callable[..., Method]:
        package, kind = _HOMES[name]
        return getattr(package, kind)

    def __iter__(self) -> Iterator[str]:
        return iter(_HOMES)

    def __len__(self) -> int:
        return len(_HOMES)


METHODS: Mapping[str, Callable[..., Method]] = _Methods()
"""Methods by the names used in :func:`unipd.solve` and on the command line; "auto" chooses among them."""


SMALL_MATRIX, FEW_ROWS = 100 * 100, 500
"""Largest matrix (entries) and number of rows for which the corrective method is an alternative to the factored one."""
MORE_ROWS, SHORT_PATIENCE = 1000, 100
"""Number of rows up to which the barrier method is the alternative to the factored one, and the iterations without
progress after which it takes over: it needs about as much time as some hundred of them."""
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

    "auto" is the factored method where X is a spectral set with factors and there is no nonsmooth loss (the barrier
    method for the least nuclear norm of a small matrix), coordinate descent for a separable smooth loss over an l1 or
    group ball, a simplex or a box, where X is strictly convex (or f, but not quadratic) the quasi-Newton one, or for
    couplings that it does not take the accelerated one with restarts, and the corrective one elsewhere. The last is the
    alternative when one stalls, see :class:`~unipd.methods.wrappers.Fallback`, also for the factored one and a small
    constrained matrix (without a Slater point its multipliers grow too slowly). Its own alternative are quasi-Newton
    steps where f is strictly convex, else the accelerated method with restarts.
    ``scaling`` is "rows" to equilibrate the rows of A where the coupling allows it, None to leave them, and "auto"
    (the default) to equilibrate badly scaled rows for methods given by name. ``continuation`` and ``restart`` run a
    universal method in stages, see :class:`~unipd.methods.wrappers.Restarts`.

    Parameters
    ----------
    method
        A method or its name; see :func:`unipd.solve`.
    problem
        The :class:`unipd.Problem`.
    scaling
        "auto", "rows" or None: whether to equilibrate the rows of A.
    continuation
        Whether to run in stages with a decreasing ``eps``.
    restart
        Whether to restart a universal method when its error has decreased to a quarter.
    options
        Options of the method.

    Raises
    ------
    InvalidInput
        ``problem``: expected a unipd.Problem; ``scaling``: expected one of "auto", "rows", None; ``continuation``,
        ``restart``: expected True or False.

    See Also
    --------
    unipd.solve, Method, method_options

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> as_method("frank-wolfe", problem, step_size="open-loop")
    FrankWolfe(step_size='open-loop')
    """
    if not isinstance(problem, Problem):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("problem", "a unipd.Problem", validate.describe_type(problem))
    if not (scaling is None or (isinstance(scaling, str) and scaling in SCALINGS)):
        raise InvalidInput("scaling", 'one of "auto", "rows", None', repr(scaling))
    validate.flag("continuation", continuation)
    validate.flag("restart", restart)
    chosen = _find_method(method, problem, **options)
    if continuation or restart:
        if not isinstance(chosen, universal.UniversalMethod):
            option = "continuation" if continuation else "restart"
            raise InvalidInput(option, "False, or a method that runs in stages: unipdgrad or accunipdgrad", chosen.name)
        chosen = wrappers.Restarts(chosen, continuation=continuation)
    should_scale = scaling == "rows" or (scaling == "auto" and isinstance(method, str) and problem.has_uneven_rows)
    return wrappers.Rescaling(chosen) if should_scale and not isinstance(chosen, wrappers.Rescaling) else chosen


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
    name = _choose_name(problem)
    if name == "factored":
        if methods.has_norm_barrier(problem) and _is_small_program(problem):
            return wrappers.Fallback(methods.NormBarrier(), factored.Factored())
        if methods.has_norm_barrier(problem) and _is_affordable_program(problem):
            return wrappers.Fallback(factored.Factored(), methods.NormBarrier(), patience=SHORT_PATIENCE)
        if _is_small_program(problem):
            return wrappers.Fallback(factored.Factored(), corrective.Corrective())
        return factored.Factored()
    method, restarts = corrective.Corrective(), wrappers.Restarts(universal.AccUniPDGrad(), continuation=False)
    if name == "coordinate":
        return wrappers.Fallback(coordinate.CoordinateDescent(), method)
    is_smooth = has_smooth_dual(problem.sharp)
    takes_newton = universal.has_sign_cone(problem)
    takes_newton = takes_newton and problem.slack_radius is None  # phi^* on a bounded block has kinks
    if is_smooth and takes_newton:
        return wrappers.Fallback(universal.QuasiNewton(), method)
    if is_smooth and not problem.has_smooth_loss and math.isfinite(problem.sharp.maximum()):
        return wrappers.Fallback(restarts, method)
    is_curved = takes_newton and problem.sharp.is_strictly_convex and not problem.linear
    return wrappers.Fallback(method, universal.QuasiNewton() if is_curved else restarts)


def _is_small_program(problem: Problem) -> bool:
    """Whether a constrained matrix is so small that atoms of all its ranks can replace its factors."""
    is_one_matrix = problem.loss is None and not problem.sharp.block_oracles
    return is_one_matrix and math.prod(problem.sharp.shape) <= SMALL_MATRIX and problem.b.size <= FEW_ROWS


def _is_affordable_program(problem: Problem) -> bool:
    """Whether the barrier method can take over where steps on factors crawl."""
    rows = problem.b.size
    return rows <= MORE_ROWS and rows * math.prod(problem.sharp.shape) <= FEW_ROWS * SMALL_MATRIX


def _choose_name(problem: Problem) -> str:
    """Return the name of the first choice: factors need a constraint or a differentiable loss."""
    is_nonsmooth = problem.loss is not None and not problem.has_differentiable_loss
    if factored.is_factorable(problem.sharp) and not is_nonsmooth:
        return "factored"
    return "coordinate" if coordinate.has_coordinates(problem) else "corrective"


def has_smooth_dual(sharp: OracleDefaults) -> bool:
    """Whether x^*(lam) depends continuously on lam: f is strictly convex but not quadratic, or linear on such an X.

    The solution is then not a combination of few atoms: a corrective method keeps adding atoms, while methods for
    smooth functions converge fast on the dual. For a quadratic f the model of the corrective method is exact, and needs
    fewer oracle calls. For f = 0 the dual has a kink at its optimum.

    >>> import numpy as np
    >>> from unipd.sharp import Entropy, L2Ball, Linear, Product
    >>> has_smooth_dual(Linear(np.ones(2), L2Ball(2))), has_smooth_dual(Product([Entropy(2), L2Ball(2)]))
    (True, False)
    """
    if sharp.block_oracles:
        return all(map(has_smooth_dual, sharp.block_oracles))
    has_objective = sharp.linear_cost is not None or not sharp.linear
    return sharp.is_strictly_convex and has_objective and sharp.quadratic_diagonal() is None
