"""Pictures and pages of runs.

- ``curves``: the data of convergence pictures; ``pictures``: pictures by Matplotlib (the extra ``plot``);
- ``certificate_text``: the certificate of a result in sentences;
- ``page``, ``templates/``: the interactive page by Jinja2 and Plotly (the extra ``report``);
- ``sections``: what applications add to the page;
- ``tomography``: the picture of a fit, and what states and channels add to the page;
- ``live_run``: the same page of runs that continue; logs for TensorBoard and MLflow (the extra ``track``).

Heavy packages are imported when a picture is drawn or a page written, not before.

An application hands its data to the page through its result: it puts arrays, numbers and strings into
``result.extras``, and one function of ``sections``, listed in ``page.BUILDERS``, turns them into a
:class:`Section` of sentences, tables and Plotly figures (plain dictionaries). The page of a saved result therefore
shows the same as that of a fresh one. :func:`report_sections` returns the sections of a result.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
