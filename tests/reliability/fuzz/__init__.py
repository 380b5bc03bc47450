"""Seeded random trials of what the library promises: ``make fuzz SECONDS=600 SEED=0``.

Read __main__ (the harness) and then a section: problems (units, optima), programs (semidefinite ones), oracles (wrong
ones), runs (resumes, threads), files (readers), commands (signals). A section draws a case from random numbers; the
check of a case raises if the promise is broken.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class NothingToCheckError(Exception):
    """A case that says nothing about the promise, such as a run that ended at its limit; it does not count."""


class Case(NamedTuple):
    """A trial: what it is, for the report, and its check, which gets an empty folder."""

    name: str
    check: Callable[[Path], None]
