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

    Where the picture is narrow they stand one below the other.

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
    rows, columns, height = (2, 2, 0.78) if inches >= style.WIDE else (4, 1, 2.9)
    figure = style.new_figure(inches, height * inches, colours)
    cells = list(figure.add_gridspec(rows, columns))
    draw_convergence(figure.add_subplot(cells[0], label="convergence"), fit, colours)
    state = figure.add_subplot(cells[1], label="state", projection="3d")
    draw_spectrum(figure.add_subplot(cells[2], label="spectrum"), fit.state, target, colours)
    draw_data(figure.add_subplot(cells[3], label="data"), fit, colours)
    draw_city(state, fit.state, colours)
    style.caption(figure, title, colours)
    return style.finish(figure, path)
