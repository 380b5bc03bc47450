"""AccUniPDGrad on very long dual vectors: images of atoms are made part by part, and no more than needed is kept.

An image A x^* of millions of entries takes as much memory as the data. Where the map can make it in parts
(``parts``, ``image_parts`` and ``opposite_adjoint``, as :class:`~unipd.maps.Sampling` does), an iteration keeps
lam_{k-1}, lam_k, A xbar, the new lam and the new A xbar, and a vector of the best bound at most; every other vector
lives in the processor's cache. An image is made anew for the step and for the average: one product more an iteration.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd import pulse
from unipd._typing import Array
from unipd.couplings import Equality, LeastSquares
from unipd.dual import DualValue, oracle_errors
from unipd.errors import OracleError
from unipd.maps.chunks import available_threads, run_chunks
from unipd.methods.base import Certificate
from unipd.problem import Problem
from unipd.protocols import SharpAnswer, Tracker

LONG = 1 << 21
"""Entries of the dual vector from which images are made in parts."""


def is_streamed(problem: Problem) -> bool:
    """Whether the dual vector is long and everything about it can be computed in parts."""
    if math.prod(problem.dual_shape) < LONG or problem.sharp.exact or not problem.free_dual:
        return False
    simple = isinstance(problem.coupling, (Equality, LeastSquares))
    return simple and problem.dtype.kind == "f" and bool(getattr(problem.map, "parts", list)())


@dataclass(frozen=True)
class Streams:
    """The sums over long vectors that a step needs; each works on parts, added up in their order."""

    problem: Problem

    @property
    def inverse(self) -> float:
        """1/c of the loss (c/2) ||r||^2, so that grad g = lam/c + b - A x^*; 0 for a constraint A x = b."""
        loss = self.problem.coupling
        return 1.0 / loss.scale if isinstance(loss, LeastSquares) else 0.0

    def asked(self, dual: Array, tolerance: float, start: Any) -> SharpAnswer:
        """Call the sharp oracle at -A^* lam."""
        linear_map: Any = self.problem.map
        with oracle_errors:
            return self.problem.sharp(linear_map.opposite_adjoint(dual), tolerance=tolerance, start=start)

    def valued(self, dual: Array, answer: SharpAnswer) -> DualValue:
        """Return g(lam) as attained by the answer's atom, with its certified upper bound."""
        b, kernel = self.problem.b, _kernels().value_sums
        sums = self._summed(answer.atom, lambda part, image: kernel(dual[part], b[part], image))
        linear, along, squared, energy = sums
        value, conjugate = self._value(linear, energy, answer)
        upper = -along - answer.objective + answer.error
        reach, matvecs = math.sqrt(squared), 1 + max(answer.matvecs, 1)
        return DualValue(dual, value, upper, matvecs, answer.bound, conjugate, reach, answer.atom)

    def stepped(self, dual: Array, answer: SharpAnswer, smoothness: float) -> tuple[Array, float, float]:
        """Return lam - grad g / M, what the model Q_M adds to g(lam) there, and g(lam), all from one image."""
        out, b, kernel = np.empty_like(dual), self.problem.b, _kernels().step_sums
        inverse, step = dual.dtype.type(self.inverse), dual.dtype.type(1.0 / smoothness)

        def sums(part: slice, image: Array) -> tuple[float, ...]:
            return kernel(dual[part], b[part], image, inverse, step, out[part])

        slope, length, linear, energy = self._summed(answer.atom, sums)
        return out, slope + 0.5 * smoothness * length, self._value(linear, energy, answer)[0]

    def _value(self, linear: float, energy: float, answer: SharpAnswer) -> tuple[float, float | None]:
        """Return g(lam) and its phi^*(lam) from <lam, b - A x> and ||lam||^2."""
        conjugate = 0.5 * self.inverse * energy if self.problem.split else None
        value = linear - answer.objective + (conjugate or 0.0)
        if not math.isfinite(value):
            raise OracleError(f"the sharp oracle or the map returned a value that is {value}")
        return value, conjugate

    def mixed(self, image: Array, gamma: float, atom: Any) -> tuple[Array, float]:
        """Return (1 - gamma) A xbar + gamma A x and its squared distance to b."""
        out, b, kernel = np.empty_like(image), self.problem.b, _kernels().mixed_sums
        share, rest = image.dtype.type(gamma), image.dtype.type(1.0 - gamma)

        def sums(part: slice, fresh: Array) -> tuple[float, ...]:
            return (kernel(image[part], fresh, share, rest, b[part], out[part]),)

        return out, self._summed(atom, sums)[0]

    def _summed(self, atom: Any, sums: Callable[[slice, Array], tuple[float, ...]]) -> list[float]:
        """Return the sums over all parts of the image of an atom."""
        linear_map: Any = self.problem.map
        parts = linear_map.parts()
        found: list[tuple[float, ...]] = [()] * len(parts)
        with oracle_errors:
            image_of = linear_map.image_parts(atom)

        def work(number: int) -> None:
            with oracle_errors:
                image = image_of(number)
            found[number] = sums(parts[number], image)

        run_chunks(work, len(parts), available_threads(None))
        return [math.fsum(column) for column in zip(*found, strict=True)]


@dataclass(frozen=True)
class StreamedSearch:
    """Outcome of a line search on long vectors."""

    answer: SharpAnswer
    """The oracle's answer at lambda-hat, or a better one found on the way."""
    trial: DualValue
    smoothness: float
    trials: int
    oracle_calls: int
    matvecs: int
    accepted: bool


def streamed_search(
    streams: Streams,
    ahead: Array,
    answer: SharpAnswer,
    smoothness: float,
    slack: float,
    tolerance: float,
    max_doublings: int,
) -> StreamedSearch:
    """Double M until g(lam_trial) <= Q_M(lam_trial; lam) + slack, as :func:`~unipd.methods.line_search.backtrack`."""
    trials = matvecs = 0
    for doublings in range(max_doublings + 1):
        dual, rise, base = streams.stepped(ahead, answer, smoothness)
        found = streams.asked(dual, tolerance, answer.atom)
        trial = streams.valued(dual, found)
        trials, matvecs = trials + 1, matvecs + trial.matvecs + 1
        rounding = 8.0 * streams.problem.epsilon * (abs(base) + abs(trial.value) + 8.0 * slack)
        accepted = trial.value <= base + rise + slack + rounding
        if accepted or doublings == max_doublings or pulse.out_of_time():
            return StreamedSearch(answer, trial, smoothness, trials, trials, matvecs, accepted)
        del dual, trial
        better = streams.valued(ahead, replace(found, error=math.inf))
        matvecs += 1
        if better.value > base + REPLACEMENT_SHARE * slack:
            answer = found
        else:
            smoothness *= 2.0
    raise AssertionError("the search ends in its loop")


def _kernels() -> Any:
    """Import the compiled kernels on first use: Numba is slow to import."""
    from unipd.methods import streamed_kernels

    return streamed_kernels


REPLACEMENT_SHARE = 1e-3
"""An atom replaces another when it beats it by this share of the slack."""


def squared_certificate(
    problem: Problem, primal: Tracker, squared: float, mean_objective: float, previous: Certificate
) -> Certificate:
    """Return the previous certificate with objective and feasibility from ||A xbar - b||^2."""
    cost = mean_objective
    if not problem.sharp.linear and getattr(primal, "exact_objective", False):
        cost = problem.sharp.objective(primal.point())
    loss = problem.coupling
    if isinstance(loss, LeastSquares):
        return replace(previous, objective=cost + 0.5 * loss.scale * squared, infeasibility=0.0)
    return replace(previous, objective=cost, infeasibility=math.sqrt(squared))
