"""The group of commands: each one's module is imported when the command runs, not before."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from unipd._version import __version__
from unipd.cli import exits
from unipd.cli.commands import Entry, available
from unipd.cli.help import Command, shortened

_UsageError: Any = typer.BadParameter.__mro__[1]
_HELP = """Universal primal-dual convex optimisation with sharp operators: large problems, certified answers."""
_CODES = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in exits.MEANINGS.items())
_EPILOG = f"""Exit codes:
{_CODES}

With --json -, standard output holds one JSON object and nothing else.
Shell completion: unipd --install-completion
"""


class Stub(TyperCommand):
    """A command that knows its name and its line of help; the rest is in a module."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry.name, help=entry.help, rich_help_panel=entry.panel)
        self.module = entry.module

    def load(self) -> Any:
        """Import the module and return its command."""
        module = import_module(self.module)
        app = getattr(module, "app", None)
        if app is None:
            app = typer.Typer(add_completion=False, rich_markup_mode="rich")
            examples = tuple(getattr(module, "EXAMPLES", ()))
            command = type("Command", (Command,), {"examples": examples})
            app.command(self.name, cls=command)(module.command)
        loaded: Any = get_command(app)
        loaded.name = self.name
        return loaded


class Group(TyperGroup):
    """The commands by name; every way out of :meth:`main` is one of the documented exit codes."""

    def __init__(self, **settings: Any) -> None:
        settings["commands"] = {entry.name: Stub(entry) for entry in available()}
        super().__init__(**settings)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of the registry."""
        return list(self.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """Find the command and import its module."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, Stub) else command, rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; Ctrl-C outside a run is told to :meth:`main`, where typer would leave without a word."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise typer.Abort from error

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, then the exit codes."""
        shortened(self, ctx)
        super().format_help(ctx, formatter)
        formatter.write(_EPILOG)

    def main(self, args: Sequence[str] | None = None, *rest: Any, standalone_mode: bool = True, **settings: Any) -> Any:
        """Run a command and leave with its exit code (return it when not ``standalone_mode``)."""
        given = sys.argv[1:] if args is None else list(args)
        debug = "--debug" in given
        try:
            code = super().main(given, *rest, standalone_mode=False, **settings)
        except typer.Abort:
            code = exits.complain(KeyboardInterrupt(), debug=debug)
        except _UsageError as error:
            code = _complain_of_usage(error, debug=debug)
        except BrokenPipeError:
            code = _leave_closed_pipe()
        except (Exception, KeyboardInterrupt) as error:
            code = exits.complain(error, debug=debug)
        code = code if isinstance(code, int) else exits.SOLVED
        if standalone_mode:
            sys.exit(code)
        return code


def _leave_closed_pipe() -> int:
    """Go quietly when the reader has left (``unipd show run.npz | head``): nobody would see a complaint."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return exits.UNEXPECTED


def _complain_of_usage(error: Any, *, debug: bool) -> int:
    """Say in one line what is wrong with the words of the command line."""
    if debug:
        traceback.print_exception(error)
    where = error.ctx.command_path if error.ctx is not None else "unipd"
    message = "Missing command" if type(error).__name__ == "NoArgsIsHelpError" else error.format_message()
    message = " ".join(message.split()).rstrip(".")
    print(f"{where}: {message} (see {where} --help)", file=sys.stderr)
    return exits.BAD_INPUT


app = typer.Typer(name="unipd", cls=Group, help=_HELP, rich_markup_mode="rich", pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"unipd {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""


_options.__doc__ = _HELP


def command_line() -> Any:
    """Return the whole command line as one command."""
    return get_command(app)
