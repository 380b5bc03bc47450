"""Exit codes, and from an exception to one line for people."""

from __future__ import annotations

import contextlib
import errno
import sys
import traceback
from collections.abc import Generator, Mapping
from typing import Any

from unipd.errors import InvalidInput, OracleError, UnipdError
from unipd.status import Status
from unipd.team import team

SOLVED = 0
UNEXPECTED = 1
BAD_INPUT = 2
NOT_REACHED = 3
INFEASIBLE = 4
INTERRUPTED = 130

MEANINGS = {
    SOLVED: "the asked accuracy was reached and verified, or nothing was to be solved",
    UNEXPECTED: "unexpected error",
    BAD_INPUT: "bad input or usage",
    NOT_REACHED: "a limit, a stall or the line search ended the run before the accuracy",
    INFEASIBLE: "the problem is proven infeasible",
    INTERRUPTED: "interrupted",
}

_USERS_OS_ERRORS = {
    errno.ENOENT: "no such file or folder",
    errno.EISDIR: "is a folder, a file is needed",
    errno.ENOTDIR: "part of the path is a file, not a folder",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "is on a read-only file system",
    errno.ENAMETOOLONG: "the name is too long",
}


def exit_code(status: Status | str) -> int:
    """Return the exit code of a run that ended with this status.

    >>> exit_code("solved"), exit_code("time_limit"), exit_code("infeasible")
    (0, 3, 4)
    """
    special = {Status.SOLVED: SOLVED, Status.INFEASIBLE: INFEASIBLE, Status.INTERRUPTED: INTERRUPTED}
    return special.get(Status(status), NOT_REACHED)


def explain(error: BaseException) -> tuple[str, int]:
    """Return one line that says what is wrong and where, and the exit code.

    >>> explain(FileNotFoundError(2, "No such file", "a.dat"))
    ('a.dat: no such file or folder', 2)
    """
    if isinstance(error, KeyboardInterrupt):
        return "interrupted", INTERRUPTED
    if isinstance(error, UnipdError):
        return _one_line(error), UNEXPECTED if isinstance(error, OracleError) else BAD_INPUT
    if isinstance(error, OSError) and error.errno in _USERS_OS_ERRORS and error.filename is not None:
        return f"{_named(error.filename)}: {_USERS_OS_ERRORS[error.errno]}", BAD_INPUT
    if isinstance(error, OSError) and error.errno is not None:
        unnamed = "standard output: " if error.errno == errno.ENOSPC else ""  # files are always named
        where = unnamed if error.filename is None else f"{_named(error.filename)}: "
        return f"{where}{error.strerror}", UNEXPECTED
    text = _one_line(error) or "no message"
    return f"unexpected {type(error).__name__}: {text} (--debug shows where)", UNEXPECTED


def complain(error: BaseException, *, debug: bool) -> int:
    """Write the line (with ``debug`` after a traceback) to standard error and return the exit code."""
    line, code = explain(error)
    if debug:
        traceback.print_exception(error)
    team().fail(line, code)
    say(line)
    return code


@contextlib.contextmanager
def as_typed(words: Mapping[str, str]) -> Generator[None]:
    """Let errors about arguments name them as the command line does.

    >>> with contextlib.suppress(InvalidInput), as_typed({"noise_level": "--noise-level"}):
    ...     raise InvalidInput("noise_level", "a number")
    """
    try:
        yield
    except InvalidInput as error:
        if error.argument not in words:
            raise
        raise InvalidInput(words[error.argument], error.expected, error.got) from error


def say(line: str) -> None:
    """Write one line of the command's own to standard error."""
    print(f"unipd: {line}", file=sys.stderr, flush=True)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _named(path: Any) -> str:
    return path.decode(errors="replace") if isinstance(path, bytes) else str(path)
