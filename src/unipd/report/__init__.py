"""Pictures and pages of runs; matplotlib (the extra ``plot``) is imported when a picture is drawn, not before."""

from unipd.report.certificate_text import describe_certificate
from unipd.report.curves import compute_curves, decimate
from unipd.report.page import render_page, run_data, write_report
from unipd.report.pictures import plot_comparison, plot_convergence, plot_methods, plot_spectrum, spectrum_of
from unipd.report.style import check_path
from unipd.report.tomography import plot_tomography

__all__ = [
    "check_path",
    "compute_curves",
    "decimate",
    "describe_certificate",
    "plot_comparison",
    "plot_convergence",
    "plot_methods",
    "plot_spectrum",
    "plot_tomography",
    "render_page",
    "run_data",
    "spectrum_of",
    "write_report",
]
