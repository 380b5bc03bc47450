"""The look of all pictures: sizes for a journal's column or page, themes, scales and limits; no global state."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unipd._typing import FloatArray
from unipd._util import validate
from unipd._util.files import atomic_write
from unipd.errors import InvalidInput, MissingExtra

FORMATS = (".png", ".svg", ".pdf")
WIDTHS = {"column": 3.4, "page": 7.0}
"""Widths in inches by name."""
LINES = ("-", "--", "-.", ":")
MARKERS = "osD^v<>"
WIDE = 5.5
"""From this width on, panels stand side by side."""
_SMALL, _NORMAL = 7.0, 8.0
_DPI = 300


@dataclass(frozen=True)
class Theme:
    """Colours of a picture; the curves' are Okabe and Ito's, safe for every kind of colour vision."""

    background: str
    ink: str
    faint: str
    grid: str
    cycle: tuple[str, ...]
    phases: str
    """Matplotlib's name of a cyclic colour map, far from the background at phase 0."""


_BLUE, _SKY, _GREEN, _ORANGE = "#0072B2", "#56B4E9", "#009E73", "#E69F00"
_VERMILION, _PURPLE, _YELLOW = "#D55E00", "#CC79A7", "#F0E442"

THEMES: Mapping[str, Theme] = {
    "light": Theme(
        *("#FFFFFF", "#1A1A1A", "#6B6B6B", "#E3E3E3"),
        (_BLUE, _VERMILION, _GREEN, _PURPLE, _ORANGE, _SKY, "#000000"),
        "twilight",
    ),
    "dark": Theme(
        *("#14181F", "#E8EAED", "#9AA0A6", "#2C323B"),
        (_SKY, _ORANGE, _GREEN, _PURPLE, _YELLOW, _VERMILION, "#FFFFFF"),
        "twilight_shifted",
    ),
}


def check_look(width: str | float, theme: str, path: str | os.PathLike[str] | None) -> tuple[Theme, float]:
    """Return the theme and the width in inches; raise for a path to which no picture can be written.

    >>> check_look("page", "light", None)[1]
    7.0
    """
    if path is not None:
        check_path(path)
    if theme not in THEMES:
        raise InvalidInput("theme", f"one of {', '.join(THEMES)}", repr(theme))
    if not isinstance(width, str):
        return THEMES[theme], validate.positive("width", width)
    if width not in WIDTHS:
        raise InvalidInput("width", f"one of {', '.join(WIDTHS)} or inches", repr(width))
    return THEMES[theme], WIDTHS[width]


def new_figure(width: float, height: float, theme: Theme) -> Any:
    """Return an empty figure with constrained layout."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", "plot", "a picture") from error
    return Figure(figsize=(width, height), layout="constrained", facecolor=theme.background)


def dress(axes: Any, theme: Theme) -> None:
    """Give axes the theme: thin spines on two sides, a faint grid behind the curves, small type."""
    axes.set_facecolor(theme.background)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(theme.faint)
        spine.set_linewidth(0.6)
    axes.tick_params(which="both", colors=theme.ink, labelsize=_SMALL, width=0.6, length=3)
    axes.tick_params(which="minor", length=1.5, width=0.4, labelbottom=False, labelleft=False)
    axes.grid(True, which="major", color=theme.grid, linewidth=0.6)
    axes.set_axisbelow(True)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_size(_NORMAL)
        label.set_color(theme.ink)


def caption(figure: Any, text: str | None, theme: Theme) -> None:
    """Write a title at the upper left of a picture without a legend."""
    if text:
        figure.suptitle(text, fontsize=_NORMAL + 1.0, color=theme.ink, x=0.015, ha="left")


def legend(axes: Any, theme: Theme, *, title: str | None = None, columns: int = 2) -> None:
    """Put the legend of one pair of axes, under the title, above the whole picture, where no curve passes."""
    handles, labels = axes.get_legend_handles_labels()
    box = axes.figure.legend(
        handles,
        labels,
        loc="outside upper left",
        ncols=columns,
        frameon=False,
        fontsize=_SMALL,
        labelcolor=theme.ink,
        handlelength=2.2,
        columnspacing=1.2,
        borderaxespad=0.1,
        title=title,
        title_fontsize=_NORMAL + 1.0,
        alignment="left",
    )
    box.get_title().set_color(theme.ink)


def legend_above(axes: Any, theme: Theme) -> None:
    """Put the legend of one of several panels above it, where no curve passes."""
    axes.legend(
        loc="lower left", bbox_to_anchor=(-0.16, 1.0), ncols=2, frameon=False, fontsize=6.0, labelcolor=theme.ink,
        handlelength=1.5, columnspacing=0.8, borderaxespad=0.2,
    )  # fmt: skip


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a picture; raise for an unknown extension or a missing folder.

    >>> check_path("run.svg").suffix
    '.svg'
    """
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise InvalidInput("path", f"a file name ending in {', '.join(FORMATS)}", repr(str(path)))
    if not target.parent.is_dir():
        raise InvalidInput("path", "a file in an existing folder (create it first)", repr(str(path)))
    return target


def finish(figure: Any, path: str | os.PathLike[str] | None) -> Any:
    """Write the figure if a path is given, and return it; equal figures give equal files."""
    if path is None:
        return figure
    import matplotlib as mpl

    target = check_path(path)
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "unipd", "pdf.fonttype": 42}
    undated: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {"Software": None}}
    with mpl.rc_context(settings):
        kind = target.suffix.lower()
        with atomic_write(target) as stream:
            figure.savefig(stream, format=kind[1:], dpi=_DPI, metadata=undated[kind])
    return figure


SCALES = ("auto", "log", "linear")
_SPAN = 30.0
"""Ratio of the ends of the horizontal axis from which "auto" chooses a logarithmic one."""


def set_log_limits(axes: Any, low: float, high: float) -> None:
    """Show the values from low to high on a logarithmic axis, at least one decade."""
    if not (math.isfinite(low) and math.isfinite(high) and 0.0 < low <= high):
        return
    axes.set_autoscaley_on(False)  # a level line alone has no scale of its own
    if high < 10.0 * low:
        low, high = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
        axes.set_ylim(low, high if high > low else 10.0 * low)
    else:
        axes.set_ylim(0.5 * low, 2.0 * high)


def set_horizontal(axes: Any, positions: Sequence[FloatArray], xscale: str, *, whole: bool) -> None:
    """Set scale, limits and ticks of the horizontal axis; ``whole`` for counts."""
    if xscale not in SCALES:
        raise InvalidInput("xscale", f"one of {', '.join(SCALES)}", repr(xscale))
    low = min(float(np.nanmin(position)) for position in positions)
    high = max(float(np.nanmax(position)) for position in positions)
    if xscale == "log" or (xscale == "auto" and 0.0 < _SPAN * low <= high):
        low = low if low > 0 else max(high, 1.0) * 1e-4
        axes.set_xscale("log")
        axes.set_xlim(low / 1.05, max(high, 2.0 * low) * 1.12)
        return
    axes.set_xlim(0.0, 1.03 * high if high > 0 else 1.0)
    axes.xaxis.get_major_locator().set_params(integer=whole)
