"""How every picture looks: sizes for a journal's column or page, light and dark, colours that all can tell apart.

Only Matplotlib's object interface is used: no global state is touched, and no window is opened.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unipd import validate
from unipd.errors import InvalidInput, MissingExtra
from unipd.replacing import replacing

FORMATS = (".png", ".svg", ".pdf")
WIDTHS = {"column": 3.4, "page": 7.0}
"""Widths in inches by name."""
LINES = ("-", "--", "-.", ":")
WIDE = 5.5
"""Inches from which on panels stand side by side."""
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


def as_theme(theme: str) -> Theme:
    """Return the theme of this name.

    >>> as_theme("light").background
    '#FFFFFF'
    """
    if theme not in THEMES:
        raise InvalidInput("theme", f"one of {', '.join(THEMES)}", repr(theme))
    return THEMES[theme]


def as_width(width: str | float) -> float:
    """Return a width in inches: "column" (3.4), "page" (7.0) or a number.

    >>> as_width("page")
    7.0
    """
    if isinstance(width, str):
        if width not in WIDTHS:
            raise InvalidInput("width", f"one of {', '.join(WIDTHS)} or inches", repr(width))
        return WIDTHS[width]
    return validate.positive("width", width)


def new_figure(width: float, height: float, theme: Theme) -> Any:
    """Return an empty figure that lays its parts out by itself."""
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
    """Write a title over a picture that has no legend, at the left."""
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
    """Return the path of a picture whose format is known by its extension, or raise.

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
    """Write the figure when a path is given, and return it; the same figure gives the same file."""
    if path is None:
        return figure
    import matplotlib as mpl

    target = check_path(path)
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "unipd", "pdf.fonttype": 42}
    undated: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {"Software": None}}
    with mpl.rc_context(settings):
        kind = target.suffix.lower()
        with replacing(target) as stream:
            figure.savefig(stream, format=kind[1:], dpi=_DPI, metadata=undated[kind])
    return figure
