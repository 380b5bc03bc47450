"""Configuration of the documentation; ``docs/build.py`` builds it."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = next(folder for folder in HERE.parents if (folder / "pyproject.toml").exists())
sys.path[:0] = [str(ROOT / "src"), str(HERE / "_extensions")]

import inventories

import unipd

QUICK = bool(os.environ.get("UNIPD_DOCS_QUICK"))
"""Without running the gallery, and without asking the network for inventories."""

project = "unipd"
author = "the authors of unipd"
copyright = author
version = release = unipd.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "ascii_docstrings",
    "command_reference",
    "exported_names",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["README.md", "**/sg_execution_times.rst", "sg_execution_times.rst"]
root_doc = "index"
smartquotes_action = "qe"  # no dashes: "--option" stays what users type
templates_path = ["_templates"]

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
# Inner products and inequalities in prose are text, never markup.
myst_dmath_double_inline = True

# One file holds MathJax and its glyphs, so that pages show formulas without a network.
_mathjax = importlib.util.find_spec("sphinx-mathjax-offline")
assert _mathjax is not None, "the extra `docs` provides MathJax: pip install 'unipd[docs]'"
assert _mathjax.origin is not None
html_static_path = ["_static", str(Path(_mathjax.origin).parent / "static" / "mathjax" / "tex-svg.js")]
mathjax_path = "tex-svg.js"
mathjax3_config = {
    "tex": {
        "macros": {
            "R": r"\mathbb{R}",
            "X": r"\mathcal{X}",
            "K": r"\mathcal{K}",
            "inner": [r"\langle #1, #2 \rangle", 2],
            "norm": [r"\lVert #1 \rVert", 1],
            "dist": r"\operatorname{dist}",
            "prox": r"\operatorname{prox}",
            "argmax": r"\operatorname*{arg\,max}",
            "argmin": r"\operatorname*{arg\,min}",
        }
    }
}

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 90
add_module_names = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
default_role = "code"

intersphinx_mapping = {} if QUICK else inventories.reachable(ROOT / "out" / "inventories")

EXAMPLES = os.path.relpath(ROOT / "examples", HERE)
SECTIONS = ("framework", "paper", "learning", "matrices", "graphs", "quantum", "running")
sphinx_gallery_conf = {
    "examples_dirs": EXAMPLES,
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"cluster_\w+\.py$",
    "subsection_order": [f"{EXAMPLES}/{name}" for name in SECTIONS],
    "within_subsection_order": "FileNameSortKey",
    "plot_gallery": not QUICK,
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "reference_url": {"unipd": None},
    "doc_module": ("unipd",),
    "backreferences_dir": "reference/backreferences",
    "inspect_global_variables": False,
    "remove_config_comments": True,
    "min_reported_time": 1,
    "show_memory": False,
    "show_signature": False,
    "matplotlib_animations": False,
    "image_scrapers": ("gallery_style.show_figures",),
    "reset_modules": ("matplotlib", "gallery_style.reset"),
    "nested_sections": False,
}
suppress_warnings = ["config.cache"]

html_theme = "pydata_sphinx_theme"
html_title = "unipd"
html_css_files = ["unipd.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "benchmarks": [], "how-we-test": []}
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc", "sg_download_links"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "use_edit_page_button": False,
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
