"""The dual function at a dual vector (paper, (7)), the passes of an iteration over vectors, and the bound -G.

A method is written once, on the operations of :class:`DualSpace`; :func:`dual_space` chooses another implementation
of them, from :mod:`unipd.dual.long_vectors`, where vectors are long. The bound, which certifies, is tightened along
the ray of its dual vector.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, NoReturn

import numpy as np

from unipd._typing import Array
from unipd._util.arrays import inner, norm
from unipd._util.context import current_context
from unipd._util.lazy import can_compile
from unipd.errors import InvalidInput, OracleError, UnboundedOracle, UnipdError
from unipd.problem import Problem
from unipd.protocols import Coupling, SharpAnswer

_BISECTIONS = 40
_ROUNDING = 64.0
"""Units of rounding below which a sum along a ray counts as zero."""
_SHORT = 1 << 14
"""Entries of a dual vector up to which rounding is measured row by row, whatever the units of the rows."""
_SUM_ROUNDING = 1.0
"""Units of rounding (eps) of what cancels by which the oracle's value may err: at most 0.43 was measured, on matrices
of 10 x 30 to 100,000 x 8 numbers in single precision, real and complex."""
FUSED = 1 << 14
"""Entries of a dual vector from which compiled loops beat NumPy's passes."""
CHUNKED = 1 << 21
"""Entries from which images are computed in parts: a stored image would take as much memory as the data."""


@dataclass(frozen=True)
class DualValue:
    """g at a dual vector and the oracle's answer there, without the gradient.

    Parameters
    ----------
    dual
        lam.
    value
        g(lam) as attained by the atom: a lower bound on the true g(lam).
    error
        Certified: the true g(lam) is at most ``value + error``.
    conjugate
        Certified upper bound on max <-A^* lam, x> - f(x).
    upper_value
        Certified upper bound on max <-A^* lam, x> - f(x) + <lam, b>: g without the slack term.
    linear
        <lam, b>.
    dual_norm_sq
        ||lam||^2.
    slack_conjugate
        phi^*(lam) in the slack split, where it is part of the value.
    atom
        x^*(lam); None where only the value was computed.
    objective
        f(x^*(lam)).
    matvecs
        Products with A, A^* or its operator spent.
    bound_kind
        Kind of the certified error: "rigorous", "probabilistic" or "residual" (see SharpAnswer).

    See Also
    --------
    DualPoint, dual_value

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> lam = np.array([1.0, 0.0])
    >>> dual_value(problem, lam, call_oracle(problem, lam)).value
    0.5
    """

    dual: Array
    value: float
    error: float
    conjugate: float
    upper_value: float
    linear: float
    dual_norm_sq: float
    slack_conjugate: float | None
    atom: Any
    objective: float
    matvecs: int
    bound_kind: str


@dataclass(frozen=True)
class DualPoint(DualValue):
    """g at a dual vector with its gradient and the image of the atom (paper, (7)).

    Parameters
    ----------
    dual, value, error, conjugate, upper_value, linear, dual_norm_sq, slack_conjugate
        As in :class:`DualValue`.
    atom, objective, matvecs, bound_kind
        As in :class:`DualValue`.
    gradient
        (Sub)gradient of g at lam: b - A x^* (+ r^* in the slack split).
    image
        A x^*(lam).

    See Also
    --------
    DualValue, evaluate

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> lam = np.array([1.0, 0.0])
    >>> evaluate(problem, lam).gradient
    array([ 0.5, -0.5])
    """

    gradient: Array
    image: Array


def call_oracle(
    problem: Problem,
    dual: Array,
    *,
    direction: Any = None,
    tolerance: float = 0.0,
    start: Any = None,
    certified: bool = False,
    without_atom: bool = False,
) -> SharpAnswer:
    """Call the sharp oracle at -A^* lam.

    Parameters
    ----------
    problem, dual
        The problem, and lam.
    direction
        -A^* lam, if already computed.
    tolerance, start
        Absolute error allowed to an inexact oracle, and an atom to start from.
    certified
        Request the oracle's strongest affordable certificate, if it offers one; in double precision where A can.
    without_atom
        Request the value only; the answer's atom may then be None.

    Returns
    -------
    SharpAnswer
        A maximiser of <-A^* lam, x> - f(x) over X, and the value there.

    See Also
    --------
    evaluate, call_oracle_along

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> lam = np.array([1.0, 0.0])
    >>> unipd.atoms.dense(call_oracle(problem, lam).atom)
    array([0., 1.])
    """
    oracle = problem.sharp.value if without_atom else problem.sharp
    if certified:
        oracle = problem.sharp.call_certified
        direction = double_direction(problem, dual) if direction is None else direction
    return call_oracle_along(problem, dual, direction, oracle, tolerance, start)[1]


def call_oracle_along(
    problem: Problem, dual: Array, direction: Any, oracle: Callable[..., SharpAnswer], tolerance: float, start: Any
) -> tuple[Any, SharpAnswer]:
    """Return -A^* lam and an oracle's answer there.

    Parameters
    ----------
    problem, dual
        The problem, and lam.
    direction
        -A^* lam, or None to compute it.
    oracle
        The problem's oracle, or one of its methods that is called alike.
    tolerance, start
        As in :func:`call_oracle`.

    Raises
    ------
    OracleError
        If the oracle or the map fails; :class:`~unipd.errors.UnboundedOracle` if there is no maximiser.

    See Also
    --------
    call_oracle

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> lam = np.array([1.0, 0.0])
    >>> direction, answer = call_oracle_along(problem, lam, None, problem.sharp, 0.0, None)
    >>> direction, answer.value
    (array([-1.,  0.]), 0.0)
    """
    try:
        if direction is None:
            direction = problem.map.negated_adjoint(dual)
        answer = oracle(direction, tolerance=tolerance, start=start)
        if not math.isfinite(answer.value):
            _require_bounded(answer)
        if problem.has_user_oracle and (seen := current_context().seen_atoms) is not None and answer.atom is not None:
            seen.append(answer.atom)
    except Exception as error:
        raise_oracle_error(error)
    return direction, answer


def double_direction(problem: Problem, dual: Array) -> Any:
    """Return -A^* lam in double precision for data in single precision, where the map offers it; elsewhere None.

    Parameters
    ----------
    problem, dual
        The problem, and lam.

    See Also
    --------
    call_oracle

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> lam = np.array([1.0, 0.0])
    >>> double_direction(problem, lam) is None  # the data are in double precision
    True
    """
    if not (problem.is_single and problem.map.has_mixed_products):
        return None
    with oracle_errors:
        return problem.map.negated_adjoint(dual.astype(np.result_type(dual, np.float64)))


def image_of(problem: Problem, atom: Any) -> Array:
    """Return A x of an atom, checked.

    Parameters
    ----------
    problem
        The problem with the map A.
    atom
        A point x of X, as an array or a structured atom.

    Raises
    ------
    OracleError
        If the map fails, or its image has another shape than b.

    See Also
    --------
    evaluate

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> image_of(problem, np.array([0.0, 1.0]))
    array([0., 1.])
    """
    try:
        image = problem.map.image(atom)
        if type(image) is not np.ndarray or image.dtype is not problem.b.dtype:
            image = np.asarray(image, problem.b.dtype)
    except Exception as error:
        raise_oracle_error(error)
    if image.shape != problem.b.shape:
        raise OracleError(f"the image of an atom has shape {image.shape}, not {problem.b.shape}")
    return image


def dual_value(
    problem: Problem, dual: Array, answer: SharpAnswer, sums: tuple[float, float] | None = None
) -> DualValue:
    """Return g(lam) from an oracle's answer: no product.

    Parameters
    ----------
    problem, dual
        The problem, and lam.
    answer
        The oracle's answer at -A^* lam.
    sums
        <lam, b> and ||lam||^2, if already computed.

    See Also
    --------
    DualValue, evaluate

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> lam = np.array([1.0, 0.0])
    >>> dual_value(problem, lam, call_oracle(problem, lam)).linear
    0.5
    """
    linear, norm_sq = (inner(dual, problem.b), inner(dual, dual)) if sums is None else sums
    slack = slack_value(problem, dual, norm_sq)
    value = require_finite(answer.value + linear + (slack or 0.0))
    return DualValue(
        dual,
        value,
        answer.error,
        answer.value + answer.error,
        answer.value + answer.error + linear,
        linear,
        norm_sq,
        slack,
        answer.atom,
        answer.objective,
        answer.matvecs or 1,
        answer.bound_kind,
    )


def slack_value(problem: Problem, dual: Array, dual_norm_sq: float) -> float | None:
    """Return phi^*(lam) in the slack split, else None."""
    if not problem.split or problem.loss is None:
        return None
    curvature = problem.conjugate_curvature
    return problem.loss.slack(dual)[1] if curvature is None else 0.5 * curvature * dual_norm_sq


def proximal_step(problem: Problem, dual: Array, gradient: Array, smoothness: float) -> Array:
    """Return prox_{h/M}(lam - grad / M), the universal gradient step (paper, (9)).

    Parameters
    ----------
    problem, dual
        The problem, and lam.
    gradient
        grad g(lam).
    smoothness
        M > 0.

    See Also
    --------
    evaluate, unipd.UniPDGrad

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> lam = np.array([1.0, 0.0])
    >>> proximal_step(problem, lam, evaluate(problem, lam).gradient, 2.0)
    array([0.75, 0.25])
    """
    moved = dual - (1.0 / smoothness) * gradient
    return moved if problem.free_dual else problem.coupling.prox_conjugate(moved, 1.0 / smoothness)


def require_finite(value: float) -> float:
    """Return a value of g; NaN or infinity in iterates, images or answers survives in it and is refused."""
    if not math.isfinite(value):
        raise OracleError(
            f"a value of the dual function is {value}: the sharp oracle or the map returned NaN or infinity"
        )
    return value


def raise_oracle_error(error: Exception) -> NoReturn:
    """Raise an error from inside an oracle or a map again, naming its source unless it does so itself."""
    if isinstance(error, (UnipdError, MemoryError)) and not isinstance(error, InvalidInput):
        raise error
    raise OracleError(f"the sharp oracle or the map failed: {type(error).__name__}: {error}") from error


class _OracleErrors:
    """Context that names the oracle or the map as the source of errors inside it."""

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception):
            raise_oracle_error(error)


oracle_errors = _OracleErrors()
"""Context in which exceptions of oracles and maps become :class:`~unipd.errors.OracleError`."""


def _require_bounded(answer: SharpAnswer) -> None:
    """Raise when an oracle's answer means that there is no maximiser."""
    is_infinite = isinstance(answer.atom, np.ndarray) and bool(np.isinf(answer.atom).any())
    if answer.value == math.inf or is_infinite:
        raise UnboundedOracle(
            "the sharp operator has no maximiser: <-A^* lam, x> - f(x) is unbounded above over X; "
            "bound X, or use an objective that grows faster (a squared norm)",
            answer.atom if is_infinite else None,
        )


class Step(NamedTuple):
    """A trial point of a line search and the value of the model there."""

    dual: Array
    """lam' = prox_{h/M}(lam - grad g(lam) / M)."""
    model: float
    """Q_M(lam'; lam) = g(lam) + <grad g(lam), lam' - lam> + M/2 ||lam' - lam||^2."""
    length_sq: float
    """||lam' - lam||^2."""
    sums: tuple[float, float]
    """<lam', b> and ||lam'||^2."""


class DualSpace:
    """Passes over dual vectors and images in NumPy: the step (9) of the paper, and sums for its model.

    Parameters
    ----------
    problem
        The problem whose vectors these are.

    See Also
    --------
    dual_space, DualPoint

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> DualSpace(problem).lincomb(np.zeros(2), 0.25, np.ones(2))
    array([0.25, 0.25])
    """

    keeps_images = True
    """Whether points keep their gradient and image."""
    image_products = 0
    """Images that a step or an average must recompute."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def lincomb(self, first: Array, gamma: float, second: Array) -> Array:
        """Return (1 - gamma) first + gamma second."""
        return (1.0 - gamma) * first + gamma * second

    def extrapolate(self, dual: Array, previous: Array, extrapolation: float) -> Array:
        """Return lam + extrapolation (lam - lam')."""
        return dual if extrapolation == 0.0 else self.lincomb(dual, -extrapolation, previous)

    def distance(self, first: Array, second: Array) -> float:
        """Return ||first - second||."""
        difference = first - second
        return math.sqrt(inner(difference, difference))

    def evaluate(self, dual: Array, *, tolerance: float, start: Any) -> DualValue:
        """Call the sharp oracle at lam."""
        return self.complete(dual, call_oracle(self.problem, dual, tolerance=tolerance, start=start))

    def complete(self, dual: Array, answer: SharpAnswer) -> DualValue:
        """Return the point of an oracle's answer, from which a step can start."""
        return self.point(dual, answer, image_of(self.problem, answer.atom))

    def point(self, dual: Array, answer: SharpAnswer, image: Array) -> DualPoint:
        """Join an oracle's answer and the image of its atom: g(lam) as attained, and its gradient."""
        residual = self.problem.b - image
        gradient, slack, norm_sq = residual, None, inner(dual, dual)
        if self.problem.split and self.problem.loss is not None:
            maximizer, slack = self.problem.loss.slack(dual)
            gradient = residual + maximizer
        sums = inner(dual, residual), inner(dual, image), inner(dual, self.problem.b), norm_sq
        return join_point(dual, answer, image, gradient, sums, slack)

    def step(self, base: DualValue, smoothness: float) -> Step:
        """Return the trial point at M and the model there."""
        gradient = self.materialize(base).gradient
        dual = proximal_step(self.problem, base.dual, gradient, smoothness)
        direction: Array = dual - base.dual
        squared = inner(direction, direction)
        model = base.value + inner(gradient, direction) + 0.5 * smoothness * squared
        return Step(dual, model, squared, (inner(dual, self.problem.b), inner(dual, dual)))

    def lower_model(self, base: DualValue, answer: SharpAnswer) -> DualValue:
        """Return the lower model that the atom of another answer gives at the base point.

        Every x in X gives g(lam) >= <lam, b - A x> - f(x); the certified error is unknown (inf).
        """
        return replace(self.complete(base.dual, replace(answer, error=math.inf)), matvecs=1)

    def materialize(self, point: DualValue) -> DualPoint:
        """Return a point with its gradient and image."""
        assert isinstance(point, DualPoint)
        return point

    def keep(self, point: DualPoint) -> DualValue:
        """Return a point as a state keeps it."""
        return point

    def gradient_change(self, first: DualValue, second: DualValue) -> float:
        """Return ||grad g(lam) - grad g(lam')||, for estimates of nu; nan where gradients are not kept."""
        if not self.keeps_images:
            return math.nan
        return self.distance(self.materialize(second).gradient, self.materialize(first).gradient)

    def average_image(self, image: Array, gamma: float, point: DualValue) -> tuple[Array, float | None]:
        """Return A xbar = (1 - gamma) image + gamma A x^*, and ||A xbar - b||^2 for K = {0} and least squares."""
        mean = self.lincomb(image, gamma, self.materialize(point).image)
        if self.problem.conjugate_curvature is None:
            return mean, None
        residual = mean - self.problem.b
        return mean, inner(residual, residual)


def dual_space(problem: Problem) -> DualSpace:
    """Return the implementation that fits the problem's dual vectors.

    Parameters
    ----------
    problem
        The problem; the length and type of b decide.

    See Also
    --------
    DualSpace, is_chunked

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> type(dual_space(problem)).__name__
    'DualSpace'
    """
    if not _is_fused(problem):
        return DualSpace(problem)
    from unipd.dual.long_vectors import ChunkedSpace, FusedSpace  # on first use: Numba is slow to import

    return ChunkedSpace(problem) if is_chunked(problem) else FusedSpace(problem)


def is_chunked(problem: Problem) -> bool:
    """Whether the images of atoms are computed in parts: millions of entries, and a map that can do it.

    Inexact oracles return the low-rank atoms that it takes.

    Parameters
    ----------
    problem
        The problem.

    See Also
    --------
    dual_space

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> is_chunked(problem)
    False
    """
    return problem.b.size >= CHUNKED and not problem.exact and _is_fused(problem) and problem.map.has_image_parts


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

    Parameters
    ----------
    problem, dual, direction, tolerance, start, certified
        As in :func:`call_oracle`.

    Returns
    -------
    DualPoint

    See Also
    --------
    DualPoint, lower_bound

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> lam = np.array([1.0, 0.0])
    >>> point = evaluate(problem, lam)
    >>> point.value, point.gradient
    (0.5, array([ 0.5, -0.5]))
    """
    answer = call_oracle(problem, dual, direction=direction, tolerance=tolerance, start=start, certified=certified)
    return dual_point(problem, dual, answer, image_of(problem, answer.atom))


def dual_point(problem: Problem, dual: Array, answer: SharpAnswer, image: Array) -> DualPoint:
    """Return the point at lam that an oracle's answer and the image of its atom give.

    Parameters
    ----------
    problem, dual
        The problem, and lam.
    answer
        The oracle's answer at -A^* lam.
    image
        A x of its atom.

    See Also
    --------
    evaluate, DualPoint

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> lam = np.array([1.0, 0.0])
    >>> answer = call_oracle(problem, lam)
    >>> dual_point(problem, lam, answer, image_of(problem, answer.atom)).value
    0.5
    """
    return dual_space(problem).point(dual, answer, image)


def _is_fused(problem: Problem) -> bool:
    b = problem.b
    is_long = b.size >= FUSED and b.dtype.kind == "f" and b.ndim == 1
    return is_long and problem.conjugate_curvature is not None and can_compile()


def join_point(
    dual: Array,
    answer: SharpAnswer,
    image: Array,
    gradient: Array,
    sums: tuple[float, float, float, float],
    slack: float | None,
) -> DualPoint:
    """Return the point; ``sums`` are <lam, b - A x>, <lam, A x>, <lam, b> and ||lam||^2."""
    pairing, along_image, linear, norm_sq = sums
    attained = pairing - answer.objective
    return DualPoint(
        dual,
        require_finite(attained + (slack or 0.0)),
        answer.error,
        answer.error - along_image - answer.objective,
        attained + answer.error,
        linear,
        norm_sq,
        slack,
        answer.atom,
        answer.objective,
        1 + (answer.matvecs or 1),
        answer.bound_kind,
        gradient=gradient,
        image=image,
    )


class LowerBound(NamedTuple):
    """A certified lower bound of the optimal value and where it is attained.

    Parameters
    ----------
    value
        max over t of -G(t lam), or -G(lam) when the ray is not searched.
    ray_scale
        The t at which the bound is attained (inf: the ray proves infeasibility).

    See Also
    --------
    lower_bound

    Examples
    --------
    >>> LowerBound(0.25, 1.0).value
    0.25
    """

    value: float
    ray_scale: float


def lower_bound(problem: Problem, point: DualValue) -> LowerBound:
    """Return the best bound -G(t lam) <= f^* over t > 0 (paper, (7)) from one certified value of the conjugate at lam.

    Along the ray G(t lam) = t^d c + t <lam, b> + h(t lam). When all degrees are 1 or 2 the maximum has a closed form,
    c1^2 / (4 c2) at t = -c1 / (2 c2); degree 1 alone with a negative sum is unbounded, which proves infeasibility.
    Otherwise t = 1. On rays the rounding error of A^* lam, measured by <|lam|, |b| + |A x^*|>, is added to the
    conjugate; <lam, b> is summed in double precision. A sum that 64 times the rounding explains counts as zero, so that
    the bound is 0 at t = 0, and a bound above every value of f on X, which proves infeasibility, is lowered by that.

    In a slack split whose block is bounded by a radius, the bound is that of the loss itself, whatever the radius:
    see :func:`_unrestricted_bound`.

    Parameters
    ----------
    problem
        The problem.
    point
        g at lam, with a certified error.

    See Also
    --------
    LowerBound, evaluate

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.L2NormSquared(1), np.eye(1), [2.0], "=")
    >>> bound = lower_bound(problem, evaluate(problem, np.array([-1.0])))
    >>> round(bound.value, 9), round(bound.ray_scale, 9)  # the optimal value is 4
    (4.0, 4.0)
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
        if not problem.has_penalty and bound > problem.sharp.maximum():
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
    """Return <|lam|, |b| + |A x^*|>, the size of the terms that cancel in the sums of a bound.

    Long vectors have ||lam|| (||b|| + ||A x^*||), an upper bound; b takes the place of an image that is not kept.
    """
    image = point.image if isinstance(point, DualPoint) else problem.b
    if problem.b.size <= _SHORT:
        return float(np.vdot(np.abs(point.dual), np.abs(problem.b) + np.abs(image)))
    return math.sqrt(point.dual_norm_sq) * (problem.norm_b + norm(image))


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
