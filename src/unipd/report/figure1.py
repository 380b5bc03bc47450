"""The paper's Figure 1: six methods on one tomography problem, against iterations and seconds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from unipd.errors import InvalidInput
from unipd.report import style
from unipd.report.points import positive

if TYPE_CHECKING:
    from unipd.apps.tomography.figure1 import Trace


def plot_figure1(
    traces: Sequence[Trace],
    path: str | os.PathLike[str] | None = None,
    *,
    width: str | float = "page",
    theme: str = "light",
    title: str | None = None,
) -> Any:
    """Draw the objective of every run; line search in the weighting step is dashed, as in the paper.

    Parameters
    ----------
    traces
        The runs of :func:`unipd.apps.tomography.figure1.run_figure1`.
    path
        Where to write the picture (.png, .svg or .pdf); only returned when None.
    width, theme, title
        As in :func:`~unipd.report.plot_convergence`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    colours, inches = style.as_theme(theme), style.as_width(width)
    if not traces:
        raise InvalidInput("traces", "at least one run", "none")
    wide = inches >= style.WIDE
    figure = style.new_figure(inches, (0.5 if wide else 1.6) * inches, colours)
    panels = figure.subplots(*((1, 2) if wide else (2, 1)), sharey=True)
    families = list(dict.fromkeys(trace.family for trace in traces))
    for axes, column, label in zip(panels, ("iteration", "seconds"), ("iterations", "seconds"), strict=True):
        axes.set_xscale("log")
        axes.set_yscale("log")
        for trace in traces:
            axes.plot(
                trace.history[column],
                positive(trace.history["objective"]),
                color=colours.cycle[families.index(trace.family)],
                linestyle="--" if trace.searched else "-",
                linewidth=1.3,
                marker="o",
                markersize=3.5,
                markevery=[len(trace.history) - 1],
                label=_legend_of(trace),
            )
        axes.set_xlabel(label)
        style.dress(axes, colours)
    for axes in panels[: 1 if wide else 2]:
        axes.set_ylabel("objective  $\\frac{1}{2}||A(X) - b||^2$")
    style.legend(panels[0], colours, title=title, columns=3 if wide else 1)
    return style.finish(figure, path)


def _legend_of(trace: Trace) -> str:
    """Return the name with the trials an iteration, beside the paper's where it prints them."""
    if trace.trials is None or trace.paper_trials is None:
        return trace.name
    return f"{trace.name} ({trace.trials:.3f} trials; paper {trace.paper_trials:.3f})"
