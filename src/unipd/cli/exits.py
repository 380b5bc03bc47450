"""Exit codes, and one-line messages for exceptions."""

from __future__ import annotations

import contextlib
import errno
import traceback
import warnings
from collections.abc import Generator, Mapping
from typing import Any

from unipd._util.context import current_communicator
from unipd._util.printing import print_to_stderr
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
