"""Checks of a problem's parts before it is solved, and of the installation.

The module can be called: ``unipd.doctor(problem)`` is ``unipd.doctor.check(problem)``.
"""

import sys
from types import ModuleType

from unipd.doctor.adjoint import check_map
from unipd.doctor.coupling import check_coupling
from unipd.doctor.installation import check_installation
from unipd.doctor.problem import check
from unipd.doctor.report import Check, Report
from unipd.doctor.room import check_memory
from unipd.doctor.scaling import check_scaling
from unipd.doctor.sharp import check_sharp
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
]


class _Doctor(ModuleType):
    """A module that is called like its function :func:`check`."""

    def __call__(self, problem: Problem, *, seed: int = 0) -> Report:
        return check(problem, seed=seed)


sys.modules[__name__].__class__ = _Doctor
