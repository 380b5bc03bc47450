"""One run as a checkpoint holds it: the state after a whole iteration, and everything that the loop remembers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import Array, FloatArray
from unipd.methods import Method, State
from unipd.methods.factored import Factored
from unipd.methods.product_factors import factors_of
from unipd.methods.rescaled import Rescaled
from unipd.problem import Problem
from unipd.run.checkpoint.fitting import require_fitting
from unipd.run.checkpoint.library import register_library
from unipd.run.checkpoint.packing import Packer, unpack
from unipd.run.history import COLUMNS, arranged
from unipd.scaling import equilibrated
from unipd.status import Status

register_library()
_COLUMNS_OF_FORMAT_1 = (
    *("iteration", "seconds", "objective", "infeasibility", "dual_bound", "gap", "relative_infeasibility"),
    *("smoothness", "oracle_calls", "trials", "matvecs", "dual_step", "gradient_change"),
)
"""Its files have no names of columns."""


@dataclass(frozen=True)
class Snapshot:
    """A run after a whole iteration that every rule has judged."""

    state: State
    rows: FloatArray | Callable[[], FloatArray]
    """The history, or a function that gives it when it is wanted."""
    seconds: float
    """Time spent, earlier processes included."""
    memory: dict[str, Any]
    """What the rules remember."""
    status: Status | None = None
    """How the run ended; None while it goes on."""


@dataclass(frozen=True)
class Record:
    """A snapshot taken apart: JSON and the arrays it refers to."""

    content: dict[str, Any]
    arrays: Sequence[Array]

    @property
    def fingerprint(self) -> dict[str, Any]:
        """What the run depends on."""
        return self.content["fingerprint"]


def taken_apart(
    snapshot: Snapshot, problem: Problem, fingerprint: dict[str, Any], *, left_behind: bool = False
) -> Record:
    """Return a snapshot as a record; of a run that was left behind only what its result needs is kept."""
    given = _given_by(snapshot.state, problem)
    packer = Packer(given, ended=left_behind)
    rows = snapshot.rows() if callable(snapshot.rows) else snapshot.rows
    content = {
        "fingerprint": fingerprint,
        "state": packer.pack(snapshot.state),
        "columns": list(COLUMNS),
        "rows": packer.pack(rows),
        "seconds": snapshot.seconds,
        "memory": packer.pack(snapshot.memory),
        "status": packer.pack(snapshot.status),
    }
    return Record(content, packer.arrays)


def put_together(record: Record, problem: Problem, method: Method) -> Snapshot:
    """Return the snapshot of a record, for the problem and the method that it was taken with."""
    given = _given_for(method, problem)
    parts = {
        name: unpack(record.content[name], record.arrays, given) for name in ("state", "seconds", "memory", "status")
    }
    _require_state_of(problem, parts["state"])
    require_fitting(Snapshot, parts)
    return Snapshot(rows=rows_of(record.content, record.arrays), **parts)


def _require_state_of(problem: Problem, state: Any) -> None:
    """Raise unless a state has finite vectors of a problem's shape."""
    if not isinstance(state, State):
        raise ValueError("the state of a run is missing")
    for vector in (state.dual, state.image, state.certificate.ray):
        if vector.shape != problem.dual_shape or not validate.all_finite(vector):
            raise ValueError("a vector of its state has another shape than b, or entries that are not finite")


def rows_of(content: dict[str, Any], arrays: Sequence[Array]) -> FloatArray:
    """Return the history of a run with the columns of today; one with columns unknown to this version is refused."""
    rows, columns = unpack(content["rows"], arrays), content.get("columns", _COLUMNS_OF_FORMAT_1)
    if not isinstance(rows, np.ndarray):
        raise ValueError("the history of a run is missing")
    unknown = [str(name) for name in columns if name not in COLUMNS]
    if unknown:
        raise ValueError(f"its history has columns that this version does not know: {', '.join(unknown)}")
    return arranged(rows, columns)


def _given_by(state: Any, problem: Problem) -> dict[str, Any]:
    """Return the objects in a state that its problem and method determine, by name; states may hold states."""
    given: dict[str, Any] = {"problem": problem}
    while state is not None:
        scaling, model = getattr(state, "scaling", None), getattr(state, "model", None)
        if scaling is not None:
            given |= {"scaling": scaling, "scaled problem": scaling.problem}
        if model is not None:
            given["factors"] = model.factors
        state = getattr(state, "inner", None)
    return given


def _given_for(method: Any, problem: Problem) -> dict[str, Any]:
    """Return the same objects made anew."""
    given: dict[str, Any] = {"problem": problem}
    while method is not None:
        scaling = equilibrated(problem) if isinstance(method, Rescaled) else None
        if scaling is not None:
            given |= {"scaling": scaling, "scaled problem": scaling.problem}
        if isinstance(method, Factored):
            given["factors"] = method.factors or factors_of(problem.sharp)
        method = getattr(method, "method", None)
    return given
