"""Pictures and pages of runs; matplotlib (the extra ``plot``) is imported when a picture is drawn, not before."""

from unipd.report.certificate_text import describe_certificate
from unipd.report.curves import compute_curves, decimate
from unipd.report.live_run import LiveServer, RunCollector, is_checkpoint, load_checkpoint
from unipd.report.page import render_page, run_data, write_report
from unipd.report.pictures import plot_comparison, plot_convergence, plot_methods, plot_spectrum, spectrum_of
from unipd.report.style import THEMES, check_path
from unipd.report.tomography import plot_tomography

__all__ = [
    "THEMES",
    "LiveServer",
    "RunCollector",
    "check_path",
    "compute_curves",
    "decimate",
    "describe_certificate",
    "is_checkpoint",
    "load_checkpoint",
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
