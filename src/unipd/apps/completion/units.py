"""Units in which the least norm is found: those of the ratings' spread, so that tolerances mean the same in any."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from unipd._typing import FloatArray
from unipd.apps.completion.reporting import with_trivial_bound
from unipd.problem import Problem
from unipd.protocols import norm
from unipd.run import History, Result
from unipd.run.history import COLUMNS

_POWERS = {"objective": 2, "dual_bound": 2, "infeasibility": 1}
"""Powers of the unit in the columns of a history."""


def unit_of(target: FloatArray) -> float:
    """Return the power of two nearest to the root mean square of the target; 1 for zeros.

    >>> unit_of(np.array([1.2, -0.9])), unit_of(np.array([300.0])), unit_of(np.zeros(2))
    (1.0, 256.0, 1.0)
    """
    size = norm(target) / math.sqrt(target.size)
    return 2.0 ** round(math.log2(size)) if size > 0.0 else 1.0


def in_units(result: Result, unit: float, problem: Problem) -> Result:
    """Return the result for ``problem`` from that for its right-hand side over the unit.

    Points, images and multipliers grow with the unit, objective and bound with its square; gap and relative
    infeasibility stay as they were judged.
    """
    if unit == 1.0:
        return result
    judged, matrix = with_trivial_bound(result), result.x
    return replace(
        judged,
        x=replace(matrix, weights=unit * matrix.weights),
        image=unit * judged.image,
        dual=unit * judged.dual,
        objective=unit**2 * judged.objective,
        infeasibility=unit * judged.infeasibility,
        dual_bound=unit**2 * judged.dual_bound,
        history=_in_units(judged.history, unit),
        problem=problem,
    )


def _in_units(history: History, unit: float) -> History:
    rows: Any = history.table.copy()
    for name, power in _POWERS.items():
        rows[:, COLUMNS.index(name)] *= unit**power
    return History(np.asarray(rows))
