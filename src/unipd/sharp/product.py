"""Several primal blocks: the product of sharp oracles (paper, case (c))."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

from unipd import validate
from unipd.atoms import Blocks
from unipd.described import Described
from unipd.errors import InvalidInput
from unipd.protocols import SharpAnswer, SharpOracle
from unipd.sharp.equal_simplices import answers_at, runs_of

STRENGTHS = ("rigorous", "probabilistic", "residual")
"""Kinds of certified error, strongest first; any other is taken as weaker."""


class Product(Described):
    """X = X_1 x ... x X_m with f(x) = sum_i f_i(x_i): one independent sharp operator a block.

    Parameters
    ----------
    oracles
        One sharp oracle a block.
    threads
        Blocks are evaluated by this many threads; 1 (the default) evaluates them in turn.

    Examples
    --------
    >>> import numpy as np
    >>> from unipd.sharp import Simplex
    >>> answer = Product([Simplex(2), Simplex(2)])((np.array([1.0, 0.0]), np.array([0.0, 5.0])))
    >>> answer.value
    6.0
    """

    def __init__(self, oracles: Sequence[SharpOracle], threads: int = 1) -> None:
        if not isinstance(oracles, (list, tuple)):
            raise InvalidInput("oracles", "a list of sharp oracles", validate.described(oracles))
        if not oracles:
            raise InvalidInput("oracles", "at least one sharp oracle", "an empty list")
        self.oracles = tuple(oracles)
        for oracle in self.oracles:
            if isinstance(oracle, type) or not callable(oracle) or not hasattr(oracle, "shape"):
                raise InvalidInput("oracles", "sharp oracles", validate.described(oracle))
        self.threads = validate.integer("threads", threads, minimum=1)

    @property
    def shape(self) -> tuple[Any, ...]:
        """Shapes of the blocks."""
        return tuple(oracle.shape for oracle in self.oracles)

    @property
    def exact(self) -> bool:
        """Exact when every block is."""
        return all(oracle.exact for oracle in self.oracles)

    @property
    def real_only(self) -> bool:
        """Whether a block has real points only."""
        return any(getattr(oracle, "real_only", False) for oracle in self.oracles)

    @property
    def linear(self) -> bool:
        """Linear when every block is."""
        return all(oracle.linear for oracle in self.oracles)

    @property
    def degree(self) -> float | None:
        """The blocks' common degree, or None."""
        degrees = {oracle.degree for oracle in self.oracles}
        return degrees.pop() if len(degrees) == 1 else None

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Maximise every block; values, errors and work add up."""
        return self._joined("__call__", direction, tolerance, start)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the sum of the blocks' maxima, with no atom when a block gives none."""
        return self._joined("value", direction, tolerance, start)

    def certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the blocks' maximisers with the strongest certificates that their oracles offer."""
        return self._joined("certified", direction, tolerance, start)

    def objective(self, x: Any) -> float:
        """Return sum_i f_i(x_i)."""
        pairs = zip(self.oracles, self._parts(x), strict=True)
        return sum(oracle.objective(part) for oracle, part in pairs)

    def support(self, direction: Any) -> float:
        """Return the sum of the blocks' support functions."""
        pairs = zip(self.oracles, self._parts(direction), strict=True)
        return sum(oracle.support(part) for oracle, part in pairs)

    def contains(self, x: Any, tolerance: float = 1e-9) -> bool:
        """Whether every block lies in its set."""
        pairs = zip(self.oracles, self._parts(x), strict=True)
        return all(oracle.contains(part, tolerance) for oracle, part in pairs)

    def maximum(self) -> float:
        """Return the sum of the blocks' maxima of f."""
        return sum(oracle.maximum() for oracle in self.oracles)

    def _joined(self, method: str, direction: Any, tolerance: float, start: Any) -> SharpAnswer:
        directions = self._parts(direction)
        starts = [None] * len(self.oracles) if start is None else self._parts(start)
        share = tolerance / len(self.oracles)

        def ask(index: int) -> SharpAnswer:
            oracle = getattr(self.oracles[index], method, self.oracles[index])
            return oracle(directions[index], tolerance=share, start=starts[index])

        def ask_run(run: tuple[int, int]) -> list[SharpAnswer]:
            first, last = run
            together = None
            if last - first > 1:
                together = answers_at(self.oracles[first:last], directions[first:last], peaks=method == "value")
            return together or [ask(index) for index in range(first, last)]

        if self.threads == 1:
            found = [ask_run(run) for run in self._runs]
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                found = list(pool.map(ask_run, self._runs))
        return summed_answers([answer for answers in found for answer in answers])

    @cached_property
    def _runs(self) -> list[tuple[int, int]]:
        return runs_of(self.oracles)

    def _parts(self, x: Any) -> Sequence[Any]:
        parts = x.parts if isinstance(x, Blocks) else x
        if len(parts) != len(self.oracles):
            raise InvalidInput("x", f"{len(self.oracles)} blocks", f"{len(parts)}")
        return parts


def summed_answers(answers: Sequence[SharpAnswer]) -> SharpAnswer:
    """Return the answer of all blocks together."""
    parts = tuple(answer.atom for answer in answers)
    kinds = {answer.bound for answer in answers}
    weakest = max(sorted(kinds), key=lambda kind: STRENGTHS.index(kind) if kind in STRENGTHS else len(STRENGTHS))
    return SharpAnswer(
        atom=None if any(part is None for part in parts) else Blocks(parts),
        value=sum(answer.value for answer in answers),
        objective=sum(answer.objective for answer in answers),
        error=sum(answer.error for answer in answers),
        matvecs=sum(answer.matvecs for answer in answers),
        bound=weakest,
    )
