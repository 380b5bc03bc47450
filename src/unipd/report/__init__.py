"""Pictures and pages of runs; matplotlib (the extra ``plot``) is imported when a picture is drawn, not before."""

from unipd.report.comparison import plot_comparison
from unipd.report.convergence import plot_convergence
from unipd.report.methods_grid import plot_methods
from unipd.report.page import write_report
from unipd.report.spectrum import plot_spectrum, spectrum_of
from unipd.report.words import certificate_in_words

__all__ = [
    "certificate_in_words",
    "plot_comparison",
    "plot_convergence",
    "plot_methods",
    "plot_spectrum",
    "spectrum_of",
    "write_report",
]
