"""Signs of infeasibility that the certificate alone does not show."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd.methods import State
from unipd.methods.factored import FactoredState
from unipd.problem import Problem
from unipd.protocols import inner, norm
from unipd.run.moment import Moment
from unipd.scaling.row_norms import squared_norm

PROBE_EVERY = 8
"""Iterations between two looks for a ray that separates b."""
NEGLIGIBLE = 0.75
"""A^* lam counts as zero when it is eps^0.75 beside ||A|| ||lam||: 2e-12 in double precision, 6e-6 in single."""
SEPARATION = 1e3
"""Multiples of that by which lam has to separate b, relative to ||lam|| ||b||."""
PROJECTIONS = 40
"""Steps of conjugate gradients to the nearest ray that might separate."""
FIRST_PROBE = 16
"""Iteration at which a method that spares the oracle is first looked at."""
FAR = 1e-2
"""Relative infeasibility above which such a method has not asked the oracle."""


def worth_a_look(moment: Moment) -> bool:
    """Whether a separating ray should be looked for: now and then, far from feasible, where f has no maximum on X."""
    problem, state = moment.problem, moment.state
    if problem.loss is not None or state.iteration % PROBE_EVERY or problem.sharp.maximum() < math.inf:
        return False
    return state.certificate.infeasibility > FAR * max(1.0, problem.norm_b)


def is_separating(problem: Problem, dual: Array) -> bool:
    """Whether lam proves that A x - b in K has no solution x in X at all, whatever f.

    With x = (x_1, ..., x_m) that is so when A_i^* lam = 0 for every block i without bounds, and

        -<lam, b> - h(lam) - sum over the bounded blocks of sigma_{X_i}(-A_i^* lam) > 0.

    Where f has no maximum on X, no finite bound exceeds it, and such a ray is the proof. Both numbers are compared with
    what rounding makes of them, ||A|| ||lam|| and ||b|| ||lam||, so that nothing depends on the units of A, b, f or
    lam: some A within eps^0.75 ||A|| of the one given makes the proof exact. ||A|| is taken from below, by the
    length of A^* g / ||g|| for a random g.
    """
    length = norm(dual)
    if not (0.0 < length < math.inf):
        return False
    unit = dual / length
    bounded, free = _pulls(problem, -unit)
    held = [oracle.support(direction) for oracle, direction in bounded]
    margin = -inner(unit, problem.b) - problem.coupling.conjugate(unit) - sum(held)
    negligible = problem.epsilon**NEGLIGIBLE
    if not margin > SEPARATION * negligible * (problem.norm_b + sum(abs(each) for each in held)):
        return False
    generator = np.random.default_rng(0)
    probe = generator.standard_normal(problem.dual_shape).astype(problem.dtype)
    size = squared_norm(_pulls(problem, probe / norm(probe))[1], generator)
    return squared_norm(free, generator) <= negligible**2 * size


def nearest_ray(problem: Problem, dual: Array) -> Array:
    """Return lam / ||lam|| without what the blocks that have no bounds can reach: nearest to it with A_i^* lam = 0.

    A method comes near such a ray without ever meeting it. The least-squares problem min ||A_i z - lam|| over those
    blocks is solved by conjugate gradients, whose residual is the answer; A_i^* lam must be arrays.
    """
    size, in_blocks = norm(dual), isinstance(problem.sharp.shape[0], tuple)
    if not (0.0 < size < math.inf):
        return dual
    rest = dual / size
    slope = _free_arrays(problem, rest)
    if slope is None:
        return rest
    way, steep = slope, _squared(slope)
    for _ in range(min(PROJECTIONS, 2 * rest.size)):
        image = problem.map.image(way if in_blocks else next(iter(way)))
        length = inner(image, image)
        if not (steep > 0.0 and length > 0.0):
            break
        rest = rest - (steep / length) * image
        slope, before = _free_arrays(problem, rest) or slope, steep
        steep = _squared(slope)
        way = tuple(here + (steep / before) * old for here, old in zip(slope, way, strict=True))
    return rest


def _pulls(problem: Problem, dual: Array) -> tuple[list[tuple[Any, Any]], tuple[Any, ...]]:
    """Return the bounded blocks, each an oracle with A_i^* lam, and A_i^* lam of the others.

    A bounded block whose oracle is not exact counts among the others: its support function is known from below only.
    """
    oracles, directions = _blocks(problem, problem.map.adjoint(dual))
    pairs = list(zip(oracles, directions, strict=True))
    bounded = [pair for pair in pairs if _is_bounded(pair[0])]
    return bounded, tuple(direction for oracle, direction in pairs if not _is_bounded(oracle))


def _free_arrays(problem: Problem, dual: Array) -> tuple[Array, ...] | None:
    """Return A_i^* lam of the blocks without bounds, zeros in place of the others; None where one is no array."""
    oracles, directions = _blocks(problem, problem.map.adjoint(dual))
    if not all(isinstance(direction, np.ndarray) for direction in directions):
        return None
    pairs = zip(oracles, directions, strict=True)
    return tuple(0.0 * direction if _is_bounded(oracle) else direction for oracle, direction in pairs)


def _blocks(problem: Problem, direction: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    oracle: Any = problem.sharp
    return (oracle.oracles, direction) if isinstance(direction, tuple) else ((oracle,), (direction,))


def _is_bounded(oracle: Any) -> bool:
    return bool(oracle.exact) and oracle.maximum() < math.inf


def _squared(arrays: tuple[Array, ...]) -> float:
    return sum(inner(array, array) for array in arrays)


def worth_a_projection(state: State) -> bool:
    """Whether the nearest ray should be looked for as well: at iterations 32, 64, 128, ..."""
    return state.iteration > FIRST_PROBE and state.iteration & (state.iteration - 1) == 0


def worth_asking(problem: Problem, state: State) -> bool:
    """Whether the oracle should be asked at the present dual vector: the factored method does not while it is far.

    Asked at iterations 16, 32, 64, ...: of an infeasible problem the multipliers grow along a separating direction.
    """
    inner = getattr(state, "inner", state)
    if not isinstance(inner, FactoredState) or problem.loss is not None or state.iteration < FIRST_PROBE:
        return False
    far = state.certificate.infeasibility > FAR * max(1.0, problem.norm_b)
    return far and state.iteration & (state.iteration - 1) == 0
