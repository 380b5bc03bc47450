"""The numbers behind a convergence picture: relative errors, the theorem's bound, smoothness and exponent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.errors import InvalidInput
from unipd.io.results import facts
from unipd.protocols import norm
from unipd.report.points import positive

AXES = {
    "iterations": ("iteration", "iterations"),
    "oracle_calls": ("oracle_calls", "sharp-oracle calls"),
    "matvecs": ("matvecs", "matrix-vector products"),
    "seconds": ("seconds", "seconds"),
}
"""What can be on the horizontal axis: the column of the history and the label."""
UNIVERSAL = ("unipdgrad", "accunipdgrad")
"""Methods whose smoothness M_k is that of the paper, from a line search."""


@dataclass(frozen=True)
class Curves:
    """Curves of one run, one entry an iteration; errors are relative, as in the accuracy that is asked for."""

    position: FloatArray
    """Iterations, oracle calls, products or seconds."""
    label: str
    """What ``position`` counts."""
    gap: FloatArray
    """Certified gap |objective - best bound so far|."""
    residual: FloatArray
    """|objective - best bound of the run|: an upper bound of the objective residual of feasible points."""
    infeasibility: FloatArray | None
    """dist(A x - b, K); None for a loss."""
    bound: FloatArray | None
    """The theorem's bound of ``infeasibility``, or of ``residual`` for a loss; None when there is none."""
    smoothness: FloatArray | None
    """Local smoothness M_k of the universal methods; None for others."""
    exponent: FloatArray | None
    """Running estimate of the Hölder exponent nu; None when the run gives none."""


def curves(result: Any, axis: str = "iterations", *, start: Array | None = None, best: float | None = None) -> Curves:
    """Return the curves of a result or a saved result.

    Parameters
    ----------
    result
        What :func:`unipd.solve` or :func:`unipd.io.results.load` returned.
    axis
        One of "iterations" (or "iteration", as in the history), "oracle_calls", "matvecs", "seconds".
    start
        lam_0 of a warm start, for the theorem's bound; zero when not given.
    best
        The bound to measure the objective from, in the history's terms; the run's own when not given.
    """
    if axis == "iteration":  # as the history calls the column
        axis = "iterations"
    if axis not in AXES:
        raise InvalidInput("axis", f"one of {', '.join(AXES)}", repr(axis))
    history, known = result.history, facts(result)
    if len(history) == 0:
        raise InvalidInput("result", "a run with at least one iteration in its history", "none")
    column, label = AXES[axis]
    reference = own_bound(result) if best is None else best
    scale = known["scale"] or max(1.0, abs(result.objective))
    smoothness, universal = history["smoothness"], result.method in UNIVERSAL
    return Curves(
        position=history[column],
        label=label,
        gap=np.abs(history["gap"]),
        residual=np.abs(history["objective"] - reference) / scale,
        infeasibility=None if known["loss"] else history["relative_infeasibility"],
        bound=_finite_bound(result, known, scale, start),
        smoothness=_only_numbers(positive(smoothness)) if universal else None,
        exponent=_only_numbers(history["nu"]) if universal else None,
    )


def maximises(result: Any) -> bool:
    """Whether the result speaks of a maximum: its bound lies above the objective where the gap is positive.

    Histories are always those of a minimisation: there the objective and the bound have the opposite sign.
    """
    above, gap = float(result.dual_bound) - float(result.objective), float(result.gap)
    return math.isfinite(above) and above * gap > 0.0


def own_bound(result: Any) -> float:
    """Return the best bound of a result as the history counts it: the lower bound of a minimisation."""
    return -float(result.dual_bound) if maximises(result) else float(result.dual_bound)


def best_bound(results: Mapping[str, Any]) -> float:
    """Return the best bound of several results of one problem, as their histories count it; nan without any."""
    bounds = [own_bound(result) for result in results.values()]
    return max((bound for bound in bounds if math.isfinite(bound)), default=math.nan)


def weight_sums(method: str, smoothness: FloatArray) -> FloatArray | None:
    """Return S_k = sum_i w_i: w = 1/M for UniPDGrad, t/M with FISTA's t for AccUniPDGrad; else None.

    >>> weight_sums("accunipdgrad", np.array([1.0, 1.0])).round(3)
    array([1.   , 2.618])
    """
    if method == "unipdgrad":
        return np.cumsum(1.0 / smoothness)
    if method != "accunipdgrad":
        return None
    momentum, t = np.empty_like(smoothness), 1.0
    for k in range(smoothness.size):
        momentum[k] = t
        t = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
    return np.cumsum(momentum / smoothness)


def feasibility_bound(weight_sum: FloatArray, distance: float, eps: float) -> FloatArray:
    """Return (2 ||lam_0 - lam^*|| + sqrt(S_k eps)) / S_k, which bounds dist(A xbar_k - b, K).

    It is the step of the proofs of Theorems 4.1 and 4.2 before S_k is bounded from below.

    >>> feasibility_bound(np.array([4.0]), 1.0, 1.0)
    array([1.])
    """
    return (2.0 * distance + np.sqrt(weight_sum * eps)) / weight_sum


def loss_bound(weight_sum: FloatArray, distance: FloatArray | float, eps: float) -> FloatArray:
    """Return eps/2 + ||lam_0 - lam||^2 / (2 S_k), which bounds f(xbar_k) + phi(A xbar_k - b) - f^*.

    With lam = grad phi(A xbar_k - b) in the proofs' inequality for f(xbar_k) - f^*, convexity of phi turns its
    left-hand side into this; lam tends to lam^*. For a phi of curvature c, ||lam||^2 is at most 2 c phi(A xbar_k - b).

    >>> loss_bound(np.array([4.0]), 2.0, 1.0)
    array([1.])
    """
    return 0.5 * eps + distance**2 / (2.0 * weight_sum)


def _finite_bound(result: Any, known: dict[str, Any], scale: float, start: Array | None) -> FloatArray | None:
    """Return the theorem's bound, nan where eps is so small or large that it leaves the floating range."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        bound = _theorem_bound(result, known, scale, start)
    return None if bound is None else _only_numbers(positive(bound))


def _theorem_bound(result: Any, known: dict[str, Any], scale: float, start: Array | None) -> FloatArray | None:
    history = result.history
    settings = getattr(result, "settings", None) or {}
    sums = weight_sums(result.method, history["smoothness"])
    whole = history["iteration"][0] == 1
    proven = settings.get("weights") in (None, "theory") and settings.get("step_rule") in (None, "search")
    if sums is None or not whole or not proven or known["eps"] is None or result.dual is None:
        return None
    distance = known.get("dual_norm") if start is None else norm(result.dual - start)
    distance = norm(result.dual) if distance is None else distance
    if not known["loss"]:
        return feasibility_bound(sums, distance, known["eps"]) / max(1.0, known["norm_b"])
    if known.get("curvature") is None:
        return None
    slopes = np.sqrt(2.0 * known["curvature"] * np.maximum(history["objective"], 0.0))
    return loss_bound(sums, slopes + (0.0 if start is None else norm(start)), known["eps"]) / scale


def _only_numbers(values: FloatArray) -> FloatArray | None:
    return values if np.isfinite(values).any() else None
