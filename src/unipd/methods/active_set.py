"""Frank-Wolfe with an active set of vertices: what away-step and pairwise steps share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from unipd._typing import Array, FloatArray
from unipd.dual import (
    DualValue,
    Slope,
    asked,
    asked_along,
    loss_slope,
    moved_along,
    pictured,
    valued,
)
from unipd.methods.base import Counts, State, empty_certificate, known_objective, zero_image
from unipd.methods.frank_wolfe import ORACLE_TOLERANCE, require_smooth_loss
from unipd.methods.warm import WarmPoint
from unipd.methods.weights import exact_step
from unipd.primal.active_set import ActiveSet, Vertex, vertex_key
from unipd.problem import Problem
from unipd.protocols import SharpAnswer, Tracker
from unipd.records import changed, made

REFRESH = 256
"""Restore the sum of the weights and A xbar after so many iterations, so that rounding does not pile up."""

Worst: TypeAlias = tuple[int, FloatArray]
"""The place of the active vertex v with the largest <lam, A v> + f(v), and that of every vertex."""
Shift: TypeAlias = "tuple[bool, int | None, float, float, float]"
"""Whether weight goes to the oracle's vertex (else to all in proportion), the place of the vertex that it comes from
(None: from all), how steeply the objective falls on the way at first, what the whole way adds to f, and how far one may
go.
"""


@dataclass(frozen=True)
class ActiveSetState(State):
    """State of a Frank-Wolfe method with an active set."""

    active: ActiveSet
    """The vertices that make up xbar; it is also the primal tracker."""
    oracle_tolerance: float
    """Absolute error allowed to an inexact oracle."""
    known: tuple[Array, Slope] | None = None
    """An image A x, and grad phi(A x - b) with its sums."""


@dataclass(frozen=True)
class ActiveSetFrankWolfe(ABC):
    """Base of the methods that shift weight between the vertices that make up xbar, with exact line search."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name on the command line."""

    @abstractmethod
    def shift(
        self, problem: Problem, state: ActiveSetState, proven: DualValue, answer: SharpAnswer, worst: Worst
    ) -> Shift:
        """Return between which vertices weight is shifted; ``proven`` is the dual value at grad phi."""

    def start(self, problem: Problem, tracker: Tracker, dual: Array, accuracy: float) -> ActiveSetState:
        """Start from x^*(lam_0), for lam_0 = 0 from the vertex that the gradient at x = 0 points to.

        The tracker is always the active set.
        """
        require_smooth_loss(problem, self.name)
        lam = dual if dual.any() else loss_slope(problem, zero_image(problem))[0]
        answer = asked(problem, lam, tolerance=ORACLE_TOLERANCE * accuracy * problem.scale(0.0))
        vertex = _vertex(problem, answer, vertex_key(answer.atom))
        state = _first_state(problem, ActiveSet((vertex,), np.ones(1)), lam, accuracy)
        certificate = state.certificate.improved(problem, valued(problem, lam, answer))
        return changed(state, certificate=certificate, counts=Counts(1, 0, 1 + (answer.matvecs or 1)))

    def start_at(self, problem: Problem, tracker: Tracker, warm: WarmPoint, accuracy: float) -> ActiveSetState | None:
        """Start from the atoms of an earlier point, each a vertex; None where they are not known."""
        require_smooth_loss(problem, self.name)
        if not warm.atoms:
            return None
        vertices: dict[bytes, Vertex] = {}
        weights: dict[bytes, float] = {}
        for weight, atom in zip(warm.weights, warm.atoms, strict=True):
            key = vertex_key(atom)
            if key not in vertices:
                vertices[key] = Vertex(atom, pictured(problem, atom), problem.sharp.objective(atom), key)
            weights[key] = weights.get(key, 0.0) + weight
        active = ActiveSet(tuple(vertices.values()), np.array(list(weights.values())))
        active = active.reweighted(active.weights)
        state = _first_state(problem, active, loss_slope(problem, active.image())[0], accuracy)
        return changed(state, counts=Counts().plus(matvecs=len(vertices)))

    def step(self, problem: Problem, state: ActiveSetState) -> ActiveSetState:
        """Call the oracle at the gradient and shift weight."""
        active, image, known = state.active, state.image, state.known
        lam, sums = known[1] if known is not None and known[0] is image else loss_slope(problem, image)
        index, count, tolerance = active.index, active.weights.size, state.oracle_tolerance
        start = None if problem.exact else index.vertices[count - 1].atom
        direction, answer = asked_along(problem, lam, None, problem.sharp, tolerance, start)
        proven = valued(problem, lam, answer, sums)
        scores = index.scores(count, lam, direction)
        toward, away, fall, rise, upper = self.shift(problem, state, proven, answer, (int(scores.argmax()), scores))
        tail = image if away is None else index.vertices[away].image
        head, vertex, products = image, None, answer.matvecs or 1
        if toward:
            key = vertex_key(answer.atom)
            place = index.places.get(key, count)
            if place < count:
                vertex = index.vertices[place]
            else:
                vertex, products = _vertex(problem, answer, key), products + 1
            head = vertex.image
        gamma, image, slope, loss = exact_step(problem, image, tail, head, fall, rise, upper)
        active, cost = active.moved(gamma, vertex, away), state.mean_objective + gamma * rise
        if (state.iteration + 1) % REFRESH == 0:
            active = active.reweighted(active.weights)
            image, cost = active.image(), active.objective()
            image, slope, loss = moved_along(problem, image, 0.0, image.copy())  # nowhere: what is known there
        objective = loss + (cost if problem.linear else known_objective(problem, active, cost))
        return changed(
            state,
            iteration=state.iteration + 1,
            dual=lam,
            primal=active,
            active=active,
            image=image,
            mean_objective=cost,
            known=(image, slope),
            certificate=state.certificate.renewed(problem, (objective, 0.0), proven),
            counts=state.counts.plus(1, 0, products),
        )


def _first_state(problem: Problem, active: ActiveSet, lam: Array, accuracy: float) -> ActiveSetState:
    return ActiveSetState(
        iteration=0,
        dual=lam,
        primal=active,
        image=active.image(),
        mean_objective=active.objective(),
        certificate=empty_certificate(lam),
        counts=Counts(),
        smoothness=math.nan,
        dual_step=math.nan,
        gradient_change=math.nan,
        failure=None,
        active=active,
        oracle_tolerance=ORACLE_TOLERANCE * accuracy * problem.scale(0.0),
    )


def _vertex(problem: Problem, answer: SharpAnswer, key: bytes) -> Vertex:
    """Return the oracle's vertex with its image: one product."""
    return made(Vertex, atom=answer.atom, image=pictured(problem, answer.atom), objective=answer.objective, key=key)
