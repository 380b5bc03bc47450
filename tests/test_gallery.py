"""The gallery: every script runs and draws a picture."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

import unipd

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("plot_*.py"))


def test_there_are_enough_scripts() -> None:
    assert len(SCRIPTS) >= 24


def test_a_script_names_the_extra_of_a_package_where_it_imports_it() -> None:
    extras = {"matplotlib": "plot", "sklearn": "learn", "mpi4py": "cluster"}
    known = {"unipd", "numpy", "scipy", *sys.stdlib_module_names}
    for path in EXAMPLES.rglob("*.py"):
        named = set()
        for line, package in re.findall(r"^ *((?:import|from) (\w+).*)$", path.read_text(), re.MULTILINE):
            if package not in known | named:  # Python shows the line where a package is missing
                assert line.endswith(f'# pip install "unipd[{extras[package]}]"'), path.name
                named.add(package)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_draws_a_picture(script: str, tmp_path: Path, monkeypatch, capsys) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("sklearn")
    matplotlib.use("agg")
    from matplotlib import pyplot

    monkeypatch.chdir(tmp_path)
    pyplot.close("all")
    names = runpy.run_path(str(EXAMPLES / script), run_name="__main__")
    figures = [value for value in names.values() if isinstance(value, matplotlib.figure.Figure)]
    pyplot.close("all")
    assert figures
    assert all(figure.axes for figure in figures)
    if script == "framework/plot_01_template.py":
        check_template(names)


def check_template(names: dict) -> None:
    """The page that readers copy from: every problem of it is solved, and every bound is one."""
    results = [value for value in names.values() if isinstance(value, unipd.Result)]
    assert len(results) >= 4
    for result in results:
        assert result.status.success
        assert result.dual_bound <= result.objective + 1e-5 * abs(result.objective)


def test_a_script_has_a_title_and_ends_in_a_picture() -> None:
    for script in SCRIPTS:
        text = (EXAMPLES / script).read_text(encoding="utf-8")
        assert re.match(r'r?"""\n(.+)\n(=+)\n', text), script
        assert text.rstrip().endswith("plt.show()") or "figure = " in text.split("# %%")[-1], script
