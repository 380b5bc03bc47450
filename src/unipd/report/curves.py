"""The data of a convergence picture: relative errors, the theorem's bound, and decimation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util.arrays import norm
from unipd.errors import InvalidInput
from unipd.run import Result
from unipd.run.result import ProblemFacts, problem_facts

POINTS = 1500
"""Maximum number of points drawn per curve."""
BANDS = 120
"""Maximum number of groups of an oscillating curve."""
LARGEST = 1e250
"""Upper end of a logarithmic axis: Matplotlib places ticks beyond its limits, which must be finite."""
LEAST = 1e-20
"""Relative errors below this are meaningless at any accuracy."""


def decimate(size: int, limit: int = POINTS) -> Any:
    """Return indices of at most ``limit`` points, dense at the beginning, that include the first and the last.

    Parameters
    ----------
    size
        Number of points.
    limit
        Largest number of indices.

    See Also
    --------
    run_data

    Examples
    --------
    >>> decimate(3).tolist(), decimate(10**6).size <= POINTS
    ([0, 1, 2], True)
    """
    if size <= limit:
        return np.arange(size)
    return np.unique(np.round(np.geomspace(1, size, limit)).astype(int)) - 1


def group_extremes(position: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return (position, least, median, greatest) of groups of neighbours; short curves keep every number.

    >>> group_extremes(np.array([1.0, 2.0]), np.array([3.0, 4.0]))[2]
    array([3., 4.])
    """
    position, values = position[np.isfinite(values)], values[np.isfinite(values)]
    edges = np.append(decimate(position.size, BANDS), position.size)
    groups = [slice(first, last) for first, last in pairwise(edges)]
    columns = [(v.min(), np.median(v), v.max()) for v in (values[group] for group in groups)]
    least, median, greatest = np.array(columns).T
    return position[edges[:-1]], least, median, greatest


def clip_to_floor(values: FloatArray, accuracy: float) -> FloatArray:
    """Return the values, at least a millionth of the accuracy (or :data:`LEAST`): anything below is rounding.

    >>> clip_to_floor(np.array([1e-16, 1.0]), 1e-3)
    array([1.e-09, 1.e+00])
    """
    floor = max(1e-6 * accuracy, LEAST) if np.isfinite(accuracy) else LEAST
    return np.where(values < floor, floor, values)


def positive_or_nan(values: FloatArray) -> FloatArray:
    """Return the values, nan where a logarithmic axis cannot show them.

    >>> positive_or_nan(np.array([0.0, 1.0, 1e302]))
    array([nan,  1., nan])
    """
    return np.where((values > 0) & (values < LARGEST), values, np.nan)


AXES = {
    "iterations": ("iteration", "iterations"),
    "oracle_calls": ("oracle_calls", "sharp-oracle calls"),
    "matvecs": ("matvecs", "matrix-vector products"),
    "seconds": ("seconds", "seconds"),
}
"""Choices of the horizontal axis: the column of the history and the label."""
UNIVERSAL = ("unipdgrad", "accunipdgrad")
"""Methods whose smoothness M_k is that of the paper, from a line search."""


@dataclass(frozen=True)
class Curves:
    """Curves of one run, one entry per iteration; errors have the unit of the accuracy."""

    position: FloatArray
    """Iterations, oracle calls, products or seconds."""
    label: str
    """The unit of ``position``."""
    gap: FloatArray
    """Certified gap |objective - best bound so far|."""
    residual: FloatArray
    """|objective - best bound of the run|: an upper bound on the objective residual of feasible points."""
    infeasibility: FloatArray | None
    """dist(A x - b, K); None for a loss."""
    bound: FloatArray | None
    """The theorem's bound on ``infeasibility``, or on ``residual`` for a loss; None when there is none."""
    smoothness: FloatArray | None
    """Local smoothness M_k of the universal methods; None for others."""
    exponent: FloatArray | None
    """Running estimate of the Hölder exponent nu; None when the run gives none."""
    unit: str = "relative"
    """Unit of residual and gap: "nats" for likelihoods."""


def compute_curves(
    result: Result,
    axis: str = "iterations",
    *,
    start: Array | None = None,
    best: float | None = None,
    scale: float | None = None,
) -> Curves:
    """Return the curves of a result.

    Parameters
    ----------
    result
        The result of a run, fresh or loaded.
    axis
        One of "iterations" (or "iteration", as in the history), "oracle_calls", "matvecs", "seconds".
    start
        lam_0 of a warm start, for the theorem's bound; zero when not given.
    best
        The bound from which the objective is measured; by default the run's own.
    scale
        What residual and gap are divided by, the same number for runs that are compared. By default the residual is
        relative to the scale of the run's result, and gaps are those of the history, each relative to its own point.

    Raises
    ------
    InvalidInput
        ``result``: expected a run with at least one iteration in its history.

    See Also
    --------
    plot_convergence, run_data

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> result = unipd.solve(problem, "frank-wolfe")
    >>> curves = compute_curves(result, "oracle_calls")
    """
    if axis == "iteration":  # as the history calls the column
        axis = "iterations"
    if axis not in AXES:
        raise InvalidInput("axis", f"one of {', '.join(AXES)}", repr(axis))
    history, known = result.history, problem_facts(result)
    if not history:
        raise InvalidInput("result", "a run with at least one iteration in its history", "none")
    column, label = AXES[axis]
    reference = float(result.dual_bound) if best is None else best
    unit = scale or known.scale or abs(result.objective) or 1.0
    gaps = history["gap"] if scale is None else (history["objective"] - history["dual_bound"]) / unit
    exponent, is_universal = history["nu"], result.method in UNIVERSAL
    return Curves(
        position=history[column],
        label=label,
        gap=np.abs(gaps),
        residual=np.abs(history["objective"] - reference) / unit,
        infeasibility=None if known.loss else history["infeasibility"],
        bound=_drawable(_theorem_bound(result, known, unit, start)),
        smoothness=_drawable(history["smoothness"]) if is_universal else None,
        exponent=exponent if is_universal and np.isfinite(exponent).any() else None,
        unit=result.gap_unit,
    )


def best_bound(results: Mapping[str, Result]) -> float:
    """Return the best bound of several results of one problem; nan without any."""
    bounds = [float(result.dual_bound) for result in results.values() if math.isfinite(result.dual_bound)]
    choose = min if any(problem_facts(result).maximise for result in results.values()) else max
    return choose(bounds, default=math.nan)


def weight_sums(method: str, smoothness: FloatArray) -> FloatArray | None:
    """Return S_k = sum_i w_i: w = 1/M for UniPDGrad, t/M with FISTA's t for AccUniPDGrad; else None.

    >>> weight_sums("accunipdgrad", np.array([1.0, 1.0])).round(3)
    array([1.   , 2.618])
    """
    if method == "unipdgrad":
        return np.cumsum(1.0 / smoothness)
    if method != "accunipdgrad":
        return None
    steps = range(1, smoothness.size)
    momentum = accumulate(steps, lambda t, _: 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t)), initial=1.0)
    return np.cumsum(np.fromiter(momentum, np.float64) / smoothness)


@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def _theorem_bound(result: Result, known: ProblemFacts, scale: float, start: Array | None) -> FloatArray | None:
    """Return the bound that the proofs of Theorems 4.1 and 4.2 give before S_k is bounded from below; None without one.

    With constraints, dist(A xbar_k - b, K) <= (2 d + sqrt(S_k eps)) / S_k, d = ||lam_0 - lam^*||. For a loss,
    f(xbar_k) + phi(A xbar_k - b) - f^* <= eps/2 + ||lam_0 - lam||^2 / (2 S_k): with lam = grad phi(A xbar_k - b) in the
    proofs' inequality for f(xbar_k) - f^*, convexity of phi turns its left-hand side into this, and lam tends to lam^*.
    For a phi of curvature c, ||lam||^2 is at most 2 c phi(A xbar_k - b).
    """
    history, settings = result.history, result.settings
    sums = weight_sums(result.method, history["smoothness"])
    is_whole = history["iteration"][0] == 1
    is_proven = settings.get("weights") in (None, "theory") and settings.get("step_rule") in (None, "search")
    if sums is None or not is_whole or not is_proven or known.eps is None or result.dual is None:
        return None
    if not known.loss:
        distance = known.dual_norm if start is None else norm(result.dual - start)
        distance = norm(result.dual) if distance is None else distance
        scales = history["violation"] / history["infeasibility"]  # each point has its own
        scales = np.where(np.isfinite(scales), scales, known.feasibility_scale or math.nan)
        return (2.0 * distance + np.sqrt(sums * known.eps)) / sums / scales
    if known.curvature is None:
        return None
    slopes = np.sqrt(2.0 * known.curvature * np.maximum(history["objective"], 0.0))
    distances = slopes + (0.0 if start is None else norm(start))
    return (0.5 * known.eps + distances**2 / (2.0 * sums)) / scale


def _drawable(values: FloatArray | None) -> FloatArray | None:
    """Return the values, nan where a logarithmic axis cannot show them; None where it can show none."""
    shown = None if values is None else positive_or_nan(values)
    return None if shown is None or np.isnan(shown).all() else shown
