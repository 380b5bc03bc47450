"""How ``--help`` looks: readable at 80 columns, with examples at its end."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

_LABELS: dict[str, str] = {"int": "N", "float": "X", "Path": "FILE", "path": "FILE", "dir": "FOLDER", "str": "TEXT"}
"""What stands for a value of each type."""


class _WithExamples:
    """Help that ends with examples."""

    examples: tuple[str, ...] = ()

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, then the examples."""
        shortened(self, ctx)
        super().format_help(ctx, formatter)  # type: ignore[misc]
        if self.examples:
            formatter.write("\n".join([" Examples:", *(f"   {line}" for line in self.examples), ""]))


class Command(_WithExamples, TyperCommand):
    """A command whose help ends with examples."""


class Commands(_WithExamples, TyperGroup):
    """A group of commands whose help ends with examples."""


def shortened(command: Any, ctx: Any) -> None:
    """Make a command's help fit narrow terminals."""
    command.help = flowing(command.help or "")
    for parameter in command.get_params(ctx):
        _shorten(parameter, ctx)


def flowing(text: str) -> str:
    r"""Return a text whose paragraphs are one line each, to be wrapped where the terminal ends.

    >>> flowing("One\ntwo.\n\nThree\nfour.")
    'One two.\n\nThree four.'
    """
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _shorten(parameter: Any, ctx: Any) -> None:
    """Let the column of types take a word: N in the place of ``<int range> [x>=1]``, nothing for a switch.

    Typer gives that column what the longest entry asks for, and leaves the descriptions a few words a line. A limit
    that is overstepped is named in the complaint.
    """
    argument = getattr(parameter, "param_type_name", "") == "argument"
    if argument and parameter.metavar is None:
        parameter.metavar = str(parameter.name).upper()
    label = None if argument or getattr(parameter, "is_flag", False) else _label(parameter, ctx)
    parameter.display_type_rich = lambda ctx: label
    parameter._get_number_range_help_str = lambda: None


def _label(parameter: Any, ctx: Any) -> str:
    if parameter.metavar is not None:
        return str(parameter.metavar)
    word = str(parameter.display_type(ctx)).strip("<>").split()[0] if hasattr(parameter, "display_type") else ""
    return _LABELS.get(word, word.upper())


__all__ = ["Command", "Commands", "flowing", "shortened"]
