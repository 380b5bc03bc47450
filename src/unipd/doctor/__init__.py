"""Checks of a problem's parts before it is solved, and of the installation."""

from unipd.doctor.adjoint import check_map
from unipd.doctor.coupling import check_coupling
from unipd.doctor.installation import check_installation
from unipd.doctor.problem import check
from unipd.doctor.report import Check, Report
from unipd.doctor.room import check_memory
from unipd.doctor.scaling import check_scaling
from unipd.doctor.sharp import check_sharp

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
