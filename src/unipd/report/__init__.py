"""Pictures of runs; matplotlib (the extra ``plot``) is imported when one is drawn, not before."""

from unipd.report.comparison import plot_comparison
from unipd.report.convergence import plot_convergence
from unipd.report.spectrum import plot_spectrum

__all__ = ["plot_comparison", "plot_convergence", "plot_spectrum"]
