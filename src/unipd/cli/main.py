"""Entry point of the command ``unipd``."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Generator, Sequence

from unipd._util.context import resend_lost_interrupts
from unipd._util.printing import LostStream, print_to_stderr
from unipd.cluster.environment import processes


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code.

    Without ``arguments`` it uses those of the process and handles the process's signals. If the extra ``cli`` is not
    installed, it prints one line and exits with 1.

    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    if arguments is None:
        _replace_closed_streams()
    is_single = arguments is None and processes() == 1  # mpirun handles signals itself
    with _signals() if is_single else contextlib.nullcontext():
        try:
            _run(arguments)
        except KeyboardInterrupt:  # during imports, or after the command
            print_to_stderr("unipd: interrupted")
            sys.exit(130)


def _replace_closed_streams() -> None:
    """Open standard streams that the caller closed (``2>&-``) on the null device.

    Otherwise the next file that is opened takes the place of the stream, and is written to by libraries.
    """
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stdin = sys.__stdin__ = open(os.devnull, encoding="utf-8")  # noqa: SIM115  (open until the process ends)
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stdout = sys.__stdout__ = LostStream()
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stderr = sys.__stderr__ = LostStream()


@contextlib.contextmanager
def _signals() -> Generator[None]:
    """Treat SIGTERM like SIGINT outside runs; at the end neither changes the exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with resend_lost_interrupts():
            yield
    finally:
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_IGN)


def _run(arguments: Sequence[str] | None) -> None:
    try:
        import rich  # noqa: F401  # pyright: ignore[reportUnusedImport]
        import typer  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        print_to_stderr(f'unipd: the command line needs {error.name}: pip install "unipd[cli]"')
        sys.exit(1)
    if processes() > 1:
        from unipd.cli.mpi import main as mpi_main

        mpi_main(sys.argv[1:] if arguments is None else list(arguments))
    from unipd.cli.app import command_line

    command_line().main(args=None if arguments is None else list(arguments), prog_name="unipd")
