"""Reprs that name the constructor arguments, values as text, lines for the terminal, and tables."""

from __future__ import annotations

import contextlib
import html
import inspect
import io
import os
import sys
from collections.abc import Sequence
from typing import Any, cast


class ReprMixin:
    """Base whose ``repr`` names the constructor's arguments, as far as they are kept as attributes.

    >>> class Ball(ReprMixin):
    ...     def __init__(self, shape, radius=1.0):
    ...         self.shape, self.radius = shape, radius
    >>> Ball((3,), 2)
    Ball(shape=(3,), radius=2)
    """

    def __repr__(self) -> str:
        names = inspect.signature(type(self)).parameters
        kept = {name: getattr(self, name, None) for name in names}
        shape = getattr(self, "shape", getattr(self, "domain", None) if "shape" in names else None)
        if kept.get("size") is not None and len(shape or ()) > 1:
            kept["size"] = shape
        if kept.get("size", kept.get("shape")) is None:
            kept.pop("shape", None)
            kept = {"shape": shape, **kept}
        known = {name: value for name, value in kept.items() if not (value is None or inspect.isroutine(value))}
        shown = [f"{name}={short_repr(value)}" for name, value in known.items()]
        return f"{type(self).__name__}({', '.join(shown)})"


def short_repr(value: Any) -> str:
    """Return a value in a few characters: arrays by their shape, long lists by their length, numbers in full.

    >>> import numpy as np
    >>> short_repr(2.0), short_repr(np.pi), short_repr(np.zeros((2, 3))), short_repr([1, 2, 3, 4, 5, 6, 7])
    ('2', '3.141592653589793', '<2 x 3 float64>', '<7 items>')
    """
    import numpy as np  # the command line prints tables without it

    if isinstance(value, np.ndarray) and value.ndim:
        return f"<{' x '.join(str(size) for size in value.shape)} {value.dtype}>"
    if isinstance(value, (float, np.floating, np.ndarray)):
        short = f"{value:g}"
        return short if complex(short) == value else str(value)
    if isinstance(value, (list, tuple)) and len(value) > 6:
        return f"<{len(value)} items>"
    text = repr(value)
    return text if len(text) <= 80 and "\n" not in text else f"<{type(value).__name__}>"


def format_value(value: Any, digits: int = 6) -> str:
    """Return a value as people read it (no minus before zero).

    >>> format_value(0.000123456789), format_value(-0.0), format_value(12), format_value(None)
    ('0.000123457', '0', '12', 'unknown')
    >>> format_value([1.23456e-7, 0.0])
    '1.23e-07, 0'
    >>> format_value({"Alien": 4.5, "Brazil": 4.25})
    'Alien: 4.5, Brazil: 4.25'
    """
    if value is None:
        return "unknown"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {format_value(part, digits)}" for key, part in cast("dict[Any, Any]", value).items())
    if isinstance(value, (list, tuple)):
        return ", ".join(format_value(part, min(digits, 3)) for part in cast("Sequence[Any]", value))
    return f"{value + 0.0:.{digits}g}" if isinstance(value, float) else str(value)


LONGEST_LINE = 2000
"""Characters of a message; of a longer one the beginning and the end are shown."""


def clean_line(text: str) -> str:
    r"""Return text as one line of bounded length that cannot control a terminal: other characters are escaped.

    >>> clean_line("run\x1b[2J.npz"), len(clean_line("x" * 10**6))
    ('run\\x1b[2J.npz', 2000)
    """
    if len(text) > LONGEST_LINE:
        half = LONGEST_LINE // 2
        text = f"{text[: half - 3]} ... {text[2 - half :]}"
    if text.isprintable():
        return text
    shown = (mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in text)
    return clean_line("".join(shown))


class LostStream(io.TextIOWrapper):
    """Stands for a standard stream that the caller has closed (``>&-``): what is written to it is lost."""

    def __init__(self) -> None:
        super().__init__(open(os.devnull, "wb"), encoding="utf-8")  # noqa: SIM115  (open until the process ends)


def print_to_stderr(line: str) -> None:
    """Print a line to standard error, unless it is closed, full or a broken pipe: then nobody reads it."""
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]
        with contextlib.suppress(OSError, ValueError):  # ValueError: a closed file
            print(clean_line(line), file=sys.stderr, flush=True)


def plain_table(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows of cells in aligned columns.

    >>> print(plain_table([("gap", "1e-3"), ("seconds", "2")]))
    gap      1e-3
    seconds  2
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)] if rows else []
    cells = ([*(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=False)), row[-1]] for row in rows)
    return "\n".join("  ".join(row) for row in cells)


def html_table(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows of cells as an HTML table for notebooks.

    >>> html_table([("gap", "< 1")])
    "<table><tr><th style='text-align:left'>gap</th><td>&lt; 1</td></tr></table>"
    """
    lines = (
        f"<tr><th style='text-align:left'>{html.escape(row[0])}</th>"
        f"{''.join(f'<td>{html.escape(cell)}</td>' for cell in row[1:])}</tr>"
        for row in rows
    )
    return f"<table>{''.join(lines)}</table>"
