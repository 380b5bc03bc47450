import numpy as np
import pytest

import unipd
from unipd.io.results import save


@pytest.fixture
def saved(tmp_path):
    problem = unipd.Problem(unipd.sharp.Simplex(3), np.eye(3), [0.2, 0.3, 0.5], "=")
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        save(unipd.solve(problem), tmp_path / folder / "run.npz", seed=4)
    return tmp_path


def test_a_page_of_several_results(invoke, saved):
    result = invoke("report", saved / "a" / "run.npz", saved / "b" / "run.npz", "-o", saved / "both.html")
    assert result.exit_code == 0
    assert str(saved / "both.html") in result.stdout
    page = (saved / "both.html").read_text(encoding="utf-8")
    assert "a/run" in page
    assert "b/run" in page


def test_the_title_and_the_usual_name(invoke, saved, monkeypatch):
    monkeypatch.chdir(saved)
    result = invoke("report", "a/run.npz", "--title", "<b>Mine</b>", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert "<title>&lt;b&gt;Mine&lt;/b&gt;</title>" in (saved / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("missing.npz",),
        ("a",),
        ("a/run.npz", "-o", "page.pdf"),
        ("a/run.npz", "-o", "nowhere/page.html"),
        ("a/run.npz", "-o", "a"),
        ("not-a-result.npz",),
        ("a/run.npz", "not-a-result.npz"),
    ],
)
def test_mistakes_are_one_line_and_leave_no_page(invoke, saved, monkeypatch, arguments):
    monkeypatch.chdir(saved)
    (saved / "not-a-result.npz").write_text("no")
    result = invoke("report", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert not list(saved.glob("*.html"))
