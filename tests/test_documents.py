"""What the documents promise: their code runs, their commands exist, their links lead somewhere."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = ["README.md", "CONTRIBUTING.md"]
PAGES = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))


def blocks(document: str) -> list[str]:
    """Return the Python code blocks of a document."""
    return re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_code_of_a_document_runs_from_top_to_bottom(document: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = blocks(document)
    assert code
    namespace: dict[str, object] = {}
    for block in code:
        exec(compile(block, document, "exec"), namespace)
    assert "result" in namespace


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)])
def test_the_code_of_a_page_runs_from_top_to_bottom(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        exec(compile(block, page, "exec"), namespace)


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in PAGES:
        assert f": {Path(page).relative_to('docs')}\n" in navigation, page


def test_the_template_takes_fifteen_lines() -> None:
    assert len([line for line in blocks("README.md")[0].splitlines() if line.strip()]) <= 15


def test_an_oracle_takes_twenty_lines_and_is_right() -> None:
    code = blocks("CONTRIBUTING.md")[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 20
    namespace: dict[str, object] = {}
    exec(compile(code, "CONTRIBUTING.md", "exec"), namespace)
    oracle = namespace["Decreasing"](6)
    random = np.random.default_rng(0)
    for _ in range(50):
        direction = random.standard_normal(6)
        best = max(float(direction[:length].sum()) for length in range(7))
        answer = oracle(direction)
        assert answer.value == pytest.approx(best)
        assert oracle.contains(answer.atom)
    assert not oracle.contains(np.linspace(0.0, 1.0, 6))


@pytest.mark.parametrize("document", [*DOCUMENTS, *PAGES, "CHANGELOG.md", "benchmarks/README.md"])
def test_links_to_files_lead_somewhere(document: str) -> None:
    path = ROOT / document
    for link in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / link).exists(), link


@pytest.mark.parametrize("document", DOCUMENTS)
def test_make_targets_that_are_mentioned_exist(document: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(
        re.findall(r"^make ([a-z]+)|`make ([a-z]+)`", (ROOT / document).read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert targets
    for pair in targets:
        assert re.search(rf"^{''.join(pair)}:", makefile, re.MULTILINE), pair


def test_the_citation_has_the_version_of_the_package() -> None:
    import unipd

    assert f"version: {unipd.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"[{unipd.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_template_example_solves_its_problems(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "template.py"), run_name="__main__")
    out = capsys.readouterr().out
    assert out.count("solved: ") == 4
    assert "<= optimum <=" in out
