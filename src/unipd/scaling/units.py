"""The size of a solution, where f is a power of a norm: x in units in which it is about 1."""

from __future__ import annotations

import copy
from typing import cast

import numpy as np

from unipd._typing import FloatArray
from unipd.problem import Problem
from unipd.protocols import SharpOracle
from unipd.scaling.couplings import power_of_two
from unipd.sharp import PowerNorm, SeparablePower

POWERS = (PowerNorm, SeparablePower)
"""Oracles whose f is a power of a norm."""
LARGE = 1e3
"""Size of x, as the rows tell it, from which other units pay."""


def size_of_solution(problem: Problem, norms: FloatArray) -> float:
    """Return about how large x has to be for A x = b, as a power of two, where f is a power of a norm; 1 if not large.

    Such an f grows with x without end: values and multipliers of a large x leave the range in which methods start.
    """
    if not isinstance(problem.sharp, POWERS):
        return 1.0
    rows = np.where(norms > 0, norms, 1.0)
    size = float(np.linalg.norm(np.abs(problem.b.reshape(-1)).astype(np.float64) / rows))
    return float(power_of_two(np.array([size]))[0]) if size > LARGE else 1.0


def with_cost(sharp: SharpOracle, size: float) -> tuple[SharpOracle, float]:
    """Return f / c and c = size^q, which is f's own growth from x to ``size`` x.

    >>> from unipd.sharp import L2NormSquared
    >>> lighter, cost = with_cost(L2NormSquared(2), 4.0)
    >>> cost, lighter.objective(np.array([4.0, 0.0]))
    (16.0, 1.0)
    """
    if size == 1.0:
        return sharp, 1.0
    lighter = cast("PowerNorm | SeparablePower", copy.copy(sharp))
    cost = size**lighter.power
    lighter.weight = lighter.weight / cost
    return lighter, cost
