"""The environment of a command: threads, checkpoint, memory limit, signals, live page and log file.

Solver modules are imported inside functions: commands that solve nothing start without them.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

from unipd._util.context import current_context
from unipd.cli.exits import print_warnings, say, translate_argument_names
from unipd.cluster.environment import THREADS
from unipd.errors import InvalidInput

DEFAULT_EVERY = "60s"
"""Default checkpoint interval."""
_OPTION_NAMES = {"every": "--every", "checkpoint": "--checkpoint", "path": "--checkpoint"}
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
LOGGER = logging.getLogger("unipd.cli")
LOGGER.addHandler(logging.NullHandler())


def describe_environment(name: str) -> str:
    """Return a line with command, versions, cores and threads.

    >>> describe_environment("solve").startswith("solve: unipd ")
    True
    """
    from unipd.run.checkpoint.file import package_versions

    versions = ", ".join(f"{package} {version}" for package, version in package_versions().items())
    threads = [f"{variable}={os.environ[variable]}" for variable in THREADS if variable in os.environ]
    machine = ", ".join([f"{os.cpu_count()} cores", *threads])
    return f"{name}: {versions}, {machine}"


@contextlib.contextmanager
def thread_limit(count: int | None) -> Generator[None]:
    """Limit Numba, BLAS (given threadpoolctl) and child processes to ``count`` threads; None for no limit.

    >>> with thread_limit(1):
    ...     os.environ["OMP_NUM_THREADS"]
    '1'
    """
    if count is None:
        yield
        return
    from unipd._util.threads import limit_threads

    before = {name: os.environ[name] for name in THREADS if name in os.environ}
    os.environ.update(dict.fromkeys(THREADS, str(count)))  # for child processes and libraries not loaded yet
    try:
        with limit_threads(count):
            yield
    finally:
        for name in THREADS:
            del os.environ[name]
        os.environ.update(before)


def check_run_options(options: Any) -> None:
    """Raise if checkpoint options contradict each other, or interval or memory limit cannot be parsed."""
    if options.resume and options.checkpoint is None:
        raise InvalidInput("--resume", "--checkpoint FILE with this option", "none")
    if options.every is not None:
        if options.checkpoint is None:
            raise InvalidInput("--every", "--checkpoint FILE with this option", "none")
        from unipd.run.checkpoint.checkpoint import Every

        with translate_argument_names(_OPTION_NAMES):
            Every.parse(options.every)
    parse_size(options.memory_limit)


@contextlib.contextmanager
def run_environment(options: Any) -> Generator[None]:
    """Run a command with its checkpoint open, its memory limited, and signals that stop runs cleanly."""
    from unipd.memory import limited_memory
    from unipd.run import Checkpoint, CheckpointWarning
    from unipd.run.interruption import stop_on_signals

    with contextlib.ExitStack() as stack:
        stack.enter_context(limited_memory(parse_size(options.memory_limit)))
        stack.enter_context(print_warnings(CheckpointWarning))
        stack.enter_context(stop_on_signals())
        if options.checkpoint is not None:
            with translate_argument_names(_OPTION_NAMES):
                checkpoint = Checkpoint(options.checkpoint, options.every or DEFAULT_EVERY, resume=options.resume)
            stack.enter_context(checkpoint)
        yield


def parse_size(text: str | None) -> int | None:
    """Return the number of bytes of a size such as "2GB" or "500M".

    >>> parse_size("1.5GB"), parse_size("800 MB"), parse_size(None)
    (1500000000, 800000000, None)
    """
    if text is None:
        return None
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([kmgt]?)(i?)b?\s*", text.lower())
    size = round(float(match[1]) * (1024 if match[3] else 1000) ** _POWERS[match[2]]) if match else 0
    if size < 1:
        raise InvalidInput("--memory-limit", "a size such as 500MB or 2GB", repr(text))
    return size


@contextlib.contextmanager
def serve_live(live: bool, port: int | None, title: str, *, quiet: bool) -> Generator[None]:
    """Serve the runs of the block on 127.0.0.1; a port implies ``live``, and without one a free port is used."""
    if not live and port is None:
        yield
        return
    from unipd.report.live_run import LiveServer, RunCollector
    from unipd.run.progress import watch_runs

    collector = RunCollector()
    with LiveServer(collector.runs, port or 0, title) as server, watch_runs(collector):
        if not quiet:
            say(f"live at {server.url}")
        yield


def publish_result(name: str, result: Any) -> None:
    """Show a command's result in place of its last run on the live page, if there is one."""
    collector: Any = current_context().watcher
    if collector is not None:
        collector.finish(name, result)


class LogFile(logging.FileHandler):
    """A log file that warns once if it cannot be written and then stays silent; the command continues."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, encoding="utf-8", delay=True)
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        self._path, self._has_failed = path, False

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record unless an earlier one failed."""
        if not self._has_failed:
            try:
                super().emit(record)
            except OSError as error:  # the file cannot be opened
                self._give_up(error)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (the name is logging's)
        """Handle an error raised while writing a record."""
        error = sys.exc_info()[1]
        if isinstance(error, OSError):
            self._give_up(error)
        else:
            super().handleError(record)

    def close(self) -> None:
        """Close the file, ignoring records that cannot be written."""
        try:
            super().close()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        if not self._has_failed:
            self._has_failed = True
            say(f"warning: the log {self._path} cannot be written ({error.strerror}); continuing without it")


class _Printer(logging.Handler):
    """Prints log records as lines of the command."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record to standard error."""
        say(record.getMessage())


@contextlib.contextmanager
def announce_compilation(*, quiet: bool) -> Generator[None]:
    """Print a line when the first kernel is compiled, which takes seconds; Numba keeps it for later runs."""
    if quiet:
        yield
        return
    logger, printer = logging.getLogger("unipd._util.lazy"), _Printer()
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(printer)
    try:
        yield
    finally:
        logger.removeHandler(printer)
        logger.setLevel(level)


@contextlib.contextmanager
def log_to(path: Path | None, title: str) -> Generator[None]:
    """Append progress, result and the traceback of an error to a file."""
    if path is None:
        yield
        return
    from unipd.run.progress import write_progress_to

    handler = LogFile(path)
    level, propagate = LOGGER.level, LOGGER.propagate
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.DEBUG)
    LOGGER.propagate = False
    try:
        LOGGER.info("%s begins", title)
        LOGGER.info("%s", describe_environment(title))
        with write_progress_to(lambda line: LOGGER.info("%s", line)):
            yield
        LOGGER.info("%s ends", title)
    except Exception:
        LOGGER.exception("%s fails", title)
        raise
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)
        LOGGER.propagate = propagate
        handler.close()
