"""Sphinx extension: writes ``reference/commands.md``, every command with its options, from the parser itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from unipd.cli.app import Stub, unwrap_paragraphs
from unipd.cli.commands import ENTRIES

HEAD = """# Commands

Generated from the parser of `unipd`. [Command line](command-line.md) explains progress, JSON, exit codes, signals and
limits.

"""


SHARED = "## Shared options\n\nThey mean the same in every command that names them.\n\n"
OFTEN = 3
"""An option of this many commands is described once, under "Shared options"."""


def render_reference() -> str:
    """Return the page: the commands and the options that they share."""
    commands = [found for entry in ENTRIES for found in find_commands(Stub(entry).load(), entry.name)]
    rows = Counter(row for name, command in commands for _, _, row in parameter_rows(name, command))
    shared: dict[str, list[str]] = {}
    for name, command in commands:
        for _, panel, row in parameter_rows(name, command):
            if rows[row] >= OFTEN and row not in shared.setdefault(panel, []):
                shared[panel].append(row)
    sections = "".join(render_command(name, command, rows) for name, command in commands)
    tables = "".join(render_table(panel, lines) for panel, lines in shared.items())
    return f"{HEAD}{sections}{SHARED}{tables}"


def find_commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield a command with its name, or its subcommands with theirs."""
    children = getattr(command, "commands", None)
    if not children:
        yield name, command
    for child in children or ():
        yield from find_commands(command.commands[child], f"{name} {child}")


def parameter_rows(name: str, command: Any) -> list[tuple[str, str, str]]:
    """Return name, panel and row of every argument and option."""
    with typer.Context(command, info_name=f"unipd {name}") as context:
        return [
            (
                part.opts[0],
                "Arguments" if part.param_type_name == "argument" else part.rich_help_panel or "Options",
                render_parameter(part, context),
            )
            for part in command.get_params(context)
            if "--help" not in part.opts
        ]


def render_command(name: str, command: Any, rows: Counter[str]) -> str:
    """Return the section of a command; ``rows`` counts the rows of all commands."""
    with typer.Context(command, info_name=f"unipd {name}") as context:
        usage = command.get_usage(context).removeprefix("Usage: ")
    own: dict[str, list[str]] = {}
    also: list[str] = []
    for option, panel, row in parameter_rows(name, command):
        if rows[row] < OFTEN:
            own.setdefault(panel, []).append(row)
        else:
            also.append(f"`{option}`")
    examples = [line.strip() for line in getattr(command, "footer", "").splitlines()[1:] if line.strip()]
    parts = [f"## unipd {name}\n\n{escape(unwrap_paragraphs(command.help or ''))}\n\n```text\n{usage}\n```\n\n"]
    parts += [render_table(panel, lines) for panel, lines in own.items()]
    parts += [f"[Shared](#shared-options): {', '.join(also)}.\n\n"] if also else []
    parts += ["\n".join(["```sh", *examples, "```\n\n"])] if examples else []
    return "".join(parts)


def render_table(panel: str, rows: list[str]) -> str:
    """Return the table of a panel's arguments or options; nothing without any."""
    return "\n".join([f"| {panel} | | default |", "|---|---|---|", *rows, "\n"]) if rows else ""


def render_parameter(parameter: Any, context: Any) -> str:
    """Return the row of an option or argument."""
    is_argument = parameter.param_type_name == "argument"
    names = [str(parameter.metavar or parameter.name).upper()] if is_argument else [*parameter.opts]
    default = parameter.get_default(context)
    shown = "" if default in (None, (), False, "") or callable(default) else f"`{default}`"
    help_text = escape(" ".join((parameter.help or "").split()))
    return f"| {', '.join(f'`{name}`' for name in names)} | {help_text} | {shown} |"


def escape(text: str) -> str:
    """Return text in which Markdown finds no markup."""
    return "".join("\\" + letter if letter in r"\*_|<>[]$~`" else letter for letter in text)


def write_reference(app: Any) -> None:
    """Write the page into the sources, unless it is up to date."""
    page, text = Path(app.srcdir) / "reference" / "commands.md", render_reference()
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.parent.mkdir(exist_ok=True)
        page.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Register the extension; the page is written before sources are read."""
    app.connect("builder-inited", write_reference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
