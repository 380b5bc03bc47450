"""Neighbouring simplices of one size, with linear costs or without: all their maximisers at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from unipd import atoms, validate
from unipd._typing import Array
from unipd.protocols import SharpAnswer, SharpOracle
from unipd.sharp.linear import Linear
from unipd.sharp.simplex import Simplex

LONGEST = 1 << 13
"""Entries of a block above which what Python costs is nothing beside the search."""
_TOGETHER = 1 << 18
"""Entries that are searched together: an array of this size is made for them."""
_PRECISIONS = (np.dtype(np.float64), np.dtype(np.float32))


def runs_of(oracles: Sequence[SharpOracle]) -> list[tuple[int, int]]:
    """Return first and last (excluded) of every run of blocks that can be asked together; most blocks are alone.

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
    """Return what must agree within a run, its length first; None for a block that is asked alone."""
    simplex = _simplex(oracle)
    if type(simplex) is not Simplex or len(simplex.shape) != 1 or simplex.size > LONGEST:
        return None
    cost = oracle.cost if oracle is not simplex else None
    if cost is not None and not isinstance(cost, np.ndarray):
        return None
    return (simplex.size, simplex.scale, "" if cost is None else cost.dtype.str)


def _simplex(oracle: Any) -> Any:
    return oracle.oracle if type(oracle) is Linear else oracle
