"""The commands, grouped by what they work on, and how to add one.

A command ``unipd NAME`` is a function NAME of one of these modules, which is imported when the command runs::

    from pathlib import Path
    from typing import Annotated

    import typer

    from unipd.cli.options import Options, common_options
    from unipd.cli.output import emit, run_solver


    @common_options(accuracy=1e-4, examples=("unipd unmix mixture.npz --accuracy 1e-4 --json -",))
    def unmix(
        mixture: Annotated[Path, typer.Argument(help="Arrays A (spectra in columns) and b.")], *, options: Options
    ) -> int:
        \"\"\"Find the proportions of known spectra in a measured one.\"\"\"
        import numpy as np  # heavy imports go inside

        from unipd import Problem, couplings, sharp

        data = np.load(mixture)
        problem = Problem(sharp.Simplex(data["A"].shape[1]), data["A"], data["b"], couplings.LeastSquares())
        result = run_solver(problem, options)
        return emit(result.with_extras(largest=float(result.x.max())), options)

- The docstring is the help, which ends with the examples; a command with subcommands is a ``typer.Typer`` NAME.
- ``options`` has the common options (:mod:`unipd.cli.options`). ``common_options(only=WRITING)`` omits those of the
  solver, ``methods=(...)`` names a command's own methods, keywords change defaults. Many options are declared in
  groups, a dataclass for each (:mod:`unipd.cli.commands.process`).
- :func:`unipd.cli.output.run_solver` solves a ``Problem`` with progress. :func:`unipd.cli.output.emit` prints the
  table of a result, writes ``--out``, ``--plot`` and ``--json``, and returns the exit code; figures of the command are
  ``extras`` of the result. A command without a result uses :class:`unipd.cli.output.OutputWriter`.
- Return the exit code (:mod:`unipd.cli.runtime`). Report errors by raising: the errors of unipd, and
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
    module: str
    """Name of the module that has it."""


ENTRIES = (
    Entry("solve", "Solve a problem from a file or a Python module.", _SOLVE, f"{__name__}.solve"),
    Entry("maxcut", "Bound the maximum cut of a graph and find a large cut.", _SOLVE, f"{__name__}.programs"),
    Entry("theta", "Bound the independence number of a graph by its theta number.", _SOLVE, f"{__name__}.programs"),
    Entry("complete", "Complete a matrix from some of its entries.", _SOLVE, f"{__name__}.complete"),
    Entry("predict", "Predict ratings of pairs with a saved model.", _SOLVE, f"{__name__}.complete"),
    Entry("tomography", "Estimate a quantum state from Pauli measurements.", _SOLVE, f"{__name__}.tomography"),
    Entry("shadows", "Estimate observables from measurements in many bases.", _SOLVE, f"{__name__}.tomography"),
    Entry("process", "Estimate a quantum channel from input states and outputs.", _SOLVE, f"{__name__}.process"),
    Entry("show", "Show a saved result.", _STUDY, f"{__name__}.results"),
    Entry("report", "Write an HTML report of results: curves, certificate, settings.", _STUDY, f"{__name__}.results"),
    Entry("certify", "Certify a solution of a semidefinite program.", _STUDY, f"{__name__}.programs"),
    Entry("convert", "Convert a semidefinite program between SDPA, SeDuMi and CBF.", _STUDY, f"{__name__}.programs"),
    Entry("compare", "Compare methods on one problem.", _STUDY, f"{__name__}.compare"),
    Entry("reproduce", "Reproduce the experiments of the paper.", _STUDY, f"{__name__}.reproduce"),
    Entry("data", "Find, download and verify data sets.", _STUDY, f"{__name__}.reproduce"),
    Entry("doctor", "Check the installation, or the parts of a problem.", _HELP, f"{__name__}.solve"),
)
"""Every command, in the order of ``unipd --help``."""
