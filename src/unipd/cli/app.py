"""The command group and its help; the module of a command is imported when the command runs."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from unipd._util.printing import print_to_stderr
from unipd._version import __version__
from unipd.cli import commands, runtime

_UsageError: Any = typer.BadParameter.__mro__[1]
_HELP = """Universal primal-dual convex optimisation with linear minimization oracles and certified accuracy."""
_CODES = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in runtime.MEANINGS.items())
_EPILOG = f"""Exit codes:
{_CODES}

With --json -, standard output holds one JSON object and nothing else.
Shell completion: unipd --install-completion
"""


class _Help:
    """Help that ends with a footer as it is written."""

    footer = ""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with paragraphs that the terminal wraps, then the footer."""
        command: Any = self
        command.help = unwrap_paragraphs(command.help or "")
        for parameter in command.get_params(ctx):
            if parameter.param_type_name == "option" and parameter.is_flag:
                parameter.metavar = ""  # a switch has no value
        super().format_help(ctx, formatter)  # type: ignore[misc]
        formatter.write(self.footer)


def with_examples(kind: type[TyperCommand] | type[TyperGroup], *examples: str) -> Any:
    """Return a class of commands (or groups of them) whose help ends with examples."""
    footer = "\n".join([" Examples:", *(f"   {line}" for line in examples), ""])
    return type(kind.__name__, (_Help, kind), {"footer": footer})


def unwrap_paragraphs(text: str) -> str:
    r"""Join the lines of every paragraph, to be wrapped by the terminal.

    >>> unwrap_paragraphs("One\ntwo.\n\nThree\nfour.")
    'One two.\n\nThree four.'
    """
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


class Stub(TyperCommand):
    """A command with its name and one line of help; its module is not imported yet."""

    def __init__(self, entry: commands.Entry) -> None:
        super().__init__(entry.name, help=entry.help, rich_help_panel=entry.panel)
        self.entry = entry

    def load(self) -> Any:
        """Import the module and return its command."""
        found = vars(import_module(self.entry.module))[self.entry.name]
        if isinstance(found, typer.Typer):
            app = found
        else:
            app = typer.Typer(add_completion=False, rich_markup_mode="rich")
            app.command(self.entry.name, cls=with_examples(TyperCommand, *found.examples))(found)
        loaded: Any = get_command(app)
        loaded.name = self.name
        return loaded


class Group(_Help, TyperGroup):
    """The commands by name; :meth:`main` always ends with a documented exit code."""

    footer = _EPILOG

    def __init__(self, **settings: Any) -> None:
        settings["commands"] = {entry.name: Stub(entry) for entry in commands.ENTRIES}
        super().__init__(**settings)
        self.has_ended = False

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """Find the command and import its module."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, Stub) else command, rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and note that it has ended by itself."""
        code = super().invoke(ctx)
        self.has_ended = True
        return code

    def main(self, args: Sequence[str] | None = None, *rest: Any, standalone_mode: bool = True, **settings: Any) -> Any:
        """Run a command and exit with its code (return it if not ``standalone_mode``)."""
        arguments = sys.argv[1:] if args is None else list(args)
        debug = "--debug" in arguments
        self.has_ended = False
        try:
            code = super().main(arguments, *rest, standalone_mode=False, **settings)
            if code == runtime.INTERRUPTED and not self.has_ended:  # Typer turns Ctrl-C into this code, silently
                code = runtime.report_error(KeyboardInterrupt(), debug=debug)
        except _UsageError as error:
            code = _report_usage_error(error, debug=debug)
        except BrokenPipeError:
            code = _leave_closed_pipe()
        except (Exception, KeyboardInterrupt) as error:
            code = runtime.report_error(error, debug=debug)
        code = code if isinstance(code, int) else runtime.SOLVED
        if standalone_mode:
            sys.exit(code)
        return code


def _leave_closed_pipe() -> int:
    """Exit silently when the reader closes the pipe (``unipd show run.npz | head``)."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return runtime.UNEXPECTED


def _report_usage_error(error: Any, *, debug: bool) -> int:
    """Print a usage error in one line."""
    if debug:
        runtime.print_traceback(error)
    where = error.ctx.command_path if error.ctx is not None else "unipd"
    message = "Missing command" if type(error).__name__ == "NoArgsIsHelpError" else error.format_message()
    message = message.replace("Value error, ", "").replace(" (env var: 'None')", "")  # words of some Typer versions
    message = " ".join(message.split()).rstrip(".")
    print_to_stderr(f"{where}: {message} (see {where} --help)")
    return runtime.BAD_INPUT


app = typer.Typer(name="unipd", cls=Group, help=_HELP, rich_markup_mode="rich", pretty_exceptions_enable=False)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        print(f"unipd {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Accept the options before a command."""


_options.__doc__ = _HELP


def command_line() -> Any:
    """Return the whole command line as one command."""
    return get_command(app)
