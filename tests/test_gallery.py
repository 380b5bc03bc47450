"""The gallery: every script runs and draws a picture."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("plot_*.py"))


def test_there_are_enough_scripts() -> None:
    assert len(SCRIPTS) >= 24


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
