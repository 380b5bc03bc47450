"""One oracle call at a dual vector: g, its gradient and the atom, or the value alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unipd._typing import Array
from unipd.atoms import scaled
from unipd.dual.failures import blame
from unipd.errors import OracleError, UnboundedOracle
from unipd.problem import Problem
from unipd.protocols import SharpAnswer, inner, norm
from unipd.records import changed, made


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
    sums: ClassVar[None] = None
    """Sums over lam are not at hand (see :class:`DualValue`)."""

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
    try:
        direction = problem.map.adjoint(-dual)
    except Exception as error:
        blame(error)
    return evaluate_along(problem, dual, direction, tolerance=tolerance, start=start, certified=certified)


def evaluate_along(
    problem: Problem, dual: Array, direction: Any, *, tolerance: float = 0.0, start: Any = None, certified: bool = False
) -> DualPoint:
    """Do the same as :func:`evaluate` where the direction -A^* lam is at hand."""
    oracle = getattr(problem.sharp, "certified", problem.sharp) if certified else problem.sharp
    try:
        answer = oracle(direction, tolerance=tolerance, start=start)
        if not math.isfinite(answer.value):
            require_bounded(answer)
        image = np.asarray(problem.map.image(answer.atom), problem.b.dtype)
    except Exception as error:
        blame(error)
    if image.shape != problem.b.shape:
        raise OracleError(f"the image of an atom has shape {image.shape}, not {problem.b.shape}")
    return attach(problem, dual, answer, image)


def attach(problem: Problem, dual: Array, answer: SharpAnswer, image: Array) -> DualPoint:
    """Join an oracle's answer and its image into a :class:`DualPoint` at ``dual``."""
    gradient = problem.b - image
    value = inner(dual, gradient) - answer.objective
    conjugate = None
    if problem.split and problem.loss is not None:
        slack, conjugate = problem.loss.slack(dual)
        value += conjugate
        gradient += slack
    if not math.isfinite(value):
        raise OracleError(f"the sharp oracle or the map returned a value that is {value}")
    return made(
        DualPoint,
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
    return changed(attach(problem, dual, answer, point.image), matvecs=0)


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
    return changed(attach(problem, factor * point.dual, answer, grow * point.image), matvecs=0)


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
    sums: tuple[float, float] | None = None
    """<lam, b> and ||lam||, where they are at hand."""


def value_only(problem: Problem, dual: Array, *, tolerance: float = 0.0, start: Any = None) -> DualValue:
    """Return g(lam) through the oracle's value alone: one product with A^*, none with A."""
    try:
        answer = problem.sharp.value(problem.map.adjoint(-dual), tolerance=tolerance, start=start)
        if not math.isfinite(answer.value):
            require_bounded(answer)
    except Exception as error:
        blame(error)
    value = answer.value + inner(dual, problem.b)
    conjugate = None
    if problem.split and problem.loss is not None:
        conjugate = problem.loss.slack(dual)[1]
        value += conjugate
    if not math.isfinite(value):
        raise OracleError(f"the sharp oracle returned a value that is {value}")
    upper = answer.value + answer.error
    return made(
        DualValue,
        dual=dual,
        value=value,
        conjugate=upper,
        matvecs=1,
        bound=answer.bound,
        slack_conjugate=conjugate,
    )


def proximal_step(problem: Problem, dual: Array, gradient: Array, smoothness: float) -> Array:
    """Return prox_{h/M}(lam - grad / M), the universal gradient step (paper, (9))."""
    moved_dual: Array = gradient / -smoothness
    moved_dual += dual
    if problem.split:
        return moved_dual
    return problem.coupling.prox_conjugate(moved_dual, 1.0 / smoothness)


def require_bounded(answer: SharpAnswer) -> None:
    """Raise when an oracle says that there is no maximiser."""
    if answer.value == math.inf or (isinstance(answer.atom, np.ndarray) and np.isinf(answer.atom).any()):
        raise UnboundedOracle(
            "the sharp operator has no maximiser: <-A^* lam, x> - f(x) is unbounded above over X; "
            "bound X, or use an objective that grows faster (a squared norm)"
        )
