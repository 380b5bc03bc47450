"""Sphinx extension: writes ``reference/commands.md``, every command with its options, from the parser itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from unipd.cli.app import Stub, unwrap_paragraphs
from unipd.cli.commands import ENTRIES
from unipd.cli.exits import MEANINGS

HEAD = """# Commands

Generated from the parser of `unipd`. The [guide](../command-line.md) explains progress, JSON, signals and limits.

"""


def render_reference() -> str:
    """Return the page."""
    codes = "".join(f"| {code} | {meaning} |\n" for code, meaning in MEANINGS.items())
    commands = "\n".join("\n".join(render_command(Stub(entry).load(), entry.name)) for entry in ENTRIES)
    return f"{HEAD}{commands}\n## Exit codes\n\n| code | meaning |\n|---|---|\n{codes}"


def render_command(command: Any, name: str, heading: str = "##") -> Iterator[str]:
    """Yield the lines of a command's section, and of those of its subcommands."""
    with typer.Context(command, info_name=f"unipd {name}") as context:
        yield from (f"{heading} unipd {name}", "", escape(unwrap_paragraphs(command.help or "")), "")
        if getattr(command, "commands", None):
            for child in command.commands:
                yield from render_command(command.commands[child], f"{name} {child}", heading + "#")
            return
        yield from ("```text", command.get_usage(context).removeprefix("Usage: "), "```", "")
        panels: dict[str, list[Any]] = {}
        for parameter in command.get_params(context):
            if "--help" not in parameter.opts:
                panel = "Arguments" if parameter.param_type_name == "argument" else parameter.rich_help_panel
                panels.setdefault(panel or "Options", []).append(parameter)
        for panel, parameters in panels.items():
            yield from (f"| {panel} | | default |", "|---|---|---|")
            yield from (render_parameter(parameter, context) for parameter in parameters)
            yield ""
        examples = [line.strip() for line in getattr(command, "footer", "").splitlines()[1:] if line.strip()]
        if examples:
            yield from ("```sh", *examples, "```", "")


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
