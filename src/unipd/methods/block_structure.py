"""Products of sets whose maps come in blocks: which problems have one model a block, and their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.couplings import AtLeast, AtMost, Equality, LeastSquares
from unipd.maps import BlockMap
from unipd.problem import Problem
from unipd.protocols import LinearMap, SharpOracle
from unipd.scaling import RowScaled
from unipd.sharp import Product
from unipd.sharp.wrapper import Wrapper

SIGNS: dict[type[Any], float] = {Equality: 0.0, LeastSquares: 0.0, AtMost: 1.0, AtLeast: -1.0}
"""The couplings that the master of many blocks knows, with the sign of their multipliers."""
_MOST_ROWS = 4000
_FEW_BLOCKS = 20
"""Blocks up to which any loss has one model a block, whose master is solved exactly."""


def has_blocks(problem: Problem) -> bool:
    """Whether one model a block fits: a product of sets, A given block by block, and a coupling a master knows.

    Constraints K = {0} and orthants, and least squares, may have any number of blocks; other losses a few.
    """
    oracle, inside = _bare(problem.sharp), _unscaled(problem.map)
    if not (isinstance(oracle, Product) and isinstance(inside, BlockMap)) or problem.b.size > _MOST_ROWS:
        return False
    count = len(oracle.oracles)
    known = type(problem.coupling) in SIGNS or (problem.loss is not None and count <= _FEW_BLOCKS)
    return known and count > 1 and all(part.degree != 2.0 for part in oracle.oracles)


def blocks_of(problem: Problem) -> tuple[tuple[SharpOracle, ...], tuple[LinearMap, ...]]:
    """Return the oracles and the maps of the blocks."""
    oracle, inside = _bare(problem.sharp), _unscaled(problem.map)
    assert isinstance(oracle, Product)
    assert isinstance(inside, BlockMap)
    return oracle.oracles, inside.maps


def _bare(oracle: Any) -> Any:
    return _bare(oracle.oracle) if isinstance(oracle, Wrapper) else oracle


def _unscaled(linear_map: Any) -> Any:
    return linear_map.inner if isinstance(linear_map, RowScaled) else linear_map


def block_image(whole: LinearMap, part_map: LinearMap, part: Any) -> Array:
    """Return A_i x_i in the units of the whole map."""
    image = np.asarray(part_map.image(part), whole.dtype)
    return whole.factors * image if isinstance(whole, RowScaled) else image
