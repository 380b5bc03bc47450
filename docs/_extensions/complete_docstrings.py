"""Sphinx extension: fills what a docstring leaves to the signature, so that every page of the reference is complete.

Parameters that a docstring does not describe are described by the docstring of the field of the same name (dataclasses
comment their fields) or by :data:`GLOSSARY`: in this library a name means the same thing everywhere. What is returned
comes from the annotation and the summary, what is raised from the code, "See Also" from the table of the reference that
lists the name, the equation of the paper from ``equations.md``.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from numpydoc.docscrape import NumpyDocString, Parameter

import unipd.errors

DOCS = Path(__file__).resolve().parents[1]
MOST_NEIGHBOURS = 6
"""Names under "See Also" at most."""


@cache
def glossary() -> dict[str, str]:
    """Return what the names of parameters mean, from ``glossary.txt``."""
    text = (Path(__file__).parent / "glossary.txt").read_text(encoding="utf-8")
    return dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)


def complete(value: Any, name: str, docstring: str) -> NumpyDocString:
    """Return the docstring of a class or function with every section that can be derived."""
    doc = NumpyDocString(docstring)
    signature = parameters_of(value)
    known = {part.strip().lstrip("*") for entry in doc["Parameters"] for part in entry.name.split(",")}
    fields = field_docstrings(value) if inspect.isclass(value) else {}
    for parameter in signature.values():
        if parameter.name not in known:
            text = fields.get(parameter.name) or glossary().get(parameter.name, "")
            doc["Parameters"].append(Parameter(parameter.name, _type_text(parameter), [text] if text else []))
    if inspect.isfunction(value):
        _add_returns(doc, value)
    _add_raises(doc, value)
    _add_neighbours(doc, name)
    equation = equations().get(name)
    if equation and not any("quation" in line for line in doc["Notes"]):
        doc["Notes"] = [*doc["Notes"], *([""] if doc["Notes"] else []), f"In the paper: {equation}."]
    return doc


def parameters_of(value: Any) -> dict[str, inspect.Parameter]:
    """Return the parameters of a call by name; none where the signature is unknown."""
    try:
        found = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return {}
    return {name: parameter for name, parameter in found.items() if name not in ("self", "cls")}


def _type_text(parameter: inspect.Parameter) -> str:
    annotation = parameter.annotation
    text = "" if annotation is inspect.Parameter.empty else annotation if isinstance(annotation, str) else ""
    is_optional = parameter.default is not inspect.Parameter.empty
    return ", ".join(filter(None, (re.sub(r"\bAny\b", "object", text), "optional" if is_optional else "")))


@cache
def field_docstrings(kind: type) -> dict[str, str]:
    """Return the docstrings of a class's fields, also inherited ones, in one line each."""
    found: dict[str, str] = {}
    for base in kind.__mro__:
        if base.__module__.startswith("unipd"):
            body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0].body  # type: ignore[attr-defined]
            for field, text in pairwise(body):
                is_text = isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
                if isinstance(field, ast.AnnAssign) and is_text and isinstance(field.target, ast.Name):
                    found.setdefault(field.target.id, " ".join(str(text.value.value).split()))
    return found


def _add_returns(doc: NumpyDocString, value: Any) -> None:
    annotation = str(value.__annotations__.get("return", ""))
    if doc["Returns"] or doc["Yields"] or annotation in ("", "None"):
        return
    summary = " ".join(doc["Summary"])
    said = re.match(r"(?:Return|Whether|Yield)s? (.*?)(?:[.;:]$|[.;:] |$)", summary)
    text = said.group(0) if said else ""
    doc["Returns"] = [Parameter("", re.sub(r"\bAny\b", "object", annotation), [re.sub(r"^Returns? ", "", text)])]


def _add_raises(doc: NumpyDocString, value: Any) -> None:
    if doc["Raises"]:
        return
    doc["Raises"] = [
        Parameter("", name, [inspect.getdoc(getattr(unipd.errors, name)).splitlines()[0]])  # type: ignore[union-attr]
        for name in sorted(raised_errors(value))
    ]


def raised_errors(value: Any) -> set[str]:
    """Return the errors of the library that the code of a function, or of a class's constructor, raises."""
    parts = [value.__dict__.get(name) for name in ("__init__", "__post_init__")] if inspect.isclass(value) else [value]
    found: set[str] = set()
    for part in parts:
        if inspect.isfunction(part) and not part.__qualname__.startswith("__create_fn__"):
            try:
                tree = ast.parse(textwrap.dedent(inspect.getsource(part)))
            except (OSError, SyntaxError):
                continue
            for node in ast.walk(tree):
                if (
                    isinstance(node, ast.Raise)
                    and isinstance(node.exc, ast.Call)
                    and isinstance(node.exc.func, ast.Name)
                ):
                    found.add(node.exc.func.id)
                is_check = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
                if is_check and node.value.id == "validate":
                    found.add("InvalidInput")
    return {name for name in found if hasattr(unipd.errors, name)}


def _add_neighbours(doc: NumpyDocString, name: str) -> None:
    """Add the nearest names of the same table, and make the names that the docstring gives links."""
    if not doc["See Also"]:
        around = tables().get(name, [])
        place = around.index(name) if name in around else 0
        nearest = sorted(
            (other for other in around if other != name), key=lambda other: abs(around.index(other) - place)
        )
        doc["See Also"] = [([(other, "obj")], []) for other in nearest[:MOST_NEIGHBOURS]]
    package = name.rpartition(".")[0]
    doc["See Also"] = [
        ([(other if "." in other else f"{package}.{other}", role or "obj") for other, role in names], text)
        for names, text in doc["See Also"]
    ]


@cache
def tables() -> dict[str, list[str]]:
    """Return for every name the names in its table of the reference."""
    found: dict[str, list[str]] = {}
    for page in (DOCS / "reference").glob("*.md"):
        for table in re.findall(r"\.\. autosummary::\n((?:[ ]+.*\n|\n)+)", page.read_text(encoding="utf-8")):
            names = re.findall(r"^ +~?(unipd[\w.]+)$", table, re.MULTILINE)
            found |= dict.fromkeys(names, names)
    return found


@cache
def equations() -> dict[str, str]:
    """Return for every name in the table of equations where the paper has it."""
    found: dict[str, str] = {}
    for line in (DOCS / "equations.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and "`unipd." in cells[2]:
            place = re.sub(r"\$.*?\$", "", cells[0]).strip(" ,") or cells[1]
            found |= dict.fromkeys(re.findall(r"`(unipd\.[\w.]+)`", cells[2]), place)
    return found


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Complete the docstring of a class, an exception or a function in place."""
    if what in ("class", "exception", "function") and (obj.__module__ or "").startswith("unipd"):
        lines[:] = str(complete(obj, name, "\n".join(lines))).splitlines()


def resolve(name: str) -> Any:
    """Return what a dotted name of the reference refers to."""
    package, _, last = name.rpartition(".")
    return getattr(import_module(package), last)


def setup(app: Any) -> dict[str, bool]:
    """Register the extension, before the escaping of ASCII formulas and before numpydoc."""
    app.connect("autodoc-process-docstring", process, priority=50)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
