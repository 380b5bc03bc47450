"""Replicates of a bootstrap that are done, kept in a file beside the checkpoint."""

from __future__ import annotations

import contextlib
import threading
import time
import warnings
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from unipd._typing import Array, FloatArray
from unipd._version import __version__
from unipd.errors import FileFormatError
from unipd.run import interruption
from unipd.run.checkpoint import Checkpoint, CheckpointWarning, checkpoint_for
from unipd.run.checkpoint.file import read_checkpoint, remove_leftovers, unusable, write_checkpoint
from unipd.run.checkpoint.fingerprint import digest_of
from unipd.team import team

Rows = dict[int, FloatArray]
"""Figures of each replicate by its number."""


def replicates_file(checkpoint: Path) -> Path:
    """Return where the replicates beside a checkpoint are.

    >>> replicates_file(Path("run.ckpt")).name
    'run.ckpt.replicates'
    """
    return checkpoint.with_name(f"{checkpoint.name}.replicates")


def found_replicates(checkpoint: Path) -> dict[str, Rows]:
    """Return the replicates beside a checkpoint by the digest of what they depend on; raise when they are no good."""
    return team().first(lambda: _read(replicates_file(checkpoint)))


@contextlib.contextmanager
def kept_replicates(*marks: Any) -> Generator[Replicates]:
    """Give the replicates done so far: those beside the checkpoint of the context, if any, with the same ``marks``.

    >>> with kept_replicates("a fit") as kept:
    ...     kept.put(0, np.ones(2))
    >>> sorted(kept.rows)
    [0]
    """
    with checkpoint_for(None, 0.0, False) as book:
        kept = Replicates() if book is None else _InFile(book, team().first(lambda: digest_of(__version__, *marks)))
        try:
            yield kept
        finally:
            kept.flush()


class Replicates:
    """Rows of figures by the number of the replicate, in memory."""

    def __init__(self) -> None:
        self.rows: Rows = {}

    def drawn(
        self, count: int, draw: Callable[[int], FloatArray], threads: int, progress: Callable[[int, int], Any] | None
    ) -> list[FloatArray]:
        """Return the first ``count`` replicates, those that are missing drawn; fewer when somebody asks runs to end."""
        missing, lock = [number for number in range(count) if number not in self.rows], threading.Lock()
        done = count - len(missing)

        def add(number: int) -> None:
            nonlocal done
            if interruption.requested():
                return
            row = draw(number)
            with lock:  # one at a time: whoever asks the runs to end in ``progress`` gets no replicate more
                if interruption.requested():
                    return  # the fit may have been cut short
                self.put(number, row)
                done += 1
                if progress is not None:
                    progress(done, count)

        if done and progress is not None:
            progress(done, count)
        with ThreadPoolExecutor(threads if team().size == 1 else 1) as pool:
            for _ in pool.map(add, missing):
                pass
        return [self.rows[number] for number in range(count) if number in self.rows]

    def put(self, number: int, row: FloatArray) -> None:
        """Add a replicate."""
        self.rows[number] = row

    def flush(self) -> None:
        """Write what is not in the file yet."""


class _InFile(Replicates):
    """Rows that are written as often as the checkpoint, beside it; those of other fits or seeds stay there."""

    def __init__(self, book: Checkpoint, key: str) -> None:
        self._path, self._every = replicates_file(book.path), book.every
        self._sets = found_replicates(book.path)
        self.rows = self._sets.setdefault(key, {})
        self._written, self._unwritten, self._warned = -np.inf, 0, False

    def put(self, number: int, row: FloatArray) -> None:
        """Add a replicate, and write the file when it is due."""
        super().put(number, row)
        self._unwritten += 1
        since = time.perf_counter() - self._written
        if since == np.inf or self._every.due(since, self._unwritten):
            self.flush()

    def flush(self) -> None:
        """Write the file, or warn once that this is not possible."""
        if self._unwritten and team().leads:
            try:
                self._write()
            except OSError as error:
                self._warn(error)
        self._written, self._unwritten = time.perf_counter(), 0

    def _write(self) -> None:
        arrays: list[Array] = []
        for rows in self._sets.values():
            arrays += [np.array(list(rows), np.int64), np.array(list(rows.values()), np.float64)]
        write_checkpoint(self._path, {"bootstraps": list(self._sets), "runs": []}, arrays)

    def _warn(self, error: OSError) -> None:
        if not self._warned:
            self._warned = True
            text = f"{self._path} could not be written ({error.strerror}); the bootstrap goes on, and tries again"
            warnings.warn(text, CheckpointWarning, stacklevel=2)


def _read(path: Path) -> dict[str, Rows]:
    remove_leftovers(path)
    if not path.exists():
        return {}
    try:
        header, arrays = read_checkpoint(path)
        parts = zip(header["bootstraps"], arrays[::2], arrays[1::2], strict=True)
        return {key: dict(zip(numbers.tolist(), rows, strict=True)) for key, numbers, rows in parts}
    except (KeyError, TypeError, ValueError, OSError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise unusable(path, f"the replicates cannot be read ({error})") from error
