"""What the library exports, and on which page of the reference each name stands.

As a Sphinx extension it writes ``reference/building-blocks.md`` and a page a package: the names that no page written by
hand lists.
"""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import unipd

INTERNAL = ("unipd.cli",)
"""The command line has a reference of its own."""
MODULES = ("unipd.protocols", "unipd.atoms", "unipd.errors", "unipd.status", "unipd.theory", "unipd.memory")
"""Modules at the top level that are their own namespace: their public definitions are exported."""
HEAD = """# Building blocks

For those who write oracles, maps and methods of their own, or read the code: everything else that a package exports, by
package. CONTRIBUTING in the repository maps the house; these names may change between minor versions.
"""


def packages() -> list[str]:
    """Return the public packages and modules, from the shortest path to the longest."""
    found = [
        info.name
        for info in pkgutil.walk_packages(unipd.__path__, "unipd.")
        if info.ispkg and "._" not in info.name and not info.name.startswith(INTERNAL)
    ]
    return ["unipd", *sorted([*found, *MODULES, "unipd.cvxpy"], key=lambda name: (name.count("."), name))]


def names_of(package: str) -> list[str]:
    """Return what a package exports: ``__all__``, or the public definitions of a module."""
    module = import_module(package)
    listed = getattr(module, "__all__", None)
    if listed is None:
        return [name for name, value in vars(module).items() if _is_defined_in(module, name, value)]
    # Modules, and callable modules such as ``unipd.doctor``, have names of their own.
    is_module = {name for name in listed if isinstance(getattr(module, name), ModuleType)}
    return [name for name in listed if not name.startswith("_") and name not in is_module]


def _is_defined_in(module: ModuleType, name: str, value: Any) -> bool:
    if name.startswith("_"):
        return False
    return (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__ == module.__name__


def exported() -> dict[str, str]:
    """Return every exported name with its package; re-exports count once, at the shortest path."""
    found: dict[str, str] = {}
    seen: set[int | str] = set()
    for package in packages():
        for name in names_of(package):
            key = same_object(f"{package}.{name}")
            if key not in seen:
                seen.add(key)
                found[f"{package}.{name}"] = package
    return found


def listed_names(folder: Path) -> dict[str, str]:
    """Return the names in the tables of the reference's pages, with their pages."""
    found: dict[str, str] = {}
    for page in sorted(folder.glob("*.md")):
        for table in re.findall(r"\.\. autosummary::\n((?:[ ]+.*\n|\n)+)", page.read_text(encoding="utf-8")):
            found.update(dict.fromkeys(re.findall(r"^ +~?(unipd[\w.]+)$", table, re.MULTILINE), page.name))
    return found


def resolve(name: str) -> Any:
    """Return what a dotted name refers to."""
    package, _, last = name.rpartition(".")
    return getattr(import_module(package), last)


def same_object(name: str) -> int | str:
    """Return a key that names of the same object share."""
    value = resolve(name)
    return id(value) if inspect.isclass(value) or inspect.isfunction(value) else name.rpartition(".")[2]


def render_building_blocks(folder: Path) -> dict[str, str]:
    """Return the pages of the names that the pages in ``folder`` leave out: one a package, and their index."""
    elsewhere = {same_object(name) for name in listed_names(folder)}
    sections: dict[str, list[str]] = {}
    for name, package in exported().items():
        if same_object(name) not in elsewhere:
            sections.setdefault(package, []).append(name)
    contents = "".join(f"blocks/{name}\n" for name in sorted(sections))
    pages = {"building-blocks.md": f"{HEAD}\n```{{toctree}}\n{contents}```\n"}
    for package, names in sections.items():
        first_line = (import_module(package).__doc__ or "").strip().splitlines()[0]
        entries = "".join(_render_entry(name) for name in sorted(names))
        pages[f"blocks/{package}.md"] = f"# {package}\n\n{_escape(first_line)}\n\n```{{eval-rst}}\n{entries}```\n"
    return pages


def _render_entry(name: str) -> str:
    """Return the directive that documents a name; of a value, autodoc would show the docstring of its type."""
    value = resolve(name)
    if inspect.isclass(value):
        return f".. {'autoexception' if issubclass(value, BaseException) else 'autoclass'}:: {name}\n\n"
    if callable(value):
        return f".. autofunction:: {name}\n\n"
    return f".. py:data:: {name}\n\n   {describe_value(name)}\n\n"


def describe_value(name: str) -> str:
    """Return the string below the assignment of a value, wherever in the library that is; empty without one."""
    value, last = resolve(name), name.rpartition(".")[2]
    modules = [module for key, module in sorted(sys.modules.items()) if key.split(".")[0] == "unipd"]
    for module in modules:
        if vars(module).get(last) is value:
            for node, after in pairwise(ast.parse(inspect.getsource(module)).body):
                is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                if is_text and isinstance(node, (ast.Assign, ast.AnnAssign)) and last in _assigned_names(node):
                    return " ".join(str(after.value.value).split())
    return ""


def _assigned_names(node: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}


def _escape(text: str) -> str:
    return re.sub(r"([*_|<>\[\]])", r"\\\1", text)


def write_pages(app: Any) -> None:
    """Write the pages into the sources, unless they are up to date."""
    folder = Path(app.srcdir) / "reference"
    (folder / "blocks").mkdir(exist_ok=True)
    pages = render_building_blocks(folder)
    for stale in {f"blocks/{page.name}" for page in (folder / "blocks").glob("*.md")} - set(pages):
        (folder / stale).unlink()
    for name, text in pages.items():
        page = folder / name
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Register the extension; the pages are written before autosummary looks for names."""
    app.connect("builder-inited", write_pages, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
