"""The picture of a tomography run: how it converged, the state, its spectrum, and measured against fitted values."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from unipd.report import style
from unipd.report.city import draw_city, entries, largest_indices
from unipd.report.tomography_panels import draw_convergence, draw_data, draw_spectrum

if TYPE_CHECKING:
    from unipd.apps.tomography import Fit, QuantumState

__all__ = ["entries", "largest_indices", "plot_tomography"]


def plot_tomography(
    fit: Fit,
    path: str | os.PathLike[str] | None = None,
    *,
    target: QuantumState | None = None,
    width: str | float = "page",
    theme: str = "light",
    title: str | None = None,
) -> Any:
    """Draw a fit in four panels: convergence, the largest entries of the state, its eigenvalues, and the data.

    Parameters
    ----------
    fit
        The fit of :class:`~unipd.apps.tomography.PauliTomography`, its attribute ``fit_``.
    path
        Where to write the picture (.png, .svg or .pdf); only returned when None.
    target
        The true state, whose eigenvalues are then drawn as well.
    width, theme, title
        As in :func:`~unipd.report.plot_convergence`.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from unipd.apps.tomography import PauliTomography
    >>> estimate = PauliTomography().fit(["X", "Y", "Z"], [0.6, 0.0, 0.8])
    >>> figure = plot_tomography(estimate.fit_)
    >>> [panel.get_label() for panel in figure.axes]
    ['convergence', 'state', 'spectrum', 'data', 'phase']
    """
    colours, inches = style.as_theme(theme), style.as_width(width)
    if path is not None:
        style.check_path(path)
    figure = style.new_figure(inches, 0.78 * inches, colours)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.0))
    panels = [figure.add_subplot(grid[0, 0], label="convergence")]
    panels.append(figure.add_subplot(grid[0, 1], label="state", projection="3d"))
    panels += [figure.add_subplot(grid[1, k], label=name) for k, name in enumerate(("spectrum", "data"))]
    draw_convergence(panels[0], fit, colours)
    draw_city(panels[1], fit.state, colours)
    draw_spectrum(panels[2], fit.state, target, colours)
    draw_data(panels[3], fit, colours)
    style.caption(figure, title, colours)
    return style.finish(figure, path)
