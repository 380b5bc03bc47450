"""The options that commands share: one decorator gives them to a command."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Collection
from dataclasses import fields
from typing import Any, get_type_hints

from unipd.cli.declarations import declarations
from unipd.cli.exits import as_typed, say
from unipd.cli.lasting import lasting
from unipd.cli.live import served
from unipd.cli.log_file import logged_to
from unipd.cli.option_values import ALWAYS, LASTING, SOLVING, WATCHING, WRITING, Options
from unipd.cli.outputs import check_apart, check_choice
from unipd.cli.session import about, limited_threads
from unipd.errors import InvalidInput
from unipd.methods import choose
from unipd.team import team

METHODS = ("auto", *choose.METHODS)
WRITTEN = ("out", "sides", "save_data", "spectrum")
"""Options of single commands that name a file to write."""


def common_options(
    *, only: Collection[str] | None = None, methods: Collection[str] = METHODS, **defaults: Any
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command the common options: its parameter ``options`` becomes one option of the command line each.

    The command runs with the outputs checked, the threads limited and the log file open.

    Parameters
    ----------
    only
        Names of the options wanted besides ``ALWAYS``; all of them by default.
    methods
        What ``--method`` accepts, when the command has methods of its own.
    defaults
        Defaults that differ from those of :class:`Options`, e.g. ``accuracy=1e-6``.
    """
    wanted = tuple(field.name for field in fields(Options) if only is None or field.name in {*only, *ALWAYS})
    unknown = {*(only or ()), *defaults} - {field.name for field in fields(Options)}
    if unknown:
        raise InvalidInput("only", "names of common options", repr(sorted(unknown)))
    declared, standard = declarations(methods), Options(**defaults)

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        words = _words(function, wanted)

        @functools.wraps(function)
        def run(**given: Any) -> int:
            chosen = {name: given.pop(name) for name in wanted}
            options = Options(**{**defaults, **chosen})
            if not team().leads:
                options = options.silent()
            options.check()
            own = {words[name]: given[name] for name in WRITTEN if name in given}
            read = {words.get(name, name): value for name, value in given.items() if name not in WRITTEN}
            check_apart({**options.written(), **own}, read)
            name = function.__module__.rsplit(".")[-1]
            if options.verbose:
                say(about(name))
            if "method" in wanted:
                check_choice("--method", options.method, methods)
                options.check_averaging()
            page = served(options.live, options.live_port, f"unipd {name}", quiet=options.quiet)
            kept = lasting(options) if "checkpoint" in wanted else contextlib.nullcontext()
            with limited_threads(options.threads), logged_to(options.log_file, name), page, kept, as_typed(words):
                return function(**given, options=options)

        extra = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=getattr(standard, name), annotation=declared[name]
            )
            for name in wanted
        ]
        _set_signature(run, function, extra)
        return run

    return decorate


def _words(function: Callable[..., int], wanted: Collection[str]) -> dict[str, str]:
    """Return how each parameter of a command is called on the command line: PROBLEM, --noise-level."""
    words = {name: f"--{name.replace('_', '-')}" for name in wanted}
    for name, hint in get_type_hints(function, include_extras=True).items():
        declared = [part for part in getattr(hint, "__metadata__", ()) if hasattr(part, "help")]
        if declared and name != "options":
            positional = type(declared[0]).__name__ == "ArgumentInfo"
            words[name] = (declared[0].metavar or name.upper()) if positional else f"--{name.replace('_', '-')}"
    return words


def _set_signature(run: Any, function: Callable[..., int], extra: list[inspect.Parameter]) -> None:
    """Show typer the command's own parameters followed by the common ones."""
    hints = get_type_hints(function, include_extras=True)
    own = [
        parameter.replace(annotation=hints.get(name, parameter.annotation))
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "options"
    ]
    run.__signature__ = inspect.Signature([*own, *extra])
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *extra)}
    del run.__wrapped__


__all__ = ["ALWAYS", "LASTING", "METHODS", "SOLVING", "WATCHING", "WRITING", "Options", "common_options"]
