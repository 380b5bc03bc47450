"""Packaging files agree with pyproject.toml: lower bounds, licences, and versions of the recipe."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import unipd

ROOT = Path(__file__).parent.parent
PROJECT = (ROOT / "pyproject.toml").read_text()
NO_DEPENDENCIES = ("docs", "dev", "all")
"""Extras of developers, or made of others."""


def requirements(*left_out: str) -> dict[str, str]:
    """Return the lower bound of each dependency, by the name of the package."""
    lists = re.findall(r"^(\w+) = \[(.*?)\]$", PROJECT, re.MULTILINE | re.DOTALL)
    text = " ".join(content for name, content in lists if name not in left_out)
    return dict(re.findall(r'"([A-Za-z][\w-]*)(?:\[\w+\])?>=([\d.]+)[^"]*"', text))


def test_the_oldest_versions_are_the_lower_bounds():
    lines = (ROOT / "packaging" / "oldest.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line)
    bounds = requirements()
    assert {"numpy", "scipy", "numba", "typer", "scikit-learn"} <= pinned.keys()
    for name, version in pinned.items():
        if name in bounds:
            assert (version + ".0.0").startswith(bounds[name] + "."), name


@pytest.mark.parametrize("name", requirements(*NO_DEPENDENCIES, "requires", "select", "ignore"))
def test_the_licence_of_every_dependency_is_listed(name):
    rows = [line.split("|") for line in (ROOT / "packaging" / "README.md").read_text().splitlines() if "|" in line]
    listed = {
        each.split()[0]: row[3].strip() for row in rows if len(row) == 5 for each in row[1].split(",") if each.strip()
    }
    assert listed[name]


def test_the_recipe_builds_this_version():
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text()
    assert f'version: "{unipd.__version__}"' in recipe
    run = re.search(r"^  run:\n(.*?)\n\n", recipe, re.MULTILINE | re.DOTALL)[1]
    needed = re.search(r"^dependencies = \[(.*?)\]$", PROJECT, re.MULTILINE)[1]
    needed += re.search(r"^cli = \[(.*?)\]$", PROJECT, re.MULTILINE)[1]
    python = re.search(r'requires-python = "(>=[\d.]+)"', PROJECT)[1]
    expected = dict(re.findall(r'"([\w-]+)(>=[\d.]+)"', needed)) | {"python": python}
    assert dict(re.findall(r"^    - (\S+) (\S+)$", run, re.MULTILINE)) == expected


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("target", ["demo", "test"])
def test_changed_sources_get_bytecode(target):
    """Stamps of the installation are up to date (-o): what remains to be done includes the bytecode."""
    stamps = [option for name in ("demo", "dev") for option in ("-o", f".venv/{name}.stamp")]
    done = subprocess.run(["make", "-n", *stamps, target], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "compileall -q src" in done.stdout
