"""The reference: every exported name stands on one of its pages, and its ``help`` is complete."""

from __future__ import annotations

import inspect
import re
import sys
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import unipd.errors

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


def test_every_exported_value_is_described(names) -> None:
    values = (name for name in names.exported() if not callable(names.resolve(name)))
    assert [name for name in values if not names.describe_value(name)] == []


@pytest.fixture(scope="module")
def documented(names):
    """Return every class and function that is exported or on a page, with its docstring as ``help`` shows it."""
    docscrape = pytest.importorskip("numpydoc.docscrape")
    every = {**names.exported(), **names.listed_names(DOCS / "reference")}
    values = {name: inspect.unwrap(names.resolve(name)) for name in every}
    return {
        name: (value, docscrape.NumpyDocString(inspect.getdoc(value) or ""))
        for name, value in values.items()
        if inspect.isclass(value) or inspect.isfunction(value)
    }


def parameters_of(value: Any) -> set[str]:
    """Return the parameters of a call; none for protocols and enumerations, which nobody calls."""
    if inspect.isclass(value) and (getattr(value, "_is_protocol", False) or issubclass(value, Enum)):
        return set()
    try:
        return set(inspect.signature(value).parameters)
    except ValueError:  # exceptions without a constructor of their own
        return set()


def described_parameters(value: Any) -> set[str]:
    """Return the parameters that ``help`` describes."""
    docscrape = pytest.importorskip("numpydoc.docscrape")
    entries = docscrape.NumpyDocString(inspect.getdoc(value) or "")["Parameters"]
    return {part.strip().lstrip("*") for entry in entries for part in entry.name.split(",")}


def test_every_parameter_is_described_and_exists(documented) -> None:
    for name, (value, doc) in documented.items():
        assert described_parameters(value) == parameters_of(value), name
        assert all(" ".join(entry.desc).strip() for entry in doc["Parameters"]), name


def methods_of(value: type) -> dict[str, Any]:
    """Return the library's public methods of a class, inherited ones included."""
    members = {name: inspect.unwrap(member) for name, member in inspect.getmembers(value, inspect.isroutine)}
    return {
        name: member
        for name, member in members.items()
        if not name.startswith("_") and (getattr(member, "__module__", None) or "").startswith("unipd.")
    }


def protocols() -> list[type]:
    modules = [module for name, module in sys.modules.items() if name.startswith("unipd.")]
    values = [value for module in modules for value in list(vars(module).values())]
    return [value for value in values if inspect.isclass(value) and getattr(value, "_is_protocol", False)]


def test_methods_describe_their_parameters(names, documented) -> None:
    """Two parameters or more, in the classes that pages written by hand list.

    The place is the method, a function to which its docstring refers, a base class, or a protocol with that method.
    """
    listed, contracts, missing = names.listed_names(DOCS / "reference"), protocols(), set()
    classes = [value for name, (value, _) in documented.items() if name in listed and inspect.isclass(value)]
    for value in classes:
        for name, method in methods_of(value).items():
            parameters = set(inspect.signature(method).parameters) - {"self", "cls"}
            if len(parameters) < 2 or re.search(r"\b[Ss]ee :(func|meth):", inspect.getdoc(method) or ""):
                continue
            inherited = [vars(base)[name] for base in (*value.__mro__, *contracts) if name in vars(base)]
            unknown = parameters.difference(*map(described_parameters, (method, *inherited)))
            wrong = unknown | (described_parameters(method) - parameters)
            if wrong:
                missing.add(f"{method.__module__}.{method.__qualname__}: {sorted(wrong)}")
    assert missing == set(), "\n".join(sorted(missing))


def test_every_function_says_what_it_returns(documented) -> None:
    for name, (value, doc) in documented.items():
        if inspect.isfunction(value) and inspect.unwrap(value).__annotations__.get("return") not in (None, "None"):
            summary = " ".join(doc["Summary"])
            assert doc["Returns"] or doc["Yields"] or re.match(r"(Return|Yield|Whether)\b", summary), name


def test_every_name_has_an_example(documented) -> None:
    assert [name for name, (_, doc) in documented.items() if ">>>" not in "".join(doc["Examples"])] == []


def test_every_name_refers_to_related_ones_that_exist(names, documented) -> None:
    for name, (_, doc) in documented.items():
        related = [other for entry, _ in doc["See Also"] for other, _ in entry]
        assert related, name
        for other in related:
            names.resolve(other if other.startswith("unipd.") else f"{name.rpartition('.')[0]}.{other}")


def test_errors_that_the_code_raises_are_documented(documented) -> None:
    for name, (value, doc) in documented.items():
        if inspect.isfunction(value):
            raised = set(re.findall(r"^ +raise (\w+)\(", inspect.getsource(inspect.unwrap(value)), re.MULTILINE))
            listed = {entry.type or entry.name for entry in doc["Raises"]}
            assert {error for error in raised if hasattr(unipd.errors, error)} <= listed, name


def test_names_in_the_table_of_equations_cite_the_paper(documented) -> None:
    table = set(re.findall(r"`(unipd\.[\w.]+)`", (DOCS / "equations.md").read_text(encoding="utf-8")))
    for name in table & set(documented):
        assert re.search(r"paper|supplement|Theorem|Algorithm|Definition", str(documented[name][1])), name


def test_formulas_in_ascii_are_set(names) -> None:
    set_formulas = import_module("ascii_docstrings").set_formulas
    rate = set_formulas("optimal O(eps^(-2/(1+3 nu))) calls")
    assert rate == r"optimal \ :math:`O(\varepsilon^{-2/(1+3 \nu)})`\  calls"
    search = set_formulas("starts at M_{k-1}, xbar averages x^*(lambda-hat_k)")
    assert search.count(":math:") == 3
    assert r"x^{*}(\hat\lambda_{k})" in search
    for prose in ("A proof (Theorem 4.2, (10))", "the method's step", "after 2 trials"):
        assert set_formulas(prose) == prose
