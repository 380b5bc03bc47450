"""A checkpoint file in use: which runs it has seen, when it is written, and when it is refused."""

from __future__ import annotations

import contextlib
import os
import platform
import time
import warnings
from collections.abc import Generator
from contextvars import ContextVar, Token
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from unipd._typing import Array
from unipd._version import __version__
from unipd.errors import CheckpointMismatch, InvalidInput
from unipd.methods import Method
from unipd.problem import Problem
from unipd.run.checkpoint.every import Every
from unipd.run.checkpoint.file import read_checkpoint, remove_leftovers, unusable, write_checkpoint
from unipd.run.checkpoint.fingerprint import fingerprint
from unipd.run.checkpoint.snapshot import Record
from unipd.run.checkpoint.stage import Stage
from unipd.team import team

_current: ContextVar[Checkpoint | None] = ContextVar("unipd_checkpoint", default=None)


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written; the run goes on, and the last good one is still there."""


class Checkpoint:
    """A checkpoint file; as a context it serves every run that begins inside, one after another.

    Runs are numbered in the order in which they begin. Resuming, those that had ended return their results at once
    and the one that was under way goes on, so that an application which solves several problems gets to where
    it was. Runs in other threads take no part.

    Parameters
    ----------
    path
        The file.
    every
        How often it is written: "60s", "5m", "10it", or a number of seconds.
    resume
        Whether to go on from the file if it is there. Without this a file that is there already is refused.

    Examples
    --------
    >>> import tempfile, unipd
    >>> problem = unipd.Problem(unipd.sharp.Simplex(2), np.eye(2), [0.5, 0.5], "=")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Checkpoint(f"{folder}/run.ckpt"):
    ...         short = unipd.solve(problem, "unipdgrad", accuracy=1e-3, stop=unipd.MaxIterations(3))
    ...     with Checkpoint(f"{folder}/run.ckpt", resume=True):
    ...         result = unipd.solve(problem, "unipdgrad", accuracy=1e-3)
    >>> short.iterations, result.status.value, result.iterations == len(result.history)
    (3, 'solved', True)
    """

    def __init__(self, path: str | os.PathLike[str], every: str | float = "60s", *, resume: bool = False) -> None:
        self.path = Path(path)
        self.every = Every.parse(every)
        self._stages: list[Stage] = []
        self._written, self._warned, self._closed = -np.inf, False, False
        self._token: Token[Checkpoint | None] | None = None
        self._records: list[Record] = team().first(lambda: _found(self.path, resume))

    def __enter__(self) -> Checkpoint:
        self._token = _current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._token is not None:
            _current.reset(self._token)
            self._token = None
        self.flush()

    def begin(self, problem: Problem, method: Method, accuracy: float, tracker: Any, start: Any) -> Stage:
        """Return the next run's stage, with the snapshot to go on from if the file has one.

        The first run must be that of the file. A later one that is another begins anew: a limit may have cut short what
        went before it in the file, the search of a parameter say, so that something else came next.
        """
        number = len(self._stages)
        if self._stages:
            self._stages[-1].leave_behind()
        marks = fingerprint(problem, method, accuracy, tracker, getattr(start, "dual", start))
        stage = Stage(self, number, problem, marks)
        if number < len(self._records):
            try:
                stage.restore(self._records[number], method)
            except CheckpointMismatch:
                if number == 0:
                    raise
                self.goes_on(stage)
        self._stages.append(stage)
        return stage

    def goes_on(self, stage: Stage) -> None:
        """Forget what the file has of later runs: this one goes beyond where it was."""
        del self._records[stage.number :]

    def put(self, stage: Stage, *, now: bool) -> None:
        """Write the file when it is due, or ``now``."""
        if self._closed or not (now or self._due(stage)):
            return
        if team().leads:
            self._save()
        self._written = time.perf_counter()
        stage.since_written = 0

    def flush(self) -> None:
        """Write the file if the last iteration is not in it."""
        if self._stages and self._stages[-1].since_written > 0 and not self._closed:
            self.put(self._stages[-1], now=True)

    def close(self) -> None:
        """Write the file and leave it as it is from now on: the run was interrupted here."""
        self.flush()
        self._closed = True

    def _due(self, stage: Stage) -> bool:
        """Whether the interval is over; the first iteration is always written, to learn early what is wrong."""
        since = time.perf_counter() - self._written
        return since == np.inf or self.every.due(since, stage.since_written)

    def _save(self) -> None:
        records = [stage.record() for stage in self._stages if stage.has_begun]
        arrays: list[Array] = []
        content: list[dict[str, Any]] = []
        for record in records:
            content.append({**record.content, "first": len(arrays), "count": len(record.arrays)})
            arrays += record.arrays
        versions = {"unipd": __version__, "python": platform.python_version()}
        versions |= {name: metadata.version(name) for name in ("numpy", "scipy", "numba")}
        written = datetime.now(timezone.utc).isoformat(timespec="seconds")
        try:
            write_checkpoint(self.path, {"versions": versions, "written": written, "runs": content}, arrays)
        except OSError as error:
            self._warn(error)

    def _warn(self, error: OSError) -> None:
        if not self._warned:
            self._warned = True
            text = (
                f"the checkpoint {self.path} could not be written ({error.strerror}); the run goes on, and tries again"
            )
            warnings.warn(text, CheckpointWarning, stacklevel=6)


@contextlib.contextmanager
def checkpoint_for(
    given: Checkpoint | str | os.PathLike[str] | None, every: str | float, resume: bool
) -> Generator[Checkpoint | None]:
    """Give the checkpoint of one run: its own file, the object handed down, the one of the context, or None."""
    if given is None:
        yield _current.get()
    elif isinstance(given, Checkpoint):
        yield given
    else:
        own = Checkpoint(given, every, resume=resume)
        try:
            yield own
        finally:
            own.flush()


def _found(path: Path, resume: bool) -> list[Record]:
    """Return the records to go on from, none for a new file; raise when the file cannot be used."""
    _require_usable(path)
    remove_leftovers(path)
    if not path.exists():
        return []
    if not resume:
        expected = "a new file, or resume=True (--resume) to go on from the one that is there"
        raise InvalidInput("checkpoint", expected, repr(str(path)))
    return _records(path)


def _require_usable(path: Path) -> None:
    """Raise unless the file can be written."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InvalidInput("checkpoint", "a plain file", f"{path}, a device")
    if path.is_dir():
        raise InvalidInput("checkpoint", "a file", f"the folder {str(path)!r}")
    if not path.parent.is_dir():
        raise InvalidInput("checkpoint", "a file in an existing folder (create it first)", repr(str(path)))
    trial = path.with_name(f".{path.name}.{os.getpid()}-trial.part")
    try:
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise InvalidInput("checkpoint", f"a file that can be written ({error.strerror})", repr(str(path))) from error


def _records(path: Path) -> list[Record]:
    header, arrays = read_checkpoint(path)
    try:
        return [Record(run, arrays[run["first"] : run["first"] + run["count"]]) for run in header["runs"]]
    except (KeyError, TypeError) as error:
        raise unusable(path, f"the checkpoint does not hold together ({error})") from error
