"""The picture of eigenvalues or singular values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from unipd import validate
from unipd._typing import FloatArray
from unipd.atoms import LowRank
from unipd.errors import InvalidInput
from unipd.report import style
from unipd.report.points import positive


def plot_spectrum(
    values: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    label: str = "singular value",
    floor: float = 1e-16,
    width: str | float = "column",
    theme: str = "light",
    title: str | None = None,
) -> Any:
    """Draw magnitudes of eigenvalues or singular values in decreasing order on a logarithmic axis.

    Parameters
    ----------
    values
        The values, or several sets of them by name (an estimate beside the truth).
    path
        Where to write the picture (.png, .svg or .pdf); only returned when None.
    label
        What the values are.
    floor
        Values below this share of the largest are left out: they are rounding.
    width, theme, title
        As in :func:`~unipd.report.plot_convergence`.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> figure = plot_spectrum([3.0, 0.1, 1.0])
    >>> figure.axes[0].lines[0].get_ydata().tolist()
    [3.0, 1.0, 0.1]
    """
    colours, inches = style.as_theme(theme), style.as_width(width)
    if path is not None:
        style.check_path(path)
    named = values if isinstance(values, Mapping) else {"": values}
    if not named:
        raise InvalidInput("values", "at least one set of values", "none")
    figure = style.new_figure(inches, (0.4 if inches >= style.WIDE else 0.75) * inches, colours)
    axes = figure.subplots()
    axes.set_yscale("log")
    for place, (name, given) in enumerate(named.items()):
        array = validate.finite_array("values", given).reshape(-1)
        if array.size == 0:
            raise InvalidInput("values", "at least one value", "none")
        sizes = np.sort(np.abs(array))[::-1].astype(np.float64)
        sizes = sizes[sizes > floor * sizes[0]] if sizes[0] > 0 else sizes[:1]
        _draw(axes, sizes, name, place, colours)
    axes.set_xlim(0.5, 0.5 + max(line.get_xdata().size for line in axes.lines))
    axes.set_xlabel("index")
    axes.set_ylabel(label)
    axes.xaxis.get_major_locator().set_params(integer=True)
    style.dress(axes, colours)
    if any(named):
        style.legend(axes, colours, title=title)
    else:
        style.caption(figure, title, colours)
    return style.finish(figure, path)


def spectrum_of(result: Any) -> FloatArray:
    """Return the singular values of a result's point (the eigenvalues of a psd one), from its factors if it has them.

    >>> from types import SimpleNamespace
    >>> spectrum_of(SimpleNamespace(x=np.diag([1.0, 3.0]))).tolist()
    [3.0, 1.0]
    """
    extra = getattr(result, "extra", None) or {}
    if "eigenvalues" in extra:
        return np.asarray(extra["eigenvalues"], dtype=np.float64)
    x = result.x
    if isinstance(x, LowRank):
        left: Any = np.linalg.qr(x.left * x.weights, mode="r")
        right: Any = np.linalg.qr(x.right, mode="r")
        return np.linalg.svd(left @ right.conj().T, compute_uv=False).astype(np.float64)
    if isinstance(x, np.ndarray) and x.ndim == 2:
        return np.linalg.svd(x, compute_uv=False).astype(np.float64)
    raise InvalidInput("result", "one whose point is a matrix", type(x).__name__)


def _draw(axes: Any, sizes: Any, name: str, place: int, theme: style.Theme) -> None:
    colour = theme.cycle[place % len(theme.cycle)]
    marker = "osD^v<>"[place % 7]
    size = (3.5 if sizes.size <= 60 else 1.5) + 1.5 * place
    axes.plot(
        np.arange(1, sizes.size + 1),
        positive(sizes),
        color=colour,
        linewidth=0.7,
        marker=marker,
        markersize=size,
        markeredgewidth=0 if place == 0 else 0.9,
        markerfacecolor=colour if place == 0 else "none",
        label=name or None,
    )
