"""The paper's experiments, run by ``unipd reproduce``.

``figure1`` (quantum tomography) and ``figure2`` (matrix completion) each run, tabulate and draw one figure;
``comparison`` has what they share, ``completion_data`` the ratings of figure 2. Modules are imported on first use.
"""

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
