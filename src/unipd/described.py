"""Objects that print what they were made of, and tables of what they found."""

from __future__ import annotations

import html
import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np


class Described:
    """Base whose ``repr`` names the constructor's arguments, as far as they are kept as attributes.

    >>> class Ball(Described):
    ...     def __init__(self, shape, radius=1.0):
    ...         self.shape, self.radius = shape, radius
    >>> Ball((3,), 2)
    Ball(shape=(3,), radius=2)
    """

    def __repr__(self) -> str:
        names = inspect.signature(type(self)).parameters
        kept = {name: getattr(self, name, None) for name in names}
        if kept.get("size") is not None and len(getattr(self, "shape", ())) > 1:
            kept["size"] = getattr(self, "shape", None)
        if kept.get("size", kept.get("shape")) is None:
            kept.pop("shape", None)
            kept = {
                "shape": getattr(self, "shape", getattr(self, "domain", None) if "shape" in names else None),
                **kept,
            }
        shown = [
            f"{name}={brief(value)}" for name, value in kept.items() if not (value is None or inspect.isroutine(value))
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def brief(value: Any) -> str:
    """Return a value in a few characters: arrays by their shape, long lists by their length, numbers in full.

    >>> brief(2.0), brief(np.pi), brief(np.zeros((2, 3))), brief([1, 2, 3, 4, 5, 6, 7])
    ('2', '3.141592653589793', '<2 x 3 float64>', '<7 items>')
    """
    if isinstance(value, np.ndarray) and value.ndim:
        return f"<{' x '.join(str(size) for size in value.shape)} {value.dtype}>"
    if isinstance(value, (float, np.floating, np.ndarray)):
        short = f"{value:g}"
        return short if complex(short) == value else str(value)
    if isinstance(value, (list, tuple)) and len(value) > 6:
        return f"<{len(value)} items>"
    text = repr(value)
    return text if len(text) <= 80 else f"<{type(value).__name__}>"


def plain_table(rows: Sequence[tuple[str, str]]) -> str:
    """Return names and texts in two columns.

    >>> print(plain_table([("gap", "1e-3"), ("seconds", "2")]))
    gap      1e-3
    seconds  2
    """
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)


def html_table(rows: Sequence[tuple[str, str]]) -> str:
    """Return names and texts as a table for notebooks.

    >>> html_table([("gap", "< 1")])
    "<table><tr><th style='text-align:left'>gap</th><td>&lt; 1</td></tr></table>"
    """
    cells = (
        f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>"
        for name, text in rows
    )
    return f"<table>{''.join(cells)}</table>"
