"""Runs that last: checkpoints, signals and the memory limit of a command."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Generator
from typing import Any

from unipd.cli.exits import as_typed, say
from unipd.errors import InvalidInput
from unipd.memory import limited_memory
from unipd.run.checkpoint import Checkpoint, CheckpointWarning
from unipd.run.checkpoint.every import Every
from unipd.run.interruption import signals_end_runs

EVERY = "60s"
"""How often a checkpoint is written when nobody says."""
_WORDS = {"every": "--every", "checkpoint": "--checkpoint", "path": "--checkpoint"}
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def check_lasting(options: Any) -> None:
    """Raise when the options of a lasting run contradict each other or cannot be read."""
    if options.resume and options.checkpoint is None:
        raise InvalidInput("--resume", "--checkpoint FILE beside it", "none")
    if options.every is not None and options.checkpoint is None:
        raise InvalidInput("--every", "--checkpoint FILE beside it", "none")
    with as_typed(_WORDS):
        Every.parse(options.every or EVERY)
    parse_size(options.memory_limit)


@contextlib.contextmanager
def lasting(options: Any) -> Generator[None]:
    """Run a command with its checkpoint open, its memory limited, and signals that end runs in good order."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(limited_memory(parse_size(options.memory_limit)))
        stack.enter_context(_warnings_said())
        stack.enter_context(signals_end_runs())
        if options.checkpoint is not None:
            with as_typed(_WORDS):
                book = Checkpoint(options.checkpoint, options.every or EVERY, resume=options.resume)
            stack.enter_context(book)
        yield


def parse_size(text: str | None) -> int | None:
    """Return the number of bytes that a text such as "2GB" or "500M" means.

    >>> parse_size("1.5GB"), parse_size("800 MB"), parse_size(None)
    (1500000000, 800000000, None)
    """
    if text is None:
        return None
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([kmgt]?)(i?)b?\s*", text.lower())
    size = round(float(found[1]) * (1024 if found[3] else 1000) ** _POWERS[found[2]]) if found else 0
    if size < 1:
        raise InvalidInput("--memory-limit", "a size such as 500MB or 2GB", repr(text))
    return size


@contextlib.contextmanager
def _warnings_said() -> Generator[None]:
    """Turn warnings about checkpoints into lines on standard error."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", CheckpointWarning)
        plainly = warnings.showwarning

        def show(message: Any, category: type[Warning], *rest: Any, **named: Any) -> None:
            if issubclass(category, CheckpointWarning):
                say(f"warning: {message}")
            else:
                plainly(message, category, *rest, **named)

        warnings.showwarning = show
        yield
