"""Check an installation without extras: every example runs, or ends with an error that names the extra it needs.

Run by ``make dist`` with the Python of an environment in which the wheel was installed with its dependencies alone. It
tries the examples of all documentation strings, and the code of README, CONTRIBUTING and every page of the documents
from top to bottom. It prints those that fail otherwise, and the pages that need an extra. The exit code is 1 if any
example fails.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import re
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

import unipd

EXPECTED = re.compile(r"pip install|No module named '(cvxpy|matplotlib|pandas|sklearn|qiskit|qutip|mpi4py)'")
"""Messages of examples that need an extra: ours, and that of an example which imports the other package itself."""
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
COMMAND_LINE = "unipd.cli"
"""Its modules need Typer; ``unipd`` itself says so."""


def import_modules() -> Iterator[object]:
    """Yield the modules of the package that can be imported; raise unless the others name an extra."""
    for found in pkgutil.walk_packages(unipd.__path__, "unipd."):
        if found.name.startswith(COMMAND_LINE) or found.name.endswith("__main__"):
            continue
        try:
            yield importlib.import_module(found.name)
        except unipd.errors.MissingExtra:
            continue


def explain_failure(test: doctest.DocTest) -> str | None:
    """Run the examples of a documentation string; return what is wrong, unless an extra is missing."""
    output: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=output.append)
    text = "".join(output)
    return text if failed and not EXPECTED.search(text) else None


def run_page(page: Path) -> str | None:
    """Run the Python code of a page up to the first error; return that, if any."""
    code = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    names: dict[str, object] = {"__name__": "__main__"}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            for block in code:
                exec(compile(block, page.name, "exec"), names)
        except Exception:
            return traceback.format_exc()
        finally:
            os.chdir(before)
    return None


def check_pages() -> list[str]:
    """Return the errors of pages that do not name an extra; print which pages do."""
    root = Path(__file__).resolve().parents[1]
    pages = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
    errors = {page: error for page in pages if (error := run_page(page)) is not None}
    for page, error in errors.items():
        print(f"{os.path.relpath(page, root)} up to: {error.strip().splitlines()[-1]}")
    print(f"{len(pages)} pages without extras, {len(errors)} of them up to an example that needs one")
    return [error for error in errors.values() if not EXPECTED.search(error)]


def main() -> int:
    """Return 1 if an example fails for another reason than a missing extra."""
    warnings.simplefilter("ignore")
    tests = [test for module in import_modules() for test in doctest.DocTestFinder().find(module) if test.examples]
    failures = [text for text in map(explain_failure, tests) if text is not None]
    print("\n".join([*failures, f"{len(tests)} examples without extras, {len(failures)} failures"]))
    wrong = check_pages()
    print("\n".join(wrong))
    return int(bool(failures or wrong))


if __name__ == "__main__":
    sys.exit(main())
