"""Bytes that the final certificate of a matrix oracle takes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd import maps
from unipd.problem import Problem
from unipd.sharp.linear import Linear
from unipd.spectral import RIGOROUS, Certification
from unipd.spectral.dense import always_dense
from unipd.spectral.gram_norm import BLOCK_ENTRIES

_WITH_ENTRIES = (maps.Sampling, maps.SdpMap, maps.DenseMatrix, maps.SparseMatrix)
"""Maps whose A^* lam knows its entries."""
_SQUARES = 3
"""Dense matrices of the order of the shorter side: the Gram matrix, a summand of it, and what LAPACK makes of it."""
_WHOLE = 2
"""Arrays of the shape of x that a certificate makes of an operator without entries."""


def certificate_bytes(problem: Problem, oracle: Any) -> int:
    """Return the bytes of the rigorous certificate of one block, 0 where it has none.

    Only the Gram matrix of the shorter side is formed, and blocks of columns; of operators that are known by their
    products alone the whole matrix, where it is small or a rigorous bound was asked for.
    """
    plan: Certification | None = getattr(oracle, "certification", None)
    if plan is None or min(oracle.shape) > plan.dense_limit:
        return 0
    item = np.result_type(problem.dtype, np.float64).itemsize
    gram = (_SQUARES * min(oracle.shape) ** 2 + 2 * min(BLOCK_ENTRIES, math.prod(oracle.shape))) * item
    if _knows_entries(problem):
        return gram
    whole = always_dense(oracle.shape, plan.dense_limit) or oracle.certify == RIGOROUS
    return gram + _WHOLE * math.prod(oracle.shape) * item if whole else 0


def _knows_entries(problem: Problem) -> bool:
    parts = getattr(problem.map, "maps", (problem.map,))
    return not _has_cost(problem.sharp) and all(isinstance(part, _WITH_ENTRIES) for part in parts)


def _has_cost(oracle: Any) -> bool:
    """Whether a cost stands beside A^* lam, so that their difference is known by its products alone."""
    inside = [*getattr(oracle, "oracles", ()), *filter(None, [getattr(oracle, "oracle", None)])]
    return isinstance(oracle, Linear) or any(map(_has_cost, inside))
