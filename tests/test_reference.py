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
