"""The best point that a run has seen, for runs that end before they are done."""

from __future__ import annotations

import math
from typing import Any

from unipd.methods import Certificate, State
from unipd.primal import AtomList
from unipd.problem import Problem
from unipd.records import changed

LARGEST = 2**26
"""Bytes of a point and its image above which no second one is held: the memory of a large run does not double."""


class BestSoFar:
    """Holds the state with the smallest error, the sum of relative infeasibility and gap, by reference.

    Every point is measured against the bound of the latest state, and gaps are divided by the same scale. Points that
    are dense and large are not held; then the latest is the best known.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._best: State | None = None
        self._is_small = _dense_bytes(problem) <= LARGEST

    def see(self, state: State) -> None:
        """Look at the next state."""
        best = self._best
        if best is not None and (self._is_small or _holdable(state)):
            here, there = state.certificate, best.certificate
            if here.infeasibility == there.infeasibility and there.objective >= here.dual_bound <= here.objective:
                if there.objective < here.objective:
                    return
            elif self._beats(best, state):
                return
        self._best = state

    def _beats(self, best: State, state: State) -> bool:
        here, there, bound = state.certificate, best.certificate, state.certificate.dual_bound
        if here.infeasibility <= there.infeasibility and bound <= here.objective <= there.objective:
            return False
        scale = max(self._problem.scale(here.objective), self._problem.scale(there.objective))

        def error(point: Certificate) -> float:
            gap = abs(point.objective - bound) if math.isfinite(bound) else point.objective
            return point.infeasibility / max(1.0, self._problem.norm_b) + gap / scale

        return error(there) < error(here)

    def shown(self, state: State) -> State:
        """Return the latest state with the best point in its place, measured against the latest bound."""
        best = self._best
        if best is None or best is state or not self._beats(best, state):
            return state
        return _measured(best, state)

    def memory(self, state: State) -> tuple[Any, ...] | None:
        """Return the parts of the best point for a checkpoint, None when it is the latest one."""
        best = self._best
        if best is None or best.primal is state.primal:
            return None
        return best.primal, best.image, best.mean_objective, best.certificate

    def recall(self, memory: tuple[Any, ...] | None, state: State) -> None:
        """Hold again what :meth:`memory` gave beside the latest state."""
        self._best = state
        if memory is not None:
            primal, image, mean_objective, certificate = memory
            alike = isinstance(primal, type(state.primal)) and getattr(image, "shape", None) == state.image.shape
            if not (alike and isinstance(certificate, Certificate)):
                raise ValueError("a best point that is none")
            self._best = changed(
                state, primal=primal, image=image, mean_objective=mean_objective, certificate=certificate
            )


def _dense_bytes(problem: Problem) -> int:
    """Return the bytes of a dense point and its image."""
    shape: Any = problem.sharp.shape
    shapes: Any = shape if isinstance(shape[0], tuple) else (shape,)
    return problem.dtype.itemsize * (sum(math.prod(each) for each in shapes) + problem.b.size)


def _holdable(state: State) -> bool:
    """Whether a second point is no burden; lists of atoms are shared with the later ones."""
    kept = 0 if isinstance(state.primal, AtomList) else int(getattr(state.primal, "nbytes", 0))
    return kept + state.image.nbytes <= LARGEST


def _measured(best: State, state: State) -> State:
    """Return ``state`` with the point of ``best``; the bound, its dual vector and the counts are those of ``state``."""
    point = best.certificate
    certificate = changed(state.certificate, objective=point.objective, infeasibility=point.infeasibility)
    return changed(
        state, primal=best.primal, image=best.image, mean_objective=best.mean_objective, certificate=certificate
    )
