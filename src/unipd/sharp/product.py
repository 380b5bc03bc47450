"""Several primal blocks: the product of sharp oracles (paper, case (c)); equal simplices are evaluated together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array
from unipd._util import validate
from unipd._util.printing import ReprMixin
from unipd.atoms import Blocks
from unipd.errors import InvalidInput
from unipd.protocols import OracleDefaults, SharpAnswer, SharpOracle
from unipd.sharp.base import as_oracle
from unipd.sharp.coordinates import join_coordinates
from unipd.sharp.linear import Linear
from unipd.sharp.simplex import Simplex
from unipd.sharp.spectral.factors import ProductFactors
from unipd.spectral import weakest_bound

LONGEST = 1 << 13
"""Entries of a block above which Python's overhead is negligible compared with the search."""
_TOGETHER = 1 << 18
"""Entries that are searched together: an array of this size is made for them."""
_PRECISIONS = (np.dtype(np.float64), np.dtype(np.float32))


def runs_of(oracles: Sequence[SharpOracle]) -> list[tuple[int, int]]:
    """Return first and last (excluded) of every run of blocks that share one call; most blocks are alone.

    >>> runs_of([Simplex(2), Simplex(2), Simplex(3)])
    [(0, 2), (2, 3)]
    """
    runs = list[tuple[int, int]]()
    for kind, members in groupby(range(len(oracles)), key=lambda place: _kind(oracles[place])):
        places = list(members)
        step = 1 if kind is None else max(1, _TOGETHER // kind[0])
        runs += [(first, min(first + step, places[-1] + 1)) for first in range(places[0], places[-1] + 1, step)]
    return runs


def answers_at(oracles: Sequence[Any], directions: Sequence[Any], *, peaks: bool) -> list[SharpAnswer] | None:
    """Return what each oracle of a run answers at its direction, or None for directions that it would refuse.

    With ``peaks`` the answers are those of ``value``: the maxima without the maximisers.

    >>> [answer.value for answer in answers_at([Simplex(2)] * 2, [np.array([1.0, 2.0]), np.zeros(2)], peaks=False)]
    [2.0, 0.0]
    """
    costs: Any = np.array([oracle.cost for oracle in oracles]) if isinstance(oracles[0], Linear) else None
    shape, dtype = oracles[0].shape, getattr(directions[0], "dtype", None)
    alike = all(type(y) is np.ndarray and y.shape == shape and y.dtype == dtype for y in directions)
    if not alike or dtype not in _PRECISIONS:
        return None
    heights = np.array(directions)
    if costs is not None:
        heights -= costs.astype(dtype, copy=False)
    return _answers(_simplex(oracles[0]), heights, costs, peaks) if validate.all_finite(heights.ravel()) else None


def _answers(simplex: Simplex, heights: Array, costs: Any, peaks: bool) -> list[SharpAnswer]:
    if peaks:
        objective = 0.0 if costs is None else math.nan
        return [SharpAnswer(None, simplex.scale * peak, objective) for peak in heights.max(axis=1).tolist()]
    best, scale = heights.argmax(axis=1), heights.dtype.type(simplex.scale)
    rows = np.arange(best.size)
    values = (heights[rows, best] * scale).tolist()
    objectives = [0.0] * best.size if costs is None else (costs[rows, best] * scale).tolist()
    points = [atoms.one_hot(simplex.shape, place, simplex.scale, heights.dtype) for place in best.tolist()]
    return [SharpAnswer(*parts) for parts in zip(points, values, objectives, strict=True)]


def _kind(oracle: Any) -> tuple[Any, ...] | None:
    """Return what must agree within a run, its length first; None for a block that is called alone."""
    simplex = _simplex(oracle)
    if type(simplex) is not Simplex or len(simplex.shape) != 1 or simplex.size > LONGEST:
        return None
    cost = oracle.cost if oracle is not simplex else None
    if cost is not None and not isinstance(cost, np.ndarray):
        return None
    return (simplex.size, simplex.scale, "" if cost is None else cost.dtype.str)


def _simplex(oracle: Any) -> Any:
    return oracle.oracle if type(oracle) is Linear else oracle


class Product(ReprMixin, OracleDefaults):
    """X = X_1 x ... x X_m with f(x) = sum_i f_i(x_i): one independent sharp operator per block.

    Parameters
    ----------
    oracles
        One sharp oracle per block.
    threads
        Blocks are evaluated by this many threads; 1 (the default) evaluates them in turn.

    Raises
    ------
    InvalidInput
        ``oracles``: expected a list of sharp oracles; ``threads``: expected an integer of at least 1.

    See Also
    --------
    Linear, unipd.maps.BlockMap, unipd.atoms.Blocks

    Notes
    -----
    In the paper: supplement, case (c).

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
            raise InvalidInput("oracles", "a list of sharp oracles", validate.describe_type(oracles))
        if not oracles:
            raise InvalidInput("oracles", "at least one sharp oracle", "an empty list")
        self.oracles: tuple[OracleDefaults, ...] = tuple(as_oracle("oracles", oracle) for oracle in oracles)
        self.real_only = any(oracle.real_only for oracle in self.oracles)
        self.has_membership_test = all(oracle.has_membership_test for oracle in self.oracles)
        self.is_strictly_convex = all(oracle.is_strictly_convex for oracle in self.oracles)
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
    def inner_parts(self) -> tuple[OracleDefaults, ...]:
        """The oracles of the blocks."""
        return self.oracles

    @property
    def block_oracles(self) -> tuple[OracleDefaults, ...]:
        """The oracles of the blocks."""
        return self.oracles

    @property
    def linear(self) -> bool:
        """Linear when every block is."""
        return all(oracle.linear for oracle in self.oracles)

    @property
    def degree(self) -> float | None:
        """The blocks' common degree, or None."""
        degrees = {oracle.degree for oracle in self.oracles}
        return degrees.pop() if len(degrees) == 1 else None

    def coordinates(self) -> Any:
        """Return the blocks' coordinates one after the other, where at most one block has a budget or a cost."""
        return join_coordinates([oracle.coordinates() for oracle in self.oracles])

    def __call__(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Maximise every block; values, errors and work add up."""
        return self._answer_blocks("__call__", direction, tolerance, start)

    def value(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the sum of the blocks' maxima, with no atom when a block gives none."""
        return self._answer_blocks("value", direction, tolerance, start)

    def call_certified(self, direction: Any, *, tolerance: float = 0.0, start: Any = None) -> SharpAnswer:
        """Return the blocks' maximisers with the strongest certificates that their oracles offer."""
        return self._answer_blocks("call_certified", direction, tolerance, start)

    def factors(self) -> Any:
        """Return the blocks' factors where one block is spectral, the others are quadratic and none has a cost."""
        parts: list[Any] = [oracle.factors() if oracle.linear_cost is None else None for oracle in self.oracles]
        known = all(part is not None and not part.is_unbounded for part in parts)
        return ProductFactors(tuple(parts)) if known and sum(part.is_spectral for part in parts) == 1 else None

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

    def _answer_blocks(self, method: str, direction: Any, tolerance: float, start: Any) -> SharpAnswer:
        directions = self._parts(direction)
        starts = [None] * len(self.oracles) if start is None else self._parts(start)
        share = tolerance / len(self.oracles)

        def ask(index: int) -> SharpAnswer:
            return getattr(self.oracles[index], method)(directions[index], tolerance=share, start=starts[index])

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
        return sum_answers([answer for answers in found for answer in answers])

    @cached_property
    def _runs(self) -> list[tuple[int, int]]:
        return runs_of(self.oracles)

    def _parts(self, x: Any) -> Sequence[Any]:
        parts = x.parts if isinstance(x, Blocks) else x
        if len(parts) != len(self.oracles):
            raise InvalidInput("x", f"{len(self.oracles)} blocks", f"{len(parts)}")
        return parts


def sum_answers(answers: Sequence[SharpAnswer]) -> SharpAnswer:
    """Return the answer of all blocks together.

    Parameters
    ----------
    answers
        The answers, in the order of the blocks.

    See Also
    --------
    Product, unipd.protocols.SharpAnswer

    Examples
    --------
    >>> import numpy as np
    >>> from unipd.sharp import Simplex
    >>> sum_answers([Simplex(2)(np.array([1.0, 0.0])), Simplex(2)(np.array([0.0, 5.0]))]).value
    6.0
    """
    parts = tuple(answer.atom for answer in answers)
    return SharpAnswer(
        atom=None if any(part is None for part in parts) else Blocks(parts),
        value=sum(answer.value for answer in answers),
        objective=sum(answer.objective for answer in answers),
        error=sum(answer.error for answer in answers),
        matvecs=sum(answer.matvecs for answer in answers),
        bound_kind=weakest_bound({answer.bound_kind for answer in answers}),
    )
