"""Oracles for tests: obvious ones, and wrappers that fail on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array
from unipd.protocols import SharpAnswer, SharpOracle
from unipd.sharp import SharpFunction


class EuclideanPower(SharpFunction):
    """f(x) = ||x||_2^q / q on the whole space: x^*(y) = ||y||^(1/(q-1)) y / ||y||, uniformly convex of degree q."""

    def __init__(self, size: int, q: float) -> None:
        super().__init__(size)
        self.q = q

    @property
    def degree(self) -> float | None:
        return self.q / (self.q - 1.0)

    def maximiser(self, direction: Array) -> Array:
        length = float(np.linalg.norm(direction))
        return direction * length ** ((2.0 - self.q) / (self.q - 1.0)) if length > 0 else direction

    def objective(self, x: Any) -> float:
        return float(np.linalg.norm(x)) ** self.q / self.q

    @property
    def modulus(self) -> float:
        """mu with <grad f(x) - grad f(y), x - y> >= mu ||x - y||^q."""
        return 2.0 ** (2.0 - self.q)


class EntrywisePower(SharpFunction):
    """f(x) = sum |x_i|^q / q: x^*(y)_i = sign(y_i) |y_i|^(1/(q-1))."""

    def __init__(self, size: int, q: float) -> None:
        super().__init__(size)
        self.q = q

    @property
    def degree(self) -> float | None:
        return self.q / (self.q - 1.0)

    def maximiser(self, direction: Array) -> Array:
        return np.sign(direction) * np.abs(direction) ** (1.0 / (self.q - 1.0))

    def objective(self, x: Any) -> float:
        return float(np.sum(np.abs(x) ** self.q)) / self.q

    @property
    def modulus(self) -> float:
        """mu in the Euclidean norm: that of one entry times p^(1 - q/2), from ||z||_q >= p^(1/q - 1/2) ||z||_2."""
        return 2.0 ** (2.0 - self.q) * self.size ** (1.0 - 0.5 * self.q)


class Wrapped:
    """An oracle that passes every answer of another one through ``change`` (call number, answer, direction)."""

    def __init__(
        self, oracle: SharpOracle, change: Callable[[int, SharpAnswer, Any], SharpAnswer], exact: bool = True
    ) -> None:
        self.oracle = oracle
        self.change = change
        self._exact = exact
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.oracle, name)

    @property
    def exact(self) -> bool:
        return self._exact

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        self.calls += 1
        return self.change(self.calls, self.oracle(direction), direction)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        return self(direction, tolerance=tolerance, start=start)


class Inexact(Wrapped):
    """An exact oracle made inexact: a worse point of X, with an honest certified error.

    The error stays below the requested tolerance when ``obedient``, and is drawn freely otherwise. With ``exact`` it
    passes for an exact oracle.
    """

    def __init__(self, oracle: SharpOracle, *, obedient: bool, seed: int = 0, exact: bool = False) -> None:
        super().__init__(oracle, lambda call, answer, direction: answer, exact=exact)
        self.obedient = obedient
        self.random = np.random.default_rng(seed)
        self.largest_error = 0.0

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        self.calls += 1
        best = self.oracle(direction)
        other = self.oracle(self.random.standard_normal(self.oracle.shape))
        lost = best.value - (atoms.inner_product(direction, other.atom) - other.objective)
        share = 0.05 * self.random.random()
        if self.obedient:
            share = min(1.0, self.random.random() * tolerance / lost) if lost > 0 else 0.0
        atom = atoms.combination([1.0 - share, share], [best.atom, other.atom])
        cost = self.oracle.objective(atom)
        value = atoms.inner_product(direction, atom) - cost
        error = max(0.0, best.value - value)
        self.largest_error = max(self.largest_error, error)
        return replace(best, atom=atom, value=value, objective=cost, error=error)


def answer_at(call: int, bad: Callable[[SharpAnswer], SharpAnswer]) -> Callable[[int, SharpAnswer, Any], SharpAnswer]:
    """Return a change that spoils the answers from the given call on."""

    def change(number: int, answer: SharpAnswer, direction: Any) -> SharpAnswer:
        return bad(answer) if number >= call else answer

    return change
