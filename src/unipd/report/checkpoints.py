"""Checkpoint files as a report reads them: the histories of their runs, without the problem."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unipd._typing import Array
from unipd.run.checkpoint.file import MAGIC, read_checkpoint, unusable
from unipd.run.checkpoint.packing import unpack
from unipd.run.checkpoint.snapshot import rows_of
from unipd.run.history import History
from unipd.status import Status


@dataclass(frozen=True)
class FromCheckpoint:
    """A run in a checkpoint, with the attributes of a result that a report reads."""

    history: History
    status: Status | None
    """How it ended; None for one that goes on, or was stopped by force."""
    versions: dict[str, str]
    saved: str
    method: str = ""
    bound_kind: str = ""
    accuracy: float = math.nan
    dual: Array | None = None
    settings: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def objective(self) -> float:
        """Objective of the last iteration."""
        return self._last("objective")

    @property
    def dual_bound(self) -> float:
        """Best bound."""
        return self._last("dual_bound")

    @property
    def gap(self) -> float:
        """Relative gap of the last iteration."""
        return self._last("gap")

    def summary(self) -> dict[str, Any]:
        """Return the figures of the last iteration."""
        names = {"infeasibility": "relative_infeasibility", "iterations": "iteration", "line_search_trials": "trials"}
        keys = ("objective", "dual_bound", "gap", "infeasibility", "iterations", "oracle_calls", "line_search_trials")
        found = {key: self._last(names.get(key, key)) for key in (*keys, "matvecs", "seconds")}
        counts = ("iterations", "oracle_calls", "line_search_trials", "matvecs")
        whole = {key: int(value) for key, value in found.items() if key in counts and math.isfinite(value)}
        return {key: value for key, value in {**found, **whole}.items() if math.isfinite(value)}

    def _last(self, column: str) -> float:
        return self.history.first_and_last(column)[1] if len(self.history) else math.nan


def is_checkpoint(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as checkpoints do."""
    with open(path, "rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


def load_checkpoint(path: str | os.PathLike[str]) -> list[FromCheckpoint]:
    """Return the runs in a checkpoint; a damaged or foreign file raises :class:`~unipd.errors.FileFormatError`."""
    header, arrays = read_checkpoint(Path(path))
    try:
        return [_run(header, run, arrays[run["first"] : run["first"] + run["count"]]) for run in header["runs"]]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise unusable(Path(path), f"the checkpoint does not hold together ({error})") from error


def _run(header: dict[str, Any], run: dict[str, Any], arrays: list[Array]) -> FromCheckpoint:
    rows, status = rows_of(run, arrays), unpack(run["status"], arrays)
    return FromCheckpoint(History(rows), status, dict(header["versions"]), str(header["written"]))
