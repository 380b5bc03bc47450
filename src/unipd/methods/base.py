"""What every method shares: immutable states, counts of work, and the certificate they carry."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from unipd import validate
from unipd._typing import Array
from unipd.dual import DualPoint, DualValue, bound_and_stretch
from unipd.errors import InvalidInput
from unipd.problem import Problem
from unipd.protocols import Tracker
from unipd.records import changed, made
from unipd.status import Status


@dataclass(frozen=True)
class Counts:
    """Work done since the start of a run."""

    oracle_calls: int = 0
    """Calls of the sharp operator, for a point or for its value alone."""
    trials: int = 0
    """Trial points of the line search."""
    matvecs: int = 0
    """Products with A, A^* or the operator that A^* lam stands for."""

    def plus(self, oracle_calls: int = 0, trials: int = 0, matvecs: int = 0) -> Counts:
        """Return the counts after more work."""
        return made(
            Counts,
            oracle_calls=self.oracle_calls + oracle_calls,
            trials=self.trials + trials,
            matvecs=self.matvecs + matvecs,
        )


@dataclass(frozen=True)
class Certificate:
    """What is proven about the current point: f(xbar), its feasibility, and the best dual bound so far."""

    objective: float
    """f(xbar) + phi(A xbar - b), or an upper bound of it when f is not linear and xbar is not kept."""
    infeasibility: float
    """dist(A xbar - b, K)."""
    dual_bound: float
    """Best -G(lam) seen: a lower bound of the optimal value."""
    ray: Array
    """The dual vector on whose ray the best bound is attained."""
    kind: str = "rigorous"
    """How sure the bound is: the kind of the oracle's certified error that it rests on."""
    stretch: float = 1.0
    """The bound is attained at ``stretch * ray``: a method's own dual vector is not copied for it."""

    @property
    def dual(self) -> Array:
        """The dual vector that attains the best bound."""
        return self.ray if self.stretch == 1.0 else self.stretch * self.ray

    @property
    def gap(self) -> float:
        """Objective minus dual bound; negative values are possible while xbar is infeasible."""
        return self.objective - self.dual_bound

    def improved(self, problem: Problem, point: DualPoint | DualValue) -> Certificate:
        """Return the certificate with the bound that another dual vector gives, if that is better."""
        return self.renewed(problem, (self.objective, self.infeasibility), point)

    def renewed(self, problem: Problem, measures: tuple[float, float], point: DualPoint | DualValue) -> Certificate:
        """Return the certificate of another xbar, given what :func:`measured` says of it.

        The bound is the one known, or that which the dual point gives if it is better.
        """
        objective, infeasibility = measures
        bound, stretch = bound_and_stretch(problem, point)
        if not bound > self.dual_bound:
            return changed(self, objective=objective, infeasibility=infeasibility)
        return made(
            Certificate,
            objective=objective,
            infeasibility=infeasibility,
            dual_bound=bound,
            ray=point.dual,
            kind="rigorous" if stretch == 0.0 else point.bound,
            stretch=stretch if stretch < math.inf else 1.0,
        )

    def proves_infeasible(self, problem: Problem) -> bool:
        """Whether the bound exceeds every value that the objective takes on X."""
        if problem.loss is not None:
            return False
        largest = problem.sharp.maximum()
        return self.dual_bound == math.inf or self.dual_bound > largest + _INFEASIBILITY_MARGIN * max(1.0, abs(largest))


_INFEASIBILITY_MARGIN = 1e-6


@dataclass(frozen=True)
class State:
    """A method's state after an iteration; the loop, the observers and the stopping rules see only this."""

    iteration: int
    """Iterations done."""
    dual: Array
    """The current dual vector, in the domain of h."""
    primal: Tracker
    """What is kept of xbar."""
    image: Array
    """A xbar."""
    mean_objective: float
    """The weighted mean of f over the atoms: f(xbar) when f is linear, else an upper bound of it."""
    certificate: Certificate
    """Objective, feasibility and bound."""
    counts: Counts
    """Work done."""
    smoothness: float
    """Local smoothness M_k accepted by the line search (the curvature of the step elsewhere)."""
    dual_step: float
    """||lam - lam'|| of the last line search, for estimating nu."""
    gradient_change: float
    """||grad g(lam) - grad g(lam')|| of the last line search (nan when not at hand)."""
    failure: Status | None
    """Set when the method cannot go on."""


class Method(Protocol):
    """A method: an initial state and a step; nothing else."""

    @property
    def name(self) -> str:
        """Name on the command line and in results."""
        ...

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> State:
        """Return the state before the first iteration; ``accuracy`` is relative."""
        ...

    def step(self, problem: Problem, state: Any) -> State:
        """Return the state after one more iteration."""
        ...


def target_eps(problem: Problem, eps: float | None, accuracy: float, objective: float) -> float:
    """Return the method's absolute accuracy: given, or the relative one times the problem's scale."""
    if eps is not None:
        return validate.positive("eps", eps)
    return accuracy * problem.scale(objective)


def require_domain(problem: Problem, dual: Array) -> None:
    """Raise unless lam_0 lies in the domain of h."""
    if not problem.split and not math.isfinite(problem.coupling.conjugate(dual)):
        raise InvalidInput("start", "a dual vector in the domain of h", "one outside it")


def primal_certificate(
    problem: Problem, primal: Tracker, image: Array, mean_objective: float, previous: Certificate
) -> Certificate:
    """Return the previous certificate with objective and feasibility of the current xbar."""
    objective, infeasibility = measured(problem, primal, image, mean_objective)
    return changed(previous, objective=objective, infeasibility=infeasibility)


def measured(
    problem: Problem, primal: Tracker | None, image: Array, mean_objective: float, squared: float | None = None
) -> tuple[float, float]:
    """Return objective and infeasibility of xbar, whose f is the mean where it is linear or xbar is not kept.

    ``squared`` is ||A xbar - b||^2 where that is all that the coupling asks about (K = {0} and least squares).
    """
    cost = mean_objective if problem.linear else known_objective(problem, primal, mean_objective)
    if squared is None:
        residual = image - problem.b
        if problem.loss is not None:
            return cost + problem.loss.value(residual), 0.0
        return cost, problem.coupling.distance(residual)
    if problem.loss is None:
        return cost, math.sqrt(squared)
    assert problem.inverse is not None
    return cost + 0.5 * squared / problem.inverse, 0.0


def known_objective(problem: Problem, primal: Tracker | None, mean_objective: float) -> float:
    """Return f(xbar), where xbar is kept, else the mean, which bounds it."""
    if primal is not None and getattr(primal, "exact_objective", False):
        return problem.sharp.objective(primal.point())
    return mean_objective


def empty_certificate(dual: Array) -> Certificate:
    """Return the certificate of nothing: infinite objective and infeasibility, no bound."""
    return Certificate(math.inf, math.inf, -math.inf, dual)


def zero_image(problem: Problem) -> Array:
    """Return A 0."""
    return np.zeros(problem.dual_shape, problem.dtype)
