"""Several methods on one problem, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unipd.errors import InvalidInput
from unipd.methods import Method
from unipd.problem import Problem
from unipd.run.loop import solve
from unipd.run.result import Result


@dataclass(frozen=True)
class Comparison(Mapping[str, Result]):
    """Results by name of method; prints as a table, and draws every curve in one picture."""

    results: dict[str, Result]

    def __getitem__(self, name: str) -> Result:
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def plot(self, path: str | None = None, **options: Any) -> Any:
        """Draw the methods' curves; see :func:`unipd.report.plot_comparison`."""
        from importlib import import_module

        return import_module("unipd.report").plot_comparison(self.results, path, **options)

    def __str__(self) -> str:
        head = (
            f"{'method':24s} {'status':18s} {'objective':>16s} {'gap':>9s} {'infeasible':>10s} {'calls':>7s} {'s':>8s}"
        )
        rows = [
            f"{name:24s} {r.status.value:18s} {r.objective:16.9g} {r.gap:9.1e} {r.relative_infeasibility:10.1e} "
            f"{r.counts.oracle_calls:7d} {r.seconds:8.2f}"
            for name, r in self.results.items()
        ]
        return "\n".join([head, *rows])


def compare(problem: Problem, methods: Sequence[Method | str], **settings: Any) -> Comparison:
    """Solve one problem by several methods and return their results.

    Parameters
    ----------
    problem
        The problem.
    methods
        Names or method objects; objects of one kind are told apart by a number.
    settings
        Passed on to :func:`unipd.solve`: ``accuracy``, ``stop``, ``tracker``, ...

    Examples
    --------
    >>> import numpy as np, unipd
    >>> loss = unipd.couplings.LeastSquares()
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.3, 0.7], loss)
    >>> outcome = unipd.compare(problem, ["pairwise", "corrective"], accuracy=1e-6)
    >>> [result.status.value for result in outcome.values()]
    ['solved', 'solved']
    """
    if not methods or isinstance(methods, str):
        raise InvalidInput("methods", "a list of methods", repr(methods))
    results: dict[str, Result] = {}
    for method in methods:
        result = solve(problem, method, **settings)
        name = method if isinstance(method, str) else result.method
        twins = sum(other.split(" #")[0] == name for other in results)
        results[name if twins == 0 else f"{name} #{twins + 1}"] = result
    return Comparison(results)
