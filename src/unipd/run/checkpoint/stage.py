"""One run in a checkpoint file."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from unipd.errors import CheckpointMismatch, OracleError
from unipd.methods import Method
from unipd.problem import Problem
from unipd.run.checkpoint.file import unusable
from unipd.run.checkpoint.fingerprint import differences
from unipd.run.checkpoint.snapshot import Record, Snapshot, put_together, taken_apart
from unipd.team import team

if TYPE_CHECKING:
    from unipd.run.checkpoint.session import Checkpoint


class Stage:
    """One run in a checkpoint."""

    def __init__(self, book: Checkpoint, number: int, problem: Problem, marks: dict[str, Any]) -> None:
        self.number = number
        self.since_written = 0
        """Iterations that are not in the file."""
        self.restored: Snapshot | None = None
        """Where to go on from."""
        self._book, self._problem, self._marks = book, problem, marks
        self._record: Record | None = None
        self._snapshot: Snapshot | None = None

    def restore(self, record: Record, method: Method) -> None:
        """Take up a record of the file, or refuse one of another problem."""
        with self.blamed():
            differing = team().first(lambda: differences(record.fingerprint, self._marks))
        if differing:
            raise CheckpointMismatch(str(self._book.path), differing)
        with self.blamed():
            self.restored = put_together(record, self._problem, method)
        self._record = record

    @property
    def unproven(self) -> bool:
        """Whether the run goes on from the file and has not done an iteration of its own yet."""
        return self._record is not None

    @property
    def has_begun(self) -> bool:
        """Whether there is a whole iteration of it: a limit may have ended it before."""
        return self._record is not None or self._snapshot is not None

    @contextlib.contextmanager
    def blamed(self) -> Generator[None]:
        """Refuse the file for whatever goes wrong inside, but for the oracle and the memory."""
        try:
            yield
        except (OracleError, MemoryError):
            raise
        except Exception as error:
            problem = f"the checkpoint cannot be read by this version ({type(error).__name__}: {error})"
            raise unusable(self._book.path, problem) from error

    def settled(self, snapshot: Snapshot) -> None:
        """Note the state after an iteration and write it when the time has come."""
        if self._record is not None:
            self._book.goes_on(self)
        self._snapshot, self._record = snapshot, None
        self.since_written += 1
        self._book.put(self, now=False)

    def ended(self, snapshot: Snapshot) -> None:
        """Note how the run ended."""
        self._snapshot, self._record = snapshot, None
        self.since_written += 1
        self._book.put(self, now=False)

    def leave_behind(self) -> None:
        """Keep no more than the result needs: another run has begun."""
        if self._snapshot is not None:
            self._record = taken_apart(self._snapshot, self._problem, self._marks, left_behind=True)
            self._snapshot = None

    def interrupted(self) -> None:
        """Write the last whole iteration, and nothing of what comes after."""
        self._book.close()

    def record(self) -> Record:
        """Return the run as a record."""
        if self._record is not None:
            return self._record
        assert self._snapshot is not None
        return taken_apart(self._snapshot, self._problem, self._marks)
