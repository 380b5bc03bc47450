"""Entry point of the command ``unipd``."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Generator, Sequence

from unipd.cluster.environment import processes


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code.

    Without arguments it runs those of the process, and takes charge of the process's signals. Without the packages of
    the extra ``cli`` this says so in one line and leaves with 1.

    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    alone = arguments is None and processes() == 1  # mpirun has signals of its own
    with _signals() if alone else contextlib.nullcontext():
        try:
            _run(arguments)
        except KeyboardInterrupt:  # while modules were being imported, or when the command was over
            print("unipd: interrupted", file=sys.stderr)
            sys.exit(130)


@contextlib.contextmanager
def _signals() -> Generator[None]:
    """Let SIGTERM interrupt as SIGINT does where no run is under way; neither changes the exit code at the end."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_IGN)


def _run(arguments: Sequence[str] | None) -> None:
    try:
        import rich  # noqa: F401  # pyright: ignore[reportUnusedImport]
        import typer  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        print(f'unipd: the command line needs {error.name}: pip install "unipd[cli]"', file=sys.stderr)
        sys.exit(1)
    if processes() > 1:
        from unipd.cli.together import main as main_together

        main_together(sys.argv[1:] if arguments is None else list(arguments))
    from unipd.cli.app import command_line

    command_line().main(args=None if arguments is None else list(arguments), prog_name="unipd")
