"""Tables for people: drawn by rich on a terminal, plain aligned columns elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import IO, Any, cast

COLOURS = {"pass": "green", "fail": "bold red", "note": "yellow", "skip": "dim"}
_DIGITS_OF_MANY = 3
"""Digits of the numbers in a list."""


def stream_for(json_to: str | None) -> IO[str]:
    """Return where people read: standard output, unless that belongs to ``--json -``."""
    return sys.stderr if json_to == "-" else sys.stdout


def print_table(rows: Sequence[tuple[str, ...]], stream: IO[str], title: str | None = None) -> None:
    """Print rows of cells under a title.

    >>> print_table([("gap", "1e-3"), ("seconds", "2")], sys.stdout)
    gap      1e-3
    seconds  2
    """
    if stream.isatty():
        _print_rich(rows, stream, title)
        return
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)] if rows else []
    lines = ["  ".join([*(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=False)), row[-1]]) for row in rows]
    print("\n".join([title, *lines] if title else lines), file=stream, flush=True)


def _print_rich(rows: Sequence[tuple[str, ...]], stream: IO[str], title: str | None) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=box.SIMPLE)
    for row in rows:
        table.add_row(*(Text(cell, style=_style(cell, place)) for place, cell in enumerate(row)))
    Console(file=stream).print(table)


def _style(cell: str, place: int) -> str:
    if place == 0:
        return COLOURS.get(cell, "bold")
    return ""


def number(value: Any, digits: int = 6) -> str:
    """Return a value as people read it (no minus before zero).

    >>> number(0.000123456789), number(-0.0), number(12), number(None)
    ('0.000123457', '0', '12', 'unknown')
    >>> number([1.23456e-7, 0.0])
    '1.23e-07, 0'
    """
    if value is None:
        return "unknown"
    if isinstance(value, (list, tuple)):
        return ", ".join(number(part, min(digits, _DIGITS_OF_MANY)) for part in cast("Sequence[Any]", value))
    return f"{value + 0.0:.{digits}g}" if isinstance(value, float) else str(value)
