"""The doctor: checks of a problem before it is solved, and of the installation.

``unipd.doctor(problem)`` calls :func:`check` and returns a :class:`Report`, which prints as a table and iterates over
its :class:`Check` objects. Nothing is solved: map, oracle and coupling are probed at random points for the identities
that the methods rely on, which finds most mistakes in user-supplied parts. In reading order:

- ``report``: a check's outcome, the report, and the random points;
- ``problem``: :func:`check_map`, :func:`check_sharp`, :func:`check_coupling`; :func:`check` joins these with
  :func:`check_scaling` and :func:`check_memory`;
- ``installation``: :func:`check_installation`, what ``unipd doctor`` prints, and :func:`compile_kernels`.
"""

import sys
from types import ModuleType
from typing import Any

from unipd._util.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)


class _Doctor(ModuleType):
    """A module that is called like its function :func:`check`."""

    def __call__(self, problem: Any, *, seed: int = 0) -> Any:
        return self.check(problem, seed=seed)


sys.modules[__name__].__class__ = _Doctor
