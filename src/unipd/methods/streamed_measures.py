"""||x - y||^2 of long vectors, which needs none for the difference."""

from __future__ import annotations

import math

import numpy as np

from unipd._typing import Array
from unipd.maps.chunks import available_threads, share


def squared_distance(first: Array, second: Array) -> float:
    """Return ||x - y||^2 of real vectors, differences as rounded and summed part by part in double precision.

    >>> squared_distance(np.array([1.0, 5.0]), np.array([4.0, 1.0]))
    25.0
    """
    from unipd.methods.streamed_kernels import PART, distance_parts

    sums = np.zeros(-(-first.size // PART))
    share(available_threads(None), lambda turn: distance_parts(turn, first, second, sums))
    return math.fsum(sums)
