"""The history of a run: one row an iteration, the same columns for every method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unipd import theory, validate
from unipd._typing import FloatArray
from unipd.errors import MissingExtra
from unipd.methods import State
from unipd.problem import Problem

COLUMNS = (
    "iteration",
    "seconds",
    "objective",
    "infeasibility",
    "dual_bound",
    "gap",
    "relative_infeasibility",
    "smoothness",
    "oracle_calls",
    "trials",
    "matvecs",
    "dual_step",
    "gradient_change",
)

_WHOLE = ("iteration", "oracle_calls", "trials", "matvecs")
"""Columns of whole numbers."""


class History:
    """Rows recorded by a run; columns are arrays, by name.

    >>> history = History()
    >>> len(history), history["objective"].size
    (0, 0)
    >>> history
    History(no iterations)
    """

    def __init__(self, rows: FloatArray | None = None) -> None:
        self._rows: list[tuple[float, ...]] = [] if rows is None else [tuple(row) for row in rows.tolist()]

    def record(self, problem: Problem, state: State, seconds: float) -> float:
        """Append the row of a state; return its relative gap."""
        certificate, counts, norm_b = state.certificate, state.counts, problem.norm_b
        objective, bound = certificate.objective, certificate.dual_bound
        scale = problem.loss_at_zero or problem.scale(objective)
        gap = (objective - bound) / scale if math.isfinite(objective) else math.inf
        row = (
            state.iteration,
            seconds,
            objective,
            certificate.infeasibility,
            bound,
            gap,
            certificate.infeasibility / (norm_b if norm_b > 1.0 else 1.0),
            state.smoothness,
            counts.oracle_calls,
            counts.trials,
            counts.matvecs,
            state.dual_step,
            state.gradient_change,
        )
        self._rows.append(row)
        return gap

    def first_and_last(self, column: str) -> tuple[float, float]:
        """Return a column's first and last entry."""
        place = COLUMNS.index(column)
        return self._rows[0][place], self._rows[-1][place]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        if not self._rows:
            return "History(no iterations)"
        last = dict(zip(COLUMNS, self._rows[-1], strict=True))
        return (
            f"History({len(self)} iterations, last: objective {last['objective']:.6g}, gap {last['gap']:.1e}, "
            f"infeasibility {last['relative_infeasibility']:.1e}, {last['seconds']:.3g} s)"
        )

    def __getitem__(self, column: str) -> FloatArray:
        """Return a column as an array; "nu" is the running estimate of the Hölder exponent."""
        if isinstance(column, str) and column == "nu":  # pyright: ignore[reportUnnecessaryIsInstance]
            return theory.running_exponents(self["dual_step"], self["gradient_change"])
        place = COLUMNS.index(validate.choice("column", column, (*COLUMNS, "nu")))
        return np.array([row[place] for row in self._rows], dtype=np.float64)

    @property
    def table(self) -> FloatArray:
        """All rows as one array with a column for each of ``COLUMNS``."""
        return np.array(self._rows, dtype=np.float64).reshape(-1, len(COLUMNS))

    def to_dataframe(self) -> Any:
        """Return the history as a pandas DataFrame, with the running estimate of the Hölder exponent as "nu"."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtra("pandas", "data", "a DataFrame") from error
        frame = pd.DataFrame(self.table, columns=list(COLUMNS))
        whole = {name: int for name in _WHOLE if frame[name].notna().all()}  # files of other versions may lack some
        return frame.astype(whole).assign(nu=self["nu"])


def arranged(table: FloatArray, columns: Sequence[str]) -> FloatArray:
    """Return a table that has these columns with those of today: what it lacks is nan, what is unknown is left out.

    >>> arranged(np.array([[0.5, 1.0]]), ["gap", "iteration"])[0, :2]
    array([ 1., nan])
    """
    if table.ndim != 2 or table.shape[1] != len(columns):
        raise ValueError(f"a history of shape {table.shape} has {len(columns)} names of columns")
    rows = np.full((table.shape[0], len(COLUMNS)), math.nan)
    for place, name in enumerate(COLUMNS):
        if name in columns:
            rows[:, place] = table[:, columns.index(name)]
    return rows


def relative_gap(problem: Problem, objective: float, dual_bound: float) -> float:
    """Return (objective - dual bound) / scale, scale = max(1, |objective|) or phi(-b) for a loss."""
    if not math.isfinite(objective):
        return math.inf
    return (objective - dual_bound) / problem.scale(objective)
