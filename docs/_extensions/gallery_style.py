"""The look of the gallery's pictures: one style for all, reset before every script."""

from __future__ import annotations

from typing import Any

STYLE = {
    "figure.figsize": (7.0, 3.6),
    "figure.dpi": 110,
    "savefig.dpi": 110,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "axes.grid": False,
    "font.size": 10.0,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "image.cmap": "viridis",
}


def reset(gallery_conf: Any, name: str) -> None:
    """Set the style; sphinx-gallery calls this before and after each script."""
    import matplotlib

    matplotlib.rcParams.update(STYLE)
