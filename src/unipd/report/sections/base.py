"""What an application shows on the report page: sections of sentences, tables and Plotly figures, as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

COLOURS = ("@run0", "@run1", "@run2", "@run3", "@run4", "@run5", "@run6")
"""Colours that the page replaces by those of its light or dark theme; so are "@ink", "@faint" and "@line"."""
_DIGITS = 7
FEW = 8
"""Values of a spectrum up to which every index is labelled; bars are then no wider than for half as many."""
_ROUNDING = 1e-15
"""Eigenvalues below this share of the largest are rounding."""


@dataclass(frozen=True)
class Table:
    """Rows of text under a header; numbers are formatted by whoever makes the table.

    Parameters
    ----------
    header
        Heads of the columns.
    rows
        Cells, row by row.
    caption
        A line above the table.

    See Also
    --------
    Section, Figure

    Examples
    --------
    >>> Table(("node", "side"), [("0", "+1"), ("1", "-1")]).header
    ('node', 'side')
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""


@dataclass(frozen=True)
class Figure:
    """A Plotly figure: traces and layout as dictionaries of numbers, strings, lists and arrays.

    Text that comes from data (names of users, items, files) goes through ``html.escape(text, quote=False)``, since
    Plotly reads labels as HTML. Colours are those of :data:`COLOURS`; width, fonts and axis colours are the page's.

    Parameters
    ----------
    title
        Heading of the figure.
    traces
        Plotly's traces.
    layout
        Plotly's layout, where it differs from the page's.
    note
        What is drawn, in a line under the title.
    wide
        Whether the figure takes the whole width of the page.

    See Also
    --------
    Section, Table

    Examples
    --------
    >>> Figure("Spectrum", [{"type": "bar", "y": [3.0, 1.0]}]).wide
    False
    """

    title: str
    traces: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any] = field(default_factory=dict[str, Any])
    note: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Section:
    """A section of the page about one result.

    Parameters
    ----------
    title
        Heading of the section.
    sentences
        Text above tables and figures.
    tables
        Tables, in order.
    figures
        Figures, in order.

    See Also
    --------
    Table, Figure, report_sections

    Examples
    --------
    >>> Section("Cut", ("The cut has weight 12.",)).title
    'Cut'
    """

    title: str
    sentences: Sequence[str] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()


def to_plain(value: Any) -> Any:
    """Return a value as JSON has it: arrays as lists, numbers with seven digits, None for what is not finite.

    >>> to_plain({"y": np.array([1.0, np.inf]), "name": "a"})
    {'y': [1.0, None], 'name': 'a'}
    """
    if isinstance(value, np.ndarray):
        return to_plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): to_plain(part) for key, part in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(part) for part in cast("Sequence[Any]", value)]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    return value


def spectrum_figure(title: str, spectra: Mapping[str, Any], *, label: str, note: str = "", log: bool = True) -> Figure:
    """Return the figure of eigenvalues or singular values in decreasing order, several sets of them by name."""
    traces: list[dict[str, Any]] = []
    for place, (name, values) in enumerate(spectra.items()):
        ordered = np.sort(np.asarray(values, dtype=np.float64))[::-1]
        floor = _ROUNDING * float(np.abs(ordered).max(initial=0.0))
        shown = np.where(ordered > floor, ordered, np.nan) if log else ordered
        look: dict[str, Any] = {"color": COLOURS[place % len(COLOURS)], "size": 6 if ordered.size <= 100 else 3}
        traces.append({
            "name": name,
            "x": np.arange(1, ordered.size + 1),
            "y": shown,
            "type": "scatter" if log else "bar",
            "mode": "markers",
            "marker": look,
        })  # fmt: skip
    most = max((len(trace["x"]) for trace in traces), default=0)
    few = {"dtick": 1, "range": [0.4, max(most, FEW // 2) + 0.6]} if most <= FEW else {}
    layout: dict[str, Any] = {
        "xaxis": {"title": {"text": "index"}, "tick0": 1, **few},
        "yaxis": {"title": {"text": label}, "type": "log" if log else "linear", "exponentformat": "power"},
        "showlegend": len(spectra) > 1,
    }
    return Figure(title, traces, layout, note)
