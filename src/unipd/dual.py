"""The dual function as pure functions: g, its gradient, and the bound -G that certifies.

With the Lagrangian of the template (paper, (5)-(7)):

    g(lam) = max over x in X of { <-A^* lam, x> - f(x) } + <lam, b>,   grad g(lam) = b - A x^*(lam),
    h(lam) = sup over r in K of <lam, r>,   G = g + h,   -G(lam) <= f^* for every lam.

In the slack split of a loss, phi^*(lam) joins g, r^*(lam) joins the gradient, and h = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.atoms import scaled
from unipd.errors import InvalidInput, OracleError, UnboundedOracle, UnipdError
from unipd.problem import Problem
from unipd.protocols import Coupling, SharpAnswer, inner, norm


@dataclass(frozen=True)
class DualPoint:
    """What one oracle call at a dual vector tells."""

    dual: Array
    """lam."""
    value: float
    """g(lam) as attained by the atom: a lower bound of the true g(lam)."""
    gradient: Array
    """(Sub)gradient of g at lam: b - A x^* (+ r^* in the slack split)."""
    atom: Any
    """x^*(lam)."""
    image: Array
    """A x^*(lam)."""
    objective: float
    """f(x^*(lam))."""
    error: float
    """Certified: the true g(lam) is at most ``value + error``."""
    matvecs: int
    """Products with A, A^* or its operator that this point cost."""
    bound: str
    """Kind of the certified error: "rigorous", "probabilistic" or "residual" (see SharpAnswer)."""
    slack_conjugate: float | None = None
    """phi^*(lam) in the slack split, where it is part of the value."""

    @property
    def reach(self) -> float:
        """||A x^*(lam)||: the size of what cancels in the sums of a bound."""
        return norm(self.image)

    @property
    def conjugate(self) -> float:
        """Upper bound of max <-A^* lam, x> - f(x), without the terms in b and the slack."""
        return -inner(self.dual, self.image) - self.objective + self.error


def evaluate(
    problem: Problem, dual: Array, *, tolerance: float = 0.0, start: Any = None, certified: bool = False
) -> DualPoint:
    """Call the sharp oracle at -A^* lam and return g, its gradient and the atom (paper, (7)).

    ``certified`` asks an oracle that has one for its strongest affordable certificate.
    """
    with oracle_errors:
        direction = problem.map.adjoint(-dual)
    return evaluate_along(problem, dual, direction, tolerance=tolerance, start=start, certified=certified)


def evaluate_along(
    problem: Problem, dual: Array, direction: Any, *, tolerance: float = 0.0, start: Any = None, certified: bool = False
) -> DualPoint:
    """Do the same as :func:`evaluate` where the direction -A^* lam is at hand."""
    oracle = getattr(problem.sharp, "certified", problem.sharp) if certified else problem.sharp
    with oracle_errors:
        answer = _bounded(oracle(direction, tolerance=tolerance, start=start))
        image = np.asarray(problem.map.image(answer.atom))
    if image.shape != problem.dual_shape:
        raise OracleError(f"the image of an atom has shape {image.shape}, not {problem.dual_shape}")
    return attach(problem, dual, answer, image.astype(problem.dtype, copy=False))


def attach(problem: Problem, dual: Array, answer: SharpAnswer, image: Array) -> DualPoint:
    """Join an oracle's answer and its image into a :class:`DualPoint` at ``dual``."""
    gradient = problem.b - image
    value = inner(dual, gradient) - answer.objective
    conjugate = None
    if problem.split:
        slack, conjugate = _slack(problem, dual)
        value += conjugate
        gradient += slack
    if not math.isfinite(value):
        raise OracleError(f"the sharp oracle or the map returned a value that is {value}")
    return DualPoint(
        dual=dual,
        value=value,
        gradient=gradient,
        atom=answer.atom,
        image=image,
        objective=answer.objective,
        error=answer.error,
        matvecs=2 + answer.matvecs if answer.matvecs == 0 else 1 + answer.matvecs,
        bound=answer.bound,
        slack_conjugate=conjugate,
    )


def moved(problem: Problem, point: DualPoint, dual: Array) -> DualPoint:
    """Return the lower model that a known atom gives at another dual vector.

    Every x in X gives g(lam) >= <lam, b - A x> - f(x), so this is a valid point of the linearisation
    from below; its certified error is unknown (inf).
    """
    answer = SharpAnswer(point.atom, 0.0, point.objective, math.inf, 0, point.bound)
    return replace(attach(problem, dual, answer, point.image), matvecs=0)


def stretched(problem: Problem, point: DualPoint, factor: float) -> DualPoint:
    """Return the point at ``factor * lam`` when the conjugate is homogeneous of degree d: no oracle call.

    Then x^*(t lam) = t^(d-1) x^*(lam), and values and errors scale by t^d.
    """
    degree = problem.sharp.degree
    if degree is None:
        raise ValueError("only a homogeneous conjugate can be stretched")
    grow, energy = factor ** (degree - 1.0), factor**degree
    atom = point.atom if grow == 1.0 else scaled(point.atom, grow)
    answer = SharpAnswer(atom, 0.0, energy * point.objective, energy * point.error, 0, point.bound)
    return replace(attach(problem, factor * point.dual, answer, grow * point.image), matvecs=0)


@dataclass(frozen=True)
class DualValue:
    """g(lam) without its gradient."""

    dual: Array
    value: float
    conjugate: float
    """Certified upper bound of max <-A^* lam, x> - f(x)."""
    matvecs: int
    bound: str
    slack_conjugate: float | None
    """phi^*(lam) in the slack split, where it is part of the value."""
    reach: float | None = None
    """||A x^*(lam)||, where the atom's image was looked at."""
    atom: Any = None
    """x^*(lam), where it is known."""


def value_only(problem: Problem, dual: Array, *, tolerance: float = 0.0, start: Any = None) -> DualValue:
    """Return g(lam) through the oracle's value alone: one product with A^*, none with A."""
    with oracle_errors:
        answer = _bounded(problem.sharp.value(problem.map.adjoint(-dual), tolerance=tolerance, start=start))
    value = answer.value + inner(dual, problem.b)
    conjugate = None
    if problem.split:
        conjugate = _slack(problem, dual)[1]
        value += conjugate
    if not math.isfinite(value):
        raise OracleError(f"the sharp oracle returned a value that is {value}")
    return DualValue(dual, value, answer.value + answer.error, 1, answer.bound, conjugate)


def proximal_step(problem: Problem, dual: Array, gradient: Array, smoothness: float) -> Array:
    """Return prox_{h/M}(lam - grad / M), the universal gradient step (paper, (9))."""
    moved_dual = dual - gradient / smoothness
    if problem.split:
        return moved_dual
    return problem.coupling.prox_conjugate(moved_dual, 1.0 / smoothness)


@dataclass(frozen=True)
class LowerBound:
    """A certified lower bound of the optimal value and where it is attained."""

    value: float
    """max over t of -G(t lam), or -G(lam) when the ray is not searched."""
    stretch: float
    """The t at which the bound is attained (inf: the ray proves infeasibility)."""


def lower_bound(problem: Problem, point: DualPoint | DualValue) -> LowerBound:
    """Return the best bound -G(t lam) over t > 0 from one certified value of the conjugate at lam.

    Along the ray G(t lam) = t^d c + t <lam, b> + h(t lam). When all degrees are 1 or 2 the maximum has a
    closed form, c1^2 / (4 c2) at t = -c1 / (2 c2); degree 1 alone with a negative sum is unbounded, which
    proves infeasibility. Otherwise t = 1. Sums that rounding alone explains count as zero: ||A x^*||,
    ||lam|| and ||b|| measure what cancels in them.

    In a slack split whose block is bounded by a radius, the bound is that of the loss itself, whatever the radius:
    see :func:`_unrestricted_bound`.
    """
    if problem.split and getattr(problem.loss, "slack_radius", None) is not None:
        return _unrestricted_bound(problem, point)
    linear, conjugate = inner(point.dual, problem.b), point.conjugate
    coupled = point.slack_conjugate
    if coupled is None:
        coupled = problem.coupling.conjugate(point.dual)
    if not math.isfinite(coupled):
        return LowerBound(-math.inf, 1.0)
    plain = -(conjugate + linear + coupled)
    first, second = linear, 0.0
    for term, degree in ((conjugate, problem.sharp.degree), (coupled, problem.coupling.conjugate_degree)):
        if degree == 1.0:
            first += term
        elif degree == 2.0:
            second += term
        else:
            return LowerBound(plain, 1.0)
    reach = point.reach
    extent = problem.norm_b + (problem.norm_b if reach is None else reach)
    rounding = _ROUNDING * math.sqrt(point.dual.size) * problem.epsilon * norm(point.dual) * extent
    second += rounding if second > 0 else 0.0
    if first >= -rounding:
        return LowerBound(max(plain, 0.0), 0.0)
    if second > 0:
        return LowerBound(first * first / (4.0 * second), -first / (2.0 * second))
    return LowerBound(math.inf, math.inf)


def _unrestricted_bound(problem: Problem, point: DualPoint | DualValue) -> LowerBound:
    """Return -G(t lam) with phi^* of the loss itself, which no slack radius restricts: valid for any radius.

    phi^* is infinite outside a bounded set, and lam may have left it. Where the conjugate of f is homogeneous, the
    largest t in (0, 1] with phi^*(t lam) finite serves, and t = 0; elsewhere there is no bound.
    """
    coupling, linear = problem.coupling, inner(point.dual, problem.b)
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


def _bounded(answer: SharpAnswer) -> SharpAnswer:
    """Return an oracle's answer, or raise when it says that there is no maximiser."""
    at_infinity = isinstance(answer.atom, np.ndarray) and bool(np.isinf(answer.atom).any())
    if answer.value == math.inf or at_infinity:
        raise UnboundedOracle(
            "the sharp operator has no maximiser: <-A^* lam, x> - f(x) is unbounded above over X; "
            "bound X, or use an objective that grows faster (a squared norm)"
        )
    return answer


class _OracleErrors:
    """Context that names the oracle or the map as the source of what goes wrong inside it."""

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        foreign = isinstance(error, Exception) and not isinstance(error, (UnipdError, MemoryError))
        if foreign or isinstance(error, InvalidInput):
            raise OracleError(f"the sharp oracle or the map failed: {type(error).__name__}: {error}") from error


oracle_errors = _OracleErrors()


def _slack(problem: Problem, dual: Array) -> tuple[Array, float]:
    assert problem.loss is not None
    return problem.loss.slack(dual)


_BISECTIONS = 40
_ROUNDING = 64.0
"""Units of rounding below which a sum along a ray counts as zero."""
