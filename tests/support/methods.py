"""A method with false certificates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from unipd import Problem
from unipd.methods import Method


@dataclass(frozen=True)
class FalseCertificates:
    """A method that claims a perfect certificate whatever it has."""

    inner: Method
    name: str = "false certificates"

    def start(self, *arguments: Any) -> Any:
        return self.inner.start(*arguments)

    def step(self, problem: Problem, state: Any) -> Any:
        honest = self.inner.step(problem, state)
        return replace(honest, certificate=replace(honest.certificate, objective=1.0, dual_bound=1.0, violation=0.0))
