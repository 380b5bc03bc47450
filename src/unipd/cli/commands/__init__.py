"""The commands, one module each, and how to add one.

A command ``unipd NAME`` is a module ``unipd.cli.commands.NAME`` with a function ``command``::

    from pathlib import Path
    from typing import Annotated

    import typer

    from unipd.cli.options import Options, common_options
    from unipd.cli.output import emit, run_solver

    EXAMPLES = ("unipd unmix mixture.npz --accuracy 1e-4 --json -",)


    @common_options(accuracy=1e-4)
    def command(
        mixture: Annotated[Path, typer.Argument(help="Arrays A (spectra in columns) and b.")], *, options: Options
    ) -> int:
        \"\"\"Find the proportions of known spectra in a measured one.\"\"\"
        import numpy as np  # heavy imports go inside

        from unipd import Problem, couplings, sharp

        data = np.load(mixture)
        problem = Problem(sharp.Simplex(data["A"].shape[1]), data["A"], data["b"], couplings.LeastSquares())
        result = run_solver(problem, options)
        return emit(result.with_extras(largest=float(result.x.max())), options)

- The docstring is the help, which ends with ``EXAMPLES``; a module with several subcommands has a ``typer.Typer``
  named ``app`` instead of ``command``.
- ``options`` has the common options (:mod:`unipd.cli.options`). ``common_options(only=WRITING)`` omits those of the
  solver, ``methods=(...)`` names a command's own methods, keywords change defaults.
- :func:`unipd.cli.output.run_solver` solves a ``Problem`` with progress. :func:`unipd.cli.output.emit` prints the
  table of a result, writes ``--out``, ``--plot`` and ``--json``, and returns the exit code; figures of the command are
  ``extras`` of the result. A command without a result uses :class:`unipd.cli.output.OutputWriter`.
- Return the exit code (:mod:`unipd.cli.exits`). Report errors by raising: the errors of unipd, and
  missing or unreadable files, become one line and exit code 2.
- Print to standard output only through these two or :func:`unipd.cli.output.print_table`.

Then add a line to ``ENTRIES``.
"""

from __future__ import annotations

from dataclasses import dataclass

_SOLVE, _STUDY, _HELP = "Solve", "Study", "Help"


@dataclass(frozen=True)
class Entry:
    """A command before its module is imported."""

    name: str
    """Name on the command line."""
    help: str
    """One line for ``unipd --help``."""
    panel: str
    """Heading in ``unipd --help``."""
    place: str | None = None
    """Name of its module, if it differs from the command's."""

    @property
    def module(self) -> str:
        """Name of the command's module.

        >>> Entry("show", "Show a saved result.", "Study").module
        'unipd.cli.commands.show'
        """
        return self.place or f"{__name__}.{self.name.replace('-', '_')}"


ENTRIES = (
    Entry("solve", "Solve a problem from a file or a Python module.", _SOLVE),
    Entry("maxcut", "Bound the maximum cut of a graph and find a large cut.", _SOLVE),
    Entry("theta", "Bound the independence number of a graph by its theta number.", _SOLVE),
    Entry("complete", "Complete a matrix from some of its entries.", _SOLVE),
    Entry("tomography", "Estimate a quantum state from Pauli measurements.", _SOLVE),
    Entry("show", "Show a saved result.", _STUDY),
    Entry("report", "Write an HTML report of results: curves, certificate, settings.", _STUDY),
    Entry("compare", "Compare methods on one problem.", _STUDY),
    Entry("reproduce", "Reproduce the experiments of the paper.", _STUDY),
    Entry("data", "Find, download and verify data sets.", _STUDY),
    Entry("doctor", "Check the installation, or the parts of a problem.", _HELP),
)
"""Every command, in the order of ``unipd --help``."""
