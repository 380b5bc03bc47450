"""The doctor: checks of a problem before it is solved, and of the installation.

``unipd.doctor(problem)`` calls :func:`check` and returns a :class:`Report`, which prints as a table and iterates over
its :class:`Check` objects. Nothing is solved: map, oracle and coupling are probed at random points for the identities
that the methods rely on, which finds most mistakes in user-supplied parts. In reading order:

- ``report``: a check's outcome, the report, and the random points;
- ``parts``: :func:`check_map`, :func:`check_sharp`, :func:`check_coupling`;
- ``problem``: :func:`check` joins these with :func:`check_scaling` and :func:`check_memory`;
- ``installation``: :func:`check_installation`, what ``unipd doctor`` prints, and :func:`compile_kernels`.
"""

import sys
from types import ModuleType

from unipd.doctor.installation import check_installation, compile_kernels
from unipd.doctor.parts import check_coupling, check_map, check_sharp
from unipd.doctor.problem import check, check_memory, check_scaling
from unipd.doctor.report import Check, Report
from unipd.problem import Problem

__all__ = [
    "Check",
    "Report",
    "check",
    "check_coupling",
    "check_installation",
    "check_map",
    "check_memory",
    "check_scaling",
    "check_sharp",
    "compile_kernels",
]


class _Doctor(ModuleType):
    """A module that is called like its function :func:`check`."""

    def __call__(self, problem: Problem, *, seed: int = 0) -> Report:
        return check(problem, seed=seed)


sys.modules[__name__].__class__ = _Doctor
