"""How the shared options stand on the command line: names, help, panels, completion."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Any

import typer

from unipd.cli.lasting import EVERY
from unipd.methods.weights import WEIGHTS

_LASTING = "Checkpoint"
_EVERY = f"How often: {EVERY} (the default), 5m, 1h, 10it."
_SOLVER, _LIMITS, _OUTPUT, _LIVE = "Solver", "Limits", "Output", "Live page"


def _option(*names: str, text: str, panel: str, **rest: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, **rest)


def _complete(names: Collection[str]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def declarations(methods: Collection[str]) -> dict[str, Any]:
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
            int | None, _option(text="Stop after the iteration that makes the N-th oracle call.", panel=_LIMITS, min=1)
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
