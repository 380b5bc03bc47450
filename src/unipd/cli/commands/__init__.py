"""The commands, one a module, and how to add one.

A command ``unipd NAME`` is a module ``unipd.cli.commands.NAME`` with a function ``command``::

    EXAMPLES = ("unipd maxcut graph.txt --accuracy 1e-4 --json -",)


    @common_options(accuracy=1e-4)
    def command(graph: Annotated[Path, typer.Argument(help="A graph in rudy format.")], *, options: Options) -> int:
        \"\"\"Bound the maximum cut of a graph.\"\"\"
        from unipd.apps import maxcut  # heavy imports go inside

        problem = maxcut.problem(read_graph(graph), seed=options.seed)
        return run_solver(problem, options, extra=lambda result: {"cut": maxcut.round(result)})

- The docstring is the help, ``EXAMPLES`` ends it; a module with several subcommands has a ``typer.Typer`` named
  ``app`` in the place of ``command``.
- ``options`` stands for all common options (:mod:`unipd.cli.options`). ``common_options(only=WRITING)`` leaves the
  solver's out, ``methods=(...)`` names a command's own methods, keywords change defaults.
- :func:`unipd.cli.solving.run_solver` solves a ``Problem``, shows progress and the table, writes ``--out``, ``--plot``
  and ``--json``, and returns the exit code. A command that calls the solver inside an estimator uses its second half,
  ``emit(figures, result, options)``.
- Return the exit code (:mod:`unipd.cli.exits`). Complain by raising: ``InvalidInput``, ``FileFormatError`` and the
  other errors of unipd, and missing or unreadable files, become one line and exit code 2.
- Print nothing on standard output but through ``emit`` or :func:`unipd.cli.tables.print_table`.

Then add a line to ``ENTRIES``. A line whose module does not exist (yet) is not shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import util

_SOLVE, _STUDY, _HELP = "Solve", "Study", "Help"


@dataclass(frozen=True)
class Entry:
    """A command before its module is imported."""

    name: str
    """What users type."""
    help: str
    """One line for ``unipd --help``."""
    panel: str
    """The heading it stands under."""
    place: str | None = None
    """Name of its module, when that is not the one called like the command."""

    @property
    def module(self) -> str:
        """Name of the command's module.

        >>> Entry("show", "Show a saved result.", "Study").module
        'unipd.cli.commands.show'
        """
        return self.place or f"{__name__}.{self.name.replace('-', '_')}"


ENTRIES = (
    Entry("solve", "Solve a problem from a file or a Python module.", _SOLVE),
    Entry("maxcut", "Bound the maximum cut of a graph and find a good one.", _SOLVE),
    Entry("theta", "Bound the independence number of a graph by its theta number.", _SOLVE),
    Entry("complete", "Fill in a matrix of which some entries are known.", _SOLVE),
    Entry("tomography", "Estimate a quantum state from Pauli measurements.", _SOLVE),
    Entry("show", "Show a saved result.", _STUDY),
    Entry("report", "Write a page about results: curves, certificate in words, settings.", _STUDY),
    Entry("compare", "Compare methods on one problem.", _STUDY),
    Entry("reproduce", "Repeat the experiments of the paper.", _STUDY),
    Entry("bench", "Measure speed and memory.", _STUDY),
    Entry("data", "Find, fetch and check data sets.", _STUDY),
    Entry("doctor", "Check the installation, or the parts of a problem.", _HELP),
)
"""Every command, in the order of ``unipd --help``."""


def available() -> list[Entry]:
    """Return the entries whose modules exist, without importing them."""
    return [entry for entry in ENTRIES if util.find_spec(entry.module) is not None]
