"""The paper's experiments, run by ``unipd reproduce``.

``figure1`` (quantum tomography) and ``figure2`` (matrix completion) each run, tabulate and draw one figure;
``comparison`` has what they share, ``completion_data`` the ratings of figure 2. Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from unipd._util.lazy import lazy_exports

if TYPE_CHECKING:
    from unipd.reproduce.completion_data import SyntheticRatings, generate_ratings
    from unipd.reproduce.figure1 import (
        figure1_experiment,
        figure1_problem,
        plot_figure1,
        run_figure1,
        write_figure1,
    )
    from unipd.reproduce.figure2 import plot_figure2, run_figure2, write_figure2

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "completion_data": ("SyntheticRatings", "generate_ratings"),
        "figure1": ("figure1_experiment", "figure1_problem", "plot_figure1", "run_figure1", "write_figure1"),
        "figure2": ("plot_figure2", "run_figure2", "write_figure2"),
    },
)


__all__ = [
    "SyntheticRatings",
    "figure1_experiment",
    "figure1_problem",
    "generate_ratings",
    "plot_figure1",
    "plot_figure2",
    "run_figure1",
    "run_figure2",
    "write_figure1",
    "write_figure2",
]
