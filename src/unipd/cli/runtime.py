"""A command in progress: exit codes, messages, and its environment of threads, checkpoint, limits and log file.

Solver modules are imported inside functions: commands that solve nothing start without them.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
import traceback
import warnings
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from unipd._util.context import current_communicator, current_context
from unipd._util.printing import print_to_stderr
from unipd.cluster.environment import THREADS
from unipd.errors import InvalidInput, OracleError, UnipdError
from unipd.status import Status

SOLVED = 0
UNEXPECTED = 1
BAD_INPUT = 2
NOT_REACHED = 3
INFEASIBLE = 4
UNBOUNDED = 5
INTERRUPTED = 130

MEANINGS = {
    SOLVED: "solved (verified), nothing to solve, or a local optimum at a given rank",
    UNEXPECTED: "unexpected error",
    BAD_INPUT: "invalid input or usage",
    NOT_REACHED: "a limit, a stall or a failed line search ended the run early",
    INFEASIBLE: "the problem is proven infeasible",
    UNBOUNDED: "the objective is unbounded, along a ray that was checked",
    INTERRUPTED: "interrupted",
}

_CODES = {
    Status.SOLVED: SOLVED,
    Status.LOCAL: SOLVED,
    Status.INFEASIBLE: INFEASIBLE,
    Status.UNBOUNDED: UNBOUNDED,
    Status.INTERRUPTED: INTERRUPTED,
}

_USERS_OS_ERRORS = {
    errno.ENOENT: "no such file or folder",
    errno.EISDIR: "is a folder, not a file",
    errno.ENOTDIR: "part of the path is a file, not a folder",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "is on a read-only file system",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENXIO: "no such device",
    errno.EIO: "cannot be read or written",
    errno.ELOOP: "a symbolic link that leads to itself",
}


def exit_code(status: Status | str) -> int:
    """Return the exit code of a run that ended with this status.

    >>> exit_code("solved"), exit_code("time_limit"), exit_code("infeasible"), exit_code("unbounded")
    (0, 3, 4, 5)
    """
    return _CODES.get(Status(status), NOT_REACHED)


def explain(error: BaseException) -> tuple[str, int]:
    """Return a one-line message (where, what) and the exit code.

    >>> explain(FileNotFoundError(2, "No such file", "a.dat"))
    ('a.dat: no such file or folder', 2)
    """
    # before Python 3.12 an interrupt in the body of a class, during an import, arrives as a RuntimeError
    if isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt):
        return "interrupted", INTERRUPTED
    if isinstance(error, UnipdError):
        return _one_line(error), UNEXPECTED if isinstance(error, OracleError) else BAD_INPUT
    if isinstance(error, OSError) and error.errno in _USERS_OS_ERRORS and error.filename is not None:
        return f"{_path_text(error.filename)}: {_USERS_OS_ERRORS[error.errno]}", BAD_INPUT
    if isinstance(error, OSError) and error.errno is not None:
        unnamed = "standard output: " if error.errno == errno.ENOSPC else ""  # files are always named
        where = unnamed if error.filename is None else f"{_path_text(error.filename)}: "
        return f"{where}{error.strerror}", UNEXPECTED
    text = _one_line(error) or "no message"
    return f"unexpected {type(error).__name__}: {text} (use --debug for a traceback)", UNEXPECTED


def report_error(error: BaseException, *, debug: bool) -> int:
    """Print the message (with ``debug`` after a traceback) to standard error and return the exit code."""
    line, code = explain(error)
    if debug:
        print_traceback(error)
    current_communicator().fail(line, code)
    say(line)
    return code


@contextlib.contextmanager
def translate_argument_names(words: Mapping[str, str]) -> Generator[None]:
    """Replace argument names in errors by those of the command line.

    >>> with contextlib.suppress(InvalidInput), translate_argument_names({"noise_level": "--noise-level"}):
    ...     raise InvalidInput("noise_level", "a number")
    """
    try:
        yield
    except InvalidInput as error:
        if error.argument not in words:
            raise
        raise InvalidInput(words[error.argument], error.expected, error.got) from error


@contextlib.contextmanager
def print_warnings(category: type[Warning]) -> Generator[None]:
    """Print warnings of a category as lines on standard error."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", category)
        original = warnings.showwarning

        def show(message: Any, kind: type[Warning], *rest: Any, **named: Any) -> None:
            if issubclass(kind, category):
                say(f"warning: {message}")
            else:
                original(message, kind, *rest, **named)

        warnings.showwarning = show
        yield


def print_traceback(error: BaseException) -> None:
    """Print a traceback to standard error."""
    for line in "".join(traceback.format_exception(error)).splitlines():
        print_to_stderr(line)


def say(line: str) -> None:
    """Print one line to standard error."""
    print_to_stderr(f"unipd: {line}")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _path_text(path: Any) -> str:
    return path.decode(errors="replace") if isinstance(path, bytes) else str(path)


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
def thread_limit(count: int) -> Generator[None]:
    """Limit Numba, BLAS (given threadpoolctl) and child processes to ``count`` threads.

    >>> with thread_limit(1):
    ...     os.environ["OMP_NUM_THREADS"]
    '1'
    """
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


@contextlib.contextmanager
def run_environment(options: Any) -> Generator[None]:
    """Run a command with its checkpoint open, its memory limited, and signals that stop runs cleanly."""
    for name, value in {"--resume": options.resume, "--every": options.every}.items():
        if value and options.checkpoint is None:
            raise InvalidInput(name, "--checkpoint FILE with this option", "none")
    from unipd._util.context import stop_on_signals
    from unipd.memory import limited_memory
    from unipd.run import Checkpoint

    with contextlib.ExitStack() as stack:
        stack.enter_context(limited_memory(parse_size(options.memory_limit)))
        stack.enter_context(print_warnings(UserWarning))
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
def serve_live(port: int | None, title: str, *, quiet: bool) -> Generator[None]:
    """Serve the runs of the block on 127.0.0.1, at a free port by default."""
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


class LogFile(logging.Handler):
    """Appends records to a file; where that fails, it warns once and the command continues without it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        self._path: Path | None = path

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record unless an earlier one failed."""
        if self._path is not None:
            try:
                with open(self._path, "a", encoding="utf-8") as file:
                    file.write(f"{self.format(record)}\n")
            except OSError as error:
                say(f"warning: the log {self._path} cannot be written ({error.strerror}); continuing without it")
                self._path = None


class _Printer(logging.Handler):
    """Prints log records as lines of the command."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record to standard error."""
        say(record.getMessage())


@contextlib.contextmanager
def _handle_records(logger: logging.Logger, handler: logging.Handler, level: int) -> Generator[None]:
    """Send what a logger records from this level on to a handler alone."""
    before = logger.level, logger.propagate
    logger.setLevel(level)
    logger.propagate = False
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]


def announce_compilation() -> contextlib.AbstractContextManager[None]:
    """Print a line when the first kernel is compiled, which takes seconds; Numba keeps it for later runs."""
    return _handle_records(logging.getLogger("unipd._util.lazy"), _Printer(), logging.INFO)


@contextlib.contextmanager
def log_to(path: Path, title: str) -> Generator[None]:
    """Append progress, result and the traceback of an error to a file."""
    from unipd.run.progress import write_progress_to

    with _handle_records(LOGGER, LogFile(path), logging.DEBUG), write_progress_to(LOGGER.info):
        LOGGER.info("%s begins", title)
        LOGGER.info(describe_environment(title))
        try:
            yield
        except Exception:
            LOGGER.exception("%s fails", title)
            raise
        LOGGER.info("%s ends", title)
