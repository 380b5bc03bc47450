"""The sections that applications add to the report page.

``report_sections(result)`` of :mod:`unipd.report.page` asks every builder of ``BUILDERS`` for its :class:`Section`
(``None`` where the result is not its own) and returns what it gets, in order. A builder is one function of a file of
this folder. It reads only the :class:`~unipd.Result`, above all ``result.extras``, so that the page of a saved file
shows the same as that of a fresh result: whatever a section draws, the application puts there (arrays, numbers,
strings, and dictionaries and lists of them; arrays and what contains arrays stay out of tables and JSON).

- ``base``: :class:`Section`, :class:`Table`, :class:`Figure`, and :func:`spectrum_figure`, which several share;
- ``tomography``, ``completion``, ``semidefinite`` (with cuts): one application a file.
"""
