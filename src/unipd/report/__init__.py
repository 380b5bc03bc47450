"""Pictures and pages of runs.

- ``curves``: the data of convergence pictures; ``pictures``, ``tomography``, ``style``: pictures by Matplotlib (the
  extra ``plot``);
- ``certificate_text``: the certificate of a result in sentences;
- ``page``, ``templates/``: the interactive page by Jinja2 and Plotly (the extra ``report``);
- ``sections/``: what applications add to the page;
- ``live_run``: the same page of runs that continue;
- ``callbacks``: logs for TensorBoard and MLflow (the extra ``track``).

Heavy packages are imported when a picture is drawn or a page written, not before.

An application hands its data to the page through its result: it puts arrays, numbers and strings into
``result.extras``, and one function of a file in ``sections/``, listed in ``sections.BUILDERS``, turns them into a
:class:`Section` of sentences, tables and Plotly figures (plain dictionaries). The page of a saved result therefore
shows the same as that of a fresh one. :func:`report_sections` returns the sections of a result.
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.report.callbacks import MLflowCallback, TensorBoardCallback
    from unipd.report.certificate_text import describe_certificate
    from unipd.report.curves import compute_curves, decimate
    from unipd.report.live_run import LiveServer, RunCollector, is_checkpoint, load_checkpoint
    from unipd.report.page import render_page, run_data, write_report
    from unipd.report.pictures import plot_comparison, plot_convergence, plot_methods, plot_spectrum, spectrum_of
    from unipd.report.sections import Figure, Section, Table, report_sections
    from unipd.report.style import THEMES, check_path
    from unipd.report.tomography import plot_tomography

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "callbacks": ("MLflowCallback", "TensorBoardCallback"),
        "certificate_text": ("describe_certificate",),
        "curves": ("compute_curves", "decimate"),
        "live_run": ("LiveServer", "RunCollector", "is_checkpoint", "load_checkpoint"),
        "page": ("render_page", "run_data", "write_report"),
        "pictures": ("plot_comparison", "plot_convergence", "plot_methods", "plot_spectrum", "spectrum_of"),
        "sections": ("Figure", "Section", "Table", "report_sections"),
        "style": ("THEMES", "check_path"),
        "tomography": ("plot_tomography",),
    },
)

__all__ = [
    "THEMES",
    "Figure",
    "LiveServer",
    "MLflowCallback",
    "RunCollector",
    "Section",
    "Table",
    "TensorBoardCallback",
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
    "report_sections",
    "run_data",
    "spectrum_of",
    "write_report",
]
