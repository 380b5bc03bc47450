"""Entry point of the command ``unipd``."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code.

    Without the packages of the extra ``cli`` this says so in one line and leaves with 1.

    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    try:
        _run(arguments)
    except KeyboardInterrupt:  # while modules were being imported
        print("unipd: interrupted", file=sys.stderr)
        sys.exit(130)


def _run(arguments: Sequence[str] | None) -> None:
    try:
        import rich  # noqa: F401  # pyright: ignore[reportUnusedImport]
        import typer  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        print(f'unipd: the command line needs {error.name}: pip install "unipd[cli]"', file=sys.stderr)
        sys.exit(1)
    from unipd.cluster.environment import processes

    if processes() > 1:
        from unipd.cli.together import main as main_together

        main_together(sys.argv[1:] if arguments is None else list(arguments))
    from unipd.cli.app import command_line

    command_line().main(args=None if arguments is None else list(arguments), prog_name="unipd")
