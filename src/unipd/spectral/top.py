"""Top eigenpairs and singular triples with the default engine."""

from __future__ import annotations

from typing import Any

from unipd.spectral.engine import Engine
from unipd.spectral.results import EigenPairs, SingularTriples


def top_eigenpairs(operator: Any, count: int = 1, **options: Any) -> EigenPairs:
    """Return the algebraically largest eigenpairs with the default :class:`Engine`; options as there.

    >>> import numpy as np
    >>> top_eigenpairs(np.array([[2.0, 1.0], [1.0, 2.0]])).value.__round__(10)
    3.0
    """
    return Engine().eigenpairs(operator, count, **options)


def top_singular_triples(operator: Any, count: int = 1, **options: Any) -> SingularTriples:
    """Return the largest singular triples with the default :class:`Engine`; options as there.

    >>> import numpy as np
    >>> top_singular_triples(np.array([[3.0, 0.0, 4.0]])).value
    5.0
    """
    return Engine().singular_triples(operator, count, **options)
