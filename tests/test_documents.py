"""Documents: their code runs, their commands exist, their links resolve."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unipd
from unipd.doctor import check_coupling
from unipd.methods import merit

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


def contributed_classes() -> dict[str, Any]:
    """Return the classes that CONTRIBUTING defines, without running its examples of use."""
    namespace: dict[str, Any] = {}
    for block in blocks("CONTRIBUTING.md"):
        if "class " in block:
            exec(compile(block, "CONTRIBUTING.md", "exec"), namespace)
    return namespace


def test_the_first_coupling_is_right() -> None:
    checks = check_coupling(contributed_classes()["CommonOffset"](), (7,))
    assert checks
    assert [check for check in checks if not check.ok] == []


def test_the_first_wrapper_leaves_the_inner_method_alone_and_never_gets_worse() -> None:
    random = np.random.default_rng(0)
    A = random.standard_normal((10, 30))
    problem = unipd.Problem(unipd.sharp.Simplex(30), A, A @ random.dirichlet(np.ones(30)), "=")
    plain = unipd.iterate(problem, unipd.UniPDGrad(), accuracy=1e-6)
    wrapped = unipd.iterate(problem, contributed_classes()["Incumbent"](unipd.UniPDGrad()), accuracy=1e-6)
    improved = 0
    for _, one, other in zip(range(60), plain, wrapped, strict=False):
        np.testing.assert_array_equal(one.image, other.inner.image)
        bound = one.certificate.dual_bound
        assert merit(problem, other.certificate, bound) <= merit(problem, one.certificate, bound)
        improved += merit(problem, other.certificate, bound) < merit(problem, one.certificate, bound)
    assert improved


def resolve(name: str) -> object:
    """Return the module or attribute that a dotted name refers to."""
    parts = name.split(".")
    value: object = import_module(parts[0])
    for depth, part in enumerate(parts[1:], start=1):
        value = getattr(value, part) if hasattr(value, part) else import_module(".".join(parts[: depth + 1]))
    return value


EVERYWHERE = [*DOCUMENTS, *PAGES, "CHANGELOG.md", "benchmarks/README.md"]


@pytest.mark.parametrize("document", EVERYWHERE)
def test_every_name_of_the_library_exists(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    names = set(re.findall(r"\bunipd(?:\.[A-Za-z_]\w*)+", text))
    for module, imported in re.findall(r"from (unipd[\w.]*) import ([\w, ]+)", text):
        names |= {f"{module}.{name.strip()}" for name in imported.split(",")}
    sheets = {f"unipd.report.{path.stem}" for path in (ROOT / "src/unipd/report").glob("*.mplstyle")}
    for name in sorted(names - sheets):
        resolve(name)


@pytest.mark.parametrize("document", EVERYWHERE)
def test_every_file_of_the_repository_exists(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for name in set(re.findall(r"[\w/]+\.py\b(?!:)", text)):
        assert any((ROOT / folder / name).exists() for folder in ("", "src/unipd", "benchmarks")), name


@pytest.mark.parametrize("document", EVERYWHERE)
def test_links_to_files_lead_somewhere(document: str) -> None:
    path = ROOT / document
    for link in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        source = re.sub(r"^.*gallery/(.*)\.rst$", r"\1.py", link)  # a page of the gallery is made from a script
        built = link.endswith(("gallery/index.rst", "reference/commands.md")) or (ROOT / "examples" / source).exists()
        assert built or (path.parent / link).exists(), link


def contents(page: Path) -> list[Path]:
    """Return the pages that the tables of contents of a page list; made pages (gallery, commands) have no source."""
    tables = re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    entries = [line.strip() for table in tables for line in table.splitlines() if line.strip() and line[0] != ":"]
    return [source for entry in entries if (source := page.parent / f"{entry}.md").exists()]


def test_every_page_is_in_the_navigation() -> None:
    reached, waiting = set[Path](), [ROOT / "docs" / "index.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            waiting += contents(page)
    assert {str(page.relative_to(ROOT)) for page in reached} == set(PAGES)


@pytest.mark.parametrize("document", PAGES)
def test_pictures_and_galleries_that_are_named_exist(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for picture in re.findall(r"\{image\} (\S+)|!\[[^\]]*\]\((\S+)\)", text):
        assert (ROOT / document).parent.joinpath("".join(picture)).exists(), picture
    for script in re.findall(r"gallery/(\w+/plot_\w+)\.rst", text):
        assert (ROOT / "examples" / f"{script}.py").exists(), script


def test_the_words_that_searchers_use_are_on_the_front_page_and_in_the_readme() -> None:
    for document in ("README.md", "docs/index.md"):
        text = (ROOT / document).read_text(encoding="utf-8").lower()
        for words in ("linear minimization oracle", "conditional gradient", "frank-wolfe", "duality gap"):
            assert words in " ".join(text.split()), (document, words)


def test_the_changelog_is_one_screen() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.startswith("- ")]) <= 20


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
    assert f"version: {unipd.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"[{unipd.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
