"""Every check of a problem in one report."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from unipd import validate
from unipd.doctor.adjoint import check_map
from unipd.doctor.coupling import check_coupling
from unipd.doctor.probes import random_array
from unipd.doctor.report import Check, Report, guarded
from unipd.doctor.room import check_memory
from unipd.doctor.scaling import check_scaling
from unipd.doctor.sharp import DIRECTIONS, check_sharp
from unipd.errors import InvalidInput
from unipd.problem import Problem

_POINTS = 3


def check(problem: Problem, *, seed: int = 0) -> Report:
    """Check the parts of a problem against each other: map, oracle, coupling, scaling and memory.

    Nothing is solved. The checks are random but seeded: the same seed gives the same report, except for the memory
    that the machine has left.

    Parameters
    ----------
    problem
        The problem.
    seed
        Seed of the directions and points that are tried.

    Examples
    --------
    >>> import unipd, unipd.doctor
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    >>> report = unipd.doctor.check(problem)
    >>> report.ok, report["adjoint"].outcome
    (True, 'pass')
    """
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", "a unipd.Problem", validate.described(problem))
    generator = np.random.default_rng(seed)
    duals = [random_array(generator, problem.dual_shape, problem.dtype) for _ in range(DIRECTIONS)]
    duals.append(np.zeros(problem.dual_shape, problem.dtype))
    scale = max(1.0, problem.norm_b) / max(1.0, problem.b.size**0.5)
    return Report(
        (
            *guarded("adjoint", lambda: _check_oracle_and_map(problem, duals, seed)),
            *check_coupling(problem.coupling, problem.dual_shape, problem.dtype, seed=seed, scale=scale),
            *guarded("scaling", lambda: check_scaling(problem, seed=seed)),
            *check_memory(problem),
        )
    )


def _check_oracle_and_map(problem: Problem, duals: list[Any], seed: int) -> Iterator[Check]:
    """Check the oracle at the directions -A^* lam of a run, and the map at points such as the oracle returns."""
    directions = [problem.map.adjoint(-dual) for dual in duals]
    points: list[Any] = []
    with contextlib.suppress(Exception):  # check_sharp reports what the oracle raises
        points += [problem.sharp(direction).atom for direction in directions[:_POINTS]]
    yield from check_map(problem.map, points, seed=seed)
    yield from check_sharp(problem.sharp, directions, seed=seed)
