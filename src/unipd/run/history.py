"""What a run records: one history row per iteration, what observers see of it, and the incumbent."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd import theory
from unipd._typing import FloatArray
from unipd._util import validate
from unipd._util.lazy import import_extra
from unipd.methods import Certificate, State
from unipd.methods.base import fast_replace, merit, with_point_of
from unipd.problem import Problem
from unipd.protocols import declares

COLUMNS = (
    "iteration",
    "seconds",
    "cpu_seconds",
    "objective",
    "violation",
    "dual_bound",
    "gap",
    "infeasibility",
    "smoothness",
    "oracle_calls",
    "trials",
    "matvecs",
    "dual_step",
    "gradient_change",
)
"""Columns that are recorded in every iteration."""

_WHOLE = ("iteration", "oracle_calls", "trials", "matvecs")
"""Columns of whole numbers."""


class History:
    """Rows recorded by a run; columns are arrays, by name.

    ``seconds`` is the wall time since the run began, ``cpu_seconds`` the CPU time of all its threads and processes.

    Parameters
    ----------
    rows
        A table to begin with, one row per iteration; empty by default.

    See Also
    --------
    unipd.Result, IterationInfo

    Examples
    --------
    >>> history = History()
    >>> len(history), history["objective"].size
    (0, 0)
    >>> history
    History(no iterations)
    """

    def __init__(self, rows: FloatArray | None = None) -> None:
        self._rows: list[tuple[float, ...]] = [] if rows is None else [tuple(row) for row in rows.tolist()]

    def record(self, problem: Problem, state: State, seconds: float, cpu_seconds: float = math.nan) -> float:
        """Append the row of a state, with the wall time and CPU time of the run so far; return its gap.

        Parameters
        ----------
        problem, state
            The problem and the state of its method.
        seconds, cpu_seconds
            Wall time and CPU time of the run so far.
        """
        certificate, counts = state.certificate, state.counts
        objective, bound = certificate.objective, certificate.dual_bound
        gap = certificate.gap(problem)
        row = (
            state.iteration,
            seconds,
            cpu_seconds,
            objective,
            certificate.violation,
            bound,
            gap,
            certificate.infeasibility,
            state.smoothness,
            counts.oracle_calls,
            counts.trials,
            counts.matvecs,
            state.dual_step,
            state.gradient_change,
        )
        self._rows.append(row)
        return gap

    def convert_values(self, convert: Callable[[float], float]) -> History:
        """Return a copy with objectives and bounds converted, e.g. to the sign of a maximisation.

        >>> History(np.ones((1, len(COLUMNS)))).convert_values(lambda value: -value)["dual_bound"]
        array([-1.])
        """
        table = self.table
        for place in (COLUMNS.index("objective"), COLUMNS.index("dual_bound")):
            table[:, place] = [convert(value) for value in table[:, place].tolist()]
        return History(table)

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
            f"infeasibility {last['infeasibility']:.1e}, {last['seconds']:.3g} s)"
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
        pd = import_extra("pandas", "data", "a DataFrame")
        frame = pd.DataFrame(self.table, columns=list(COLUMNS))
        whole = {name: int for name in _WHOLE if frame[name].notna().all()}  # files of other versions may lack some
        return frame.astype(whole).assign(nu=self["nu"])


def reorder_columns(table: FloatArray, columns: Sequence[str]) -> FloatArray:
    """Return a table with its columns in the order of ``COLUMNS``: missing ones are NaN, unknown ones are dropped.

    >>> reorder_columns(np.array([[0.5, 1.0]]), ["gap", "iteration"])[0, :2]
    array([ 1., nan])
    """
    if table.ndim != 2 or table.shape[1] != len(columns):
        raise ValueError(f"a history of shape {table.shape} has {len(columns)} names of columns")
    rows = np.full((table.shape[0], len(COLUMNS)), math.nan)
    for place, name in enumerate(COLUMNS):
        if name in columns:
            rows[:, place] = table[:, columns.index(name)]
    return rows


@dataclass(frozen=True)
class IterationInfo:
    """What a rule, a callback or a progress display sees after an iteration; times since the beginning of the run.

    Parameters
    ----------
    problem
        The problem being solved.
    state
        The method's state after the iteration.
    seconds
        Wall seconds.
    history
        The rows so far.
    cpu_seconds
        CPU seconds.

    See Also
    --------
    When, History, StoppingRule

    Examples
    --------
    >>> import unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), [[1.0, 0.0]], [0.5], unipd.couplings.LeastSquares())
    >>> seen = []
    >>> result = unipd.solve(problem, callback=lambda info: seen.append(info.iteration))
    >>> seen[0]
    1
    """

    problem: Problem
    state: State
    seconds: float
    history: History
    cpu_seconds: float = math.nan

    @property
    def iteration(self) -> int:
        """Iterations done."""
        return self.state.iteration

    @property
    def objective(self) -> float:
        """Objective at the current point."""
        return self.state.certificate.objective

    @property
    def dual_bound(self) -> float:
        """Best lower bound so far."""
        return self.state.certificate.dual_bound

    @property
    def gap(self) -> float:
        """(objective - dual_bound) / scale."""
        return self.state.certificate.gap(self.problem)

    @property
    def infeasibility(self) -> float:
        """Relative distance from the constraints; see :meth:`Problem.infeasibility`."""
        return self.state.certificate.infeasibility


LARGEST = 2**26
"""Bytes of a point and its image above which no second one is held: large runs must not double their memory."""


class Incumbent:
    """The best point that a run has seen, by reference: the one of least :func:`~unipd.methods.base.merit`.

    Every point is measured against the bound of the latest state. Dense points and images of more than ``most_bytes``
    are not held a second time; then the latest point is the incumbent.
    """

    def __init__(self, problem: Problem, most_bytes: int = LARGEST) -> None:
        self._problem, self._most_bytes = problem, most_bytes
        self._best: State | None = None
        self._is_small = dense_bytes(problem) <= most_bytes

    def observe(self, state: State) -> None:
        """Compare the next state with the incumbent."""
        best = self._best
        may_hold = self._is_small or _held_bytes(state) <= self._most_bytes
        if best is None or not may_hold or not self._is_better(best, state):
            self._best = state

    def _is_better(self, best: State, state: State) -> bool:
        """Whether the incumbent is strictly better than the point of the latest state."""
        here, there, bound = state.certificate, best.certificate, state.certificate.dual_bound
        if here.violation == there.violation and there.objective >= bound <= here.objective:
            return there.objective < here.objective
        return merit(self._problem, there, bound) < merit(self._problem, here, bound)

    def with_incumbent(self, state: State) -> State:
        """Return the latest state with the incumbent as its point."""
        best = self._best
        if best is None or best is state or not self._is_better(best, state):
            return state
        return with_point_of(state, best)

    def memory(self, state: State) -> tuple[Any, ...] | None:
        """Return the parts of the incumbent for a checkpoint, None when it is the latest point."""
        best = self._best
        if best is None or best.primal is state.primal:
            return None
        return best.primal, best.image, best.mean_objective, best.certificate

    def recall(self, memory: tuple[Any, ...] | None, state: State) -> None:
        """Restore what :meth:`memory` returned for the latest state."""
        self._best = state
        if memory is not None:
            primal, image, mean_objective, certificate = memory
            is_tracker = declares(primal, "mix") and declares(primal, "point")  # of any of the methods that alternate
            alike = is_tracker and getattr(image, "shape", None) == state.image.shape
            if not (alike and isinstance(certificate, Certificate)):
                raise ValueError("the incumbent is not a point of this run")
            self._best = fast_replace(
                state, primal=primal, image=image, mean_objective=mean_objective, certificate=certificate
            )


def dense_bytes(problem: Problem) -> int:
    """Return the bytes of a dense point and its image."""
    shape: Any = problem.sharp.shape
    shapes: Any = shape if isinstance(shape[0], tuple) else (shape,)
    return problem.dtype.itemsize * (sum(math.prod(each) for each in shapes) + problem.b.size)


def _held_bytes(state: State) -> int:
    """Return the bytes that holding a second point takes; lists of atoms are shared with later states."""
    return state.image.nbytes + (0 if state.primal.has_shared_atoms else state.primal.nbytes)
