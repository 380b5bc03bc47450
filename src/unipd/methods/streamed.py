"""AccUniPDGrad on very long dual vectors: images of atoms are made part by part, and no more than needed is kept.

An image A x^* of millions of entries takes as much memory as the data. Where the map can make it in parts
(``image_lines`` and ``opposite_adjoint``, as :class:`~unipd.maps.Sampling` does), an iteration keeps lam_{k-1}, lam_k,
A xbar, the new lam and A xbar, and a vector of the best bound at most; every other one lives in the processor's cache.
Images are made anew for the average: a product more. The passes that write lam and A xbar give every sum asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unipd import pulse
from unipd._typing import Array
from unipd.dual import DualValue, oracle_errors
from unipd.errors import OracleError
from unipd.maps.chunks import available_threads, share
from unipd.methods.streamed_rooms import room_like
from unipd.problem import Problem
from unipd.protocols import SharpAnswer

LONG = 1 << 21
"""Entries of the dual vector from which images are made in parts."""


def is_streamed(problem: Problem) -> bool:
    """Whether the dual vector is long and everything about it can be computed in parts."""
    if problem.b.size < LONG or problem.exact or problem.inverse is None:
        return False
    linear_map: Any = problem.map
    own = hasattr(type(linear_map), "in_lines")  # what a map passes on from one that it wraps is not its own
    return own and problem.dtype.kind == "f" and linear_map.in_lines


@dataclass(frozen=True)
class Step:
    """A step of the dual vector and the sums that came with it."""

    dual: Array
    """lam' = lam - grad g / M."""
    rise: float
    """What the model Q_M adds to g(lam) there."""
    base: float
    """g(lam) as attained by the atom."""
    slack: float | None
    """phi^*(lam) in the slack split."""
    linear: float
    """<lam', b>."""
    energy: float
    """||lam'||^2."""


@dataclass(frozen=True)
class Streams:
    """The passes over long vectors that a step needs; sums over parts are added up in their order."""

    problem: Problem

    @property
    def inverse(self) -> float:
        """1/c of the loss (c/2) ||r||^2, so that grad g = lam/c + b - A x^*; 0 for a constraint A x = b."""
        return self.problem.inverse or 0.0

    def ahead(self, dual: Array, previous: Array, pull: float) -> Array:
        """Return lambda-hat = lam + pull (lam - lam_{k-1})."""
        if pull == 0.0:
            return dual
        out, share_of_way = room_like(dual), dual.dtype.type(pull)
        share(available_threads(None), lambda turn: _kernels().extrapolate(turn, dual, previous, share_of_way, out))
        return out

    def asked(self, dual: Array, tolerance: float, start: Any) -> SharpAnswer:
        """Call the sharp oracle at -A^* lam."""
        linear_map: Any = self.problem.map
        with oracle_errors:
            return self.problem.sharp(linear_map.opposite_adjoint(dual), tolerance=tolerance, start=start)

    def stepped(self, dual: Array, answer: SharpAnswer, smoothness: float) -> Step:
        """Return lam - grad g / M and the sums of the line search, all from one image."""
        out = room_like(dual)
        inverse, step = dual.dtype.type(self.inverse), dual.dtype.type(1.0 / smoothness)
        slope, length, linear, energy, linear_there, energy_there = self.summed(
            _kernels().step_parts, answer.atom, (dual, self.problem.b, inverse, step, out), 6
        )
        slack = self._slack(energy)
        base = finite(linear - answer.objective + (slack or 0.0))
        return Step(out, slope + 0.5 * smoothness * length, base, slack, linear_there, energy_there)

    def tried(self, step: Step, answer: SharpAnswer) -> DualValue:
        """Return g(lam') from the oracle's value there and the sums of the step: no product, no pass."""
        slack = self._slack(step.energy)
        value = finite(answer.value + step.linear + (slack or 0.0))
        upper, work = answer.value + answer.error, max(answer.matvecs, 1)
        return DualValue(
            step.dual, value, upper, work, answer.bound, slack, step.linear, energy=step.energy, atom=answer.atom
        )

    def attained(self, dual: Array, atom: Any, objective: float, slack: float | None) -> float:
        """Return what an atom attains of g(lam): <lam, b - A x> - f(x), and phi^*(lam) in the slack split."""
        linear = self.summed(_kernels().value_parts, atom, (dual, self.problem.b), 1)[0]
        return linear - objective + (slack or 0.0)

    def mixed(self, image: Array, gamma: float, atom: Any) -> tuple[Array, float]:
        """Return (1 - gamma) A xbar + gamma A x and its squared distance to b."""
        out, kind = room_like(image), image.dtype.type
        arguments = (image, kind(gamma), kind(1.0 - gamma), self.problem.b, out)
        return out, finite(self.summed(_kernels().mixed_parts, atom, arguments, 1)[0])

    def _slack(self, energy: float) -> float | None:
        return 0.5 * self.inverse * energy if self.problem.split else None

    def summed(self, kernel: Any, atom: Any, arguments: tuple[Any, ...], columns: int) -> list[float]:
        """Run a kernel on the parts of the image of an atom; return its sums."""
        linear_map: Any = self.problem.map
        with oracle_errors:
            lines = linear_map.image_lines(atom)
        sums = np.zeros((lines[-1].size - 1, columns))
        share(available_threads(None), lambda turn: kernel(lines, turn, *arguments, sums))
        return [math.fsum(column) for column in sums.T]


def finite(value: float) -> float:
    """Return a sum over the iterates: NaN and infinity in them survive in it."""
    if not math.isfinite(value):
        raise OracleError(f"the sharp oracle or the map returned a value that is {value}")
    return value


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
    """Double M until g(lam_trial) <= Q_M(lam_trial; lam) + slack (see :mod:`unipd.methods.line_search`)."""
    trials = matvecs = 0
    for doublings in range(max_doublings + 1):
        step = streams.stepped(ahead, answer, smoothness)
        found = streams.asked(step.dual, tolerance, answer.atom)
        trial = streams.tried(step, found)
        trials, matvecs = trials + 1, matvecs + trial.matvecs + 1
        rounding = 8.0 * streams.problem.epsilon * (abs(step.base) + abs(trial.value) + 8.0 * slack)
        accepted = trial.value <= step.base + step.rise + slack + rounding
        if accepted or doublings == max_doublings or pulse.out_of_time():
            return StreamedSearch(answer, trial, smoothness, trials, trials, matvecs, accepted)
        base, conjugate = step.base, step.slack
        del step, trial
        better = streams.attained(ahead, found.atom, found.objective, conjugate)
        matvecs += 1
        if better > base + REPLACEMENT_SHARE * slack:
            answer = replace(found, error=math.inf)
        else:
            smoothness *= 2.0
    raise AssertionError("the search ends in its loop")


def _kernels() -> Any:
    """Import the compiled kernels on first use: Numba is slow to import."""
    from unipd.methods import streamed_kernels

    return streamed_kernels


REPLACEMENT_SHARE = 1e-3
"""An atom replaces another when it beats it by this share of the slack."""
