"""Oracles for tests: obvious ones, and wrappers that misbehave on purpose."""

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
    """An exact oracle made inexact: sometimes a worse point of X, with an honest certified error."""

    def __init__(self, oracle: SharpOracle, slip: float, seed: int = 0) -> None:
        super().__init__(oracle, self._slipped, exact=False)
        self.slip = slip
        self.random = np.random.default_rng(seed)
        self.spoiled = 0

    def _slipped(self, call: int, answer: SharpAnswer, direction: Any) -> SharpAnswer:
        other = self.oracle(self.random.standard_normal(self.oracle.shape)).atom
        share = self.slip * self.random.random()
        atom = atoms.combination([1.0 - share, share], [answer.atom, other])
        cost = self.oracle.objective(atom)
        value = atoms.inner(direction, atom) - cost
        self.spoiled += value < answer.value
        return replace(answer, atom=atom, value=value, objective=cost, error=max(0.0, answer.value - value))


def answer_at(call: int, bad: Callable[[SharpAnswer], SharpAnswer]) -> Callable[[int, SharpAnswer, Any], SharpAnswer]:
    """Return a change that spoils the answers from the given call on."""

    def change(number: int, answer: SharpAnswer, direction: Any) -> SharpAnswer:
        return bad(answer) if number >= call else answer

    return change
