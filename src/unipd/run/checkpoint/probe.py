"""Some numbers that tell problems apart when their code cannot be compared."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unipd.problem import Problem
from unipd.protocols import inner, norm

_SEED = 20
_TOLERANCE = 1e-6
"""Relative difference of probes that counts as none: an oracle of the user's own may round differently each time."""


def probed(problem: Problem) -> list[float | str]:
    """Return numbers that oracle, map and coupling give at a dual vector drawn with a fixed seed."""
    rng = np.random.default_rng(_SEED)
    dual = rng.standard_normal(problem.dual_shape)
    if problem.dtype.kind == "c":
        dual = dual + 1j * rng.standard_normal(problem.dual_shape)
    dual = dual.astype(problem.dtype)
    return [*_of_oracle(problem, dual), *_of_coupling(problem, dual)]


def _of_oracle(problem: Problem, dual: Any) -> list[float | str]:
    try:
        answer = problem.sharp(problem.map.adjoint(-dual))
        image = np.asarray(problem.map.image(answer.atom))
        return _readable([answer.value, answer.objective, norm(image), inner(dual, image)])
    except Exception as error:  # whatever the user's code raises: it must raise the same again
        return [type(error).__name__]


def _of_coupling(problem: Problem, dual: Any) -> list[float | str]:
    if problem.loss is not None:
        return _readable([problem.loss.value(dual)])
    return _readable([problem.coupling.distance(dual)])


def _readable(numbers: list[float]) -> list[float | str]:
    return [float(number) if math.isfinite(number) else str(number) for number in numbers]


def agree(here: Any, there: Any) -> bool:
    """Whether two probes are equal up to rounding.

    >>> agree([1.0, "inf"], [1.0 + 1e-9, "inf"]), agree([1.0], [1.1]), agree(None, None)
    (True, False, True)
    """
    if not (isinstance(here, list) and isinstance(there, list)) or len(here) != len(there):
        return here == there
    return all(_close(a, b) for a, b in zip(here, there, strict=True))


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= _TOLERANCE * max(1.0, abs(a), abs(b))
    return a == b
