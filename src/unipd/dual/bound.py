"""The bound -G that certifies, tightened along the ray of its dual vector."""

from __future__ import annotations

import math
from typing import NamedTuple

from unipd._typing import Array
from unipd.dual.evaluate import DualPoint, DualValue
from unipd.problem import Problem
from unipd.protocols import Coupling, norm

_BISECTIONS = 40
_ROUNDING = 64.0
"""Units of rounding below which a sum along a ray counts as zero."""
_SUM_ROUNDING = 1.0
"""Units of rounding (eps) of what cancels by which the oracle's value may err: at most 0.43 was measured, on matrices
of 10 x 30 to 100,000 x 8 numbers in single precision, real and complex."""


class LowerBound(NamedTuple):
    """A certified lower bound on the optimal value and where it is attained."""

    value: float
    """max over t of -G(t lam), or -G(lam) when the ray is not searched."""
    ray_scale: float
    """The t at which the bound is attained (inf: the ray proves infeasibility)."""


def lower_bound(problem: Problem, point: DualValue) -> LowerBound:
    """Return the best bound -G(t lam) over t > 0 from one certified value of the conjugate at lam.

    Along the ray G(t lam) = t^d c + t <lam, b> + h(t lam). When all degrees are 1 or 2 the maximum has a closed form,
    c1^2 / (4 c2) at t = -c1 / (2 c2); degree 1 alone with a negative sum is unbounded, which proves infeasibility.
    Otherwise t = 1. On rays the rounding error of A^* lam, measured by ||lam|| (||b|| + ||A x^*||), is added to the
    conjugate; <lam, b> is summed in double precision. A sum that 64 times the rounding explains counts as zero, so that
    the bound is 0 at t = 0, and a bound above every value of f on X, which proves infeasibility, is lowered by that.

    In a slack split whose block is bounded by a radius, the bound is that of the loss itself, whatever the radius:
    see :func:`_unrestricted_bound`.
    """
    if problem.slack_radius is not None:
        return _unrestricted_bound(problem, point)
    coupled = point.slack_conjugate
    if coupled is None:
        coupled = problem.coupling.conjugate(point.dual)
        if not coupled < math.inf:
            return LowerBound(-math.inf, 1.0)
    if not problem.on_rays:
        bound = -(point.upper_value + coupled)
        if problem.loss is None and bound > problem.sharp.maximum():
            bound -= _ROUNDING * problem.rounding * _cancellation_size(problem, point)
        return LowerBound(bound, 1.0)
    one, other = problem.degrees
    first, second = (point.upper_value, 0.0) if one == 1.0 else (point.linear, point.conjugate)
    if other == 1.0:
        first += coupled
    else:
        second += coupled
    if first >= 0.0:
        return LowerBound(0.0, 0.0)
    cancelling = _cancellation_size(problem, point)
    if (one == 2.0 or second <= 0.0) and first >= -_ROUNDING * problem.rounding * cancelling:
        return LowerBound(0.0, 0.0)
    if second <= 0.0:
        return LowerBound(math.inf, math.inf)
    lost = _SUM_ROUNDING * problem.epsilon * cancelling
    first, second = (min(first + lost, 0.0), second) if one == 1.0 else (first, second + lost)
    return LowerBound(first * (first / (4.0 * second)), -first / (2.0 * second))  # squares may overflow


def _cancellation_size(problem: Problem, point: DualValue) -> float:
    """Return ||lam|| (||b|| + ||A x^*||), the size of the terms that cancel in the sums of a bound."""
    image_norm = norm(point.image) if isinstance(point, DualPoint) else problem.norm_b
    return math.sqrt(point.dual_norm_sq) * (problem.norm_b + image_norm)


def _unrestricted_bound(problem: Problem, point: DualValue) -> LowerBound:
    """Return -G(t lam) with phi^* of the loss itself, which no slack radius restricts: valid for any radius.

    phi^* is infinite outside a bounded set, and lam may have left it. Where the conjugate of f is homogeneous, the
    largest t in (0, 1] with phi^*(t lam) finite serves, and t = 0; elsewhere there is no bound.
    """
    coupling, linear = problem.coupling, point.linear
    plain = coupling.conjugate(point.dual)
    if problem.sharp.degree is None:
        return LowerBound(-(point.conjugate + linear + plain), 1.0)
    degree, inside = problem.sharp.degree, 1.0 if math.isfinite(plain) else _largest_inside(coupling, point.dual)
    conjugate = inside**degree * point.conjugate if inside > 0.0 else 0.0
    value = -(conjugate + inside * linear + coupling.conjugate(inside * point.dual))
    at_zero = -coupling.conjugate(0.0 * point.dual)
    return LowerBound(value, inside) if value >= at_zero else LowerBound(at_zero, 0.0)


def _largest_inside(coupling: Coupling, dual: Array) -> float:
    """Return (nearly) the largest t in [0, 1) with h(t lam) finite."""
    inside, outside = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (inside + outside)
        finite = math.isfinite(coupling.conjugate(middle * dual))
        inside, outside = (middle, outside) if finite else (inside, middle)
    return inside
