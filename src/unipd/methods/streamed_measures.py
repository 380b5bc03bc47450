"""Objective and feasibility from ||A x - b||^2 alone, which needs no vector for the residual."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from unipd._typing import Array
from unipd.couplings import LeastSquares
from unipd.maps.chunks import available_threads, share
from unipd.methods.base import Certificate
from unipd.problem import Problem
from unipd.protocols import Tracker


def squared_certificate(
    problem: Problem, primal: Tracker, squared: float, mean_objective: float, previous: Certificate
) -> Certificate:
    """Return the previous certificate with objective and feasibility of the current xbar."""
    cost = mean_objective
    if not problem.sharp.linear and getattr(primal, "exact_objective", False):
        cost = problem.sharp.objective(primal.point())
    return measured(problem, squared, cost, previous)


def measured(problem: Problem, squared: float, cost: float, previous: Certificate) -> Certificate:
    """Return the previous certificate with objective and feasibility from f(x) and ||A x - b||^2."""
    loss = problem.coupling
    if isinstance(loss, LeastSquares):
        return replace(previous, objective=cost + 0.5 * loss.scale * squared, infeasibility=0.0)
    return replace(previous, objective=cost, infeasibility=math.sqrt(squared))


def squared_distance(first: Array, second: Array) -> float:
    """Return ||x - y||^2 of real vectors, differences as rounded and summed part by part in double precision.

    >>> squared_distance(np.array([1.0, 5.0]), np.array([4.0, 1.0]))
    25.0
    """
    from unipd.methods.streamed_kernels import PART, distance_parts

    sums = np.zeros(-(-first.size // PART))
    share(available_threads(None), lambda turn: distance_parts(turn, first, second, sums))
    return math.fsum(sums)
