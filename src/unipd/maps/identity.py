"""The identity map, for problems whose coupling acts on x itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from unipd import atoms
from unipd._typing import Array, Shape
from unipd.errors import InvalidInput
from unipd.maps.base import Map, floating


class Identity(Map):
    """A x = x.

    >>> Identity((2,)).image(np.array([1.0, 2.0]))
    array([1., 2.])
    """

    def __init__(self, shape: int | Shape, dtype: Any = np.float64) -> None:
        sizes = (int(shape),) if isinstance(shape, (int, np.integer)) else shape
        listed = isinstance(sizes, (tuple, list))
        if not (listed and all(isinstance(size, (int, np.integer)) and size > 0 for size in sizes)):
            raise InvalidInput("shape", "positive sizes", repr(shape))
        super().__init__(tuple(sizes), tuple(sizes), floating(dtype))

    def image(self, atom: Any) -> Array:
        """Return x as an array."""
        return np.asarray(atoms.dense(atom))

    def adjoint(self, dual: Array) -> Array:
        """Return lam."""
        return dual
