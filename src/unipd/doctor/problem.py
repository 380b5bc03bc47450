"""Every check of a problem in one report: its parts, scaling and memory."""

from __future__ import annotations

import contextlib
import math
from functools import partial
from typing import Any

import numpy as np

from unipd._util import validate
from unipd.doctor.parts import check_coupling, check_map, check_sharp
from unipd.doctor.report import FAIL, NOTE, PASS, PROBES, Check, Report, failure, random_array, run_check
from unipd.errors import InvalidInput
from unipd.maps.base import row_norms_of
from unipd.memory import available_memory, forecast, size_text
from unipd.problem import Problem

ROWS = 32
"""Rows of A whose norms are compared."""
SPREAD = 1e3
"""Ratio of row norms from which on rescaling is advised."""


def check_scaling(problem: Problem, *, seed: int = 0) -> Check:
    """Compare the norms ||A^* e_i|| of rows of A (at most :data:`ROWS`, drawn at random) with each other and b.

    Where A^* lam is a large operator, its Frobenius norm is estimated from products with random vectors.

    Parameters
    ----------
    problem
        The :class:`unipd.Problem`.
    seed
        Seed of the random numbers; equal seeds give equal results.

    Returns
    -------
    Check

    See Also
    --------
    check, unipd.Rescaling

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.diag([1.0, 1e-5]), [0.5, 0.5], "=")
    >>> check_scaling(problem).outcome
    'note'
    """
    generator = np.random.default_rng(seed)
    count = math.prod(problem.dual_shape)
    chosen = generator.choice(count, size=min(ROWS, count), replace=False)
    norms = row_norms_of(problem.map, chosen, generator)
    for row, size in zip(chosen, norms, strict=True):
        if size == 0.0 and problem.loss is None and not _allows_zero_row(problem, int(row)):
            return Check("scaling", FAIL, f"row {row} of A is zero but its b = {problem.b.flat[row]:.3g}: infeasible")
    present = norms[norms > 0.0]
    if present.size == 0:
        return Check("scaling", NOTE, "every row of A that was inspected is zero")
    spread = float(present.max() / present.min())
    text = f"||row|| from {present.min():.2g} to {present.max():.2g} ({norms.size} rows), ||b|| = {problem.norm_b:.2g}"
    if spread > SPREAD:
        advice = "divide each row of A, and its b, by its norm" if problem.loss is None else "rescale the data"
        return Check("scaling", NOTE, f"{text}: {advice}")
    return Check("scaling", PASS, text)


def _allows_zero_row(problem: Problem, row: int) -> bool:
    """Whether K contains a residual with entry -b_i: a zero row does not make the problem infeasible."""
    residual = np.zeros(problem.dual_shape, problem.dtype)
    residual.reshape(-1)[row] = -problem.b.reshape(-1)[row]
    moved = residual - problem.coupling.prox(residual, 1.0)
    return abs(moved.reshape(-1)[row]) <= 1e-9 * (problem.norm_b or problem.least_scale)


TRACKERS = ("image", "atoms", "dense")
_TIGHT = 0.5
"""Fraction of the available memory from which on a forecast is called tight."""


def check_memory(problem: Problem, available: int | None = None) -> tuple[Check, ...]:
    """Compare the forecast for each tracker with the available memory.

    Parameters
    ----------
    problem
        The :class:`unipd.Problem`.
    available
        Bytes that are available; by default those of the machine, the container or the limit.

    Returns
    -------
    tuple of Check

    See Also
    --------
    check, unipd.memory.forecast

    Examples
    --------
    >>> import numpy as np, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> [check.outcome for check in check_memory(problem)]
    ['pass', 'pass', 'pass']
    """
    limit = available_memory() if available is None else available
    checks: list[Check] = []
    for tracker in TRACKERS:
        needed = forecast(problem, tracker).total
        text = f"{size_text(needed)} of {size_text(limit)}"
        outcome = PASS if needed <= _TIGHT * limit else NOTE
        if needed > limit:
            text += f': does not fit, so do not use tracker="{tracker}"'
        elif outcome == NOTE:
            text += ": tight"
        checks.append(Check(f"memory, {tracker}", outcome, text))
    return tuple(checks)


_POINTS = 3
"""Answers of the oracle at which the map is checked."""


def check(problem: Problem, *, seed: int = 0) -> Report:
    """Check the parts of a problem against each other: map, oracle, coupling, scaling and memory.

    Nothing is solved. The checks are random but seeded: the same seed gives the same report, except for the available
    memory.

    Parameters
    ----------
    problem
        The problem.
    seed
        Seed of the directions and points.

    Returns
    -------
    Report
        The checks, which print as a table; ``ok`` tells whether none failed.

    Raises
    ------
    InvalidInput
        ``problem``: expected a unipd.Problem.

    See Also
    --------
    check_sharp, check_map, check_coupling, Report

    Examples
    --------
    >>> import unipd, unipd.doctor
    >>> problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    >>> report = unipd.doctor.check(problem)
    >>> report.ok, report["adjoint"].outcome
    (True, 'pass')
    """
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", "a unipd.Problem", validate.describe_type(problem))
    generator = np.random.default_rng(seed)
    duals = [random_array(generator, problem.dual_shape, problem.dtype) for _ in range(PROBES)]
    duals.append(np.zeros(problem.dual_shape, problem.dtype))
    scale = (problem.norm_b or problem.least_scale) / max(1.0, problem.b.size**0.5)
    return Report(
        (
            *_check_oracle_and_map(problem, duals, seed),
            *check_coupling(problem.coupling, problem.dual_shape, problem.dtype, seed=seed, scale=scale),
            run_check("scaling", partial(check_scaling, problem, seed=seed)),
            *check_memory(problem),
        )
    )


def _check_oracle_and_map(problem: Problem, duals: list[Any], seed: int) -> tuple[Check, ...]:
    """Check the oracle at the directions -A^* lam of a run, and the map at points such as the oracle returns."""
    try:
        directions = [problem.map.adjoint(-dual) for dual in duals]
    except Exception as error:
        return (failure("adjoint", error),)
    points: list[Any] = []
    with contextlib.suppress(Exception):  # check_sharp reports what the oracle raises
        points += [problem.sharp(direction).atom for direction in directions[:_POINTS]]
    return check_map(problem.map, points, seed=seed) + check_sharp(problem.sharp, directions, seed=seed)
