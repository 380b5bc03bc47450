"""The look of all pictures: the style sheets beside this file, sizes for a column or a page, scales and limits."""

from __future__ import annotations

import math
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unipd._typing import FloatArray
from unipd._util import validate
from unipd._util.files import atomic_write
from unipd._util.lazy import import_extra
from unipd.errors import InvalidInput

FORMATS = (".png", ".svg", ".pdf")
THEMES = ("light", "dark")
"""The themes, which are style sheets of this package: ``light.mplstyle`` and, on top of it, ``dark.mplstyle``."""
WIDTHS = {"column": 3.4, "page": 7.0}
"""Widths in inches by name."""
LINES = ("-", "--", "-.", ":")
MARKERS = "osD^v<>"
WIDE = 5.5
"""From this width on, panels stand side by side."""


@dataclass(frozen=True)
class Theme:
    """Colours of the style sheets, for what is coloured one by one."""

    background: str
    ink: str
    faint: str
    grid: str
    cycle: tuple[str, ...]
    """Colours of the curves."""
    phases: str
    """Matplotlib's name of a cyclic colour map, far from the background at phase 0."""


@contextmanager
def style_sheet(theme: str) -> Generator[Theme]:
    """Draw with the style sheets of a theme, and yield its colours."""
    if theme not in THEMES:
        raise InvalidInput("theme", f"one of {', '.join(THEMES)}", repr(theme))
    rcParams = import_extra("matplotlib", "plot", "a picture").rcParams
    from matplotlib.style import context

    with context([f"{__package__}.{name}" for name in THEMES[: THEMES.index(theme) + 1]]):
        yield Theme(
            background=rcParams["figure.facecolor"],
            ink=rcParams["text.color"],
            faint=rcParams["axes.edgecolor"],
            grid=rcParams["grid.color"],
            cycle=tuple(rcParams["axes.prop_cycle"].by_key()["color"]),
            phases="twilight" if theme == "light" else "twilight_shifted",
        )


@dataclass(frozen=True)
class Picture:
    """A picture that is drawn."""

    figure: Any
    """Matplotlib's figure, empty."""
    width: float
    """Its width in inches."""
    theme: Theme

    @property
    def is_wide(self) -> bool:
        """Whether panels stand side by side."""
        return self.width >= WIDE

    def set_height(self, ratio: float) -> None:
        """Make the figure this many times as high as wide."""
        self.figure.set_figheight(ratio * self.width)


@contextmanager
def new_picture(
    path: str | os.PathLike[str] | None, width: str | float = "column", theme: str = "light"
) -> Generator[Picture]:
    """Yield an empty picture, and write it to ``path``, if there is one, at the end; equal figures give equal files.

    >>> with new_picture(None, "page") as picture:
    ...     picture.width, picture.is_wide
    (7.0, True)
    """
    target = None if path is None else check_path(path)
    if isinstance(width, str) and width not in WIDTHS:
        raise InvalidInput("width", f"one of {', '.join(WIDTHS)} or inches", repr(width))
    inches = WIDTHS[width] if isinstance(width, str) else validate.positive("width", width)
    with style_sheet(theme) as colours:
        from matplotlib.figure import Figure

        figure: Any = Figure(figsize=(inches, inches))
        yield Picture(figure, inches, colours)
        for axes in figure.axes:
            if axes.name != "3d":
                axes.tick_params(which="minor", labelbottom=False, labelleft=False)
            for axis in (axes.xaxis, axes.yaxis):  # later ticks copy the look of the first, made here
                axis.get_major_ticks(1)
                axis.get_minor_ticks(1)
        if target is not None:
            kind = target.suffix.lower()
            undated: Any = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {"Software": None}}
            with atomic_write(target) as stream:
                figure.savefig(stream, format=kind[1:], metadata=undated[kind])


def legend(axes: Any, *, title: str | None = None, columns: int = 2) -> None:
    """Put the legend of one pair of axes, under the title, above the whole picture, where no curve passes."""
    handles, labels = axes.get_legend_handles_labels()
    axes.figure.legend(handles, labels, loc="outside upper left", ncols=columns, title=title, alignment="left")


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a picture; raise for an unknown extension or a missing folder.

    Parameters
    ----------
    path
        Path of the picture.

    Raises
    ------
    InvalidInput
        If the extension is not .png, .svg or .pdf, or the folder does not exist.

    See Also
    --------
    plot_convergence

    Examples
    --------
    >>> check_path("run.svg").suffix
    '.svg'
    """
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise InvalidInput("path", f"a file name ending in {', '.join(FORMATS)}", repr(str(path)))
    if not target.parent.is_dir():
        raise InvalidInput("path", "a file in an existing folder (create it first)", repr(str(path)))
    return target


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
    low, high = (float(end(np.concatenate(positions))) for end in (np.nanmin, np.nanmax))
    if xscale == "log" or (xscale == "auto" and 0.0 < _SPAN * low <= high):
        low = low if low > 0 else max(high, 1.0) * 1e-4
        axes.set_xscale("log")
        axes.set_xlim(low / 1.05, max(high, 2.0 * low) * 1.12)
        return
    axes.set_xlim(0.0, 1.03 * high if high > 0 else 1.0)
    axes.xaxis.get_major_locator().set_params(integer=whole)
