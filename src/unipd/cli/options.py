"""The options that commands share, defined once."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from unipd.cli.exits import as_typed, say
from unipd.cli.lasting import EVERY, check_lasting, lasting
from unipd.cli.live import served
from unipd.cli.outputs import check_choice, check_distinct, check_outputs
from unipd.cli.session import about, limited_threads, logged_to
from unipd.errors import InvalidInput
from unipd.methods import choose
from unipd.methods.weights import WEIGHTS
from unipd.team import team

METHODS = ("auto", *choose.METHODS)
SOLVING = ("accuracy", "method", "weights", "seed", "threads", "time_limit", "max_iterations", "max_oracle_calls")
LASTING = ("memory_limit", "checkpoint", "every", "resume")
WRITING = ("out", "plot", "json", "quiet", "verbose", "log_file", "debug")
WATCHING = ("live", "live_port")
ALWAYS = ("quiet", "verbose", "log_file", "debug")
"""Options that every command has."""
_LASTING = "Checkpoint"
_EVERY = f"How often: {EVERY} (the default), 5m, 1h, 10it."
_SOLVER, _LIMITS, _OUTPUT, _LIVE = "Solver", "Limits", "Output", "Live page"


@dataclass(frozen=True)
class Options:
    """Values of the common options; a command without one of them sees its default."""

    accuracy: float = 1e-3
    method: str = "auto"
    weights: str | None = None
    seed: int = 0
    threads: int | None = None
    time_limit: float | None = None
    max_iterations: int | None = None
    max_oracle_calls: int | None = None
    memory_limit: str | None = None
    checkpoint: Path | None = None
    every: str | None = None
    resume: bool = False
    out: Path | None = None
    plot: Path | None = None
    json: str | None = None
    quiet: bool = False
    verbose: bool = False
    log_file: Path | None = None
    debug: bool = False
    live: bool = False
    live_port: int | None = None

    def check(self) -> None:
        """Raise when the options contradict each other or an output cannot be written."""
        if self.quiet and self.verbose:
            raise InvalidInput("--quiet", "either --quiet or --verbose", "both")
        if not 0.0 < self.accuracy < float("inf"):
            raise InvalidInput("--accuracy", "a number above zero", repr(self.accuracy))
        if self.weights is not None and self.weights not in WEIGHTS:
            raise InvalidInput("--weights", f"one of {', '.join(WEIGHTS)}", repr(self.weights))
        check_outputs(self.out, self.plot, self.json, self.log_file)
        written = {"--out": self.out, "--plot": self.plot, "--json": self.json, "--log-file": self.log_file}
        check_distinct({**written, "--checkpoint": self.checkpoint})
        check_lasting(self)

    def silent(self) -> Options:
        """Return the options of a process that prints and writes nothing."""
        outputs = {"out": None, "plot": None, "json": None, "log_file": None}
        return replace(self, quiet=True, verbose=False, live=False, live_port=None, **outputs)

    def settings(self) -> dict[str, Any]:
        """Return the options that decide the result, for the record."""
        return {name: getattr(self, name) for name in SOLVING if getattr(self, name) is not None}


def _option(*names: str, text: str, panel: str, **rest: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, **rest)


def _complete(names: Collection[str]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def _declarations(methods: Collection[str]) -> dict[str, Any]:
    """Return the annotation of each option as typer reads it."""
    which = f"One of {', '.join(methods)}."
    return {
        "accuracy": Annotated[float, _option(text="Relative accuracy of gap and feasibility.", panel=_SOLVER)],
        "method": Annotated[str, _option(text=which, panel=_SOLVER, autocompletion=_complete(methods))],
        "weights": Annotated[
            str | None,
            _option(text="Averaging: theory or greedy.", panel=_SOLVER, autocompletion=_complete(WEIGHTS)),
        ],
        "seed": Annotated[int, _option(text="Seed of everything random.", panel=_SOLVER, min=0)],
        "threads": Annotated[int | None, _option(text="Threads to use at most.", panel=_SOLVER, min=1)],
        "time_limit": Annotated[float | None, _option(text="Stop after so many seconds.", panel=_LIMITS, min=0.0)],
        "max_iterations": Annotated[int | None, _option(text="Stop after so many iterations.", panel=_LIMITS, min=1)],
        "max_oracle_calls": Annotated[
            int | None, _option(text="Stop after so many calls of the sharp oracle.", panel=_LIMITS, min=1)
        ],
        "memory_limit": Annotated[
            str | None, _option(text="Refuse runs that need more memory, e.g. 2GB; end those that grow.", panel=_LIMITS)
        ],
        "checkpoint": Annotated[Path | None, _option(text="Save the run to this file as it goes.", panel=_LASTING)],
        "every": Annotated[str | None, _option(text=_EVERY, panel=_LASTING)],
        "resume": Annotated[bool, _option("--resume", text="Go on from the checkpoint, if any.", panel=_LASTING)],
        "out": Annotated[Path | None, _option(text="Write the result to this .npz file.", panel=_OUTPUT)],
        "plot": Annotated[Path | None, _option(text="Draw it to this .png, .svg or .pdf file.", panel=_OUTPUT)],
        "json": Annotated[
            str | None,
            _option("--json", text="Write a JSON object to this file, - for standard output.", panel=_OUTPUT),
        ],
        "quiet": Annotated[bool, _option("--quiet", "-q", text="No progress, no table.", panel=_OUTPUT)],
        "verbose": Annotated[bool, _option("--verbose", "-v", text="Say more before and after.", panel=_OUTPUT)],
        "log_file": Annotated[Path | None, _option(text="Append a log of the run to this file.", panel=_OUTPUT)],
        "live": Annotated[bool, _option("--live", text="Serve curves and figures to this machine.", panel=_LIVE)],
        "live_port": Annotated[
            int | None,
            _option(text="Serve them on this port (--live takes a free one).", panel=_LIVE, min=1, max=65535),
        ],
        "debug": Annotated[bool, _option("--debug", text="Show tracebacks of errors.", panel=_OUTPUT)],
    }


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
    declared, standard = _declarations(methods), Options(**defaults)

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        words = _words(function, wanted)

        @functools.wraps(function)
        def run(**given: Any) -> int:
            chosen = {name: given.pop(name) for name in wanted}
            options = Options(**{**defaults, **chosen})
            if not team().leads:
                options = options.silent()
            options.check()
            name = function.__module__.rsplit(".")[-1]
            if options.verbose:
                say(about(name))
            if "method" in wanted:
                check_choice("--method", options.method, methods)
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
            words[name] = name.upper() if positional else f"--{name.replace('_', '-')}"
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
