"""``--log-file``: the course of a command, with times. A log that cannot be written costs a line, never the run."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Generator
from pathlib import Path

from unipd.cli.exits import say
from unipd.cli.session import about

LOGGER = logging.getLogger("unipd.cli")
LOGGER.addHandler(logging.NullHandler())


class LogFile(logging.FileHandler):
    """A log file that says once that it cannot be written, and is silent from then on."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, encoding="utf-8", delay=True)
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        self._path, self._given_up = path, False

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, unless an earlier one could not be written."""
        if not self._given_up:
            try:
                super().emit(record)
            except OSError as error:
                self._give_up(error)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (the name is logging's)
        """Take note of what emitting a record raised."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
            return
        self._give_up(error)

    def close(self) -> None:
        """Close the file; what could not be written is lost."""
        try:
            super().close()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        if not self._given_up:
            self._given_up = True
            say(f"warning: the log {self._path} cannot be written ({error.strerror}); the command goes on without it")


@contextlib.contextmanager
def logged_to(path: Path | None, title: str) -> Generator[None]:
    """Append the command's course (progress of its runs, result, the traceback of what ends it) to a file."""
    if path is None:
        yield
        return
    from unipd.run.watching import progress_written

    handler = LogFile(path)
    level, spread = LOGGER.level, LOGGER.propagate
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.DEBUG)
    LOGGER.propagate = False
    try:
        LOGGER.info("%s begins", title)
        LOGGER.info("%s", about(title))
        with progress_written(lambda line: LOGGER.info("%s", line)):
            yield
        LOGGER.info("%s ends", title)
    except Exception:
        LOGGER.exception("%s fails", title)
        raise
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)
        LOGGER.propagate = spread
        handler.close()
