"""A little white noise for estimates at the border of the set of states.

A fit puts eigenvalues to zero that the data cannot tell from zero. When the true state has them, each costs
fidelity of the order of its square root; when it has not, mixing in white noise of weight t costs no more than t. So
the estimate may be moved towards I/p as far as the loss allows: by a share of the loss that says nothing against it.
"""

from __future__ import annotations

import math

import numpy as np

from unipd.apps.tomography.state import QuantumState
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.problem import Problem

MOST_QUBITS = 10
"""Most qubits of an estimate with white noise: it has 2^q eigenvectors."""


def hedged(problem: Problem, state: QuantumState, share: float) -> QuantumState:
    """Return (1 - t) X + t I/p with the largest t that raises the loss by no more than ``share`` of it."""
    if problem.loss is None:
        raise InvalidInput("hedge", "0 for objectives with a noise level", f"{share:g}")
    if state.qubits > MOST_QUBITS:
        raise InvalidInput("hedge", f"0 above {MOST_QUBITS} qubits", f"{share:g}")
    unit = np.eye(state.dimension)
    white = LowRank(unit, unit, np.full(state.dimension, 1.0 / state.dimension))
    here = problem.map.image(state.low_rank) - problem.b
    there = problem.map.image(white) - problem.b
    at, half, end = (problem.loss.value(here + t * (there - here)) for t in (0.0, 0.5, 1.0))
    curvature = 2.0 * (at - 2.0 * half + end)
    weight = largest_step(end - at - curvature, curvature, share * at)
    vectors = np.concatenate([state.eigenvectors, unit], axis=1)
    return QuantumState(vectors, np.concatenate([(1.0 - weight) * state.eigenvalues, weight * white.weights]))


def largest_step(slope: float, curvature: float, room: float) -> float:
    """Return the largest t in [0, 1] with slope t + curvature t^2 <= room.

    >>> largest_step(1.0, 0.0, 0.25), largest_step(0.0, 1.0, 0.25), largest_step(-1.0, 0.5, 0.0)
    (0.25, 0.5, 1.0)
    """
    if room >= slope + curvature:
        return 1.0
    root = math.sqrt(slope * slope + 4.0 * curvature * max(room, 0.0))
    return 2.0 * room / (slope + root) if slope > 0.0 else (root - slope) / (2.0 * curvature)
