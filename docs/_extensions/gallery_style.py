"""The look of the gallery's pictures: one style for all, and figures that the library itself drew are shown too."""

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


def show_figures(block: Any, block_vars: dict[str, Any], gallery_conf: Any) -> str:
    """Return the pictures of a block: those of pyplot, and the library's own figures, which pyplot does not manage."""
    from matplotlib.figure import Figure
    from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper

    managed = matplotlib_scraper(block, block_vars, gallery_conf)
    paths = []
    for value in block_vars["example_globals"].values():
        if isinstance(value, Figure) and not hasattr(value, "number") and not hasattr(value, "shown_in_gallery"):
            path = next(block_vars["image_path_iterator"])
            value.savefig(path, dpi=STYLE["savefig.dpi"])
            value.shown_in_gallery = True
            paths.append(path)
    return managed + (figure_rst(paths, gallery_conf["src_dir"]) if paths else "")
