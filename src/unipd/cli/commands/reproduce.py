"""``unipd reproduce``: the experiments of the paper, one subcommand each.

An experiment is a module ``unipd.cli.commands.reproduce_NAME`` with a function ``command`` (see
:mod:`unipd.cli.commands`); it joins by its name in ``FIGURES``. A name whose module does not exist (yet) is not shown.
"""

from __future__ import annotations

from importlib import import_module, util

import typer

from unipd.cli.help import Command, Commands

FIGURES = ("fig1", "fig2")


class Figures(Commands):
    """The figures by name."""

    examples = ("unipd reproduce fig1 --qubits 10 --folder out", "unipd reproduce fig2 --generated")


app = typer.Typer(add_completion=False, rich_markup_mode="rich", no_args_is_help=True, cls=Figures)


@app.callback()
def about() -> None:
    """Repeat the experiments of the paper."""


def _join(name: str, module: object) -> None:
    examples = tuple(getattr(module, "EXAMPLES", ()))
    command = type("Command", (Command,), {"examples": examples})
    app.command(name, cls=command)(module.command)  # pyright: ignore[reportAttributeAccessIssue]


for figure in FIGURES:
    place = f"unipd.cli.commands.reproduce_{figure}"
    if util.find_spec(place) is not None:
        _join(figure, import_module(place))
