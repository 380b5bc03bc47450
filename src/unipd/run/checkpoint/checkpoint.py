"""A checkpoint file in use: the runs it holds, when it is written, and when it is refused."""

from __future__ import annotations

import contextlib
import math
import os
import re
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._util import validate
from unipd._util.context import change_context, current_communicator
from unipd._util.files import is_link_loop
from unipd.errors import CheckpointMismatch, InvalidInput, OracleError, UnboundedOracle
from unipd.methods import Method, State
from unipd.methods.base import rebuild_shared
from unipd.problem import Problem
from unipd.protocols import is_user_supplied
from unipd.run.checkpoint.file import Record, package_versions, read_runs, remove_leftovers, unusable, write_checkpoint
from unipd.run.history import COLUMNS
from unipd.status import Status

DEFAULT_INTERVAL = "60s"
"""How often a checkpoint is written."""
_SECONDS = {"": 1, "s": 1, "sec": 1, "seconds": 1, "m": 60, "min": 60, "minutes": 60, "h": 3600, "hours": 3600}


@dataclass(frozen=True)
class Every:
    """An interval in seconds or in iterations; one of the two is None.

    >>> Every.parse("5m"), Every.parse("10 iterations"), Every.parse(0.5)
    (Every(seconds=300.0, iterations=None), Every(seconds=None, iterations=10), Every(seconds=0.5, iterations=None))
    """

    seconds: float | None = None
    iterations: int | None = None

    @staticmethod
    def parse(text: str | float) -> Every:
        """Return the interval of a text or a number of seconds."""
        match = re.fullmatch(r"\s*([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([a-z]*)\s*", str(text))
        with contextlib.suppress(ValueError, OverflowError):  # "1.2.3", or infinitely many iterations
            number, unit = (float(match[1]), match[2]) if match else (math.nan, "")
            if unit in ("it", "iteration", "iterations") and number == int(number) >= 1:
                return Every(iterations=int(number))
            if unit in _SECONDS and math.isfinite(number):
                return Every(seconds=number * _SECONDS[unit])
        raise InvalidInput("every", 'an interval such as "60s", "5m", "1h", "10it", or a number of seconds', repr(text))

    def due(self, seconds: float, iterations: int) -> bool:
        """Whether to write, given the seconds and iterations since the last time.

        >>> Every(seconds=60.0).due(59.0, 1000), Every(iterations=10).due(0.0, 10)
        (False, True)
        """
        return seconds >= self.seconds if self.seconds is not None else iterations >= (self.iterations or 1)


@dataclass(frozen=True)
class Snapshot:
    """A run after a complete iteration that every stopping rule has seen."""

    state: State
    rows: FloatArray | Callable[[], FloatArray]
    """The history, or a function that returns it when it is needed."""
    seconds: float
    """Time spent, earlier processes included."""
    memory: dict[str, Any]
    """What the stopping rules remember."""
    status: Status | None = None
    """How the run ended; None while it has not."""


def encode_snapshot(
    snapshot: Snapshot, problem: Problem, fingerprint: dict[str, Any], *, for_result: bool = False
) -> Record:
    """Return a snapshot as a record; ``for_result`` leaves out what only further iterations need."""
    from unipd.run.checkpoint.codec import Packer

    packer = Packer(snapshot.state.shared_objects(problem), for_result=for_result)
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
    return content, list(packer.arrays.values())


def decode_record(record: Record, problem: Problem, method: Method) -> Snapshot:
    """Return the snapshot of a record, for the problem and the method with which it was taken."""
    from unipd.run.checkpoint.codec import unpack

    shared, shape = rebuild_shared(method, problem), problem.sharp.shape
    shapes = shape if isinstance(shape[0], tuple) else (shape,)
    content, arrays = record
    state, seconds, memory, status = (
        unpack(content[name], arrays, shared, shapes) for name in ("state", "seconds", "memory", "status")
    )
    if not isinstance(state, State):
        raise ValueError("the state of a run is missing")
    state.primal.point()  # an inconsistent point raises here rather than at the end of the run
    return Snapshot(state, decode_history(content, arrays), seconds, memory, status)


def decode_history(content: dict[str, Any], arrays: Sequence[Array]) -> FloatArray:
    """Return the history of a run; one with other columns than those of this version is refused."""
    from unipd.run.checkpoint.codec import unpack

    rows, columns = unpack(content["rows"], arrays), tuple(content["columns"])
    if columns != COLUMNS or rows.shape[1:] != (len(COLUMNS),):
        raise ValueError(f"its history has the columns {', '.join(columns)}; this version has {', '.join(COLUMNS)}")
    return rows


class RunRecord:
    """One run in a checkpoint."""

    def __init__(self, checkpoint: Checkpoint, number: int, problem: Problem, fingerprint: dict[str, Any]) -> None:
        self.number = number
        self.since_written = 0
        """Iterations that are not in the file."""
        self.restored_snapshot: Snapshot | None = None
        """The state from which the run resumes."""
        self._checkpoint, self._problem, self._fingerprint = checkpoint, problem, fingerprint
        self._record: Record | None = None
        self._snapshot: Snapshot | None = None

    def restore(self, record: Record, method: Method) -> None:
        """Resume from a record of the file, or refuse one of another run."""
        from unipd.run.checkpoint.fingerprint import differences

        with self.wrap_errors():
            differing = current_communicator().on_root(lambda: differences(record[0]["fingerprint"], self._fingerprint))
        if differing:
            raise CheckpointMismatch(str(self._checkpoint.path), differing)
        if self._fingerprint["opaque"]:
            parts = " and ".join(self._fingerprint["opaque"])
            text = f"{self._checkpoint.path}: {parts} cannot be compared completely; resume only with the same objects"
            warnings.warn(text, CheckpointWarning, stacklevel=8)
        with self.wrap_errors():
            self.restored_snapshot = decode_record(record, self._problem, method)
        self._record = record

    @property
    def has_begun(self) -> bool:
        """Whether the run has a complete iteration: a limit may end it before the first."""
        return self._record is not None or self._snapshot is not None

    @contextlib.contextmanager
    def wrap_errors(self) -> Generator[None]:
        """Refuse the file for any error inside the block, except those of memory, of the disk and of users' code.

        The library's own oracles and maps fail for what the file makes of their arguments.
        """
        try:
            yield
        except (UnboundedOracle, MemoryError, OSError):
            raise
        except Exception as error:
            runs_user_code = is_user_supplied(self._problem.sharp) or is_user_supplied(self._problem.map)
            if isinstance(error, OracleError) and runs_user_code:
                raise
            problem = f"this version cannot resume from the checkpoint ({type(error).__name__}: {error})"
            raise unusable(self._checkpoint.path, problem) from error

    def save(self, snapshot: Snapshot) -> None:
        """Note the state after an iteration, or how the run ended, and write the file when it is due."""
        if self._record is not None and snapshot.status is None:
            self._checkpoint.discard_later_runs(self)
        self._snapshot, self._record = snapshot, None
        self.since_written += 1
        self._checkpoint.write_if_due(self)

    def drop_work_data(self) -> None:
        """Keep only what the result needs: another run starts."""
        if self.has_begun:
            self._record, self._snapshot = self.record(for_result=True), None

    def interrupt(self) -> None:
        """Write the last complete iteration, and nothing after it."""
        self._checkpoint.flush()
        self._checkpoint.closed = True

    def record(self, *, for_result: bool = False) -> Record:
        """Return the run as a record; what cannot be written of a resumed run came with its file."""
        if self._snapshot is None:
            assert self._record is not None
            return self._record
        with contextlib.nullcontext() if self.restored_snapshot is None else self.wrap_errors():
            return encode_snapshot(self._snapshot, self._problem, self._fingerprint, for_result=for_result)


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written; the run continues, and the previous file is intact.

    See Also
    --------
    unipd.Checkpoint

    Examples
    --------
    Make it an error where a run without checkpoints is worthless:

    >>> import warnings
    >>> warnings.simplefilter("error", CheckpointWarning)
    """


class Checkpoint:
    """A checkpoint file; as a context manager it saves every run that starts inside, one after another.

    Runs are numbered in the order in which they start. On resuming, runs that had ended return their results at once
    and the unfinished one continues, so that an application which solves several problems gets back to where it was.
    Runs in other threads are not saved.

    Parameters
    ----------
    path
        The file.
    every
        How often it is written: "60s", "5m", "10it", or a number of seconds.
    resume
        Whether to resume from the file if it exists. Otherwise an existing file is refused.

    See Also
    --------
    solve, unipd.run.checkpoint.register, unipd.errors.CheckpointMismatch

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

    def __init__(
        self, path: str | os.PathLike[str], every: str | float = DEFAULT_INTERVAL, *, resume: bool = False
    ) -> None:
        self.path = Path(path)
        self.every = Every.parse(every)
        self._runs: list[RunRecord] = []
        self.closed = False
        """Whether nothing is written any more: a run was interrupted."""
        self._written, self._warned = -np.inf, False
        self._scope: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
        self._records: list[Record] = current_communicator().on_root(lambda: _find_records(self.path, resume))

    def __enter__(self) -> Checkpoint:
        self._scope = change_context(checkpoint=self)
        self._scope.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._scope.__exit__(*error)
        self.flush()

    def begin(self, problem: Problem, method: Method, accuracy: float, tracker: Any, start: Any) -> RunRecord:
        """Return the record of the next run, with the snapshot from which it resumes if the file has one.

        The first run must be that of the file. A later run that differs starts over: a limit may have cut short what
        came before it in the file, such as a parameter search, so that another run followed.

        Parameters
        ----------
        problem, method, accuracy, tracker, start
            What the run solves, how and from where; a fingerprint of them recognises it in the file.
        """
        from unipd.run.checkpoint.fingerprint import fingerprint

        number = len(self._runs)
        if self._runs:
            self._runs[-1].drop_work_data()
        marks = fingerprint(problem, method, accuracy, tracker, start)
        run = RunRecord(self, number, problem, marks)
        if number < len(self._records):
            try:
                run.restore(self._records[number], method)
            except CheckpointMismatch:
                if number == 0:
                    raise
                self.discard_later_runs(run)
        self._runs.append(run)
        return run

    def discard_later_runs(self, run: RunRecord) -> None:
        """Discard the later runs of the file: this run is about to continue beyond its record."""
        del self._records[run.number :]

    def write_if_due(self, run: RunRecord) -> None:
        """Write the file if the interval is over, and at the first iteration to report problems early."""
        since = time.perf_counter() - self._written
        if not self.closed and (since == np.inf or self.every.due(since, run.since_written)):
            self._write(run)

    def flush(self) -> None:
        """Write the file if the last iteration is not in it."""
        if self._runs and self._runs[-1].since_written > 0 and not self.closed:
            self._write(self._runs[-1])

    def _write(self, run: RunRecord) -> None:
        if current_communicator().is_leader:
            self._save()
        self._written = time.perf_counter()
        run.since_written = 0

    def _save(self) -> None:
        arrays: list[Array] = []
        runs: list[dict[str, Any]] = []
        for content, own in (run.record() for run in self._runs if run.has_begun):
            runs.append({**content, "first": len(arrays), "count": len(own)})
            arrays += own
        written = datetime.now(timezone.utc).isoformat(timespec="seconds")
        try:
            write_checkpoint(self.path, {"versions": package_versions(), "written": written, "runs": runs}, arrays)
        except OSError as error:
            if not self._warned:
                self._warned = True
                reason = f"could not be written ({error.strerror}); the run continues and retries"
                warnings.warn(f"the checkpoint {self.path} {reason}", CheckpointWarning, stacklevel=7)


@contextlib.contextmanager
def checkpoint_for(
    given: Checkpoint | str | os.PathLike[str], every: str | float = DEFAULT_INTERVAL, resume: bool = False
) -> Generator[Checkpoint]:
    """Yield the checkpoint of a run, or of several that belong together: the object given, or one for its own file."""
    if isinstance(given, Checkpoint):
        yield given
    else:
        path = validate.path("checkpoint", given)
        own = Checkpoint(path, every, resume=validate.flag("resume", resume))
        try:
            yield own
        finally:
            own.flush()


def _find_records(path: Path, resume: bool) -> list[Record]:
    """Return the records from which to resume, none for a new file; raise when the file cannot be used."""
    _require_writable(path)
    remove_leftovers(path)
    if not path.exists():
        return []
    if not resume:
        expected = "a new file, or resume=True (--resume) to resume from an existing one"
        raise InvalidInput("checkpoint", expected, repr(str(path)))
    return read_runs(path)[1]


def _require_writable(path: Path) -> None:
    """Raise unless the file can be written."""
    if is_link_loop(path):
        raise InvalidInput("checkpoint", "a plain file", f"{path}, a symbolic link that leads to itself")
    if path.exists() and not path.is_file():
        raise InvalidInput("checkpoint", "a file", f"the {'folder' if path.is_dir() else 'device'} {str(path)!r}")
    if not path.parent.is_dir():
        raise InvalidInput("checkpoint", "a file in an existing folder (create it first)", repr(str(path)))
    trial = path.with_name(f".{path.name}.{os.getpid()}-trial.part")
    try:
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise InvalidInput("checkpoint", f"a file that can be written ({error.strerror})", repr(str(path))) from error
