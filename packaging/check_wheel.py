"""Check an installation without extras: every example runs, or ends with an error that names the extra it needs.

Run by ``make dist`` with the Python of an environment in which the wheel was installed with its dependencies alone. It
tries the examples of all documentation strings and prints those that fail otherwise; the exit code is 1 if any do.
"""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import sys
import warnings
from collections.abc import Iterator

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


def main() -> int:
    """Return 1 if an example fails for another reason than a missing extra."""
    warnings.simplefilter("ignore")
    tests = [test for module in import_modules() for test in doctest.DocTestFinder().find(module) if test.examples]
    failures = [text for text in map(explain_failure, tests) if text is not None]
    print("\n".join([*failures, f"{len(tests)} examples without extras, {len(failures)} failures"]))
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
