"""Points of the dual function from atoms that are at hand: no oracle call."""

from __future__ import annotations

import math

from unipd._typing import Array
from unipd.atoms import scaled
from unipd.dual.passes import joined, stepped
from unipd.dual.point import DualPoint
from unipd.errors import OracleError
from unipd.problem import Problem
from unipd.protocols import SharpAnswer
from unipd.records import changed, made


def attach(
    problem: Problem, dual: Array, answer: SharpAnswer, image: Array, before: DualPoint | None = None
) -> DualPoint:
    """Join an oracle's answer and its image into a :class:`DualPoint` at ``dual``, where a step from ``before`` led."""
    gradient, rest, conjugate, energy, steepness, pairings, change = joined(
        problem, dual, image, None if before is None else before.gradient
    )
    value = rest - answer.objective + (conjugate or 0.0)
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
        energy=energy,
        steepness=steepness,
        pairings=pairings,
        change=change,
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


def proximal_step(problem: Problem, dual: Array, gradient: Array, smoothness: float) -> Array:
    """Return prox_{h/M}(lam - grad / M), the universal gradient step (paper, (9))."""
    moved_dual = stepped(dual, 1.0 / smoothness, gradient)
    if problem.free_dual:
        return moved_dual
    return problem.coupling.prox_conjugate(moved_dual, 1.0 / smoothness)
