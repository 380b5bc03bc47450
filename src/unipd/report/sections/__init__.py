"""The sections that applications add to the report page.

``report_sections(result)`` asks every builder of :data:`BUILDERS` for its :class:`Section` (``None`` where the result
is not its own) and returns what it gets, in order. A builder is one function of a file of this folder. It reads only
the :class:`~unipd.Result`, above all ``result.extras``, so that the page of a saved file shows the same as that of a
fresh result: whatever a section draws, the application puts there (arrays, numbers, strings, and dictionaries and
lists of them; arrays and what contains arrays stay out of tables and JSON).

- ``base``: :class:`Section`, :class:`Table`, :class:`Figure`, and :func:`spectrum_figure`, which several share;
- ``tomography``, ``completion``, ``semidefinite`` (with cuts): one application a file.
"""

from __future__ import annotations

from collections.abc import Callable

from unipd.report.sections.base import COLOURS, Figure, Section, Table
from unipd.report.sections.completion import completion_section
from unipd.report.sections.semidefinite import cut_section, semidefinite_section
from unipd.report.sections.tomography import channel_section, tomography_section
from unipd.run import Result

BUILDERS: tuple[Callable[[Result], Section | None], ...] = (
    tomography_section,
    channel_section,
    completion_section,
    cut_section,
    semidefinite_section,
)
"""The builders, in the order of the page."""


def report_sections(result: Result) -> list[Section]:
    """Return the sections that applications have for a result, none for a plain run.

    Parameters
    ----------
    result
        The result of an application, fresh or loaded.

    Returns
    -------
    list of Section

    See Also
    --------
    write_report : The page that shows them.

    Examples
    --------
    >>> import unipd
    >>> from unipd.io import Graph
    >>> cycle = Graph.of(5, [0, 1, 2, 3, 4], [1, 2, 3, 4, 0], [1.0] * 5)
    >>> [section.title for section in report_sections(unipd.MaxCut().fit(cycle).result_)]
    ['Cut', 'Semidefinite program']
    """
    return [section for build in BUILDERS if (section := build(result)) is not None]


__all__ = ["COLOURS", "Figure", "Section", "Table", "report_sections"]
