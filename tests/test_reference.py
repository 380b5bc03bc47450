"""The reference: every exported name stands on one of its pages, and has a docstring."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
CURATED = ("unipd", "unipd.sharp", "unipd.maps", "unipd.couplings", "unipd.theory", "unipd.errors", "unipd.io")
"""Packages whose names belong on a page written by hand."""


@pytest.fixture(scope="module")
def names():
    sys.path.insert(0, str(DOCS / "_extensions"))
    try:
        yield import_module("exported_names")
    finally:
        sys.path.remove(str(DOCS / "_extensions"))


def test_names_that_users_need_are_grouped_by_hand(names) -> None:
    listed = {names.same_object(name) for name in names.listed_names(DOCS / "reference")}
    missing = [
        name
        for name, package in names.exported().items()
        if package in CURATED and names.same_object(name) not in listed
    ]
    assert missing == [], "add them to a page in docs/reference"


def test_every_exported_name_is_documented(names) -> None:
    pages = "".join(names.render_building_blocks(DOCS / "reference").values())
    listed = {names.same_object(name) for name in names.listed_names(DOCS / "reference")}
    exported = names.exported()
    documented = [name for name in exported if names.same_object(name) in listed or f":: {name}\n" in pages]
    assert len(documented) == len(exported)


def test_every_exported_class_and_function_has_a_docstring(names) -> None:
    for name in names.exported():
        package, _, last = name.rpartition(".")
        value = getattr(import_module(package), last)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert (inspect.getdoc(value) or "").strip(), name


def test_listed_names_exist(names) -> None:
    for name in names.listed_names(DOCS / "reference"):
        names.same_object(name)


@pytest.fixture(scope="module")
def completed(names):
    """Return the docstrings of the curated classes and functions as the reference shows them."""
    pytest.importorskip("numpydoc")
    completion, found = import_module("complete_docstrings"), {}
    for name in names.listed_names(DOCS / "reference"):
        value = completion.resolve(name)
        if inspect.isclass(value) or inspect.isfunction(value):
            found[name] = value, completion.complete(value, name, inspect.getdoc(value) or "")
    return found


def test_every_parameter_is_described(completed) -> None:
    missing = {
        name: [entry.name for entry in doc["Parameters"] if not " ".join(entry.desc).strip()]
        for name, (_, doc) in completed.items()
    }
    assert {name: parts for name, parts in missing.items() if parts} == {}, "in the docstring, or in glossary.txt"


def test_every_described_parameter_exists(completed) -> None:
    parameters_of = import_module("complete_docstrings").parameters_of
    for name, (value, doc) in completed.items():
        entries = [part.strip().lstrip("*") for entry in doc["Parameters"] for part in entry.name.split(",")]
        assert set(entries) <= set(parameters_of(value)), name


def test_every_function_says_what_it_returns(completed) -> None:
    for name, (value, doc) in completed.items():
        if inspect.isfunction(value) and value.__annotations__.get("return") not in (None, "None"):
            assert doc["Returns"] or doc["Yields"], name


def test_errors_of_the_code_are_documented(completed) -> None:
    raised = {name: [entry.type or entry.name for entry in doc["Raises"]] for name, (_, doc) in completed.items()}
    assert "InvalidInput" in raised["unipd.report.compute_curves"]
    assert sum(bool(errors) for errors in raised.values()) > 100


def test_equations_and_neighbours_are_linked(completed) -> None:
    _, doc = completed["unipd.theory.smoothness_bound"]
    assert any("(10)" in line for line in doc["Notes"])
    assert sum(bool(doc["See Also"]) for _, doc in completed.values()) > 0.9 * len(completed)
