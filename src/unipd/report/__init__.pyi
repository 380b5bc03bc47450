from unipd.report.live_run import MLflowCallback as MLflowCallback
from unipd.report.live_run import TensorBoardCallback as TensorBoardCallback
from unipd.report.certificate_text import describe_certificate as describe_certificate
from unipd.report.curves import compute_curves as compute_curves
from unipd.report.curves import decimate as decimate
from unipd.report.live_run import LiveServer as LiveServer
from unipd.report.live_run import RunCollector as RunCollector
from unipd.run.checkpoint.file import is_checkpoint as is_checkpoint
from unipd.report.live_run import load_checkpoint as load_checkpoint
from unipd.report.page import render_page as render_page
from unipd.report.page import run_data as run_data
from unipd.report.page import write_report as write_report
from unipd.report.pictures import plot_comparison as plot_comparison
from unipd.report.pictures import plot_convergence as plot_convergence
from unipd.report.pictures import plot_spectrum as plot_spectrum
from unipd.report.pictures import spectrum_of as spectrum_of
from unipd.report.page import report_sections as report_sections
from unipd.report.sections import Figure as Figure
from unipd.report.sections import Section as Section
from unipd.report.sections import Table as Table
from unipd.report.pictures import THEMES as THEMES
from unipd.report.pictures import check_path as check_path
from unipd.report.tomography import plot_tomography as plot_tomography
from unipd.report.certificate_text import BOUND_KINDS
from unipd.report.certificate_text import MEANINGS
from unipd.report.curves import AXES
from unipd.report.curves import best_bound
from unipd.report.curves import group_extremes
from unipd.report.curves import weight_sums
from unipd.report.live_run import HOST
from unipd.report.live_run import MOST_RUNS
from unipd.report.page import PAGE_POINTS
from unipd.report.page import PANELS
from unipd.report.page import page_content
from unipd.report.pictures import WIDTHS
from unipd.report.tomography import largest_indices
from unipd.report.tomography import matrix_entries
from unipd.report.tomography import power_of_ten
from unipd.report.sections import to_plain
